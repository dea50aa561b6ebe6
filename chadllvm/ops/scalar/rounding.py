"""Rounding, signs, remainders and digits of f64: functions made of pieces.

Where pieces meet, the derivative is the one that the rows below say: a step function
has none but 0, and a remainder has that of the piece its value is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import Page, ProgramError
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.scalar.row import (
    alone,
    libm,
    machine,
    no_derivative,
    one,
    row,
    runtime,
)
from chadllvm.support.diagnostic import Span

TOO_MANY_DIGITS = "round() takes -22 to 22 digits, found {0}"

# The largest power of ten that a float holds exactly.
MAX_DIGITS = 22

# Nothing is left of a float, or it is infinite, if it is moved by more places.
_FAR = 1 << 12


def _rounded(to_integer: Callable[[float], int]) -> Callable[[float], float]:
    """The function of floats that rounds so; it keeps the sign of a zero."""

    def meaning(x: float) -> float:
        return math.copysign(float(to_integer(x)), x) if math.isfinite(x) else x

    return meaning


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0)) if x == x else x


def _fmod(x: float, y: float) -> float:
    return math.fmod(x, y) if math.isfinite(x) and y != 0.0 else math.nan


def _remainder(x: float, y: float) -> float:
    return math.remainder(x, y) if math.isfinite(x) and y != 0.0 else math.nan


def _ldexp(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, max(-_FAR, min(exponent, _FAR)))
    except OverflowError:
        return math.copysign(math.inf, x)


def _exponent(x: float) -> int:
    return math.frexp(x)[1] if math.isfinite(x) else 0


def _round_to(x: float, digits: int) -> float:
    if abs(digits) > MAX_DIGITS:
        raise ProgramError(ValueError, TOO_MANY_DIGITS.format(digits))
    try:
        return round(x, digits) if math.isfinite(x) else x
    except OverflowError:
        return math.copysign(math.inf, x)


def _copysign_slope(b: Builder, r: Operand, x: Operand, y: Operand) -> Operand:
    """|x| with the sign of y: at 0 the derivative is 0, as for `abs`."""
    return b.prim("mul", b.prim("sign", x), b.prim("copysign", lit(1.0), y))


def _minus_quotient(b: Builder, r: Operand, x: Operand, y: Operand) -> Operand:
    """-q of a remainder x - q y, for an integer q that is constant on a piece.

    x - r is a multiple of y up to rounding, and what is near q rounds to q.
    """
    near = b.prim("div", b.prim("sub", x, r), y)
    return b.prim("neg", b.prim("rint", near))


def _ldexp_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Sequence[Operand | None]:
    """It is linear in x."""
    x, exponent = args
    return (None if isinstance(x, Lit) else b.prim("ldexp", ct, exponent), None)


def _sign_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    is_zero = loops.let("feq", x, Lit(0.0))
    signed = loops.let("select", is_zero, Lit(0.0), x)
    below, above = loops.let("flt", x, Lit(0.0)), loops.let("flt", Lit(0.0), x)
    signed = loops.let("select", below, Lit(-1.0), signed)
    return loops.let("select", above, Lit(1.0), signed)


def _round_to_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    x, digits = args
    if not isinstance(digits, Lit) or abs(digits.value) > MAX_DIGITS:
        low = loops.let("ile", Lit(-MAX_DIGITS), digits)
        few = loops.let("and", low, loops.let("ile", digits, Lit(MAX_DIGITS)))
        loops.check(few, "ValueError", TOO_MANY_DIGITS, span, digits)
    return loops.let("round_to", x, digits)


# In the middle of a piece.
_STEADY = ((2.1, 2.4),)
_PAIR = ((2.1, 2.4), (0.9, 1.0))
_STEP = Page(
    "all",
    "0 everywhere",
    "`floor ceil trunc fix rint round`: in `math` and as built-in an `int`, in NumPy"
    " a float; to the even one of two",
)
REMAINDER = Page(
    "NaN if x is infinite or y is 0 (`//`: x/y)",
    "as on the piece that the value belongs to: by x 1, by y minus the quotient",
    "`%`, `//`, `fmod`, `remainder`",
)

# fmt: off
for _name, _integer, _names in (
    ("floor", math.floor, ""),
    ("ceil", math.ceil, ""),
    ("trunc", math.trunc, ""),
    # To the nearest integer, the even one of two.
    ("rint", round, "numpy.rint scipy.special.round"),
):
    row(_name, "f->f", _rounded(_integer), transpose=no_derivative, code=machine(1, 8),
        is_strict=True, names=_names, page=_STEP, domain=_STEADY)
# -1, 0 or 1, and NaN of NaN.
row("sign", "f->f", _sign, transpose=no_derivative, lowering=_sign_l, is_strict=True,
    page=Page("all; sign(NaN) is NaN",
    "0 everywhere; `heaviside(x, h)` by h: 1 at x = 0", "`sign heaviside`, `signbit`"),
    domain=_STEADY)
row("copysign", "ff->f", math.copysign, _copysign_slope, None, code=machine(1, 1),
    names="math.copysign numpy.copysign",
    page=Page("all", "by x, 0 at 0; by y, 0", "`copysign(x, y)`"),
    domain=(*_STEADY, (0.5, 2.0)))
# C's remainders, of the truncated and of the nearest quotient: NaN of an infinite x or
# of a zero y.
row("fmod", "ff->f", _fmod, one, _minus_quotient, code=alone(17, 18), is_strict=True,
    check="remainder_defined", names="math.fmod", page=REMAINDER, domain=_PAIR)
row("remainder", "ff->f", _remainder, one, _minus_quotient,
    code=libm(34, 37, has_vectors=False), is_strict=True, check="remainder_defined",
    names="math.remainder", page=REMAINDER, domain=_PAIR)
# x times 2 to the power of an integer.
row("ldexp", "fi->f", _ldexp, transpose=_ldexp_t, code=alone(12, 13, is_double=True),
    is_strict=True, page=Page("all", "of the mantissa 2⁻ᵉ, of the exponent none; 2ⁿ",
    "`frexp`, `ldexp(x, n)`"))
# The e for which |x| is between 2^(e-1) and 2^e; 0 of 0, infinities and NaN.
row("exponent", "f->i", _exponent, code=alone(5, 13, is_double=True))
# Python's `round(x, digits)`: to the even one of two in the same distance, exactly.
row("round_to", "fi->f", _round_to, transpose=no_derivative, lowering=_round_to_l,
    code=runtime(7, 30), can_fail=True, is_strict=True,
    page=Page("n from -22 to 22, as Python or NumPy round; integers exactly, by 18"
    " places at most", "0 everywhere", "`round(x, n)`, `np.round(x, n)`"),
    domain=_STEADY)
