"""Logarithms and exponentials of sums, products and odds, without overflow.

These are primitives, not formulas, because the derivative of a formula that is right at
the edges need not be: that of 1 / (1 + exp(-x)) is inf / inf where exp(-x) overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.arith import divide
from chadllvm.ops.exponential import LN2, logarithm
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]

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


def _expit_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """expit(x) expit(-x): 1 - expit(x) would have lost its digits for a large x."""
    (x,) = args
    return chain(
        b, args, ct, lambda: b.prim("mul", r, b.prim("expit", b.prim("neg", x)))
    )


def _log_expit_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("expit", b.prim("neg", args[0])))


def _logit_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """1 / (x (1 - x)), infinite at 0 and 1; the slope of the formula outside."""
    (x,) = args
    return chain(b, args, ct, lambda: b.prim("div", lit(1.0), _spread(b, x)))


def _spread(b: Builder, x: Operand) -> Operand:
    return b.prim("mul", x, b.prim("sub", lit(1.0), x))


def _logaddexp_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """The shares expit(x - y) and expit(y - x), a half each of equal infinities."""
    x, y = args
    return chain(b, args, ct, partial(_share, b, x, y), partial(_share, b, y, x))


def _share(b: Builder, x: Operand, y: Operand) -> Operand:
    """Only an undefined difference is replaced: another still has its derivative."""
    infinite = b.prim("feq", b.prim("abs", x), lit(math.inf))
    same = b.prim("and", infinite, b.prim("feq", x, y))
    return b.prim("expit", b.prim("select", same, lit(0.0), b.prim("sub", x, y)))


def _xlogy_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """log y and x / y, of which the second is 0 at the origin."""
    x, y = args
    return chain(b, args, ct, lambda: b.prim("log", y), lambda: _ratio(b, x, y))


def _xlog1py_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    x, y = args
    return chain(
        b,
        args,
        ct,
        lambda: b.prim("log1p", y),
        lambda: _ratio(b, x, b.prim("add", y, lit(1.0))),
    )


def _ratio(b: Builder, x: Operand, y: Operand) -> Operand:
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

row("expit", "f->f", _expit, _expit_t, _expit_l, weight=18)
row("log_expit", "f->f", _log_expit, _log_expit_t, _log_expit_l, weight=26)
row("logit", "f->f", _logit, _logit_t, _logit_l, weight=36, domain=_INSIDE)
row("logaddexp", "ff->f", _logaddexp, _logaddexp_t, _logaddexp_l, weight=30)
# x log y and x log(1 + y), which are 0 where x is 0, whatever number y is.
row(
    "xlogy",
    "ff->f",
    _xlogy,
    _xlogy_t,
    partial(_times_log_l, "log"),
    weight=15,
    domain=_PAIR,
)
row(
    "xlog1py",
    "ff->f",
    _xlog1py,
    _xlog1py_t,
    partial(_times_log_l, "log1p"),
    weight=15,
    domain=_PAIR,
)
