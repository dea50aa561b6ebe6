"""Sums of f32 are added up in lanes: many short chains instead of a long one.

    for i in 0 .. n:                      m = n / 32 * 32 if n is at least 64, else 0
      x = a[i]                            for i in 0 .. m:  # 32 lanes
      s += x                       →        x = a[i]
                                            s += x
                                          for i in m .. n: …

A chain of a thousand additions loses two of the seven digits that an f32 has. LLVM
makes vectors of a loop, with a chain for each lane, only in functions that are not very
large. These lanes are the program's own, so that the sum has the same digits wherever
the loop stands. A short sum, of which few digits can be lost, stays as it is, and so
does a loop that does more than to compute and to add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from chadllvm.ir.loops import (
    Accumulate,
    Branch,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.statements import (
    Body,
    copied,
    everywhere,
    over_bodies,
    over_inner,
    over_statements,
    whole,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64
from chadllvm.lower.legality import Legality, slot_uses
from chadllvm.lower.varying import Varying

# The lanes, by how many instructions there may be at most: what they compute has to
# stay in registers.
_LANES = ((9, 32), (16, 16), (24, 8))

# Sums of fewer numbers are short.
_MANY = 64


def singles(function: LoopFunction) -> LoopFunction:
    """Run innermost loops that add up numbers of f32 in lanes."""
    making = _Making(function)
    return over_bodies(function, making.body)


class _Making:
    """What is changed in the bodies of a function."""

    def __init__(self, function: LoopFunction) -> None:
        self._roots = function.roots
        self._uses = Counter(slot_uses(whole(function)))

    def body(self, body: Body) -> Body:
        return over_statements(body, self._statement)

    def _statement(self, stmt: Stmt) -> Iterable[Stmt]:
        match stmt:
            case For(lanes=1) if lanes := self._lanes(stmt):
                return _cut(stmt, lanes)
            case For() if stmt.lanes != 1:
                return [stmt]
            case _:
                return [over_inner(stmt, self.body)]

    def _lanes(self, loop: For) -> int:
        """How many lanes a loop gets; 0 for none."""
        inside = list(everywhere(loop.body))
        if not loop.commutes or loop.go is not None or _is_short(loop):
            return 0
        if not any(map(_is_single, inside)) or not all(map(_is_plain, inside)):
            return 0
        varying = Varying(loop, self._roots, ())
        legal = Legality(loop, varying, self._roots, self._uses, (), {})
        if not legal.holds or varying.alone:
            return 0
        return next((lanes for most, lanes in _LANES if len(inside) <= most), 0)


def _is_short(loop: For) -> bool:
    match loop.low, loop.high:
        case Lit(low), Lit(high):
            return high - low < _MANY
        case _:
            return False


def _is_single(stmt: Stmt) -> bool:
    return isinstance(stmt, Accumulate) and stmt.slot.type == F32


def _is_plain(stmt: Stmt) -> bool:
    """Whether a statement computes, reads or adds up, and does nothing else."""
    match stmt:
        case Let():
            return stmt.code.is_plain
        case Load() | Get() | Set() | Offset() | Accumulate() | Branch():
            return True
        case _:
            return False


def _cut(loop: For, lanes: int) -> Iterator[Stmt]:
    """The loop in lanes, and one for the numbers that do not fill them."""
    length, many = Reg("n", I64), Reg("many", BOOL)
    turns, whole, middle = Reg("turns", I64), Reg("whole", I64), Reg("middle", I64)
    start, low = Slot("start", I64), Reg("low", I64)
    yield Set(start, loop.low)
    yield Let(length, "isub", (loop.high, loop.low))
    yield Let(many, "ile", (Lit(_MANY), length))
    together = (
        Let(turns, "idiv", (length, Lit(lanes))),
        Let(whole, "imul", (turns, Lit(lanes))),
        Let(middle, "iadd", (loop.low, whole)),
        replace(loop, high=middle, lanes=lanes),
        Set(start, middle),
    )
    yield Branch(many, together)
    yield Get(low, start)
    yield replace(copied(loop), low=low)
