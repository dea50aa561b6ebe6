"""Rows: values of several types side by side in one buffer, as a C struct has them.

    (f64, i64, bool, bool)  →  | f64 | i64 | b b . . . . . . |     three words

A row takes whole words, so that a buffer of rows is one of words. Wide values come
first, in their order: each stands at a multiple of its size.

A buffer of the function itself grows where it is (`chad_arena_extend`), a large one by
a quarter. One that a loop or a recursion makes many times moves to another of twice the
room: its region is given back as a whole. So n words are written with less than 2 n
copied, and a large buffer of the function is not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chadllvm.ir import loops as l
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import PTR, Atom, Reg, Slot
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64, Scalar, Type

WORD = 8

# The least room that is made, in words: what any buffer takes.
_LEAST = 8
# A buffer that grows where it is has room for these words more than are needed, and for
# as many again, up to `_LITTLE`, or for a quarter.
_MORE = 64
_LITTLE = 1024
# More words than the runtime takes for little (`CHAD_GROWN_WORDS`).
_ALONE = 1025

_SIZES: dict[Type, int] = {BOOL: 1, F32: 4}


@dataclass(frozen=True, slots=True)
class RowShape:
    """Where the values of a row are, each in elements of its own type."""

    types: tuple[Scalar, ...]
    places: tuple[int, ...]
    words: int

    def begin(self, loops: LoopBuilder, ptr: Atom, number: Atom) -> Atom:
        """Where the row of a number begins, in a buffer of such rows."""
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
    for k in sorted(range(len(types)), key=lambda k: -size_of(types[k])):
        size = size_of(types[k])
        places[k] = end // size
        end += size
    return RowShape(tuple(types), tuple(places), -(-end // WORD))


class Words:
    """A buffer of words that grows; `region` is that of its home.

    Whoever writes to it holds no older pointer into it than from after `make_room`.
    """

    def __init__(self, loops: LoopBuilder, root: int, region: int, name: str) -> None:
        self.loops, self.root, self.region = loops, root, region
        none = loops.reg("none", PTR)
        loops.emit(l.Data(none, np.zeros(0), root))
        self._slot: Slot = loops.slot(name, none)
        self._room = loops.slot(f"{name}_room", Lit(0))

    @property
    def ptr(self) -> Reg:
        """Where it is now."""
        return self.loops.get(self._slot)

    def make_room(self, needed: Atom, used: Atom) -> None:
        """See that it has room for so many words; those that are used are kept."""
        loops = self.loops
        is_full = loops.let("ilt", loops.get(self._room), needed)
        loops.open(is_loop=False)
        ptr, room = self._grown(needed, used)
        loops.set(self._slot, ptr)
        loops.set(self._room, room)
        loops.emit(l.Branch(is_full, loops.close()))

    def trim(self, count: Slot, size: int, more: int = 0) -> None:
        """Give back what is behind so many rows of this size, but for some words more,
        if the buffer is the function's own."""
        if self.region != 0:
            return
        loops = self.loops
        is_large = loops.let("ilt", Lit(_ALONE), loops.get(self._room))
        loops.open(is_loop=False)
        used, room = loops.get(count), loops.get(self._room)
        if size > 1:
            used = loops.let("imul", used, Lit(size))
        least = loops.let("imax", loops.let("iadd", used, Lit(more)), Lit(_ALONE))
        left = loops.let("imin", least, room)
        ptr = loops.reg("p", PTR)
        sizes = self.ptr, room, used, left
        loops.emit(l.CallRuntime(ptr, "chad_arena_extend", sizes))
        loops.set(self._slot, ptr)
        loops.set(self._room, left)
        loops.emit(l.Branch(is_large, loops.close()))

    def _grown(self, needed: Atom, used: Atom) -> tuple[Reg, Atom]:
        loops, old = self.loops, self.ptr
        ptr = loops.reg("p", PTR)
        if self.region == 0:
            more = loops.let("imin", needed, Lit(_LITTLE))
            more = loops.let("imax", loops.let("shr", needed, Lit(2)), more)
            room = loops.let("iadd", needed, loops.let("iadd", more, Lit(_MORE)))
            sizes = loops.get(self._room), used, room
            loops.emit(l.CallRuntime(ptr, "chad_arena_extend", (old, *sizes)))
            return ptr, room
        room = loops.let("imax", loops.let("imul", needed, Lit(2)), Lit(_LEAST))
        loops.emit(l.Alloc(ptr, self.region, room, I64, self.root))
        loops.emit(l.Copy(ptr, old, used, I64, self.root, self.root))
        return ptr, room


def size_of(ty: Type) -> int:
    """The bytes of a scalar."""
    return _SIZES.get(ty, WORD)
