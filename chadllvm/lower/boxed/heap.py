"""Heaps without optimisation: a buffer of words that grows for each column.

A ledger is a buffer as well: it is read while it is added to, which the accumulation
array does not know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom, Slot
from chadllvm.ir.term import Binding, Function, Lit, Operand, Var
from chadllvm.ir.types import F64, I64, Type
from chadllvm.lower.boxed.cells import Cells, Rep
from chadllvm.lower.boxed.storage import OWN, Storage
from chadllvm.ops.heap import heaps_of

# The room, in nodes, that a heap has at first.
_FIRST_ROOM = 16

# The words of a ledger.
_BASE, _WIDTH, _ROWS = range(3)


class Heap:
    """A heap in the making: how many nodes there are, and how many have room."""

    def __init__(self, storage: Storage, name: str, types: Sequence[Type]) -> None:
        self.storage = storage
        self.types = types
        loops = storage.loops
        self.count = loops.slot(f"{name}_nodes", Lit(0))
        self.room = loops.slot(f"{name}_room", Lit(_FIRST_ROOM))
        self.columns: list[Slot] = [
            loops.slot(name, storage.record(Lit(_FIRST_ROOM), name)) for _ in types
        ]

    def new(self, values: Sequence[Atom]) -> Atom:
        """The number of a node behind the last one."""
        loops = self.storage.loops
        count = loops.get(self.count)
        self._make_room(loops.let("iadd", count, Lit(1)))
        for column, value in zip(self.columns, values, strict=True):
            self.storage.store(loops.get(column), count, value)
        loops.set(self.count, loops.let("iadd", count, Lit(1)))
        return count

    def place(self, number: Atom, values: Sequence[Atom]) -> None:
        """The node of a number; there may be others below that hold nothing yet."""
        loops = self.storage.loops
        behind = loops.let("iadd", number, Lit(1))
        self._make_room(behind)
        for column, value in zip(self.columns, values, strict=True):
            self.storage.store(loops.get(column), number, value)
        loops.set(self.count, loops.let("imax", loops.get(self.count), behind))

    def _make_room(self, needed: Atom) -> None:
        loops = self.storage.loops
        is_full = loops.let("ilt", loops.get(self.room), needed)
        loops.open(is_loop=False)
        room = loops.let("imul", needed, Lit(2))
        for column in self.columns:
            new = self.storage.record(room, column.name)
            self.storage.copy(new, loops.get(column), loops.get(self.count))
            loops.set(column, new)
        loops.set(self.room, room)
        loops.emit(l.Branch(is_full, loops.close()))

    def fetch(self, number: Atom, names: Sequence[str]) -> list[Atom]:
        """What a node holds."""
        storage = self.storage
        return [
            storage.load(storage.loops.get(column), number, ty, name)
            for column, ty, name in zip(self.columns, self.types, names, strict=True)
        ]

    def load(self, arrays: Sequence[Atom]) -> None:
        """The nodes that the heap begins with."""
        storage, loops = self.storage, self.storage.loops
        size = storage.size(arrays[0])
        self._make_room(size)
        for column, array in zip(self.columns, arrays, strict=True):
            storage.copy(loops.get(column), storage.data(array), size)
        loops.set(self.count, size)

    def give(self, names: Sequence[str]) -> list[Atom]:
        """All that is in the heap now, by column."""
        storage, loops = self.storage, self.storage.loops
        found: list[Atom] = []
        for column, name in zip(self.columns, names, strict=True):
            array = storage.new_array([loops.get(self.count)], name)
            size = storage.size(array)
            storage.copy(storage.new_data(array), loops.get(column), size)
            found.append(array)
        return found


class Heaps(Cells, ABC):
    """The heaps of one function in the making, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.heaps: dict[str, Heap] = {}

    @abstractmethod
    def bind(self, var: Var, rep: Rep) -> None: ...

    @abstractmethod
    def atom(self, operand: Operand) -> Atom: ...

    def make_heaps(self, function: Function) -> None:
        """Make all heaps, in front of everything."""
        for name, types in heaps_of(function.body).items():
            self.heaps[name] = Heap(self, name, types)

    def bind_new(self, binding: Binding, heap: str, args: Sequence[Operand]) -> None:
        values = [self.atom(a) for a in args]
        self.bind(binding.vars[0], self.heaps[heap].new(values))

    def place_node(self, heap: str, args: Sequence[Operand]) -> None:
        number, *values = (self.atom(a) for a in args)
        self.heaps[heap].place(number, values)

    def bind_count(self, binding: Binding, heap: str) -> None:
        self.bind(binding.vars[0], self.loops.get(self.heaps[heap].count))

    def bind_fetch(self, binding: Binding, heap: str, number: Operand) -> None:
        names = [v.name for v in binding.vars]
        found = self.heaps[heap].fetch(self.atom(number), names)
        for var, value in zip(binding.vars, found, strict=True):
            self.bind(var, value)

    def load_heap(self, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].load([self.atom(a) for a in args])

    def bind_columns(self, binding: Binding, heap: str) -> None:
        found = self.heaps[heap].give([v.name for v in binding.vars])
        for var, array in zip(binding.vars, found, strict=True):
            self.bind(var, array)

    # Ledgers: the number of the first row, how many columns there are, and the rows.

    def bind_ledger(
        self, binding: Binding, args: Sequence[Operand], reals: int
    ) -> None:
        """A row of zeros for each node from a number on."""
        base, end = (self.atom(a) for a in args)
        rows = self.loops.let("isub", end, base)
        held = self.loops.let("imul", rows, Lit(reals))
        words = self.loops.let("iadd", held, Lit(_ROWS))
        ledger = self.record(words, "ledger")
        self.loops.emit(l.Clear(ledger, words, I64, OWN))
        self.store(ledger, Lit(_BASE), base)
        self.store(ledger, Lit(_WIDTH), Lit(reals))
        self.bind(binding.vars[0], ledger)

    def bind_peek(self, binding: Binding, args: Sequence[Operand]) -> None:
        """What a ledger has come to at a place."""
        held = self.loops.slot("held", Lit(0.0))
        self.loops.set(held, Lit(0.0))
        with self._row(args[0], args[1:]) as (ledger, place):
            self.loops.set(held, self.load(ledger, place, F64, "ct"))
        self.bind(binding.vars[0], self.loops.get(held))

    def note(self, ledger: Operand, indices: Sequence[Operand], value: Operand) -> None:
        """Add a cotangent at a place of a ledger."""
        with self._row(ledger, indices) as (rows, place):
            self.loops.emit(l.AddTo(rows, place, self.atom(value), OWN))

    @contextmanager
    def _row(
        self, operand: Operand, indices: Sequence[Operand]
    ) -> Iterator[tuple[Atom, Atom]]:
        """A branch for the case that a ledger has this row, and where it is."""
        ledger, loops = self.atom(operand), self.loops
        number, column = (self.atom(i) for i in indices)
        base = self.load(ledger, Lit(_BASE), I64, "base")
        is_there = loops.let("ile", base, number)
        loops.open(is_loop=False)
        width = self.load(ledger, Lit(_WIDTH), I64, "width")
        place = self.place([width], [loops.let("isub", number, base), column])
        yield ledger, loops.let("iadd", place, Lit(_ROWS))
        loops.emit(l.Branch(is_there, loops.close()))
