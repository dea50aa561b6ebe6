"""Elementary functions of f64 and powers.

Nothing fails: outside its domain a function gives NaN, at a pole or on overflow an
infinity, as the C library does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _sin(x: float) -> float:
    return math.sin(x) if math.isfinite(x) else math.nan


def _cos(x: float) -> float:
    return math.cos(x) if math.isfinite(x) else math.nan


def _is_odd(y: float) -> bool:
    return math.fmod(y, 2.0) in (1.0, -1.0)


def power(x: float, y: float) -> float:
    """C's pow: NaN for a negative base with a fraction, infinities at poles."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and _is_odd(y) else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if _is_odd(y) else math.inf


def _powi(x: float, n: int) -> float:
    return power(x, float(n))


def _exp_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: r)


def _log_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("div", lit(1.0), args[0]))


def _sqrt_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 / (2 sqrt x), infinite at 0."""
    return chain(b, args, ct, lambda: b.prim("div", lit(0.5), r))


def _sin_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("cos", args[0]))


def _cos_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("neg", b.prim("sin", args[0])))


def _tanh_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 - tanh(x)^2"""
    return chain(b, args, ct, lambda: b.prim("sub", lit(1.0), b.prim("mul", r, r)))


def _pow_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    x, y = args
    base, exponent = partial(_pow_base, b, x, y), partial(_pow_exponent, b, x, y)
    return chain(b, args, ct, base, exponent)


def _pow_base(b: Builder, x: Operand, y: Operand) -> Operand:
    """y x^(y-1), and 0 where y is 0, since x^0 = 1 for every x."""
    if isinstance(y, Lit):
        if y.value == 0.0:
            return lit(0.0)
        return b.prim("mul", y, b.prim("pow", x, lit(y.value - 1.0)))
    inner = b.prim("mul", y, b.prim("pow", x, b.prim("sub", y, lit(1.0))))
    return b.prim("select", b.prim("feq", y, lit(0.0)), lit(0.0), inner)


def _pow_exponent(b: Builder, x: Operand, y: Operand) -> Operand:
    """x^y log x, and 0 where x is 0 and y is not negative.

    For y > 0 that is the limit; at 0^0, a jump, we take the side of larger y, as JAX.
    """
    product = b.prim("mul", b.prim("pow", x, y), b.prim("log", x))
    base_is_zero = b.prim("feq", x, lit(0.0))
    flat = b.prim("and", base_is_zero, b.prim("fle", lit(0.0), y))
    return b.prim("select", flat, lit(0.0), product)


def _powi_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return (*chain(b, args[:1], ct, lambda: _powi_base(b, *args)), None)


def _powi_base(b: Builder, x: Operand, n: Operand) -> Operand:
    """n x^(n-1), and 0 where n is 0."""
    if isinstance(n, Lit):
        return _literal_power(b, x, int(n.value))
    lower = b.prim("powi", x, b.prim("isub", n, lit(1)))
    inner = b.prim("mul", b.prim("to_float", n), lower)
    return b.prim("select", b.prim("ieq", n, lit(0)), lit(0.0), inner)


def _literal_power(b: Builder, x: Operand, n: int) -> Operand:
    if n in (0, 1):
        return lit(float(n))
    lower = x if n == 2 else b.prim("powi", x, lit(n - 1))
    return b.prim("mul", lit(float(n)), lower)


_POSITIVE = (0.5, 2.0)

row("exp", "f->f", _exp, _exp_t, weight=12)
row("log", "f->f", _log, _log_t, weight=12, domain=(_POSITIVE,))
row("sqrt", "f->f", _sqrt, _sqrt_t, weight=5, domain=(_POSITIVE,))
row("sin", "f->f", _sin, _sin_t, weight=12)
row("cos", "f->f", _cos, _cos_t, weight=12)
row("tanh", "f->f", math.tanh, _tanh_t, weight=12)
row("pow", "ff->f", power, _pow_t, weight=25, domain=(_POSITIVE, (-2.0, 2.0)))
row("powi", "fi->f", _powi, _powi_t, weight=4, domain=(_POSITIVE,))
