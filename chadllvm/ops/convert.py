"""Conversions between the scalar types."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import to_single
from chadllvm.ops.row import no_derivative, row

Cotangents = Sequence[Operand | None]

NAN_TO_INTEGER = "cannot convert float NaN to integer"
FLOAT_TOO_LARGE = "float is infinite or too large for a 64-bit integer"

_LIMIT = float(1 << 63)


def _truncate(x: float) -> int:
    if -_LIMIT <= x < _LIMIT:
        return int(x)
    if math.isnan(x):
        raise ProgramError(ValueError, NAN_TO_INTEGER)
    raise ProgramError(OverflowError, FLOAT_TOO_LARGE)


def _truncate_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    number = loops.let("feq", x, x)
    loops.check(number, "ValueError", NAN_TO_INTEGER, span)
    above, below = loops.let("fle", Lit(-_LIMIT), x), loops.let("flt", x, Lit(_LIMIT))
    in_range = loops.let("and", above, below)
    loops.check(in_range, "OverflowError", FLOAT_TOO_LARGE, span)
    return loops.let("to_int", x)


def _narrow_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return (b.prim("widen", ct),)


def _widen_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return (b.prim("narrow", ct),)


row("to_float", "i->f", float, no_derivative)
row("to_single", "i->s", to_single, no_derivative)
# The nearest f32, infinite if it is too large for one; and every f32 is an f64.
row("narrow", "f->s", to_single, _narrow_t)
row("widen", "s->f", float, _widen_t)
row("bool_to_int", "b->i", int)
row("truncate", "f->i", _truncate, None, _truncate_l, can_fail=True)
