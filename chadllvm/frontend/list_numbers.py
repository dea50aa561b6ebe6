"""The numbers of lists of arrays as cotangents: where another list has its own.

CHAD's cotangent of a list is that of its numbers; in programs it is a list that has the
sizes of its value. What is given by the user is checked against them.
"""

from __future__ import annotations

from chadllvm.frontend.delayed import Indices, build_nest
from chadllvm.frontend.ragged import Ragged, parts_of_list
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lambda, Lit, Operand, Proj, Tuple, Var, literal
from chadllvm.ir.types import I64, Product, Type, has_float, list_names
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index


def like(b: Builder, value: Operand, primal: Operand) -> Operand:
    """A cotangent, in which lists of arrays are such lists again."""
    ty = primal.type
    if not isinstance(ty, Product) or not has_list(ty):
        return value
    is_list = list_names(ty) is not None
    parts: list[Operand] = []
    for k, field in enumerate(ty.fields):
        mine, part = b.one(Proj(primal, k)), b.one(Proj(value, k))
        kept = is_list and not has_float(field)
        parts.append(mine if kept else like(b, part, mine))
    return b.one(Tuple(tuple(parts), ty.names))


def numbers_of(b: Builder, tangent: Operand, primal: Operand) -> Operand:
    """A tangent with the numbers of lists alone, where its primal has its own."""
    ty = primal.type
    if not isinstance(ty, Product) or not has_list(ty):
        return tangent
    names = list_names(ty)
    if names is None:
        fields = range(len(ty.fields))
        pairs = [(b.one(Proj(tangent, k)), b.one(Proj(primal, k))) for k in fields]
        return b.one(Tuple(tuple([numbers_of(b, *pair) for pair in pairs]), ty.names))
    both = [parts_of_list(b, value) for value in (tangent, primal)]
    nothing = [b.one(NONE_VALUE) for _ in names[1:]]
    return b.one(Tuple((numbers_like(b, *both), *nothing), names))


def has_list(ty: Type) -> bool:
    """Whether a product holds a list of arrays of reals, or is one."""
    if not isinstance(ty, Product) or not has_float(ty):
        return False
    return list_names(ty) is not None or any(map(has_list, ty.fields))


def numbers_like(b: Builder, moved: Ragged, primal: Ragged) -> Operand:
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
