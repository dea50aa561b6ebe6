"""Tangents and cotangents of lists of arrays: numbers in the core, lists for users.

    g = cl.grad(f)(xs)     →       …, items_ct = derivative gradient[0] @f(xs)
                                   g = the list of these numbers that begin where
                                       those of xs do

What is given by the user is a list of arrays, each of the size of its primal.
"""

from __future__ import annotations

import ast

from chadllvm.frontend import closure_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Indices, build_nest
from chadllvm.frontend.ragged import Ragged, ragged
from chadllvm.frontend.union_cotangents import shown
from chadllvm.ir.build import Builder
from chadllvm.ir.record import NONE_NAMES
from chadllvm.ir.term import If, Lambda, Lit, Operand, Proj, Tuple, Var, literal
from chadllvm.ir.types import (
    I64,
    Product,
    Type,
    has_float,
    list_elem,
    list_names,
    list_type,
)
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index


def own(b: Builder, value: Operand, primal: Operand) -> Operand:
    """CHAD's cotangent or tangent of a value as programs have it."""
    return like(b, shown(b, value, primal), primal)


def like(b: Builder, value: Operand, primal: Operand) -> Operand:
    """A cotangent, in which lists of arrays are such lists again."""
    ty = primal.type
    if not isinstance(ty, Product) or not _has_list(ty):
        return value
    is_list = list_names(ty) is not None
    parts: list[Operand] = []
    for k, field in enumerate(ty.fields):
        mine, part = b.one(Proj(primal, k)), b.one(Proj(value, k))
        kept = is_list and not has_float(field)
        parts.append(mine if kept else like(b, part, mine))
    return b.one(Tuple(tuple(parts), ty.names))


def reals(cx: Context, node: ast.expr, value: Operand, primal: Operand) -> Operand:
    """A tangent with the numbers of lists of arrays alone, which agree in size."""
    ty, b = primal.type, cx.at(node)
    if not isinstance(ty, Product) or not _has_list(ty):
        return value
    names = list_names(ty)
    if names is None:
        return _of_components(cx, node, value, primal, ty)
    found = target_type(list_type(list_elem(ty), names.like()), value.type)
    if found is None:
        raise closure_errors.wrong_tangent(cx.span(node), value.type, ty)
    moved = ragged(cx, node, convert(b, value, found))
    numbers = _numbers(b, moved, ragged(cx, node, primal))
    nothing = [b.one(Tuple((), NONE_NAMES)) for _ in names[1:]]
    return b.one(Tuple((numbers, *nothing), names))


def _of_components(
    cx: Context, node: ast.expr, value: Operand, primal: Operand, ty: Product
) -> Operand:
    b = cx.at(node)
    if not isinstance(value.type, Product) or value.type.names != ty.names:
        raise closure_errors.wrong_tangent(cx.span(node), value.type, ty)
    parts: list[Operand] = []
    for k in range(len(ty.fields)):
        part, own = b.one(Proj(value, k)), b.one(Proj(primal, k))
        parts.append(reals(cx, node, part, own))
    return b.one(Tuple(tuple(parts), ty.names))


def _has_list(ty: Type) -> bool:
    """Whether a product holds a list of arrays of reals, or is one."""
    if not isinstance(ty, Product) or not has_float(ty):
        return False
    return list_names(ty) is not None or any(map(_has_list, ty.fields))


def _numbers(b: Builder, moved: Ragged, primal: Ragged) -> Operand:
    """The numbers of one list where another has its own; the sizes are compared."""
    own, other = (primal.first, primal.count), (moved.first, moved.count)
    b.prim("same", other[1], own[1])
    levels = zip(reversed(primal.starts), reversed(moved.starts), strict=True)
    for level, (mine, theirs) in enumerate(levels, 1):
        _check(b, (mine, *own), (theirs, *other))
        if level == primal.names.depth and primal.sizes and moved.sizes:
            _check_shapes(b, primal, moved, own, other)
        own, other = _inside(b, mine, *own), _inside(b, theirs, *other)
    if not primal.names.is_part and not moved.names.is_part:
        return moved.items
    return _placed(b, moved.items, other[0], primal, *own)


def _inside(
    b: Builder, starts: Operand, first: Operand, count: Operand
) -> tuple[Operand, Operand]:
    """Where the pieces from the first on begin a level below, and their number."""
    (begin,) = b.apply(Index(), [starts, first])
    (end,) = b.apply(Index(), [starts, b.prim("iadd", first, count)])
    return begin, b.prim("isub", end, begin)


_Pieces = tuple[Operand, Operand, Operand]


def _check(b: Builder, own: _Pieces, other: _Pieces) -> None:
    """Fail when the program runs if pieces at one place differ in size."""
    index, inner = Var("i", I64), b.child()
    sizes = []
    for starts, first, _ in (own, other):
        place = inner.prim("iadd", first, index)
        sizes.append(_inside(inner, starts, place, Lit(1))[1])
    body = Lambda((index,), inner.block([inner.prim("same", *sizes)]))
    b.apply(Build(), [own[2]], [body])


def _check_shapes(
    b: Builder,
    primal: Ragged,
    moved: Ragged,
    own: tuple[Operand, Operand],
    other: tuple[Operand, Operand],
) -> None:
    """The same for the sizes of arrays of several dimensions."""
    assert primal.sizes is not None and moved.sizes is not None

    def same(inner: Builder, indices: Indices) -> Operand:
        index, axis = indices
        found: list[Operand] = []
        for sizes, first in ((moved.sizes, other[0]), (primal.sizes, own[0])):
            assert sizes is not None
            place = inner.prim("iadd", first, index)
            found += inner.apply(Index(), [sizes, place, axis])
        return inner.prim("same", *found)

    build_nest(b, (own[1], Lit(primal.names.rank)), same)


def _placed(
    b: Builder,
    numbers: Operand,
    first: Operand,
    primal: Ragged,
    begin: Operand,
    count: Operand,
) -> Operand:
    """Numbers where a part of a list has its own; zeros elsewhere."""
    (size,) = b.apply(Dim(0), [primal.items])
    end = b.prim("iadd", begin, count)

    def number(inner: Builder, indices: Indices) -> Operand:
        (k,) = indices
        is_there = inner.prim(
            "and", inner.prim("ile", begin, k), inner.prim("ilt", k, end)
        )
        there = inner.child()
        place = there.prim("iadd", there.prim("isub", k, begin), first)
        found = there.block(there.apply(Index(), [numbers, place]))
        zero = inner.child().block([literal(0, primal.elem)])
        return inner.one(If(is_there, found, zero))

    return build_nest(b, (size,), number)
