"""Regular arrays as lists of their rows, and lists as parts of themselves.

m, of n rows of k numbers   →   items     the n * k numbers
                                starts_1  0 k 2k … nk
"""

from __future__ import annotations

from collections.abc import Callable

from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Lambda, Lit, Operand, Proj, Tuple, Var
from chadllvm.ir.types import I64, Array, Product, Type, list_names
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index


def join_lists(first: Type, second: Type) -> Type | None:
    """The type of either of two lists; None if there is none, or they are no lists."""
    own, other = list_names(first), list_names(second)
    if own is None or other is None or own.like() != other.like():
        return None
    assert isinstance(first, Product) and isinstance(second, Product)
    if first.fields[0] != second.fields[0]:
        return None
    return first if own.is_part else second


def as_list(b: Builder, value: Operand, ty: Product) -> Operand:
    """A list or a regular array as a list of this type."""
    names = list_names(ty)
    assert names is not None
    if isinstance(value.type, Array):
        return _of_rows(b, value, value.type, names)
    parts = [b.one(Proj(value, k)) for k in range(len(names) - 2)]
    (size,) = b.apply(Dim(0), [parts[-1]])
    count = b.prim("isub", size, Lit(1))
    return b.one(Tuple((*parts, Lit(0), count), names))


def _of_rows(b: Builder, array: Operand, ty: Array, names: ListNames) -> Operand:
    dims = [b.apply(Dim(axis), [array])[0] for axis in range(ty.rank)]
    total = _product(b, dims)

    def item(inner: Builder, number: Operand) -> Operand:
        indices: list[Operand] = []
        for size in reversed(dims[1:]):
            indices.append(inner.prim("column_of", number, size))
            number = inner.prim("row_of", number, size)
        return inner.apply(Index(), [array, number, *reversed(indices)])[0]

    parts = [_build(b, total, item)]
    own = dims[names.depth :]
    if names.rank > 1:
        count = _product(b, dims[: names.depth])
        parts.append(_build(b, count, lambda inner, _: _sizes(inner, own)))
    for level in range(names.depth, 0, -1):
        size = _product(b, own) if level == names.depth else dims[level]
        parts.append(_evenly(b, _product(b, dims[:level]), size))
    return b.one(Tuple(tuple(parts), names))


def _build(
    b: Builder, count: Operand, element: Callable[[Builder, Operand], Operand]
) -> Operand:
    index, inner = Var("i", I64), b.child()
    body = Lambda((index,), inner.block([element(inner, index)]))
    return b.apply(Build(), [count], [body])[0]


def _sizes(b: Builder, own: list[Var]) -> Operand:
    """The sizes of an array, as an array."""

    def size(inner: Builder, index: Operand) -> Operand:
        found: Operand = own[-1]
        for k in reversed(range(len(own) - 1)):
            found = inner.prim(
                "iselect", inner.prim("ieq", index, Lit(k)), own[k], found
            )
        return found

    return _build(b, Lit(len(own)), size)


def _evenly(b: Builder, count: Operand, size: Operand) -> Operand:
    """Where pieces of one size begin, and where the last one ends."""
    number = b.prim("iadd", count, Lit(1))
    return _build(b, number, lambda inner, k: inner.prim("imul", k, size))


def _product(b: Builder, sizes: list[Var]) -> Operand:
    total: Operand = Lit(1)
    for size in sizes:
        total = size if total == Lit(1) else b.prim("imul", total, size)
    return total
