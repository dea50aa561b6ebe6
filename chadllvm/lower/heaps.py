"""The heaps of a function, and the ledgers of what their nodes owe.

A heap of which the function alone knows, in nodes that calls of a recursion make, is in
segments (`segments.py`): so calls on several threads may make nodes. Others have their
nodes one behind another (`heap.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Apply, Binding, Block, Function, Lit, Operand, Var, nested
from chadllvm.ir.types import F64, Type
from chadllvm.lower.cells import Cells
from chadllvm.lower.heap import Heap
from chadllvm.lower.memory import Lifetimes
from chadllvm.lower.nodes import node_shape
from chadllvm.lower.represent import ArrayRep
from chadllvm.lower.segments import SegmentHeap, in_segments
from chadllvm.ops.heap import heaps_of
from chadllvm.ops.ledger import LEDGER, Peek


class Heaps(Cells):
    """The heaps of one function in the making, by name."""

    def __init__(
        self,
        function: Function,
        life: Lifetimes,
        tape: Collection[Var],
        contents: Mapping[str, Sequence[Type]],
    ) -> None:
        super().__init__(function, life, tape)
        self.contents = contents
        self.function = function
        self.heaps: dict[str, Heap] = {}
        # The columns of ledgers that somebody reads, in order.
        self.read = _read_columns(function.body)

    def make_heaps(self) -> None:
        """Make all heaps, in front of everything."""
        apart = in_segments(self.function.body)
        for name, types in heaps_of(self.function.body).items():
            whole = node_shape(self.contents.get(name, types))
            shape = whole if whole.types == types else node_shape(types)
            made = SegmentHeap if name in apart else Heap
            self.heaps[name] = made(self, name, shape)

    def segments(self) -> tuple[l.Segments, ...]:
        """Where the nodes are of heaps that are in segments."""
        found = (h for h in self.heaps.values() if isinstance(h, SegmentHeap))
        return tuple(heap.segments for heap in found)

    def _dense(self, heap: str) -> Heap:
        """A heap of which somebody asks how many nodes there are."""
        found = self.heaps[heap]
        assert not isinstance(found, SegmentHeap)
        return found

    def bind_new(self, binding: Binding, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].new(binding.vars[0], args)

    def place_node(self, heap: str, args: Sequence[Operand]) -> None:
        self._dense(heap).place(self.atom(args[0]), args[1:])

    def bind_count(self, binding: Binding, heap: str) -> None:
        found = self._dense(heap)
        # Where a function begins no heap holds anything yet.
        is_empty = not found.is_used and self.scope is self.life.function
        count = Lit(0) if is_empty else self.loops.get(found.count)
        self.bind(binding.vars[0], count)

    def bind_fetch(self, binding: Binding, heap: str, number: Operand) -> None:
        self.heaps[heap].fetch(binding.vars, number)

    def load_heap(self, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].load(args)

    def bind_columns(self, binding: Binding, heap: str) -> None:
        self._dense(heap).give(binding.vars)

    # Ledgers. The first dimension of what stands for one is not how many rows it has,
    # for nobody asks, but the number of the first.

    def bind_ledger(
        self, binding: Binding, args: Sequence[Operand], reals: int
    ) -> None:
        """A row of zeros for each node from a number on."""
        base, end = (self.atom(a) for a in args)
        if self.scope is self.life.function:
            for heap in self.heaps.values():
                heap.trim()
        (var,), rows = binding.vars, self.loops.let("isub", end, base)
        self.loops.is_count(rows)
        columns = Lit(reals if self.read is None else len(self.read))
        rep = self.allocate(var, (rows, columns), F64, zero=True)
        self.bind(var, replace(rep, dims=(base, columns)))

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
        if self.read is not None and indices[1] not in self.read:
            return  # Nobody asks for it.
        with self._row(cell, indices) as (rep, place):
            self.loops.emit(l.AddTo(rep.ptr, place, self.atom(value), rep.root))

    @contextmanager
    def _row(
        self, ledger: Operand, indices: Sequence[Operand]
    ) -> Iterator[tuple[ArrayRep, Atom]]:
        """A branch for the case that a ledger has this row, and where it is."""
        rep = self.array(ledger)
        number, column = self.atom(indices[0]), self._column(indices[1])
        base, _ = rep.dims
        if base == Lit(0):  # All nodes have a row.
            yield rep, self.place(rep, [number, column])
            return
        is_there = self.loops.let("ile", base, number)
        self.loops.open(is_loop=False)
        row = self.loops.let("isub", number, base)
        yield rep, self.place(rep, [row, column])
        self.loops.emit(l.Branch(is_there, self.loops.close()))

    def _column(self, column: Operand) -> Atom:
        if self.read is None:
            return self.atom(column)
        return Lit(self.read.index(column))


def _read_columns(body: Block) -> list[Operand] | None:
    """The columns of any ledger that are read; None: that is not known here."""
    found: dict[int, Operand] = {}
    pending = [body]
    while pending:
        for binding in pending.pop().bindings:
            match binding.expr:
                case Apply(Peek(), (_, _, Lit(int() as k) as column)):
                    found[k] = column
                case Apply(Peek()):
                    return None
            pending += [inner for _, inner in nested(binding.expr)]
    return [found[k] for k in sorted(found)]
