"""Bits of i64, in two's complement.

NumPy's shifts take any count: 64 places or more, or a negative number of them, leave
nothing but the sign. `shift_count` is where Python's differ: it refuses a negative one.
Shifts to the left wrap around, as sums and products do.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ir.types import F32
from chadllvm.ops.scalar.integer import wrap
from chadllvm.ops.scalar.row import alone, row
from chadllvm.support.diagnostic import Span

NEGATIVE_SHIFT = "negative shift count"

_LARGEST = (1 << 63) - 1


def _shl(x: int, places: int) -> int:
    return wrap(x << places) if 0 <= places < 64 else 0


def _shr(x: int, places: int) -> int:
    return x >> (places if 0 <= places < 64 else 63)


def _sort_key(x: float) -> int:
    if x != x:
        return _LARGEST
    (key,) = struct.unpack("q", struct.pack("d", x + 0.0))
    return int(key) if key >= 0 else key ^ _LARGEST


def _sort_key_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    wide = loops.let("widen", x) if x.type == F32 else x
    key = loops.let("bits", wide)
    turned = loops.let("ixor", key, Lit(_LARGEST))
    key = loops.let("select", loops.let("ilt", key, Lit(0)), turned, key)
    key = loops.let("select", loops.let("feq", wide, Lit(0.0)), Lit(0), key)
    return loops.let("select", loops.let("feq", wide, wide), key, Lit(_LARGEST))


def _shift_count(places: int) -> int:
    if places < 0:
        raise ProgramError(ValueError, NEGATIVE_SHIFT)
    return places


def _shift_count_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (places,) = args
    loops.check(loops.let("ile", Lit(0), places), "ValueError", NEGATIVE_SHIFT, span)
    return places


# Integers in the order of floats, of which NaN is last and the zeros are the same.
row("sort_key", "f->i", _sort_key, lowering=_sort_key_l)
row("iand", "ii->i", operator.and_)
row("ior", "ii->i", operator.or_)
row("ixor", "ii->i", operator.xor)
# Where the count is no literal, it is compared with 64.
row("shl", "ii->i", _shl, code=alone(2, 3), check="shl_fits")
row("shr", "ii->i", _shr, code=alone(2, 3))
row("shift_count", "i->i", _shift_count, lowering=_shift_count_l, can_fail=True)
# The digits of the absolute value in base 2, and the ones among them.
row("bit_length", "i->i", int.bit_length, code=alone(2, 6))
row("bit_count", "i->i", int.bit_count, code=alone(2, 6))
