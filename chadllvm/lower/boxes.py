"""Cells of arrays of boxes: arrays of boxes whose every array is a cell.

Such a cell is represented as the values are that are added to it: by words for pointers
and dimensions, and buffers that the pointers refer to. It is made like an array that
has its dimensions at all levels.
"""

from __future__ import annotations

from collections.abc import Callable

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Lit, Var
from chadllvm.ir.types import I64, Box
from chadllvm.lower.buffers import Buffers
from chadllvm.lower.represent import ArrayRep


def open_like(buffers: Buffers, var: Var, array: ArrayRep) -> ArrayRep:
    """A cell that holds zero, of the shape of an array of boxes."""
    new = buffers.allocate(var, array.dims, array.elem)
    _fill(buffers, new, array, buffers.region(buffers.life.contents(var)))
    return new


def _fill(buffers: Buffers, new: ArrayRep, array: ArrayRep, region: int) -> None:
    """Make a zero for each box of an array, and put a box of it into the new one."""

    def make(index: Atom) -> None:
        like = _content(buffers, array, index)
        is_flat = not isinstance(like.elem, Box)
        root = buffers.roots.inner(new.root)
        ptr = buffers.new_buffer(like, region, root, zero=is_flat)
        inner = ArrayRep(ptr, like.dims, like.elem, root)
        if not is_flat:
            _fill(buffers, inner, like, region)
        buffers.store(_flat(buffers, new), index, inner)

    _for_each(buffers, array, make)


def add_boxes(buffers: Buffers, cell: ArrayRep, value: ArrayRep) -> None:
    """Add an array of boxes to the cell of one."""

    def add(index: Atom) -> None:
        target, part = (_content(buffers, a, index) for a in (cell, value))
        if isinstance(part.elem, Box):
            add_boxes(buffers, target, part)
        else:
            add_array(buffers, target, part)

    _for_each(buffers, value, add)


def add_array(buffers: Buffers, cell: ArrayRep, value: ArrayRep) -> None:
    """Add an array of numbers to the cell of one."""

    def add(index: Atom) -> None:
        new = buffers.loops.load(value.ptr, index, value.machine, value.root, "d")
        buffers.loops.emit(l.AddTo(cell.ptr, index, new, cell.root))

    _for_each(buffers, value, add)


def _for_each(buffers: Buffers, array: ArrayRep, run: Callable[[Atom], None]) -> None:
    """A loop over the elements of an array in their order."""
    loops = buffers.loops
    count = loops.product(array.dims)
    loops.open(is_loop=True)
    index = loops.reg("i", I64)
    run(index)
    loops.emit(l.For(index, Lit(0), count, loops.close()))


def _content(buffers: Buffers, array: ArrayRep, index: Atom) -> ArrayRep:
    """The array that the box at an index refers to."""
    assert isinstance(array.elem, Box)
    offset = buffers.loops.mul(index, Lit(array.words))
    return buffers.load_box(array, offset, array.elem.content, "box")


def _flat(buffers: Buffers, array: ArrayRep) -> ArrayRep:
    """The array as one of rank one."""
    count = buffers.loops.product(array.dims)
    return ArrayRep(array.ptr, (count,), array.elem, array.root)
