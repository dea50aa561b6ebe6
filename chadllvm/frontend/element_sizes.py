"""The sizes of arrays in records that a list holds: they agree at each place.

    xs.append(Layer(w))    →    s = dim(w)
                                n = if dim(xs) == 0 { yield s } else { … xs[0].w … }
                                same(s, n); append(xs, …)

Such arrays are the rows of one array (`simplify/flatten.py`). Those in members of
unions have sizes of their own, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lit, Operand, Proj
from chadllvm.ir.types import Array, Product, Scalar, Type
from chadllvm.ops.index import Dim, Index


def check_new_element(b: Builder, array: Operand, item: Operand) -> None:
    """What is put behind the others has their sizes, if there are any."""
    if not _has_sizes(item.type):
        return
    (count,) = b.apply(Dim(0), [array])
    sizes, there = _sizes(b, item), b.child()
    (first,) = there.apply(Index(), [array, Lit(0)])
    old = there.block(_sizes(there, first))
    is_first = b.prim("ieq", count, Lit(0))
    _check(b, sizes, b.emit(If(is_first, b.child().block(sizes), old)))


def check_element(
    b: Builder, array: Operand, indices: Sequence[Operand], item: Operand
) -> None:
    """What is put in the place of another element has its sizes."""
    if _has_sizes(item.type):
        (old,) = b.apply(Index(), [array, *indices])
        _check(b, _sizes(b, item), _sizes(b, old))


def _check(b: Builder, found: Sequence[Operand], wanted: Sequence[Operand]) -> None:
    for pair in zip(found, wanted, strict=True):
        b.prim("same", *pair)


def _has_sizes(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_sizes, fields))
        case _:
            return isinstance(ty, Array)


def _sizes(b: Builder, value: Operand) -> list[Operand]:
    """The sizes of all arrays in a value; those in no elements are 0."""
    match value.type:
        case Product(fields):
            at = [k for k, field in enumerate(fields) if _has_sizes(field)]
            return [s for k in at for s in _sizes(b, b.one(Proj(value, k)))]
        case Array(elem, rank):
            own: list[Operand] = [b.apply(Dim(k), [value])[0] for k in range(rank)]
            return own if isinstance(elem, Scalar) else own + _inner(b, value, own)
        case _:
            return []


def _inner(b: Builder, array: Operand, sizes: Sequence[Operand]) -> list[Operand]:
    """The sizes in the elements of an array, which are alike."""
    there, none = b.child(), b.child()
    (first,) = there.apply(Index(), [array, *[Lit(0)] * len(sizes)])
    found = there.block(_sizes(there, first))
    if not found.results:
        return []
    is_there: Operand = b.prim("ilt", Lit(0), sizes[0])
    for size in sizes[1:]:
        is_there = b.prim("and", is_there, b.prim("ilt", Lit(0), size))
    zeros = none.block([Lit(0)] * len(found.results))
    return [*b.emit(If(is_there, found, zeros))]
