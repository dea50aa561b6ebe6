"""Buffers: where arrays are put, and how their elements are reached."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from chadllvm.ir import loops as l
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import PTR, RESULT, Atom
from chadllvm.ir.term import Lit, Var
from chadllvm.ir.types import I64, Array, Box, Scalar
from chadllvm.lower.destination import Destination
from chadllvm.lower.memory import CALLER, Lifetimes, Scope
from chadllvm.lower.represent import (
    ArrayRep,
    ElementCell,
    KeptRep,
    Rep,
    Roots,
    SlotCell,
    ZeroCell,
    element_type,
)
from chadllvm.ops.broadcast import TOO_LARGE
from chadllvm.support.diagnostic import InternalError, Span

# Elements of a buffer of several dimensions: beyond this their number may overflow.
_MOST_ELEMENTS = 2.0**58

# More elements of any type than there is memory for.
_HUGE = 1 << 62


class Buffers:
    """The buffers of one function in the making."""

    def __init__(self, life: Lifetimes, span: Span) -> None:
        self.loops = LoopBuilder()
        self.roots = Roots()
        self.life = life
        self.span = span
        self.scope: Scope = life.function
        # Where the buffer of a variable is already waiting for its contents.
        self.destinations: dict[Var, Destination] = {}
        self.regions = 0
        # The regions of the scopes that are in the body of a recursion.
        self.owned: dict[Scope | None, list[int]] = {}

    def atom_of(self, rep: Rep) -> Atom:
        """The atom of a scalar."""
        if isinstance(rep, ArrayRep | SlotCell | ElementCell | ZeroCell | KeptRep):
            raise InternalError("lower: an array or a cell where a scalar is expected")
        return rep

    def region(self, scope: Scope) -> int:
        """The region of a scope."""
        if scope is CALLER:
            return RESULT
        if scope.region is None:
            scope.region = self.regions
            # Those of calls and of whom they were called by are used in turn.
            self.regions += 1 if scope.recursion is None else 2
            self.owned.setdefault(scope.recursion, []).append(scope.region)
        return scope.region

    def allocate(
        self, var: Var, dims: Sequence[Atom], elem: Scalar | Box, *, zero: bool = False
    ) -> ArrayRep:
        """The buffer of an array variable, in the region of its home.

        What lives for one iteration only, and whose size is known in front of the loop,
        is allocated there, once for all iterations.
        """
        rep = ArrayRep(Lit(0), tuple(dims), elem, 0)
        destination = self.destinations.pop(var, None)
        if destination is not None:
            ptr, root = destination(rep)
            new = ArrayRep(ptr, rep.dims, elem, root)
            if zero:
                self.clear(new)
            return new
        level, home = self._place(self.life.home(var), dims)
        in_place = level == len(self.loops.frames) - 1
        root = self.roots.new()
        for frame in self.loops.frames[level + 1 :]:
            frame.private.append(root)
        with self.loops.at(level):
            ptr = self.new_buffer(rep, self.region(home), root, zero and in_place)
        new = ArrayRep(ptr, rep.dims, elem, root)
        if zero and not in_place:
            self.clear(new)
        return new

    def _place(self, home: Scope, dims: Sequence[Atom]) -> tuple[int, Scope]:
        """The frame to allocate in, and the scope whose region to use."""
        level = len(self.loops.frames) - 1
        if home is not self.scope:
            return level, home
        known = max((self.loops.depth_of(d) for d in dims), default=0)
        while (frame := self.loops.frames[level]).is_loop and known < level:
            level -= 1
            if isinstance(frame.owner, Scope):
                assert frame.owner.parent is not None
                home = frame.owner.parent
        return level, home

    def new_buffer(
        self, rep: ArrayRep, region: int, root: int, zero: bool = False
    ) -> Atom:
        """A buffer for an array of these dimensions."""
        ptr, count = self.loops.reg("p", PTR), self.room(rep)
        self.loops.emit(l.Alloc(ptr, region, count, rep.machine, root, zero))
        return ptr

    def room(self, rep: ArrayRep) -> Atom:
        """The size of a new array, to ask for its memory.

        A single dimension is drawn nearer where its rows would make it wrap around: of
        what is too much all is refused.
        """
        known = [int(d.value) for d in rep.dims if isinstance(d, Lit)]
        row = prod(known) * rep.words
        match [d for d in rep.dims if not isinstance(d, Lit)]:
            case []:
                return Lit(min(row, _HUGE))
            case [dim] if row > 1:
                return self.loops.mul(self.loops.at_most(dim, _HUGE // row), Lit(row))
            case [_]:
                return self.size(rep)
            case _:
                self._check_size(rep.dims)
                return self.size(rep)

    def _check_size(self, dims: Sequence[Atom]) -> None:
        """The number of elements does not overflow."""
        total: Atom = Lit(1.0)
        for dim in dims:
            total = self.loops.let("mul", total, self.loops.let("to_float", dim))
        ok = self.loops.let("fle", total, Lit(_MOST_ELEMENTS))
        self.loops.check(ok, "MemoryError", TOO_LARGE, self.span)

    def size(self, rep: ArrayRep) -> Atom:
        """The number of machine elements of an array."""
        return self.loops.product([*rep.dims, Lit(rep.words)])

    def clear(self, rep: ArrayRep) -> None:
        self.loops.emit(l.Clear(rep.ptr, self.size(rep), rep.machine, rep.root))

    def copy(self, source: ArrayRep, region: int) -> ArrayRep:
        """A copy in a new buffer."""
        root = self.roots.new()
        ptr = self.new_buffer(source, region, root)
        target = ArrayRep(ptr, source.dims, source.elem, root)
        self.copy_into(target, source)
        return target

    def copy_into(self, target: ArrayRep, source: ArrayRep) -> None:
        """Copy elements between buffers of equal size."""
        count = self.size(source)
        self.loops.emit(
            l.Copy(
                target.ptr, source.ptr, count, source.machine, target.root, source.root
            )
        )
        if isinstance(source.elem, Box):
            self.roots.union(
                self.roots.inner(target.root), self.roots.inner(source.root)
            )

    # Reading and writing elements.

    def place(self, rep: ArrayRep, indices: Sequence[Atom]) -> Atom:
        """The offset, in machine elements, of the element or row at these indices."""
        return self._offset(rep, indices)[0]

    def _offset(self, rep: ArrayRep, indices: Sequence[Atom]) -> tuple[Atom, Atom]:
        """The same, and how many machine elements the element or row has."""
        is_element = len(indices) == len(rep.dims)
        offset: Atom = Lit(0)
        for k, (index, dim) in enumerate(self._axes(rep, indices)):
            if k:
                size = self.loops.stride(dim) if is_element else dim
                offset = self.loops.mul(offset, size)
            offset = self.loops.add(offset, index)
        rest = rep.dims[len(indices) :]
        extent = self.loops.product([*rest, Lit(rep.words)])
        return self.loops.mul(offset, extent), extent

    def _axes(self, rep: ArrayRep, indices: Sequence[Atom]) -> list[tuple[Atom, Atom]]:
        """Indices and sizes, without rows and columns that one number was divided into:
        they are one axis, along which that number is the index."""
        axes: list[tuple[Atom, Atom]] = []
        for index, dim in zip(indices, rep.dims, strict=False):
            if axes:
                row, rows = axes[-1]
                number = self.loops.number_of(row, index, dim)
                if number is not None:
                    axes[-1] = number, self.loops.mul(rows, dim)
                    continue
            axes.append((index, dim))
        return axes

    def row(self, rep: ArrayRep, indices: Sequence[Atom]) -> ArrayRep:
        """The row at these indices, in the same buffer."""
        place, extent = self._offset(rep, indices)
        ptr = self.loops.offset(rep.ptr, place, rep.machine, extent)
        return ArrayRep(ptr, rep.dims[len(indices) :], rep.elem, rep.root)

    def load_box(
        self, rep: ArrayRep, offset: Atom, content: Array, name: str
    ) -> ArrayRep:
        """The array that the box at an offset refers to."""
        ptr = self.loops.load(rep.ptr, offset, PTR, rep.root, name)
        dims = tuple(
            self.loops.load(
                rep.ptr, self.loops.add(offset, Lit(1 + k)), I64, rep.root, f"{name}_n"
            )
            for k in range(content.rank)
        )
        root = self.roots.inner(rep.root)
        return ArrayRep(ptr, dims, element_type(content.elem), root)

    def store(self, rep: ArrayRep, index: Atom, value: Rep) -> None:
        """`rep[index] = value`, a scalar or a box, for an array of rank one."""
        offset = self.place(rep, [index])
        if not isinstance(value, ArrayRep):
            atom = self.atom_of(value)
            self.loops.emit(l.Store(rep.ptr, offset, atom, rep.root))
            return
        for k, atom in enumerate((value.ptr, *value.dims)):
            at = self.loops.add(offset, Lit(k))
            self.loops.emit(l.Store(rep.ptr, at, atom, rep.root))
        self.roots.union(self.roots.inner(rep.root), value.root)
