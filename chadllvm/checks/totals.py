"""What `debug_nans` checks of cells: sums of cotangents, such as inf + -inf.

    s = close c                   →     s = close c
                                        ok = no_nan["a sum of cotangents"](s, given)

Contributions cannot be looked at one by one, but what made one of them a NaN would have
been found before, unless it was a NaN that the program was given. `given` is a NaN
then, and else a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Binding,
    Block,
    Const,
    Function,
    Lambda,
    Lit,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import F64, I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.no_nan import NoNan
from chadllvm.support.diagnostic import Span

TOTAL = NoNan("a sum of cotangents")


def given_nans(function: Function) -> tuple[list[Binding], Operand] | None:
    """What is a NaN if a parameter holds one; None if the program itself does."""
    if _holds_nan(function.body):
        return None
    b, given = Builder(function.span), Lit(0.0)
    total: Operand = given
    for param in function.params:
        if param.type == F64:
            total = b.prim("add", total, _mark(b, param))
        elif isinstance(param.type, Array) and param.type.elem == F64:
            total = b.prim("add", total, _marks(b, param, param.type.rank, ()))
    return b.bindings, total


def _mark(b: Builder, x: Operand) -> Operand:
    """NaN for a NaN, 0 for a number."""
    return b.prim("select", b.prim("fne", x, x), Lit(math.nan), Lit(0.0))


def _marks(b: Builder, array: Var, rank: int, indices: Sequence[Operand]) -> Operand:
    """The sum of the marks of an array's elements."""
    if len(indices) == rank:
        return _mark(b, b.apply(Index(), [array, *indices])[0])
    (size,) = b.apply(Dim(len(indices)), [array])
    index, inner = Var("i", I64), b.child()
    mark = _marks(inner, array, rank, (*indices, index))
    return b.apply(Fold("add"), [size], [Lambda((index,), inner.block([mark]))])[0]


def _holds_nan(block: Block) -> bool:
    for binding in block.bindings:
        expr = binding.expr
        if isinstance(expr, Const) and _has_nan(expr.value):
            return True
        if any(isinstance(o, Lit) and o.value != o.value for o in operands(expr)):
            return True
        if any(_holds_nan(inner) for _, inner in nested(expr)):
            return True
    return any(isinstance(o, Lit) and o.value != o.value for o in block.results)


def _has_nan(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def total_check(total: Var, given: Operand, span: Span) -> list[Binding]:
    """The check of what a cell held when it was closed."""
    b = Builder(span)
    if total.type == F64:
        b.apply(TOTAL, [total, given])
    elif isinstance(total.type, Array) and total.type.elem == F64:
        _check_elements(b, total, total.type.rank, given, ())
    return b.bindings


def _check_elements(
    b: Builder, array: Var, rank: int, given: Operand, indices: Sequence[Operand]
) -> Operand:
    if len(indices) == rank:
        (element,) = b.apply(Index(), [array, *indices])
        return b.apply(TOTAL, [element, given])[0]
    (size,) = b.apply(Dim(len(indices)), [array])
    index, inner = Var("i", I64), b.child()
    ok = _check_elements(inner, array, rank, given, (*indices, index))
    return b.apply(Build(), [size], [Lambda((index,), inner.block([ok]))])[0]
