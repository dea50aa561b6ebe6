"""Exponentials, logarithms and roots of f64.

Nothing fails: outside its domain a function gives NaN, at a pole or on overflow an
infinity, as the C library does. A slope is that of the formula even where a logarithm
is NaN: 1 / x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import Page
from chadllvm.ir.term import Operand
from chadllvm.ops.scalar.row import function, libm, machine
from chadllvm.support.diagnostic import Span

Function = Callable[[float], float]

LN2, LN10 = math.log(2.0), math.log(10.0)


def or_infinity(function: Function) -> Function:
    """The function, +inf where it overflows."""

    def meaning(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return meaning


def logarithm(function: Function, pole: float = 0.0) -> Function:
    """The function with IEEE's values at its pole and below."""

    def meaning(x: float) -> float:
        if x > pole:
            return function(x)
        return -math.inf if x == pole else math.nan

    return meaning


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _root_cube(x: float) -> float:
    return x * _sqrt(x)


def _root_cube_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    return loops.let("mul", x, loops.let("sqrt", x))


def _log1p_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    return b.prim("div", lit(1.0), b.prim("add", x, lit(1.0)))


def _cbrt_slope(b: Builder, r: Operand, x: Operand) -> Operand:
    """1 / (3 (cbrt x)^2), infinite at 0."""
    return b.prim("div", lit(1.0 / 3.0), b.prim("mul", r, r))


_POSITIVE = ((0.5, 2.0),)
_EXP = Page("all; overflow is inf", names="`exp exp2 expm1` (SciPy: `exp10`)")
_LOG = Page(
    "x ≥ 0; -inf at 0",
    "inf at 0; below, 1/x all the same",
    "`log log2 log10`, `math.log(x, base)`",
)

# fmt: off
function("exp", or_infinity(math.exp), lambda b, r, x: r, code=libm(11, 37),
    check="no_overflow", names="math.exp numpy.exp", page=_EXP)
function("exp2", or_infinity(math.exp2), lambda b, r, x: b.prim("mul", r, lit(LN2)),
    code=libm(9, 28), check="no_overflow",
    names="math.exp2 numpy.exp2 scipy.special.exp2", page=_EXP)
# The result plus 1 would have lost its digits where x is far below 0.
function("expm1", or_infinity(math.expm1), lambda b, r, x: b.prim("exp", x),
    code=libm(20, 85), check="no_overflow",
    names="math.expm1 numpy.expm1 scipy.special.expm1", page=_EXP)
function("log", logarithm(math.log), lambda b, r, x: b.prim("div", lit(1.0), x),
    code=libm(13, 48), check="no_pole", names="numpy.log", page=_LOG, domain=_POSITIVE)
function("log2", logarithm(math.log2), lambda b, r, x: b.prim("div", lit(1.0 / LN2), x),
    code=libm(13, 47), check="no_pole", names="math.log2 numpy.log2", page=_LOG,
    domain=_POSITIVE)
function("log10", logarithm(math.log10),
    lambda b, r, x: b.prim("div", lit(1.0 / LN10), x), code=libm(24, 71),
    check="no_pole", names="math.log10 numpy.log10", page=_LOG, domain=_POSITIVE)
function("log1p", logarithm(math.log1p, -1.0), _log1p_slope, code=libm(21, 74),
    check="no_pole", names="math.log1p numpy.log1p scipy.special.log1p",
    page=Page("x ≥ -1; -inf at -1", "inf at -1; below, 1/(1+x) all the same"),
    domain=((-0.5, 2.0),))
function("sqrt", _sqrt, lambda b, r, x: b.prim("div", lit(0.5), r), code=machine(6, 19),
    check="no_pole", names="math.sqrt numpy.sqrt",
    page=Page("x ≥ 0", "inf at 0, NaN below"), domain=_POSITIVE)
# A number times its root, to the bit. Its slope is 0 at 0, and no quotient.
function("root_cube", _root_cube,
    lambda b, r, x: b.prim("mul", b.prim("sqrt", x), lit(1.5)), lowering=_root_cube_l,
    domain=_POSITIVE)
function("cbrt", math.cbrt, _cbrt_slope, code=libm(40, 100),
    names="math.cbrt numpy.cbrt scipy.special.cbrt", page=Page("all", "inf at 0"),
    domain=_POSITIVE)
