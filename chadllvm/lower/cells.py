"""What stands for the values and cells of a function, and what cells do.

    c = open f64[:](n)      nothing: the cell is known to be zero
    one c a                 the first contribution is the cell's buffer, or copied there
    one c[i] x              zeros are made if there are none, and x is added in place;
                            it is stored if a loop does so at each i, once (`cover.py`)

A cell that a loop may add to has its buffer in front of the loop, and what one branch
adds to a zero is merged with the other branch's behind the two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Apply, Binding, Function, Lit, Operand, Var
from chadllvm.ir.types import F32, Array, Box, Type
from chadllvm.lower.boxes import add_array, add_boxes, open_like
from chadllvm.lower.buffers import Buffers
from chadllvm.lower.cover import only_contribution
from chadllvm.lower.memory import CALLER, Lifetimes
from chadllvm.lower.notes import Notes
from chadllvm.lower.reasons import WAITING, Reason
from chadllvm.lower.represent import (
    ArrayRep,
    ElementCell,
    Rep,
    SlotCell,
    ZeroCell,
    element_type,
)
from chadllvm.support.diagnostic import InternalError


class Cells(Buffers):
    """The values and cells of one function in the making."""

    def __init__(
        self, function: Function, life: Lifetimes, tape: Collection[Var]
    ) -> None:
        self.notes = Notes(tape)
        self.in_place = life.in_place
        super().__init__(life, function.span)
        self.env: dict[Var, Rep] = {}
        # The cells of arrays that nothing was added to yet.
        self.zero_cells: set[Operand] = set()
        # The sizes of these, and what is the only contribution to its element.
        self.sizes: dict[Operand, tuple[Operand, ...]] = {}
        self.stored: set[Binding] = set()
        # What is one less than a size.
        self.last_indices: dict[Operand, Var] = {}

    def bind(self, var: Var, rep: Rep) -> None:
        self.env[var] = rep

    def rep(self, operand: Operand) -> Rep:
        return self.env[operand] if isinstance(operand, Var) else operand

    def atom(self, operand: Operand) -> Atom:
        """The atom of a scalar."""
        return self.atom_of(self.rep(operand))

    def array(self, operand: Operand) -> ArrayRep:
        """The buffer of an array, a box or an array's cell."""
        self.fill(operand)
        rep = self.rep(operand)
        if not isinstance(rep, ArrayRep):
            raise InternalError(f"lower: {operand} is not an array")
        return rep

    def open_cell(self, var: Var, content: Type, dims: Sequence[Operand]) -> None:
        match content:
            case Array(Box()):
                self.bind(var, open_like(self, var, self.array(dims[0])))
            case Array():
                atoms = tuple(self.atom(d) for d in dims)
                self.bind(var, ZeroCell(atoms, element_type(content)))
                self.zero_cells.add(var)
                self.sizes[var] = tuple(dims)
            case _:
                # A cell of f32 may be added to very often: its sum is kept as f64.
                is_single = content == F32
                slot = self.loops.slot(var.name, Lit(0.0))
                self.bind(var, SlotCell(slot, is_single))

    def view_cell(self, var: Var, cell: Operand, indices: Sequence[Operand]) -> None:
        rep = self.array(cell)
        atoms = [self.atom(i) for i in indices]
        if len(atoms) < len(rep.dims):
            self.bind(var, self.row(rep, atoms))
            return
        offset = self.place(rep, atoms)
        match rep.elem:
            case Box(content):
                self.bind(var, self.load_box(rep, offset, content, var.name))
            case _:
                self.bind(var, ElementCell(rep.ptr, offset, rep.root))

    def add_to_cell(
        self,
        binding: Binding,
        cell: Operand,
        indices: Sequence[Operand],
        value: Operand,
    ) -> None:
        if cell in self.zero_cells and not indices:
            self._first(binding, cell, self.array(value))
            return
        self.fill(cell)
        target, added = self.rep(cell), self.rep(value)
        match target:
            case SlotCell(slot, is_single):
                atom = self.atom_of(added)
                atom = self.loops.let("widen", atom) if is_single else atom
                self.loops.emit(l.Accumulate(slot, atom))
            case ElementCell(ptr, index, root):
                self.loops.emit(l.AddTo(ptr, index, self.atom_of(added), root))
            case ArrayRep() if binding in self.stored:
                place = self.place(target, [self.atom(i) for i in indices])
                atom = self.atom_of(added)
                self.loops.emit(l.Store(target.ptr, place, atom, target.root))
            case ArrayRep():
                self._add_at(target, [self.atom(i) for i in indices], added)
            case _:
                raise InternalError(f"lower: {cell} is not a cell")

    def _first(self, binding: Binding, cell: Operand, value: ArrayRep) -> None:
        """The first contribution to a cell is moved there, or else copied."""
        assert isinstance(cell, Var)
        is_over = binding in self.in_place.taken
        if is_over and self.life.home(cell) is not CALLER:
            self.zero_cells.discard(cell)
            self.bind(cell, value)
        else:
            self.copy_into(self._filled(cell, zero=False), value)
            reason = self.in_place.refused.get(binding, Reason(WAITING))
            self.notes.copied(cell, binding.span, reason)

    def fill(self, operand: Operand) -> None:
        """Give a cell a buffer if it has none."""
        if operand in self.zero_cells:
            self._filled(operand, zero=True)

    def fill_before(self, node: Apply) -> None:
        """Give the cells that a loop uses their buffers."""
        if not self.zero_cells:
            return
        for var in free_vars_of(node):
            if var in self.zero_cells:
                sizes, last = self.sizes[var], self.last_indices
                only = only_contribution(node, var, sizes, last)
                self._filled(var, zero=only is None)
                self.stored.update([only] if only else [])

    def _filled(self, operand: Operand, *, zero: bool) -> ArrayRep:
        """The new buffer of a cell that has none."""
        rep = self.rep(operand)
        assert isinstance(operand, Var) and isinstance(rep, ZeroCell)
        self.zero_cells.discard(operand)
        new = self.allocate(operand, rep.dims, rep.elem, zero=zero)
        self.bind(operand, new)
        return new

    def _add_at(self, target: ArrayRep, indices: Sequence[Atom], value: Rep) -> None:
        if not isinstance(value, ArrayRep):
            offset = self.place(target, indices)
            atom = self.atom_of(value)
            self.loops.emit(l.AddTo(target.ptr, offset, atom, target.root))
            return
        row = self.row(target, indices) if indices else target
        add = add_boxes if isinstance(value.elem, Box) else add_array
        add(self, row, value)

    def close_cell(self, var: Var, cell: Operand) -> None:
        self.fill(cell)
        rep = self.rep(cell)
        match rep:
            case SlotCell(slot, is_single):
                total: Atom = self.loops.get(slot)
                total = self.loops.let("narrow", total) if is_single else total
                self.bind(var, total)
            case ArrayRep():
                self.bind(var, rep)
            case _:
                raise InternalError(f"lower: {cell} is not a cell of this block")
