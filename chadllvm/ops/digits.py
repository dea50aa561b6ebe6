"""The digits of an f64: its exponent, multiples by powers of two, decimal places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.row import no_derivative, row

TOO_MANY_DIGITS = "round() takes -22 to 22 digits, found {0}"

# The largest power of ten that a float holds exactly.
MAX_DIGITS = 22

# Nothing is left of a float, or it is infinite, if it is moved by more places.
_FAR = 1 << 12


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


def _ldexp_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Sequence[Operand | None]:
    """It is linear in x."""
    x, exponent = args
    return (None if isinstance(x, Lit) else b.prim("ldexp", ct, exponent), None)


def _round_to_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    x, digits = args
    if not isinstance(digits, Lit) or abs(digits.value) > MAX_DIGITS:
        low = loops.let("ile", Lit(-MAX_DIGITS), digits)
        few = loops.let("and", low, loops.let("ile", digits, Lit(MAX_DIGITS)))
        loops.check(few, "ValueError", TOO_MANY_DIGITS, span, digits)
    return loops.let("round_to", x, digits)


# x times 2 to the power of an integer.
row("ldexp", "fi->f", _ldexp, _ldexp_t, weight=10)
# The e for which |x| is between 2^(e-1) and 2^e; 0 of 0, infinities and NaN.
row("exponent", "f->i", _exponent, weight=8)
# Python's `round(x, digits)`: to the even one of two in the same distance, exactly.
row(
    "round_to",
    "fi->f",
    _round_to,
    no_derivative,
    _round_to_l,
    weight=30,
    can_fail=True,
    domain=((2.1, 2.4),),
)
