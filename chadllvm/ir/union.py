"""Unions: sums whose members are told apart by the Python classes of their values.

    Circle | Square     <Circle: Circle{r: f64}, Square: Square{side: f64}>
    float | None        <none: None, number: f64>

The constructors stand in the order of their names, so that a union is the same type
however it came about. Two members must not look alike: see `kind_of`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeGuard

import numpy as np

from chadllvm.ir.record import Kind, ListNames, RecordNames
from chadllvm.ir.types import Array, Product, Scalar, Sum, Type, holds_array

# What is taken for a number.
_NUMBERS = (int, float, np.floating, np.integer, np.bool_)


def kind_of(ty: Type) -> Hashable:
    """What the values of a member have in common that those of no other one have.

    That is the class of a record, or in a word what they are; None if values of this
    type cannot be told from others when a program runs.
    """
    match ty:
        case Product(_, RecordNames() as names) if names.is_class:
            return names.python
        case Product(_, RecordNames() as names):
            return names.kind.value
        case Product(_, ListNames()):
            return "list"
        case Product(_, ()):
            return "tuple"
        case Scalar():
            return "number"
        case Array(Scalar(), _):
            return "array"
        case Array():
            return "list"
        case _:
            return None


def is_union(ty: object) -> bool:
    """Whether this is a union, and no other sum."""
    return isinstance(ty, Sum) and None not in [kind_of(p) for p in ty.payloads]


def members(ty: Type) -> tuple[Type, ...]:
    """The members of a union; of any other type, that type."""
    return ty.payloads if isinstance(ty, Sum) and is_union(ty) else (ty,)


def union_of(found: Iterable[Type]) -> Type:
    """The union of these types, of different kinds; of one type, that type."""
    types = [*found]
    if len(types) == 1:
        return types[0]
    ordered = sorted(types, key=_order)
    labels = [_label(ty) for ty in ordered]
    return Sum(
        tuple(
            (label if labels.count(label) == 1 else f"{label}_{k}", ty)
            for k, (label, ty) in enumerate(zip(labels, ordered, strict=True))
        )
    )


def varied(ty: Type) -> Sum:
    """Values of one type whose arrays have sizes of their own in each: a union of one.

    In a list, arrays in records are the rows of an array, those in a union are not.
    """
    return Sum(((_label(ty), ty),))


def can_vary(ty: Type) -> bool:
    """Whether there are arrays in such values, and a list may hold them so.

    What has lists in it is kept in no union that a list holds (`frontend/listable.py`).
    """
    return holds_array(ty) and _is_plain(ty)


def _is_plain(ty: Type) -> bool:
    match ty:
        case Product(_, ListNames()):
            return False
        case Product(fields):
            return all(map(_is_plain, fields))
        case Sum():
            return all(map(_is_plain, ty.payloads))
        case Array(elem, _):
            return isinstance(elem, Scalar)
        case _:
            return True


def is_varied(ty: Type) -> TypeGuard[Sum]:
    return isinstance(ty, Sum) and len(ty.payloads) == 1


def _label(ty: Type) -> str:
    """The name of a constructor."""
    kind = kind_of(ty)
    if isinstance(kind, type):
        return kind.__name__
    return "none" if is_none(ty) else str(kind).split()[0]


def _order(ty: Type) -> tuple[str, str, str]:
    kind = kind_of(ty)
    if isinstance(kind, type):
        return kind.__name__, kind.__module__, kind.__qualname__
    return _label(ty), "", ""


def is_none(ty: Type) -> bool:
    """Whether this is the type of None."""
    names = ty.names if isinstance(ty, Product) else ()
    return isinstance(names, RecordNames) and names.kind is Kind.NONE


def is_class(ty: Type) -> bool:
    """Whether values of this type are records of a class."""
    return isinstance(kind_of(ty), type)


def member_of(ty: Sum, value: Any) -> int | None:
    """The position of the member of a union that a Python value is, if it is one."""
    found = (k for k, m in enumerate(ty.payloads) if _is_member(m, value))
    return next(found, None)


def _is_member(ty: Type, value: Any) -> bool:
    match ty:
        case Product(_, RecordNames() as names):
            return names.matches(value)
        case Product(_, ListNames()):
            return isinstance(value, list)
        case Product(fields):
            return type(value) is tuple and len(value) == len(fields)
        case Scalar():
            is_array = isinstance(value, np.ndarray) and value.ndim == 0
            return is_array or isinstance(value, _NUMBERS)
        case Array(Scalar()):
            return hasattr(value, "__dlpack__") and np.ndim(value) > 0
        case _:
            return isinstance(value, list)
