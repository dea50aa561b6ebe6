"""Rows: values of several types side by side in one buffer, as a C struct has them.

    (f64, i64, bool, bool)  →  | f64 | i64 | b b . . . . . . |     three words

A row takes whole words, so that a buffer of rows is one of words. Wide values come
first, in their order: each stands at a multiple of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chadllvm.ir import loops as l
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64, Scalar

WORD = 8

_SIZES = {BOOL: 1, F32: 4}


@dataclass(frozen=True, slots=True)
class RowShape:
    """Where the values of a row are, each in elements of its own type."""

    types: tuple[Scalar, ...]
    places: tuple[int, ...]
    words: int

    def begin(self, loops: LoopBuilder, ptr: Atom, number: Atom) -> Atom:
        """Where the row of a number begins, in a buffer of rows."""
        index = loops.let("imul", number, Lit(self.words)) if self.words > 1 else number
        return loops.offset(ptr, index, I64)

    def load(
        self, loops: LoopBuilder, row: Atom, k: int, root: int, name: str = "t"
    ) -> Reg:
        """The value number k of a row."""
        return loops.load(row, Lit(self.places[k]), self.types[k], root, name)

    def store(
        self, loops: LoopBuilder, row: Atom, k: int, value: Atom, root: int
    ) -> None:
        """Put the value number k into a row."""
        loops.emit(l.Store(row, Lit(self.places[k]), value, root))


def row_shape(types: Sequence[Scalar]) -> RowShape:
    """The shape of rows of these values."""
    places, end = [0] * len(types), 0
    for k in sorted(range(len(types)), key=lambda k: -_size(types[k])):
        size = _size(types[k])
        places[k] = end // size
        end += size
    return RowShape(tuple(types), tuple(places), -(-end // WORD))


def _size(ty: Scalar) -> int:
    return _SIZES.get(ty, WORD)
