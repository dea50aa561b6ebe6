"""Conversions between the scalar types."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError, Transpose
from chadllvm.ir.term import Lit
from chadllvm.ir.types import to_single
from chadllvm.ops.scalar.row import machine, no_derivative, row
from chadllvm.support.diagnostic import Span

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


def _converted(back: str) -> Transpose:
    return lambda b, args, r, ct: (b.prim(back, ct),)


# fmt: off
row("to_float", "i->d", float, transpose=no_derivative, code=machine(1, 5))
row("to_single", "i->s", to_single, transpose=no_derivative, code=machine(1, 5))
# The nearest f32, infinite if it is too large for one; and every f32 is an f64.
for _name, _signature, _meaning, _back in (
    ("narrow", "d->s", to_single, "widen"),
    ("widen", "s->d", float, "narrow"),
):
    row(_name, _signature, _meaning, transpose=_converted(_back), code=machine(1, 5),
        is_strict=True)
row("bool_to_int", "b->i", int)
row("truncate", "f->i", _truncate, lowering=_truncate_l, can_fail=True)
