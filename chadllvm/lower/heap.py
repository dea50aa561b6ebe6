"""Heaps: the nodes of recursive data, the rows of a buffer that grows.

What a node holds stands side by side, for who looks at one value of a node mostly looks
at all. Whatever part of the function makes a node, it writes to the function's own
slots. To Python, nodes come and go by columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from chadllvm.diagnostic import InternalError
from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Apply, Binding, Block, Function, Lit, Operand, Var, nested
from chadllvm.ir.types import F64, I64, Scalar, Type
from chadllvm.lower.cells import Cells
from chadllvm.lower.inplace import InPlace
from chadllvm.lower.nodes import NodeShape, node_shape
from chadllvm.lower.represent import ArrayRep
from chadllvm.lower.rows import Words
from chadllvm.ops.heap import heaps_of
from chadllvm.ops.ledger import LEDGER, Peek


class Heap:
    """A heap in the making: how many nodes there are, and how many have room."""

    def __init__(self, lowering: Cells, name: str, shape: NodeShape) -> None:
        self.lowering, self.name, self.shape = lowering, name, shape
        loops = lowering.loops
        for ty in shape.types:
            _scalar(name, ty)
        self.count = loops.slot(f"{name}_nodes", Lit(0))
        self.root = lowering.roots.new()
        region = lowering.region(lowering.life.function)
        self.words = Words(loops, self.root, region, name)
        # Whether there is something in front that makes nodes.
        self.is_used = False

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
        self.is_used = True
        self._make_room(number)
        row = self._row(number)
        atoms = [self.lowering.atom(arg) for arg in args]
        self.shape.store(loops, row, atoms, self.root)

    def _row(self, number: Atom) -> Atom:
        return self.shape.begin(self.lowering.loops, self.words.ptr, number)

    def _make_room(self, number: Atom) -> None:
        """Room for the node of this number."""
        loops, words = self.lowering.loops, Lit(self.shape.words)
        behind = loops.let("iadd", number, Lit(1))
        used = loops.let("imul", loops.get(self.count), words)
        self.words.make_room(loops.let("imul", behind, words), used)

    def fetch(self, variables: Sequence[Var], number: Operand) -> None:
        """What a node holds."""
        row = self._row(self.lowering.atom(number))
        names = {k: var.name for k, var in enumerate(variables)}
        found = self.shape.load(self.lowering.loops, row, self.root, names)
        for var, atom in zip(variables, found, strict=True):
            self.lowering.bind(var, atom)

    def load(self, args: Sequence[Operand]) -> None:
        """The nodes that the heap begins with, whose columns are given."""
        loops = self.lowering.loops
        self.is_used = True
        arrays = [self.lowering.array(arg) for arg in args]
        (count,) = arrays[0].dims
        room = loops.let("imul", count, Lit(self.shape.words))
        self.words.make_room(room, Lit(0))
        ptr = self.words.ptr
        with self._each(count) as number:
            row = self.shape.begin(loops, ptr, number)
            values = [
                loops.load(array.ptr, number, _scalar(self.name, ty), array.root, "t")
                for array, ty in zip(arrays, self.shape.types, strict=True)
            ]
            self.shape.store(loops, row, values, self.root)
        loops.set(self.count, count)

    def give(self, variables: Sequence[Var]) -> None:
        """All that is in the heap now, by column."""
        loops = self.lowering.loops
        count, ptr = loops.get(self.count), self.words.ptr
        loops.is_count(count)
        for k, var in enumerate(variables):
            ty = _scalar(self.name, self.shape.types[k])
            column = self.lowering.allocate(var, (count,), ty)
            with self._each(count) as number:
                row = self.shape.begin(loops, ptr, number)
                (value,) = self.shape.load(loops, row, self.root, {k: "t"})
                loops.emit(l.Store(column.ptr, number, value, column.root))
            self.lowering.bind(var, column)

    @contextmanager
    def _each(self, count: Atom) -> Iterator[Reg]:
        """A loop over nodes."""
        loops = self.lowering.loops
        loops.open(is_loop=True)
        number = loops.reg("node", I64)
        yield number
        loops.emit(l.For(number, Lit(0), count, loops.close()))


def _scalar(heap: str, ty: Type) -> Scalar:
    if not isinstance(ty, Scalar):
        raise InternalError(f"lower: a node of {heap} holds a {ty}")
    return ty


class Heaps(Cells):
    """The heaps of one function in the making, by name."""

    def __init__(
        self,
        function: Function,
        found: InPlace,
        direct: Sequence[Var],
        tape: Collection[Var],
        contents: Mapping[str, Sequence[Type]],
    ) -> None:
        super().__init__(function, found, direct, tape)
        self.contents = contents
        self.function = function
        self.heaps: dict[str, Heap] = {}
        # The columns of ledgers that somebody reads, in order.
        self.read = _read_columns(function.body)

    def make_heaps(self) -> None:
        """Make all heaps, in front of everything."""
        for name, types in heaps_of(self.function.body).items():
            whole = node_shape(self.contents.get(name, types))
            shape = whole if whole.types == types else node_shape(types)
            self.heaps[name] = Heap(self, name, shape)

    def bind_new(self, binding: Binding, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].new(binding.vars[0], args)

    def place_node(self, heap: str, args: Sequence[Operand]) -> None:
        self.heaps[heap].place(self.atom(args[0]), args[1:])

    def bind_count(self, binding: Binding, heap: str) -> None:
        found = self.heaps[heap]
        # Where a function begins no heap holds anything yet.
        is_empty = not found.is_used and self.scope is self.life.function
        count = Lit(0) if is_empty else self.loops.get(found.count)
        self.bind(binding.vars[0], count)

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
        if self.scope is self.life.function:
            for heap in self.heaps.values():
                heap.words.trim(heap.count, heap.shape.words)
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
