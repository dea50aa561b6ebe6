"""The error function, gamma and its logarithmic derivatives, and sin(x) / x.

Families that are closed under differentiation by their order: the derivative of
polygamma(n, x) is polygamma(n + 1, x), and so for `sinc`. Machine code calls libm, and
the runtime's `special.c` for what libm lacks; the formulas are in `gamma_family.py`.
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
from chadllvm.ops.gamma_family import digamma, is_pole, lgamma, polygamma, sinc
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]

_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _gamma(x: float) -> float:
    """C's tgamma: NaN at -1, -2, … and at -inf, infinities at the zeros."""
    if x == 0.0:
        return math.copysign(math.inf, x)
    if is_pole(x) or x == -math.inf:
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _bell(b: Builder, x: Operand, factor: float) -> Operand:
    """factor * exp(-x^2)"""
    power = b.prim("exp", b.prim("neg", b.prim("mul", x, x)))
    return b.prim("mul", lit(factor), power)


def _erf_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, partial(_bell, b, args[0], _TWO_OVER_ROOT_PI))


def _erfc_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, partial(_bell, b, args[0], -_TWO_OVER_ROOT_PI))


def _gamma_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("mul", r, b.prim("digamma", args[0])))


def _lgamma_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("digamma", args[0]))


def _digamma_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("polygamma", lit(1), args[0]))


def _polygamma_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, None, partial(_next, b, "polygamma", *args))


def _sinc_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, None, partial(_next, b, "sinc", *args))


def _next(b: Builder, name: str, order: Operand, x: Operand) -> Operand:
    """The member of the family of the next order."""
    if isinstance(order, Lit):
        return b.prim(name, lit(int(order.value) + 1), x)
    return b.prim(name, b.prim("iadd", order, lit(1)), x)


def _polygamma_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    order, x = args
    if isinstance(order, Lit) and order.value == 0:
        return loops.let("digamma", x)
    return loops.let("polygamma", order, x)


def _sinc_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """For order 0 in line, where it can be vectorised."""
    order, x = args
    if not isinstance(order, Lit) or order.value != 0:
        return loops.let("sinc", order, x)
    far = loops.let("feq", loops.let("abs", x), Lit(math.inf))
    ratio = loops.let("div", loops.let("sin", x), x)
    ratio = loops.let("select", loops.let("feq", x, Lit(0.0)), Lit(1.0), ratio)
    return loops.let("select", far, Lit(0.0), ratio)


_RIGHT = ((0.5, 3.0),)

row("erf", "f->f", math.erf, _erf_t, weight=20)
row("erfc", "f->f", math.erfc, _erfc_t, weight=20)
row("gamma", "f->f", _gamma, _gamma_t, weight=60, domain=_RIGHT)
row("lgamma", "f->f", lgamma, _lgamma_t, weight=40, domain=_RIGHT)
row("digamma", "f->f", digamma, _digamma_t, weight=60, domain=_RIGHT)
# The n-th derivative of digamma, and of sin(x) / x: NaN if n is negative, and in the
# second if it is above 10 000.
row(
    "polygamma",
    "if->f",
    polygamma,
    _polygamma_t,
    _polygamma_l,
    weight=150,
    domain=_RIGHT,
)
row("sinc", "if->f", sinc, _sinc_t, _sinc_l, weight=60)
