"""Logarithms and exponentials of sums, products and odds, without overflow.

These are primitives, not formulas, because the derivative of a formula that is right at
the edges need not be: that of 1 / (1 + exp(-x)) is inf / inf where exp(-x) overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import Page
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.scalar.arith import divide
from chadllvm.ops.scalar.exponential import LN2, logarithm
from chadllvm.ops.scalar.row import function, row
from chadllvm.support.diagnostic import Span

_log, _log1p = logarithm(math.log), logarithm(math.log1p, -1.0)


def _expit(x: float) -> float:
    small = math.exp(-abs(x))
    return small / (1.0 + small) if x < 0.0 else 1.0 / (1.0 + small)


def _log_expit(x: float) -> float:
    return (x if x < 0.0 else 0.0) - math.log1p(math.exp(-abs(x)))


def _logit(x: float) -> float:
    """log(x / (1 - x)); about 1/2, where that cancels, 2 artanh(2 x - 1)."""
    if 0.25 <= x <= 0.75:
        return 2.0 * math.atanh(2.0 * x - 1.0)
    return _log(divide(x, 1.0 - x))


def _logaddexp(x: float, y: float) -> float:
    if x == y:
        return x + LN2
    return (y if x < y else x) + math.log1p(math.exp(-abs(x - y)))


def _xlogy(x: float, y: float) -> float:
    return 0.0 if x == 0.0 and y == y else x * _log(y)


def _xlog1py(x: float, y: float) -> float:
    return 0.0 if x == 0.0 and y == y else x * _log1p(y)


def _expit_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    """expit(x) expit(-x): 1 - expit(x) would have lost its digits for a large x."""
    return b.prim("mul", r, b.prim("expit", b.prim("neg", x)))


def _logit_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    """1 / (x (1 - x)), infinite at 0 and 1; the slope of the formula outside."""
    spread = b.prim("mul", x, b.prim("sub", lit(1.0), x))
    return b.prim("div", lit(1.0), spread)


def _share(b: Builder, x: Operand, y: Operand) -> Operand:
    """expit(x - y), a half of equal infinities.

    Only an undefined difference is replaced: another still has its derivative.
    """
    infinite = b.prim("feq", b.prim("abs", x), lit(math.inf))
    same = b.prim("and", infinite, b.prim("feq", x, y))
    return b.prim("expit", b.prim("select", same, lit(0.0), b.prim("sub", x, y)))


def _ratio(b: Builder, x: Operand, y: Operand) -> Operand:
    """x / y, and 0 at the origin."""
    zero = lit(0.0)
    origin = b.prim("and", b.prim("feq", x, zero), b.prim("feq", y, zero))
    return b.prim("select", origin, zero, b.prim("div", x, y))


def _decay(loops: LoopBuilder, x: Atom) -> Atom:
    """exp(-|x|)"""
    return loops.let("exp", loops.let("neg", loops.let("abs", x)))


def _expit_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    small, negative = _decay(loops, x), loops.let("flt", x, Lit(0.0))
    above = loops.let("select", negative, small, Lit(1.0))
    return loops.let("div", above, loops.let("add", Lit(1.0), small))


def _log_expit_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    low = loops.let("select", loops.let("flt", x, Lit(0.0)), x, Lit(0.0))
    return loops.let("sub", low, loops.let("log1p", _decay(loops, x)))


def _logit_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    low, high = loops.let("fle", Lit(0.25), x), loops.let("fle", x, Lit(0.75))
    shifted = loops.let("sub", loops.let("mul", Lit(2.0), x), Lit(1.0))
    middle = loops.let("mul", Lit(2.0), loops.let("atanh", shifted))
    odds = loops.let("div", x, loops.let("sub", Lit(1.0), x))
    inside = loops.let("and", low, high)
    return loops.let("select", inside, middle, loops.let("log", odds))


def _logaddexp_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    x, y = args
    larger = loops.let("select", loops.let("flt", x, y), y, x)
    equal, difference = loops.let("feq", x, y), loops.let("sub", x, y)
    difference = loops.let("select", equal, Lit(0.0), difference)
    return loops.let("add", larger, loops.let("log1p", _decay(loops, difference)))


def _times_log_l(log: str, loops: LoopBuilder, args: Sequence[Atom], _: Span) -> Atom:
    x, y = args
    is_zero, is_number = loops.let("feq", x, Lit(0.0)), loops.let("feq", y, y)
    product = loops.let("mul", x, loops.let(log, y))
    empty = loops.let("and", is_zero, is_number)
    return loops.let("select", empty, Lit(0.0), product)


_INSIDE = ((0.1, 0.9),)
_PAIR = ((-2.0, 2.0), (0.5, 2.0))
_EXPIT = Page("all", "without overflow: 0 or 1 far out")
# x log y and x log(1 + y) are 0 where x is 0, whatever number y is.
_XLOGY = Page(
    "0 where x = 0, unless y is NaN",
    "by x the logarithm, also at x = 0; by y, 0 at the origin",
    "`xlogy(x, y)`, `xlog1py(x, y)`",
)

# fmt: off
function("expit", _expit, _expit_slope, lowering=_expit_l, names="scipy.special.expit",
    page=_EXPIT)
function("log_expit", _log_expit, lambda b, r, x: b.prim("expit", b.prim("neg", x)),
    lowering=_log_expit_l, names="scipy.special.log_expit", page=_EXPIT)
function("logit", _logit, _logit_slope, lowering=_logit_l, names="scipy.special.logit",
    page=Page("0 ≤ x ≤ 1; -inf at 0, inf at 1",
    "inf at 0 and 1; outside, 1/(x(1-x)) all the same"), domain=_INSIDE)
row("logaddexp", "ff->f", _logaddexp, lambda b, r, x, y: _share(b, x, y),
    lambda b, r, x, y: _share(b, y, x), lowering=_logaddexp_l, is_strict=True,
    names="numpy.logaddexp", page=Page("all",
    "in a tie, of infinities too, a half each", "`logaddexp logaddexp2`"))
row("xlogy", "ff->f", _xlogy, lambda b, r, x, y: b.prim("log", y),
    lambda b, r, x, y: _ratio(b, x, y), lowering=partial(_times_log_l, "log"),
    is_strict=True, names="scipy.special.xlogy", page=_XLOGY, domain=_PAIR)
row("xlog1py", "ff->f", _xlog1py, lambda b, r, x, y: b.prim("log1p", y),
    lambda b, r, x, y: _ratio(b, x, b.prim("add", y, lit(1.0))),
    lowering=partial(_times_log_l, "log1p"), is_strict=True,
    names="scipy.special.xlog1py", page=_XLOGY, domain=_PAIR)
