"""Rounding, signs and remainders of f64: functions made of pieces.

Where pieces meet, the derivative is the one that the rows below say: a step function
has none but 0, and a remainder has that of the piece its value is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.row import chain, no_derivative, row

Cotangents = Sequence[Operand | None]


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


def _copysign_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """|x| with the sign of y: at 0 the derivative is 0, as for `abs`."""
    x, y = args
    return chain(
        b,
        args,
        ct,
        lambda: b.prim("mul", b.prim("sign", x), b.prim("copysign", lit(1.0), y)),
        None,
    )


def _remainder_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """r = x - q y for an integer q that is constant on a piece."""
    x, y = args
    return chain(b, args, ct, lambda: lit(1.0), partial(_minus_quotient, b, x, y, r))


def _minus_quotient(b: Builder, x: Operand, y: Operand, r: Operand) -> Operand:
    """x - r is a multiple of y up to rounding, and what is near q rounds to q."""
    near = b.prim("div", b.prim("sub", x, r), y)
    return b.prim("neg", b.prim("rint", near))


def _sign_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    is_zero = loops.let("feq", x, Lit(0.0))
    signed = loops.let("select", is_zero, Lit(0.0), x)
    below, above = loops.let("flt", x, Lit(0.0)), loops.let("flt", Lit(0.0), x)
    signed = loops.let("select", below, Lit(-1.0), signed)
    return loops.let("select", above, Lit(1.0), signed)


# In the middle of a piece.
_STEADY = ((2.1, 2.4),)
_PAIR = ((2.1, 2.4), (0.9, 1.0))

row("floor", "f->f", _rounded(math.floor), no_derivative, domain=_STEADY)
row("ceil", "f->f", _rounded(math.ceil), no_derivative, domain=_STEADY)
row("trunc", "f->f", _rounded(math.trunc), no_derivative, domain=_STEADY)
# To the nearest integer, the even one of two.
row("rint", "f->f", _rounded(round), no_derivative, domain=_STEADY)
# -1, 0 or 1, and NaN of NaN.
row("sign", "f->f", _sign, no_derivative, _sign_l, weight=3, domain=_STEADY)
row("copysign", "ff->f", math.copysign, _copysign_t, domain=(*_STEADY, (0.5, 2.0)))
# C's remainders, of the truncated and of the nearest quotient: NaN of an infinite x or
# of a zero y.
row("fmod", "ff->f", _fmod, _remainder_t, weight=8, domain=_PAIR)
row("remainder", "ff->f", _remainder, _remainder_t, weight=15, domain=_PAIR)
