"""Heaps: the nodes of recursive data, a buffer that grows for each column.

All columns of a heap have room for as many nodes. If there is none left, all move to
buffers of twice the room, so that n nodes are written with less than 2 n copied; what
has been read of the old buffers stays right, for nodes never change. Whatever part of
the function makes a node, it writes to the function's own slots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from chadllvm.diagnostic import InternalError
from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom, Slot
from chadllvm.ir.term import Binding, Function, Lit, Operand, Var
from chadllvm.ir.types import F64, Scalar, Type
from chadllvm.lower.cells import Cells
from chadllvm.lower.inplace import InPlace
from chadllvm.lower.represent import ArrayRep
from chadllvm.ops.heap import heaps_of
from chadllvm.ops.ledger import LEDGER

# The least room, in nodes, that is made for a heap that grows.
_FIRST_ROOM = 16


@dataclass(frozen=True, slots=True)
class _Column:
    """Where the buffer of a column is."""

    ptr: Slot
    type: Scalar
    root: int


class Heap:
    """A heap in the making: how many nodes there are, and how many have room."""

    def __init__(self, lowering: Cells, name: str, types: Sequence[Type]) -> None:
        self.lowering = lowering
        loops = lowering.loops
        self.count = loops.slot(f"{name}_nodes", Lit(0))
        self.room = loops.slot(f"{name}_room", Lit(0))
        self.columns: list[_Column] = []
        for ty in types:
            if not isinstance(ty, Scalar):
                raise InternalError(f"lower: a node of {name} holds a {ty}")
            root = lowering.roots.new()
            none = loops.reg("none", PTR)
            loops.emit(l.Data(none, np.zeros(0), root))
            self.columns.append(_Column(loops.slot(name, none), ty, root))

    def new(self, var: Var, args: Sequence[Operand]) -> None:
        """A node behind the last one."""
        loops = self.lowering.loops
        number = loops.get(self.count)
        self._put(number, args)
        loops.set(self.count, loops.let("iadd", number, Lit(1)))
        self.lowering.bind(var, number)

    def place(self, number: Atom, args: Sequence[Operand]) -> None:
        """The node of a number; there may be others below that hold nothing yet."""
        loops = self.lowering.loops
        self._put(number, args)
        behind = loops.let("iadd", number, Lit(1))
        loops.set(self.count, loops.let("imax", loops.get(self.count), behind))

    def _put(self, number: Atom, args: Sequence[Operand]) -> None:
        loops = self.lowering.loops
        self._make_room(number)
        for column, arg in zip(self.columns, args, strict=True):
            value = self.lowering.atom(arg)
            loops.emit(l.Store(loops.get(column.ptr), number, value, column.root))

    def _make_room(self, number: Atom) -> None:
        """Room for the node of this number."""
        loops = self.lowering.loops
        is_full = loops.let("ile", loops.get(self.room), number)
        loops.open(is_loop=False)
        count = loops.get(self.count)
        twice = loops.let("imul", number, Lit(2))
        room = loops.let("imax", twice, Lit(_FIRST_ROOM))
        for column in self.columns:
            self._move(column, loops.get(column.ptr), count, room)
        loops.set(self.room, room)
        loops.emit(l.Branch(is_full, loops.close()))

    def _move(self, column: _Column, old: Atom, count: Atom, room: Atom) -> None:
        """A buffer with this room, and with what is in an old one."""
        loops = self.lowering.loops
        ptr = loops.reg("p", PTR)
        region = self.lowering.region(self.lowering.life.function)
        loops.emit(l.Alloc(ptr, region, room, column.type, column.root))
        root = column.root
        loops.emit(l.Copy(ptr, old, count, column.type, root, root))
        loops.set(column.ptr, ptr)

    def fetch(self, variables: Sequence[Var], number: Operand) -> None:
        """What a node holds."""
        loops = self.lowering.loops
        place = self.lowering.atom(number)
        for column, var in zip(self.columns, variables, strict=True):
            ptr = loops.get(column.ptr)
            value = loops.load(ptr, place, column.type, column.root, var.name)
            self.lowering.bind(var, value)

    def load(self, args: Sequence[Operand]) -> None:
        """The nodes that the heap begins with."""
        loops = self.lowering.loops
        arrays = [self.lowering.array(arg) for arg in args]
        (count,) = arrays[0].dims
        for column, array in zip(self.columns, arrays, strict=True):
            ptr = loops.reg("p", PTR)
            region = self.lowering.region(self.lowering.life.function)
            loops.emit(l.Alloc(ptr, region, count, column.type, column.root))
            roots = column.root, array.root
            loops.emit(l.Copy(ptr, array.ptr, count, column.type, *roots))
            loops.set(column.ptr, ptr)
        loops.set(self.count, count)
        loops.set(self.room, count)

    def give(self, variables: Sequence[Var]) -> None:
        """All that is in the heap now, by column."""
        loops = self.lowering.loops
        count = loops.get(self.count)
        loops.is_count(count)
        for column, var in zip(self.columns, variables, strict=True):
            ptr = loops.get(column.ptr)
            rep = ArrayRep(ptr, (count,), column.type, column.root)
            self.lowering.bind(var, rep)


class Heaps(Cells):
    """The heaps of one function in the making, by name."""

    def __init__(
        self,
        function: Function,
        found: InPlace,
        direct: Sequence[Var],
        tape: Collection[Var],
    ) -> None:
        super().__init__(function, found, direct, tape)
        self.function = function
        self.heaps: dict[str, Heap] = {}

    def make_heaps(self) -> None:
        """Make all heaps, in front of everything."""
        for name, types in heaps_of(self.function.body).items():
            self.heaps[name] = Heap(self, name, types)

    def bind_new(self, binding: Binding, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].new(binding.vars[0], args)

    def place_node(self, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].place(self.atom(args[0]), args[1:])

    def bind_count(self, binding: Binding, heap: str) -> None:
        self.bind(binding.vars[0], self.loops.get(self.heaps[heap].count))

    def bind_fetch(self, binding: Binding, heap: str, number: Operand) -> None:
        self.heaps[heap].fetch(binding.vars, number)

    def load_heap(self, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].load(args)

    def bind_columns(self, binding: Binding, heap: str) -> None:
        self.heaps[heap].give(binding.vars)

    # Ledgers. The first dimension of what stands for one is not how many rows it has,
    # for nobody asks, but the number of the first.

    def bind_ledger(
        self, binding: Binding, args: Sequence[Operand], reals: int
    ) -> None:
        """A row of zeros for each node from a number on."""
        base, end = (self.atom(a) for a in args)
        (var,), rows = binding.vars, self.loops.let("isub", end, base)
        self.loops.is_count(rows)
        rep = self.allocate(var, (rows, Lit(reals)), F64, zero=True)
        self.bind(var, replace(rep, dims=(base, Lit(reals))))

    def bind_peek(self, binding: Binding, args: Sequence[Operand]) -> None:
        """What a ledger has come to at a place."""
        (var,), held = binding.vars, self.loops.slot("held", Lit(0.0))
        self.loops.set(held, Lit(0.0))
        with self._row(args[0], args[1:]) as (rep, place):
            found = self.loops.load(rep.ptr, place, F64, rep.root, var.name)
            self.loops.set(held, found)
        self.bind(var, self.loops.get(held))

    def add_to_cell(
        self,
        binding: Binding,
        cell: Operand,
        indices: Sequence[Operand],
        value: Operand,
    ) -> None:
        if cell.type != LEDGER:
            super().add_to_cell(binding, cell, indices, value)
            return
        with self._row(cell, indices) as (rep, place):
            self.loops.emit(l.AddTo(rep.ptr, place, self.atom(value), rep.root))

    @contextmanager
    def _row(
        self, ledger: Operand, indices: Sequence[Operand]
    ) -> Iterator[tuple[ArrayRep, Atom]]:
        """A branch for the case that a ledger has this row, and where it is."""
        rep = self.array(ledger)
        number, column = (self.atom(i) for i in indices)
        base, _ = rep.dims
        is_there = self.loops.let("ile", base, number)
        self.loops.open(is_loop=False)
        row = self.loops.let("isub", number, base)
        yield rep, self.place(rep, [row, column])
        self.loops.emit(l.Branch(is_there, self.loops.close()))
