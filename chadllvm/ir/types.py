"""Types of the core language: structural, immutable, compared by value.

`Array(elem, rank)` is a regular dense array in C order; ragged data is an array of
`Box`es, each of which refers to one array of its own shape. `Acc(content)` is the type
of a cell, the environment monad's accumulator; it is second class (`ir/check.py`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from chadllvm.ir.record import NONE_NAMES, SET_NAMES, ListNames, ReferenceNames


@dataclass(frozen=True, slots=True)
class Scalar:
    """`f64`, `f32`, `i64` or `bool`."""

    name: str

    def __str__(self) -> str:
        return self.name


F64 = Scalar("f64")
F32 = Scalar("f32")
I64 = Scalar("i64")
BOOL = Scalar("bool")


@dataclass(frozen=True, slots=True)
class Product:
    """An n-ary product; `names` is empty for a plain tuple. `Product(())` is unit.

    The names may know which Python container has them: see `ir/record.py`.
    """

    fields: tuple[Type, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        title = getattr(self.names, "title", "")
        if self.names:
            pairs = zip(self.names, self.fields, strict=True)
            return title + "{" + ", ".join(f"{n}: {t}" for n, t in pairs) + "}"
        return title or "(" + ", ".join(map(str, self.fields)) + ")"


@dataclass(frozen=True, slots=True)
class Sum:
    """A value of one of several constructors, each with its name and payload."""

    constructors: tuple[tuple[str, Type], ...]

    @property
    def payloads(self) -> tuple[Type, ...]:
        """The type that each constructor holds; unit for one that holds nothing."""
        return tuple([payload for _, payload in self.constructors])

    def __str__(self) -> str:
        return "<" + ", ".join(f"{n}: {t}" for n, t in self.constructors) + ">"


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What `f64[:] | None` is in Python: some annotations, one of which is meant."""

    options: tuple[object, ...]

    def __repr__(self) -> str:
        return " | ".join(getattr(o, "__name__", repr(o)) for o in self.options)

    def __or__(self, other: object) -> Alternatives:
        return Alternatives((*self.options, other))

    def __ror__(self, other: object) -> Alternatives:
        return Alternatives((other, *self.options))


@dataclass(frozen=True, slots=True)
class Array:
    """A regular array of `rank` dimensions; its elements are never arrays."""

    elem: Type
    rank: int

    def __str__(self) -> str:
        return f"{self.elem}[{', '.join([':'] * self.rank)}]"

    def __repr__(self) -> str:
        """As the user writes it, in signatures too."""
        if isinstance(self.elem, Scalar):
            return str(self)
        return f"Array(elem={self.elem!r}, rank={self.rank})"

    def __or__(self, other: object) -> Alternatives:
        return Alternatives((self, other))

    def __ror__(self, other: object) -> Alternatives:
        return Alternatives((other, self))


@dataclass(frozen=True, slots=True)
class Box:
    """A reference to an array, so that arrays of different shapes can be elements."""

    content: Array

    def __str__(self) -> str:
        return f"box {self.content}"


@dataclass(frozen=True, slots=True)
class Fun:
    """A function from several values to several values."""

    params: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        return (
            f"({', '.join(map(str, self.params))}) -> "
            f"({', '.join(map(str, self.results))})"
        )


@dataclass(frozen=True, slots=True)
class Acc:
    """A cell that accumulates a value of type `content`.

    `is_read`: its places are read while it is open (`ops/ledger.py`).
    """

    content: Type
    is_read: bool = False

    def __str__(self) -> str:
        return f"ledger {self.content}" if self.is_read else f"acc {self.content}"


Type = Scalar | Product | Sum | Array | Box | Fun | Acc

UNIT = Product(())
NONE = Product((), NONE_NAMES)
SET = Product((Array(I64, 1), Array(I64, 1), I64), SET_NAMES)


def is_set(ty: object) -> bool:
    """Whether this is the type of a set of integers."""
    return isinstance(ty, Product) and ty.names == SET_NAMES


def holds_set(ty: Type) -> bool:
    """Whether there is a set in values of this type."""
    match ty:
        case Product(fields):
            return is_set(ty) or any(map(holds_set, fields))
        case Sum():
            return any(map(holds_set, ty.payloads))
        case Array(elem):
            return holds_set(elem)
        case _:
            return False


def is_float(ty: Type) -> bool:
    """Whether this is the type of a real number, of either width."""
    return ty in (F64, F32)


def to_single(value: float) -> float:
    """The nearest f32, as a Python float; infinite if it is too large for one."""
    return ctypes.c_float(value).value


def has_fun(ty: Type) -> bool:
    """Whether a value of this type holds a function."""
    match ty:
        case Fun():
            return True
        case Product(fields):
            return any(has_fun(field) for field in fields)
        case Sum():
            return any(has_fun(payload) for payload in ty.payloads)
        case Array(elem, _):
            return has_fun(elem)
        case Box(content) | Acc(content):
            return has_fun(content)
        case Scalar():
            return False
        case _:
            assert_never(ty)


def has_float(ty: Type) -> bool:
    """Whether a value of this type holds real numbers, so that it has a cotangent."""
    return holds(ty, F64, F32)


def holds(ty: Type, *scalars: Scalar) -> bool:
    """Whether a value of this type holds scalars of one of these types."""
    match ty:
        case Scalar():
            return ty in scalars
        case Product(fields):
            return any(holds(field, *scalars) for field in fields)
        case Sum():
            return any(holds(payload, *scalars) for payload in ty.payloads)
        case Array(elem, _):
            return holds(elem, *scalars)
        case Box(content):
            return holds(content, *scalars)
        case Fun() | Acc():
            return False
        case _:
            assert_never(ty)


def cotangent_type(ty: Type) -> Type:
    """The type of a value's cotangent, and of its tangent: its reals alone.

    What holds no reals is None in it, so that it has the structure of the value. It has
    the leaves of the value's type that are reals, in their order.
    """
    match ty:
        case Product(fields, names):
            return Product(tuple(map(cotangent_type, fields)), names)
        case Sum():
            return Product(tuple(map(cotangent_type, ty.payloads)))
        case Array(elem, rank) if has_float(elem):
            if has_pieces(elem):
                return _columns_of_reals(elem, rank)
            return Array(cotangent_type(elem), rank)
        case Box(Array(elem, rank)) if has_float(elem):
            return Box(Array(cotangent_type(elem), rank))
        case Scalar() if has_float(ty):
            return ty
        case Scalar() | Array() | Box() | Fun() | Acc():
            return NONE
        case _:
            assert_never(ty)


def has_pieces(ty: Type, in_sum: bool = False) -> bool:
    """Whether elements of this type hold arrays of sizes of their own.

    These are the arrays in members of sums: see `simplify/pieces.py`.
    """
    match ty:
        case Product(fields):
            return any(has_pieces(field, in_sum) for field in fields)
        case Sum():
            return any(has_pieces(payload, True) for payload in ty.payloads)
        case Array(elem):
            return in_sum or has_pieces(elem)
        case _:
            return False


def _columns_of_reals(ty: Type, rank: int, in_sum: bool = False) -> Type:
    """The cotangent of an array of such elements: that of each of its leaves."""
    match ty:
        case Product(fields, names):
            columns = (_columns_of_reals(field, rank, in_sum) for field in fields)
            return Product(tuple(columns), names)
        case Sum():
            held = (_columns_of_reals(p, rank, True) for p in ty.payloads)
            return Product(tuple(held))
        case Array(elem) if in_sum and has_float(elem):
            return Array(elem, 1)
        case _ if has_float(ty):
            return stacked(cotangent_type(ty), rank)
        case _:
            return NONE


def list_type(elem: Scalar, names: ListNames) -> Product:
    """The type of a list of arrays of numbers of a type."""
    fields: dict[str, Type] = dict.fromkeys(names, Array(I64, 1))
    fields |= dict.fromkeys(("first", "count"), I64)
    fields["items"] = Array(elem, 1)
    fields["sizes"] = Array(I64, 2)
    return Product(tuple(fields[name] for name in names), names)


def list_names(ty: object) -> ListNames | None:
    """The names in the type of a list of arrays; None for any other type."""
    names = ty.names if isinstance(ty, Product) else ()
    return names if isinstance(names, ListNames) else None


def list_elem(ty: Type) -> Scalar:
    """The type of the numbers in a list of arrays."""
    assert isinstance(ty, Product)
    items = ty.fields[0]
    assert isinstance(items, Array) and isinstance(items.elem, Scalar)
    return items.elem


def reference_names(ty: object) -> ReferenceNames | None:
    """The names in the type of a reference; None for any other type."""
    names = ty.names if isinstance(ty, Product) else ()
    return names if isinstance(names, ReferenceNames) else None


def holds_array(ty: Type) -> bool:
    """Whether there are arrays of numbers in each value, in no list and no union."""
    match ty:
        case Array(Scalar()):
            return True
        case Product(fields, names) if not isinstance(names, ListNames):
            return any(map(holds_array, fields))
        case _:
            return False


def opened_type(ty: Type) -> Type:
    """The type of what a node holds for that of a reference to it, else the type."""
    names = reference_names(ty)
    if names is None:
        return ty
    content: Type = names.content
    return content


def references(types: Iterable[Type]) -> dict[ReferenceNames, None]:
    """The classes that values of these types refer to, by way of others as well."""
    found: dict[ReferenceNames, None] = {}
    waiting = [*types]
    while waiting:
        for names in _references_in(waiting.pop(0)):
            if names not in found:
                found[names] = None
                waiting.append(names.content)
    return found


def has_float_in_nodes(ty: Type) -> bool:
    """Whether there are real numbers in the nodes that a value refers to."""
    return any(has_float(of.content) for of in references([ty]))


def holds_reference(ty: Type) -> bool:
    """Whether a value of this type refers to nodes."""
    return any(True for _ in _references_in(ty))


def _references_in(ty: Type) -> Iterator[ReferenceNames]:
    match ty:
        case Product(_, ReferenceNames() as names):
            yield names
        case Product(fields):
            for field in fields:
                yield from _references_in(field)
        case Sum():
            for payload in ty.payloads:
                yield from _references_in(payload)
        case Array(elem):
            yield from _references_in(elem)
        case Fun(params, results):
            for inner in (*params, *results):
                yield from _references_in(inner)
        case Box(content) | Acc(content):
            yield from _references_in(content)
        case Scalar():
            return
        case _:
            assert_never(ty)


def stacked(ty: Type, rank: int = 1) -> Type:
    """The type of a regular array of `rank` dimensions whose elements have type `ty`.

    Arrays of arrays are arrays of higher rank: stacked(f64[:], 1) = f64[:, :].
    """
    match ty:
        case Array(elem, inner):
            return Array(elem, rank + inner)
        case _:
            return Array(ty, rank)


def element(ty: Array, indices: int) -> Type:
    """The type of `a[i1, …, ik]`: an element, or a row if k is less than the rank."""
    return ty.elem if indices == ty.rank else Array(ty.elem, ty.rank - indices)
