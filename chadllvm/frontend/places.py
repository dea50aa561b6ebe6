"""Places: where a mask is true, and in which order elements are sorted.

    places of a mask      n = fold[add] of the mask
                          iterate(size, n + 1 numbers, 0) { i, p, k ->
                            yield p with [k] = i, k + mask[i] }

    order of x            order(build(size) { i -> sort_key(x[i]) })

Both make integers, which have no derivative; what is gathered by them has.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Indices, build_nest, plain, unravelled
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Var
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


def order(keys: Any) -> Any:
    """The stable order of a vector of integers: `prelude/ordering.py` defines it."""
    return np.argsort(keys, kind="stable")


def sort_key(b: Builder, x: Operand) -> Operand:
    """The integer that stands for a number where it is sorted; NaN comes last."""
    return b.prim("sort_key", x) if is_float(x.type) else to_int(b, x)
