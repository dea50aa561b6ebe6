"""Trigonometric and hyperbolic functions of f64 and their inverses; angles in radians.

Nothing fails: outside its domain a function gives NaN, at a pole or on overflow an
infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Page
from chadllvm.ir.term import Operand
from chadllvm.ops.scalar.exponential import or_infinity
from chadllvm.ops.scalar.row import chain, function, libm, row


def _or_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    def meaning(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan

    return meaning


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _atanh(x: float) -> float:
    if -1.0 < x < 1.0:
        return math.atanh(x)
    return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan


def _reciprocal(b: Builder, x: Operand) -> Operand:
    return b.prim("div", lit(1.0), x)


def _tan_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    return b.prim("add", lit(1.0), b.prim("mul", r, r))


def _around(b: Builder, x: Operand) -> tuple[Operand, Operand]:
    """1 - x and 1 + x, of which no digits cancel where x is near 1 or -1."""
    return b.prim("sub", lit(1.0), x), b.prim("add", lit(1.0), x)


def _asin_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    """1 / sqrt(1 - x^2), infinite at 1 and -1."""
    return _reciprocal(b, b.prim("sqrt", b.prim("mul", *_around(b, x))))


def _atan_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    square = b.prim("mul", x, x)
    return _reciprocal(b, b.prim("add", lit(1.0), square))


def _atan2_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Sequence[Operand | None]:
    """x / (x^2 + y^2) and -y / (x^2 + y^2), NaN at the origin, where no limit exists.

    The sum of squares, which may overflow or vanish, is not formed.
    """
    y, x = args
    size = b.prim("hypot", x, y)
    return chain(
        b,
        args,
        ct,
        lambda: b.prim("div", b.prim("div", x, size), size),
        lambda: b.prim("neg", b.prim("div", b.prim("div", y, size), size)),
    )


def _acosh_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    """1 / (sqrt(x - 1) sqrt(x + 1)): infinite at 1, NaN below."""
    below, above = b.prim("sub", x, lit(1.0)), b.prim("add", x, lit(1.0))
    product = b.prim("mul", b.prim("sqrt", below), b.prim("sqrt", above))
    return _reciprocal(b, product)


_INSIDE = ((-0.9, 0.9),)
_SIN = Page("NaN at ±inf")
_ASIN = Page("-1 ≤ x ≤ 1", "infinite at ±1, NaN outside")
_SINH = Page("all", "tanh: 1 - tanh², exact to 10⁻¹⁶ absolutely")

# fmt: off
function("sin", _or_nan(math.sin), lambda b, r, x: b.prim("cos", x), code=libm(17, 48),
    check="no_pole", names="math.sin numpy.sin", page=_SIN)
function("cos", _or_nan(math.cos), lambda b, r, x: b.prim("neg", b.prim("sin", x)),
    code=libm(15, 46), check="no_pole", names="math.cos numpy.cos", page=_SIN)
function("tan", _or_nan(math.tan), _tan_slope, code=libm(21, 85), check="no_pole",
    names="math.tan numpy.tan", page=_SIN, domain=((-1.2, 1.2),))
function("asin", _or_nan(math.asin), _asin_slope, code=libm(16, 56), check="no_pole",
    names="math.asin numpy.arcsin", page=_ASIN, domain=_INSIDE)
function("acos", _or_nan(math.acos),
    lambda b, r, x: b.prim("neg", _asin_slope(b, r, x)), code=libm(19, 57),
    check="no_pole", names="math.acos numpy.arccos", page=_ASIN, domain=_INSIDE)
function("atan", math.atan, _atan_slope, code=libm(17, 78),
    names="math.atan numpy.arctan", page=Page("all"))
row("atan2", "ff->f", math.atan2, transpose=_atan2_t, code=libm(45, 97),
    names="math.atan2 numpy.arctan2", page=Page("all; signed zeros choose the side",
    "NaN at the origin and at infinity", "`atan2(y, x)` (`arctan2`)"),
    domain=((0.5, 2.0), (-2.0, 2.0)))
function("sinh", _sinh, lambda b, r, x: b.prim("cosh", x), code=libm(35, 110),
    check="no_overflow", names="math.sinh numpy.sinh", page=_SINH)
function("cosh", or_infinity(math.cosh), lambda b, r, x: b.prim("sinh", x),
    code=libm(21, 61), check="no_overflow", names="math.cosh numpy.cosh", page=_SINH)
function("tanh", math.tanh,
    lambda b, r, x: b.prim("sub", lit(1.0), b.prim("mul", r, r)), code=libm(15, 68),
    names="math.tanh numpy.tanh", page=_SINH)
# 1 / sqrt(1 + x^2), where the square may not overflow.
function("asinh", math.asinh,
    lambda b, r, x: _reciprocal(b, b.prim("hypot", lit(1.0), x)), code=libm(40, 123),
    names="math.asinh numpy.arcsinh", page=_SINH)
function("acosh", lambda x: math.acosh(x) if x >= 1.0 else math.nan, _acosh_slope,
    code=libm(27, 97), check="no_pole", names="math.acosh numpy.arccosh",
    page=Page("x ≥ 1", "inf at 1, NaN below"), domain=((1.5, 3.0),))
# 1 / (1 - x^2), infinite at 1 and -1; the slope of the formula outside.
function("atanh", _atanh, lambda b, r, x: _reciprocal(b, b.prim("mul", *_around(b, x))),
    code=libm(32, 104), check="no_pole", names="math.atanh numpy.arctanh",
    page=Page("-1 < x < 1; ±inf at ±1", "inf at ±1; outside, 1/(1-x²) all the same"),
    domain=_INSIDE)
