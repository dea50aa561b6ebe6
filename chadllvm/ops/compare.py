"""Comparisons, the operations of truth values, and the choice between two integers."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ops.row import row


def _and(x: bool, y: bool) -> bool:
    return x and y


def _or(x: bool, y: bool) -> bool:
    return x or y


def _iselect(c: bool, x: int, y: int) -> int:
    return x if c else y


def _iselect_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return loops.let("select", *args)


# Every comparison with NaN is false, but `fne` is true.
row("flt", "ff->b", operator.lt)
row("fle", "ff->b", operator.le)
row("feq", "ff->b", operator.eq)
row("fne", "ff->b", operator.ne)
row("ilt", "ii->b", operator.lt)
row("ile", "ii->b", operator.le)
row("ieq", "ii->b", operator.eq)
row("ine", "ii->b", operator.ne)
row("and", "bb->b", _and)
row("or", "bb->b", _or)
row("not", "b->b", operator.not_)
row("iselect", "bii->i", _iselect, None, _iselect_l)
