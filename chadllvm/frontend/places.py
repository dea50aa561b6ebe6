"""Places: where a mask is true, and in which order elements are sorted.

    places of a mask      n = fold[add] of the mask
                          iterate(size, n + 1 numbers, 0) { i, p, k ->
                            yield p with [k] = i, k + mask[i] }

    order of x            iterate(levels, 0 1 2 …, 1) { _, order, width -> … }

The second merges sorted runs of `width` elements, twice as wide in each step. Both make
integers, which have no derivative; what is gathered by them has.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Indices, build_nest, plain, unravelled
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Var, literal
from chadllvm.ir.types import I64, Array, is_float
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update

_INTEGERS = Array(I64, 1)


def true_places(cx: Context, node: ast.expr, mask: Delayed) -> list[Delayed]:
    """Where a mask is true: an index array for each of its dimensions.

    A mask of several dimensions is searched in the order of its elements.
    """
    mask = plain(cx, node, mask)
    b = cx.at(node)
    total = mask.shape[0]
    for size in mask.shape[1:]:
        total = b.prim("imul", total, size)
    count, places = _numbers_of_true(b, mask, total)

    def along(axis: int) -> Delayed:
        def element(inner: Builder, indices: Indices) -> Operand:
            (place,) = inner.apply(Index(), [places, indices[0]])
            return unravelled(inner, place, mask.shape)[axis]

        return Delayed((count,), I64, element, is_plain=True)

    return [along(axis) for axis in range(mask.rank)]


def _numbers_of_true(
    b: Builder, mask: Delayed, total: Operand
) -> tuple[Operand, Operand]:
    """How many elements are true, and an array that begins with their numbers.

    Each element's number is written to the place behind those found so far, where the
    next one overwrites it unless it was true; so there is one place more.
    """

    def is_true(inner: Builder, index: Operand) -> Operand:
        return to_int(inner, mask.element(inner, unravelled(inner, index, mask.shape)))

    index, inner = Var("i", I64), b.child()
    body = Lambda((index,), inner.block([is_true(inner, index)]))
    (count,) = b.apply(Fold("add"), [total], [body])
    room = b.prim("iadd", count, Lit(1))
    start = build_nest(b, (room,), lambda inner, indices: Lit(0))
    index, places, at, step = (
        Var("i", I64),
        Var("p", _INTEGERS),
        Var("k", I64),
        b.child(),
    )
    (written,) = step.apply(Update(), [places, at, index])
    after = step.prim("iadd", at, is_true(step, index))
    loop = Lambda((index, places, at), step.block([written, after]))
    return count, b.apply(Iterate(), [total, start, Lit(0)], [loop])[0]


# ---- sorting ---------------------------------------------------------------------


def order(b: Builder, keys: Operand, size: Operand) -> Var:
    """The stable order of the elements of an array of rank 1; NaN comes last.

    The keys are sorted along with their places, so that runs are read in a row.
    """
    start = build_nest(b, (size,), lambda inner, indices: indices[0])
    last = b.prim("imax", b.prim("isub", size, Lit(1)), Lit(0))
    levels = b.prim("bit_length", last)
    states = (Var("order", _INTEGERS), Var("keys", keys.type), Var("width", I64))
    step = b.child()
    merged = _merge(step, size, *states)
    wider = step.prim("imul", states[2], Lit(2))
    body = Lambda((Var("level", I64), *states), step.block([*merged, wider]))
    return b.apply(Iterate(), [levels, start, keys, Lit(1)], [body])[0]


def _merge(
    b: Builder, size: Operand, order: Var, keys: Var, width: Var
) -> Sequence[Operand]:
    """Merge neighbouring runs of this width, in one loop over all places.

    `left` and `right` are the next elements of the two runs, which end at `middle` and
    `end`; at the place `end` the next two runs begin.
    """
    place = Var("i", I64)
    new = Var("new_order", order.type), Var("new_keys", keys.type)
    ends = tuple(Var(name, I64) for name in ("left", "right", "middle", "end"))
    step = b.child()
    left, right, middle, end = _runs(step, place, size, width, ends)
    last = step.prim("isub", size, Lit(1))
    nearest = [step.prim("imin", at, last) for at in (left, right)]
    first, second = (step.apply(Index(), [keys, at])[0] for at in nearest)
    takes_left = step.prim(
        "and",
        step.prim("ilt", left, middle),
        step.prim("or", step.prim("ile", end, right), _in_order(step, first, second)),
    )
    chosen = step.prim("iselect", takes_left, *nearest)
    written: list[Operand] = []
    for old, array in zip((order, keys), new, strict=True):
        (item,) = step.apply(Index(), [old, chosen])
        written += step.apply(Update(), [array, place, item])
    one = step.prim("bool_to_int", takes_left)
    after = step.prim("iadd", left, one)
    other = step.prim("iadd", right, step.prim("isub", Lit(1), one))
    results = step.block([*written, after, other, middle, end])
    blank = [_blank(b, size, array) for array in new]
    start = [size, *blank, Lit(0), Lit(0), Lit(0), Lit(0)]
    return b.apply(Iterate(), start, [Lambda((place, *new, *ends), results)])[:2]


def _blank(b: Builder, size: Operand, array: Var) -> Var:
    """An array of the same type, to be filled."""
    assert isinstance(array.type, Array)
    zero = literal(0, array.type.elem)
    return build_nest(b, (size,), lambda inner, indices: zero)


def _runs(
    b: Builder, place: Operand, size: Operand, width: Operand, ends: tuple[Var, ...]
) -> list[Operand]:
    """The two runs that are being merged at a place: `left right middle end`."""
    left, right, middle, end = ends
    begins = b.prim("ieq", place, end)
    new_middle = b.prim("imin", b.prim("iadd", place, width), size)
    new_end = b.prim("imin", b.prim("iadd", new_middle, width), size)
    pairs = [(place, left), (new_middle, right), (new_middle, middle), (new_end, end)]
    return [b.prim("iselect", begins, new, old) for new, old in pairs]


def _in_order(b: Builder, first: Operand, second: Operand) -> Operand:
    """Whether two keys may stay in their order."""
    if not is_float(first.type):
        return b.prim("ile", first, second)
    is_nan = b.prim("fne", second, second)
    return b.prim("or", b.prim("fle", first, second), is_nan)
