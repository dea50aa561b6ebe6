"""Python's classes as tests of types: what `isinstance` and patterns ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any

import numpy as np

from chadllvm.errors import union_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.recovery import unknown_names
from chadllvm.frontend.scope import NotStatic
from chadllvm.ir.record import ListNames, RecordNames
from chadllvm.ir.types import BOOL, F32, F64, I64, Array, Product, Scalar, Type

_PYTHON: dict[Type, type] = {F64: float, F32: np.float32, I64: int, BOOL: bool}


def class_of(ty: Type) -> type | None:
    """The Python class of the values of a type that is no union, if it has one."""
    match ty:
        case Scalar():
            return _PYTHON[ty]
        case Product(_, RecordNames() as names):
            return names.python
        case Product(_, ListNames()):
            return list
        case Product(_, ()):
            return tuple
        case Array(Scalar(), _):
            return np.ndarray
        case Array():
            return list
        case _:
            return None


def classes_of(cx: Context, node: ast.expr) -> Iterator[type]:
    """The classes in the second argument of `isinstance`, or the one in a pattern."""
    if isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from classes_of(cx, element)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from classes_of(cx, node.left)
        yield from classes_of(cx, node.right)
        return
    try:
        found = None if _is_none(node) else cx.static(node)
    except NotStatic:
        for unknown in unknown_names(cx, node):
            raise unknown from None
        raise union_errors.not_a_class(cx.span(node), ast.unparse(node)) from None
    yield from _flat(cx, node, found)


def _flat(cx: Context, node: ast.expr, found: Any) -> Iterator[type]:
    """The classes that an object stands for: a class, a union or a tuple of them."""
    if found is None:
        yield NoneType
    elif isinstance(found, type):
        yield found
    elif isinstance(found, UnionType | tuple):
        parts = found if isinstance(found, tuple) else found.__args__
        for part in parts:
            yield from _flat(cx, node, part)
    else:
        raise union_errors.not_a_class(cx.span(node), ast.unparse(node))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_instance(
    cx: Context, node: ast.expr, ty: Type, classes: tuple[type, ...]
) -> bool:
    """Whether values of a type are instances of one of these classes."""
    python = class_of(ty)
    if python is None:
        raise union_errors.unknown_class(cx.span(node), ty)
    try:
        found = issubclass(python, classes)
        # Lists of numbers are arrays here, and integers may have become floats.
        other = {np.ndarray: list, float: int}.get(python)
        if other is not None and not found and issubclass(other, classes):
            raise union_errors.unknown_class(cx.span(node), ty)
        return found
    except TypeError:
        raise union_errors.not_a_class(cx.span(node), ast.unparse(node)) from None
