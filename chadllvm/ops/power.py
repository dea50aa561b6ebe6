"""Powers of f64, and the length of a vector of two numbers.

Nothing fails: a negative base with a fraction gives NaN, a pole or an overflow an
infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.row import chain, float_like, row

Cotangents = Sequence[Operand | None]


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


def _hypot(x: float, y: float) -> float:
    """libm's, which NumPy calls; `math.hypot` is another one."""
    with np.errstate(all="ignore"):
        return float(np.hypot(x, y))


def _pow_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    x, y = args
    base, exponent = partial(_pow_base, b, x, y), partial(_pow_exponent, b, x, y)
    return chain(b, args, ct, base, exponent)


def _pow_base(b: Builder, x: Operand, y: Operand) -> Operand:
    """y x^(y-1), and 0 where y is 0, since x^0 = 1 for every x.

    That is a `scale`, no choice of a constant: it still has a derivative along y.
    """
    if isinstance(y, Lit):
        if y.value == 0.0:
            return lit(0.0)
        return b.prim("mul", y, b.prim("pow", x, lit(y.value - 1.0)))
    return b.prim("scale", y, b.prim("pow", x, b.prim("sub", y, lit(1.0))))


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
    inner = b.prim("mul", float_like(b, n, x), lower)
    return b.prim("select", b.prim("ieq", n, lit(0)), lit(0.0), inner)


def _literal_power(b: Builder, x: Operand, n: int) -> Operand:
    if n in (0, 1):
        return lit(float(n))
    lower = x if n == 2 else b.prim("powi", x, lit(n - 1))
    return b.prim("mul", lit(float(n)), lower)


def _hypot_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """x / r and y / r; at the origin, a corner, 0, as for `abs`."""
    x, y = args
    return chain(b, args, ct, partial(_part, b, x, r), partial(_part, b, y, r))


def _part(b: Builder, x: Operand, r: Operand) -> Operand:
    origin = b.prim("feq", r, lit(0.0))
    return b.prim("select", origin, lit(0.0), b.prim("div", x, r))


_POSITIVE = (0.5, 2.0)

row("pow", "ff->f", power, _pow_t, weight=25, domain=(_POSITIVE, (-2.0, 2.0)))
row("powi", "fi->f", _powi, _powi_t, weight=4, domain=(_POSITIVE,))
row("hypot", "ff->f", _hypot, _hypot_t, weight=12, domain=((-2.0, 2.0), _POSITIVE))
