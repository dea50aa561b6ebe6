"""A heap: the nodes of recursive data, the rows of a buffer that grows.

What a node holds stands side by side, for who looks at one value of a node mostly looks
at all. Whatever part of the function makes a node, it writes to the function's own
slots. To Python, nodes come and go by columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Lit, Operand, Var
from chadllvm.ir.types import I64, Scalar, Type
from chadllvm.lower.cells import Cells
from chadllvm.lower.nodes import NodeShape
from chadllvm.lower.rows import Words
from chadllvm.support.diagnostic import InternalError


class Heap:
    """A heap in the making: how many nodes there are, and how many have room."""

    def __init__(self, lowering: Cells, name: str, shape: NodeShape) -> None:
        self.lowering, self.name, self.shape = lowering, name, shape
        loops = lowering.loops
        for ty in shape.types:
            _scalar(name, ty)
        self.count = loops.slot(f"{name}_nodes", Lit(0))
        self.root = lowering.roots.new()
        self._begin()
        # Whether there is something in front that makes nodes.
        self.is_used = False

    def _begin(self) -> None:
        """Where the nodes will be."""
        region = self.lowering.region(self.lowering.life.function)
        self.words = Words(self.lowering.loops, self.root, region, self.name)

    @property
    def ptr(self) -> Reg:
        """Where node 0 is now."""
        return self.words.ptr

    def trim(self) -> None:
        """Give back what is behind the last node."""
        self.words.trim(self.count, self.shape.words)

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
        return self.shape.begin(self.lowering.loops, self.ptr, number)

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
        self._reserve(count)
        ptr = self.ptr
        with self._each(count) as number:
            row = self.shape.begin(loops, ptr, number)
            values = [
                loops.load(array.ptr, number, _scalar(self.name, ty), array.root, "t")
                for array, ty in zip(arrays, self.shape.types, strict=True)
            ]
            self.shape.store(loops, row, values, self.root)
        loops.set(self.count, count)

    def _reserve(self, count: Atom) -> None:
        """Room for so many nodes; there is none yet."""
        room = self.lowering.loops.let("imul", count, Lit(self.shape.words))
        self.words.make_room(room, Lit(0))

    def give(self, variables: Sequence[Var]) -> None:
        """All that is in the heap now, by column."""
        loops = self.lowering.loops
        count, ptr = loops.get(self.count), self.ptr
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
