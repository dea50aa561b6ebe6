"""The error function, gamma and its logarithmic derivatives, and sin(x) / x.

Families that are closed under differentiation by their order: the derivative of
polygamma(n, x) is polygamma(n + 1, x), and so for `sinc`. Machine code calls libm, and
the runtime's `special.c` for what libm lacks; the formulas are in `gamma_family.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import Page, Speculation
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.scalar.gamma_family import digamma, is_pole, lgamma, polygamma, sinc
from chadllvm.ops.scalar.row import Slope, function, libm, row, runtime
from chadllvm.support.diagnostic import Span

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


def _bell(factor: float) -> Slope:
    """factor * exp(-x^2)"""

    def slope(b: Builder, r: Operand, x: Operand) -> Operand:
        power = b.prim("exp", b.prim("neg", b.prim("mul", x, x)))
        return b.prim("mul", lit(factor), power)

    return slope


def _next(name: str) -> Slope:
    """The member of the family of the next order."""

    def slope(b: Builder, r: Operand, order: Operand, x: Operand) -> Operand:
        if isinstance(order, Lit):
            return b.prim(name, lit(int(order.value) + 1), x)
        return b.prim(name, b.prim("iadd", order, lit(1)), x)

    return slope


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
_POLYGAMMA = Page(
    "n ≥ 0, else NaN; odd n: inf at the poles; even n: -inf at 0, NaN at -1, …",
    names="`polygamma(n, x)`",
)
_ERF = Page("all", names="`erf erfc` (SciPy: `ndtr`)")

# fmt: off
function("erf", math.erf, _bell(_TWO_OVER_ROOT_PI), code=libm(26, 73),
    names="math.erf scipy.special.erf", page=_ERF)
function("erfc", math.erfc, _bell(-_TWO_OVER_ROOT_PI), code=libm(26, 75),
    names="math.erfc scipy.special.erfc", page=_ERF)
row("gamma", "f->f", _gamma, lambda b, r, x: b.prim("mul", r, b.prim("digamma", x)),
    code=libm(83, 145, "tgamma", has_vectors=False), check="no_pole",
    names="math.gamma scipy.special.gamma",
    page=Page("inf at 0, -inf at -0, NaN at -1, -2, …", "NaN at the poles"),
    domain=_RIGHT)
function("lgamma", lgamma, lambda b, r, x: b.prim("digamma", x),
    code=runtime(23, 65, speculation=Speculation.SAFE), check="no_pole",
    names="math.lgamma scipy.special.gammaln",
    page=Page("log of the absolute value; inf at 0, -1, …", "-inf at 0, NaN at -1, …"),
    domain=_RIGHT)
row("digamma", "f->f", digamma, lambda b, r, x: b.prim("polygamma", lit(1), x),
    code=runtime(58, 128, speculation=Speculation.SAFE),
    names="scipy.special.digamma scipy.special.psi",
    page=Page("-inf at 0, inf at -0, NaN at -1, -2, …", "inf at the poles"),
    domain=_RIGHT)
# The n-th derivative of digamma, and of sin(x) / x: NaN if n is negative, and in the
# second if it is above 10 000.
row("polygamma", "if->f", polygamma, None, _next("polygamma"), lowering=_polygamma_l,
    code=runtime(170, 205, most=1 << 9), domain=_RIGHT, page=_POLYGAMMA)
row("sinc", "if->f", sinc, None, _next("sinc"), lowering=_sinc_l,
    code=runtime(110, 185, most=1 << 9), is_strict=True,
    page=Page("sin πx / πx, 1 at 0", "0 at 0", "`sinc`"))
