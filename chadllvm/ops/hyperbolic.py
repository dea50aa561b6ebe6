"""Hyperbolic functions of f64 and their inverses.

Nothing fails: outside its domain a function gives NaN, at a pole or on overflow an
infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Operand
from chadllvm.ops.exponential import or_infinity
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _acosh(x: float) -> float:
    return math.acosh(x) if x >= 1.0 else math.nan


def _atanh(x: float) -> float:
    if -1.0 < x < 1.0:
        return math.atanh(x)
    return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan


def _sinh_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("cosh", args[0]))


def _cosh_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("sinh", args[0]))


def _tanh_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 - (tanh x)^2"""
    return chain(b, args, ct, lambda: b.prim("sub", lit(1.0), b.prim("mul", r, r)))


def _asinh_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """1 / sqrt(1 + x^2), where the square may not overflow."""
    (x,) = args
    return chain(
        b, args, ct, lambda: b.prim("div", lit(1.0), b.prim("hypot", lit(1.0), x))
    )


def _acosh_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """1 / (sqrt(x - 1) sqrt(x + 1)): infinite at 1, NaN below."""
    return chain(b, args, ct, lambda: _acosh_slope(b, args[0]))


def _acosh_slope(b: Builder, x: Operand) -> Operand:
    below, above = b.prim("sub", x, lit(1.0)), b.prim("add", x, lit(1.0))
    product = b.prim("mul", b.prim("sqrt", below), b.prim("sqrt", above))
    return b.prim("div", lit(1.0), product)


def _atanh_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """1 / (1 - x^2), infinite at 1 and -1; the slope of the formula outside."""
    return chain(b, args, ct, lambda: _atanh_slope(b, args[0]))


def _atanh_slope(b: Builder, x: Operand) -> Operand:
    below, above = b.prim("sub", lit(1.0), x), b.prim("add", lit(1.0), x)
    return b.prim("div", lit(1.0), b.prim("mul", below, above))


row("sinh", "f->f", _sinh, _sinh_t, weight=15)
row("cosh", "f->f", or_infinity(math.cosh), _cosh_t, weight=15)
row("tanh", "f->f", math.tanh, _tanh_t, weight=12)
row("asinh", "f->f", math.asinh, _asinh_t, weight=20)
row("acosh", "f->f", _acosh, _acosh_t, weight=20, domain=((1.5, 3.0),))
row("atanh", "f->f", _atanh, _atanh_t, weight=20, domain=((-0.9, 0.9),))
