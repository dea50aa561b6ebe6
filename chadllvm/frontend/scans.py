"""Running results: `np.cumsum`, `np.cumprod`.

    np.cumsum(x)      →   iterate(n, 0.0) { i, s -> t = s + x[i]; yield t, t }

The states of the loop are an output of it. Its derivative is right where a factor is
zero, for nothing is divided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    delayed,
    flat,
    permuted,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.reductions import at_least_int
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Var, literal
from chadllvm.ir.types import I64, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.index import sized
from chadllvm.ops.iterate import Iterate


def running(
    b: Builder,
    size: Operand,
    start: Operand,
    step: Callable[[Builder, Operand, Operand], Operand],
) -> Var:
    """The states `step(b, state, index)` leads to, one for each index."""
    index, before, inner = Var("i", I64), Var("s", start.type), b.child()
    after = step(inner, before, index)
    body = Lambda((index, before), inner.block([after, after]))
    return b.apply(Iterate(), [size, start], [body])[1]


def _cumulative(on_floats: str, on_ints: str, neutral: int) -> Callable[[Given], Value]:
    def meaning(call: Given) -> Value:
        cx, node = call.cx, call.node
        array = at_least_int(call.array("a"))
        axis = call.axis(array.rank)
        if axis is None:
            array, axis = flat(cx, node, array), 0
        combine, start = (
            (on_floats, literal(neutral, array.elem))
            if is_float(array.elem)
            else (on_ints, Lit(neutral))
        )
        order = [*(k for k in range(array.rank) if k != axis), axis]
        rows = permuted(array, order, is_view=False)
        made = _along_last(call, rows, combine, start)
        back = sorted(range(array.rank), key=order.__getitem__)
        return permuted(delayed(cx, node, made), back, is_view=False)

    return meaning


def _along_last(call: Given, array: Delayed, combine: str, start: Lit) -> Var:
    """The running results along the last axis."""

    def level(b: Builder, outer: Indices) -> Var:
        if len(outer) == array.rank - 1:
            return running(
                b,
                array.shape[-1],
                start,
                lambda inner, s, i: inner.prim(
                    combine, s, array.element(inner, [*outer, i])
                ),
            )
        index, inner = Var("i", I64), b.child()
        body = Lambda((index,), inner.block([level(inner, [*outer, index])]))
        return b.apply(Build(), [array.shape[len(outer)]], [body])[0]

    made = sized(call.builder, level(call.builder, ()), array.shape)
    call.cx.shapes[made] = array.shape
    return made


SCANS: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.cumsum, "a axis=None", _cumulative("add", "iadd", 0), "cumsum"),
    LibraryFunction(
        np.cumprod, "a axis=None", _cumulative("mul", "imul", 1), "cumprod"
    ),
)
