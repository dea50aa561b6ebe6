"""Powers of f64, and the length of a vector of two numbers.

Nothing fails: a negative base with a fraction gives NaN, a pole or an overflow an
infinity.
"""

from __future__ import annotations

import math

import numpy as np

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Page, Speculation
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.scalar.row import float_like, libm, machine, row


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


def _pow_base(b: Builder, r: Operand, x: Operand, y: Operand) -> Operand:
    """y x^(y-1), and 0 where y is 0, since x^0 = 1 for every x.

    That is a `scale`, no choice of a constant: it still has a derivative along y.
    """
    if isinstance(y, Lit):
        if y.value == 0.0:
            return lit(0.0)
        return b.prim("mul", y, b.prim("pow", x, lit(y.value - 1.0)))
    return b.prim("scale", y, b.prim("pow", x, b.prim("sub", y, lit(1.0))))


def _pow_exponent(b: Builder, r: Operand, x: Operand, y: Operand) -> Operand:
    """x^y log x, and 0 where x is 0 and y is not negative.

    For y > 0 that is the limit; at 0^0, a jump, we take the side of larger y, as JAX.
    """
    product = b.prim("mul", b.prim("pow", x, y), b.prim("log", x))
    base_is_zero = b.prim("feq", x, lit(0.0))
    flat = b.prim("and", base_is_zero, b.prim("fle", lit(0.0), y))
    return b.prim("select", flat, lit(0.0), product)


def _powi_base(b: Builder, r: Operand, x: Operand, n: Operand) -> Operand:
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


def _part(b: Builder, x: Operand, r: Operand) -> Operand:
    """x / r; at the origin, a corner, 0, as for `abs`."""
    origin = b.prim("feq", r, lit(0.0))
    return b.prim("select", origin, lit(0.0), b.prim("div", x, r))


_POSITIVE = (0.5, 2.0)

# fmt: off
row("pow", "ff->f", power, _pow_base, _pow_exponent, code=libm(37, 92),
    check="pow_defined", names="math.pow numpy.float_power",
    page=Page("NaN for a negative base with a fraction; x⁰ = 1",
    "by x, 0 if y = 0; by y, 0 at x = 0 ≤ y", "`pow`, `**`, `float_power`"),
    domain=(_POSITIVE, (-2.0, 2.0)))
# A power by an i64, as repeated multiplication; most exponents are small literals.
row("powi", "fi->f", _powi, _powi_base, None,
    code=machine(4, 9, speculation=Speculation.SAFE), check="powi_defined",
    domain=(_POSITIVE,))
row("hypot", "ff->f", _hypot, lambda b, r, x, y: _part(b, x, r),
    lambda b, r, x, y: _part(b, y, r), code=libm(14, 58), names="numpy.hypot",
    page=Page("all; inf if one is, even beside NaN", "0 at the origin, NaN at infinity",
    "`hypot`, of any number of arguments in `math`"), domain=((-2.0, 2.0), _POSITIVE))
