"""Cells: entries of the runtime's accumulation array, and what is known of them.

Which part of an array's cell is meant (a row, an element) is known when the code is
made: an entry, an offset, and dimensions. The cell of an array of boxes has an entry
for the array in each box, and an array of these entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64, Array, Box, Type, is_float
from chadllvm.lower.boxed.storage import Storage
from chadllvm.support.diagnostic import InternalError

# The offset of the cell of a scalar, which is no part of an array's.
WHOLE = Lit(-1)


@dataclass(frozen=True, slots=True)
class CellRep:
    """A cell, or the part of it that begins at an element and has these dimensions.

    The offset of a scalar's own cell is `WHOLE`. `is_chosen`: a branch has given it, so
    that a scalar's offset may be `WHOLE` or not.
    """

    cell: Atom
    offset: Atom
    dims: tuple[Atom, ...]
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class BoxCells:
    """The cell of an array of boxes: the array of its entries, and an array like it.

    Where boxes are nested, what stands for the inner cell is again such an array.
    """

    entries: Atom
    like: Atom
    content: Array

    @property
    def inner(self) -> Array:
        """The type of the arrays that the boxes refer to."""
        return _boxed(self.content)


AnyCell = CellRep | BoxCells
Rep = Atom | AnyCell


def _boxed(content: Array) -> Array:
    assert isinstance(content.elem, Box)
    return content.elem.content


def atoms_of(rep: Rep) -> tuple[Atom, ...]:
    """The atoms that stand for a value or a cell."""
    match rep:
        case CellRep(cell, offset, dims):
            return (cell, offset, *dims)
        case BoxCells(entries, like):
            return (entries, like)
        case _:
            return (rep,)


def rebuilt(kind: Rep, atoms: Sequence[Atom]) -> Rep:
    """What stands for one of several of a kind, by the atoms that a branch chose."""
    match kind:
        case CellRep():
            return CellRep(atoms[0], atoms[1], tuple(atoms[2:]), is_chosen=True)
        case BoxCells():
            return BoxCells(atoms[0], atoms[1], kind.content)
        case _:
            return atoms[0]


class Cells(Storage):
    """Emits what opens, adds to and closes cells."""

    def open_cell(self, content: Type, dims: Sequence[Atom]) -> AnyCell:
        """A cell that holds zero; `dims` as in `ir.term.Open`."""
        match content:
            case Array(Box()):
                return self._open_boxes(content, dims[0])
            case Array(elem) if is_float(elem):
                return self._open_array(dims)
            case _ if is_float(content):
                return CellRep(self.call("chad_cells_open_real", self.cells), WHOLE, ())
            case _:
                raise InternalError(f"boxed: a cell of a {content}")

    def _open_array(self, dims: Sequence[Atom]) -> CellRep:
        args = (self.cells, Lit(len(dims)), self.dims_in_memory(dims))
        cell = self.call("chad_cells_open_array", *args, name="cell")
        return CellRep(cell, Lit(0), tuple(dims))

    def _open_boxes(self, content: Array, like: Atom) -> BoxCells:
        inner = _boxed(content)
        entries = self.new_array(self._dims_of(like, content.rank), "cells")
        places, arrays = self.new_data(entries), self.data(like)
        with self.each(self.size(like)) as i:
            array = self.load(arrays, i, PTR)
            flat = not isinstance(inner.elem, Box)
            dims = self._dims_of(array, inner.rank) if flat else [array]
            opened = self.open_cell(inner, dims)
            self.store(places, i, atoms_of(opened)[0])
        return BoxCells(entries, like, content)

    def _dims_of(self, array: Atom, rank: int) -> list[Atom]:
        return [self.dim(array, axis) for axis in range(rank)]

    def part(self, rep: AnyCell, indices: Sequence[Atom]) -> AnyCell:
        """The part at these indices, through a box if it is one."""
        if not indices:
            return rep
        if isinstance(rep, CellRep):
            place = self.place(rep.dims[1:], indices)
            offset = self.loops.add(rep.offset, place)
            return CellRep(rep.cell, offset, rep.dims[len(indices) :])
        rank = rep.content.rank
        offset = self.place(self._dims_of(rep.like, rank)[1:], indices)
        if len(indices) == rank:
            return self._boxed_cell(rep, offset)
        entries, like = (
            self.call("chad_array_row", array, offset, Lit(len(indices)))
            for array in (rep.entries, rep.like)
        )
        rest = Array(rep.content.elem, rank - len(indices))
        return BoxCells(entries, like, rest)

    def _boxed_cell(self, rep: BoxCells, offset: Atom) -> AnyCell:
        """The cell of the array in the box at an offset."""
        inner = rep.inner
        array = self.load(self.data(rep.like), offset, PTR)
        entries = self.data(rep.entries)
        if isinstance(inner.elem, Box):
            return BoxCells(self.load(entries, offset, PTR), array, inner)
        cell = self.load(entries, offset, I64, "cell")
        return CellRep(cell, Lit(0), tuple(self._dims_of(array, inner.rank)))

    def add_to(self, rep: AnyCell, value: Atom) -> None:
        """Add to a scalar's cell, to an element of an array's, or to many of them."""
        if isinstance(rep, BoxCells):
            arrays = self.data(value)
            with self.each(self.size(value)) as i:
                self.add_to(self._boxed_cell(rep, i), self.load(arrays, i, PTR))
            return
        value = self.word(value)
        place = (self.cells, rep.cell, rep.offset, value)
        if value.type == PTR:
            self.run("chad_cells_add_array", *place)
        elif rep.is_chosen:
            self._add_to_either(rep, value)
        elif rep.offset is WHOLE:
            self.run("chad_cells_add_real", self.cells, rep.cell, value)
        else:
            self.run("chad_cells_add_element", *place)

    def _add_to_either(self, rep: CellRep, value: Atom) -> None:
        """The cell that a branch chose may be a scalar's own or an element."""
        whole = self.loops.let("ieq", rep.offset, WHOLE)
        self.loops.open(is_loop=False)
        self.run("chad_cells_add_real", self.cells, rep.cell, value)
        then = self.loops.close()
        self.loops.open(is_loop=False)
        place = (self.cells, rep.cell, rep.offset)
        self.run("chad_cells_add_element", *place, value)
        self.loops.emit(l.Branch(whole, then, self.loops.close()))

    def close_cell(self, rep: AnyCell) -> Atom:
        """The sum in a cell; that of an array is not yet added up."""
        if isinstance(rep, BoxCells):
            return self._close_boxes(rep)
        kind = "real" if rep.offset is WHOLE else "array"
        return self.call(f"chad_cells_close_{kind}", self.cells, rep.cell)

    def _close_boxes(self, rep: BoxCells) -> Atom:
        total = self.new_array(self._dims_of(rep.like, rep.content.rank), "total")
        places = self.new_data(total)
        with self.each(self.size(total)) as i:
            self.store(places, i, self.close_cell(self._boxed_cell(rep, i)))
        return total
