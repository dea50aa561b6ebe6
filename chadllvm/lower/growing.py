"""Collects results of a loop whose number of iterations is not known in front of it.

The buffers grow: if one is full, all moves to one of twice the room, so that n results
are written with less than 2 n copied. Scalars are collected together: one question, is
there room, is asked in a step, however many arrays there are. Rows have their shape
from the first of them; rows of different shapes end the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom
from chadllvm.ir.term import Lambda, Lit, Var
from chadllvm.ir.types import Array, Box, Scalar
from chadllvm.ir.value import ROWS_DIFFER
from chadllvm.lower.collect import Collector, no_elements
from chadllvm.lower.represent import ArrayRep, Rep, element_type
from chadllvm.support.diagnostic import Span

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering

# The least room, in elements, of a buffer that grows: what any buffer takes. A short
# loop in a long one has a buffer for each of its runs.
_FIRST_ROOM = 8


class _Room:
    """The room that arrays have which grow together, in elements of each."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.room = lowering.loops.slot("room", Lit(0))
        self.made = lowering.loops.slot("made", Lit(0))
        self.arrays: list[_GrowingElements] = []

    def make(self, index: Atom) -> None:
        """See that all have room for the element at this index, the next one."""
        loops = self.lowering.loops
        after = loops.let("iadd", index, Lit(1))
        is_full = loops.let("ilt", loops.get(self.room), after)
        loops.open(is_loop=False)
        twice = loops.let("imul", loops.get(self.room), Lit(2))
        room = loops.let("imax", twice, Lit(_FIRST_ROOM))
        for array in self.arrays:
            array.move(index, room)
        loops.set(self.room, room)
        loops.emit(l.Branch(is_full, loops.close(), grows=True))
        loops.set(self.made, after)


class _GrowingElements(Collector):
    """Scalars or boxes of a loop whose number of steps is not known in front of it."""

    def __init__(
        self, lowering: Lowering, var: Var, elem: Scalar | Box, room: _Room
    ) -> None:
        super().__init__(lowering, var, Lit(0))
        self.elem = elem
        self.root = lowering.roots.new()
        self.ptr = lowering.loops.slot(var.name, no_elements(lowering, self.root))
        self.room = room
        self.room.arrays.append(self)

    def move(self, size: Atom, room: Atom) -> None:
        """Move the elements to a new buffer with room for so many."""
        loops = self.lowering.loops
        old = ArrayRep(loops.get(self.ptr), (size,), self.elem, self.root)
        ptr = loops.reg("p", PTR)
        region = self.lowering.region(self.lowering.life.home(self.var))
        words = loops.product([room, Lit(old.words)])
        loops.emit(l.Alloc(ptr, region, words, old.machine, self.root))
        self.lowering.copy_into(replace(old, ptr=ptr), old)
        loops.set(self.ptr, ptr)

    def collect(self, index: Atom, result: Rep) -> None:
        if self.room.arrays[0] is self:
            self.room.make(index)
        ptr = self.lowering.loops.get(self.ptr)
        now = ArrayRep(ptr, (self.count,), self.elem, self.root)
        self.lowering.store(now, index, result)

    def finish(self) -> None:
        loops = self.lowering.loops
        made = loops.get(self.room.made)
        loops.is_count(made)
        rep = ArrayRep(loops.get(self.ptr), (made,), self.elem, self.root)
        self.lowering.bind(self.var, rep)


class _GrowingRows(Collector):
    """Rows of such a loop; the first of them decides the shape."""

    def __init__(self, lowering: Lowering, var: Var, row: Array, span: Span) -> None:
        super().__init__(lowering, var, Lit(0))
        self.elem = element_type(row)
        self.span = span
        loops = lowering.loops
        self.root = lowering.roots.new()
        self.ptr = loops.slot(var.name, no_elements(lowering, self.root))
        self.room = loops.slot(f"{var.name}_room", Lit(0))
        self.made = loops.slot(f"{var.name}_made", Lit(0))
        self.dims = [loops.slot(f"{var.name}_n", Lit(0)) for _ in range(row.rank)]

    def collect(self, index: Atom, result: Rep) -> None:
        loops = self.lowering.loops
        assert isinstance(result, ArrayRep)
        self._agree(index, result.dims)
        after = loops.let("iadd", index, Lit(1))
        grown = ArrayRep(Lit(0), (after, *result.dims), self.elem, self.root)
        self._make_room(grown, index)
        now = replace(grown, ptr=loops.get(self.ptr))
        self.lowering.copy_into(self.lowering.row(now, [index]), result)
        loops.set(self.made, after)

    def _agree(self, index: Atom, dims: Sequence[Atom]) -> None:
        loops = self.lowering.loops
        is_first = loops.let("ieq", index, Lit(0))
        loops.open(is_loop=False)
        for slot, dim in zip(self.dims, dims, strict=True):
            loops.set(slot, dim)
        loops.emit(l.Branch(is_first, loops.close()))
        for slot, dim in zip(self.dims, dims, strict=True):
            same = loops.let("ieq", loops.get(slot), dim)
            loops.check(same, "ValueError", ROWS_DIFFER, self.span)

    def _make_room(self, grown: ArrayRep, index: Atom) -> None:
        loops = self.lowering.loops
        needed = self.lowering.size(grown)
        is_full = loops.let("ilt", loops.get(self.room), needed)
        loops.open(is_loop=False)
        twice = loops.let("imul", loops.get(self.room), Lit(2))
        least = loops.let("imax", needed, Lit(_FIRST_ROOM))
        room = loops.let("imax", twice, least)
        ptr = loops.reg("p", PTR)
        region = self.lowering.region(self.lowering.life.home(self.var))
        loops.emit(l.Alloc(ptr, region, room, grown.machine, self.root))
        old = replace(grown, ptr=loops.get(self.ptr), dims=(index, *grown.dims[1:]))
        self.lowering.copy_into(replace(old, ptr=ptr), old)
        loops.set(self.ptr, ptr)
        loops.set(self.room, room)
        loops.emit(l.Branch(is_full, loops.close()))

    def finish(self) -> None:
        loops = self.lowering.loops
        dims = tuple(loops.get(slot) for slot in (self.made, *self.dims))
        for dim in dims:
            loops.is_count(dim)
        rep = ArrayRep(loops.get(self.ptr), dims, self.elem, self.root)
        self.lowering.bind(self.var, rep)


def growing(
    lowering: Lowering, variables: Sequence[Var], body: Lambda, first: int, span: Span
) -> list[Collector]:
    """Collectors for a loop whose number of steps is not known in front of it."""
    found: list[Collector] = []
    room: _Room | None = None
    for var, row in zip(variables, body.body.types[first:], strict=True):
        if isinstance(row, Array):
            found.append(_GrowingRows(lowering, var, row, span))
        else:
            room = room or _Room(lowering)
            found.append(_GrowingElements(lowering, var, element_type(row), room))
    return found
