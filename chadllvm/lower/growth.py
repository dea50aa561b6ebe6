"""Arrays that grow at their end: a buffer with room behind the last element.

    s = iterate(n, a) { i, s ->           the pointer and the room are slots, which all
      yield append(s, x) }                names of the state share

An append where nobody looks at the shorter array any more (`inplace.py`) stores the
element, after moving the array to a buffer of twice the room if there is none left; so
n appends copy less than 2 n elements. Elsewhere it is a copy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom
from chadllvm.ir.term import Binding, Lit, Operand
from chadllvm.lower.reasons import EXACT, Reason
from chadllvm.lower.represent import ArrayRep, Growth, Rep

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering

# The least room, in elements or rows, that is made for an array that grows.
_FIRST_ROOM = 8


def append(
    lowering: Lowering, binding: Binding, array: Operand, value: Operand
) -> None:
    """`var = append(array, value)`"""
    (var,) = binding.vars
    source, row = lowering.array(array), lowering.rep(value)
    size = source.dims[0]
    rest = row.dims if isinstance(row, ArrayRep) and len(source.dims) > 1 else ()
    dims = (lowering.loops.let("iadd", size, Lit(1)), *rest)
    if binding in lowering.in_place.taken and source.growth is not None:
        grown = ArrayRep(source.ptr, dims, source.elem, source.root, source.growth)
        target = _with_room(lowering, grown, source, source.growth)
    else:
        target = lowering.allocate(var, dims, source.elem)
        lowering.copy_into(replace(target, dims=source.dims), source)
        reason = lowering.in_place.refused.get(binding, Reason(EXACT))
        lowering.notes.copied(array, binding.span, reason)
    _store(lowering, target, size, row)
    lowering.bind(var, target)


def _with_room(
    lowering: Lowering, grown: ArrayRep, old: ArrayRep, growth: Growth
) -> ArrayRep:
    """The array in its buffer, which is replaced by a larger one if it is full."""
    loops = lowering.loops
    needed = lowering.size(grown)
    least = loops.product([Lit(_FIRST_ROOM * grown.words), *grown.dims[1:]])
    is_full = loops.let("ilt", loops.get(growth.room), needed)
    loops.open(is_loop=False)
    twice = loops.let("imul", loops.get(growth.room), Lit(2))
    room = loops.let("imax", loops.let("imax", twice, needed), least)
    ptr = loops.reg("p", PTR)
    region = lowering.region(growth.home)
    loops.emit(l.Alloc(ptr, region, room, grown.machine, grown.root))
    lowering.copy_into(replace(old, ptr=ptr), old)
    loops.set(growth.ptr, ptr)
    loops.set(growth.room, room)
    loops.emit(l.Branch(is_full, loops.close()))
    return replace(grown, ptr=loops.get(growth.ptr))


def _store(lowering: Lowering, target: ArrayRep, index: Atom, value: Rep) -> None:
    """Put the last element or row in its place."""
    if isinstance(value, ArrayRep) and len(target.dims) > 1:
        lowering.copy_into(lowering.row(target, [index]), value)
    else:
        lowering.store(target, index, value)


def drop_last(lowering: Lowering, array: Operand) -> ArrayRep:
    """The array without its last element, in the same buffer."""
    source = lowering.array(array)
    size = lowering.loops.let("isub", source.dims[0], Lit(1))
    lowering.loops.is_count(size)
    return replace(source, dims=(size, *source.dims[1:]))
