"""Heaps whose nodes stand in segments, wherever there is room for one.

    | 0 1 2 . . . . |        | n n+1 . . . . . . |      | m m+1 . . . . . . . . . . |
    base                     base + n rows              base + m rows

A segment never moves, and the number of a node says where it is as seen from the first
one. So calls that run on another thread have segments of their own, and whoever is
given the number of a node finds it with no more ado. Numbers have gaps and may be
negative: nobody may count by them, compare them, or hand them to Python (`gaps.py`).

What a node owes, its row in the ledger, stands behind what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom, Reg
from chadllvm.ir.term import Lit, Operand, Var
from chadllvm.ir.types import F64, I64
from chadllvm.lower.cells import Cells
from chadllvm.lower.heap import Heap
from chadllvm.lower.nodes import NodeShape
from chadllvm.lower.represent import ArrayRep

# How many rows the first segment has at least; the next as many as there are, up to so
# many words, or a quarter of them.
_FIRST = 16
_LITTLE = 1024

SEGMENT = "chad_arena_segment"


class SegmentHeap(Heap):
    """A heap in the making whose nodes stand in segments; `owed` are the columns of its
    ledger."""

    def __init__(self, lowering: Cells, name: str, shape: NodeShape, owed: int) -> None:
        self.held, self.owed = shape.words, owed
        super().__init__(lowering, name, replace(shape, words=shape.words + owed))

    def _begin(self) -> None:
        """`count` is the number of the next node."""
        loops = self.lowering.loops
        self.behind = loops.slot(f"{self.name}_behind", Lit(0))
        self.rows = loops.slot(f"{self.name}_rows", Lit(0))
        self.base: Reg | None = None

    @property
    def segments(self) -> l.Segments:
        """What others need to know to have nodes made elsewhere."""
        return l.Segments(self.ptr, self.root, (self.count, self.behind, self.rows))

    @property
    def ptr(self) -> Reg:
        assert self.base is not None
        return self.base

    def trim(self) -> None:
        """What is behind the last node stays."""

    def new(self, var: Var, args: Sequence[Operand]) -> None:
        """A node behind the last one, or the first in a new segment."""
        loops = self.lowering.loops
        is_full = loops.let("ile", loops.get(self.behind), loops.get(self.count))
        loops.open(is_loop=False)
        self._add_segment()
        loops.emit(l.Branch(is_full, loops.close()))
        number = loops.get(self.count)
        atoms = [self.lowering.atom(arg) for arg in args]
        self._store(self._row(number), atoms)
        loops.set(self.count, loops.let("iadd", number, Lit(1)))
        self.lowering.bind(var, number)

    def _store(self, row: Atom, values: Sequence[Atom]) -> None:
        """A node that owes nothing yet."""
        super()._store(row, values)
        for k in range(self.held, self.held + self.owed):
            self.lowering.loops.emit(l.Store(row, Lit(k), Lit(0.0), self.root))

    @property
    def ledger(self) -> ArrayRep:
        """What all nodes owe."""
        first = self.lowering.loops.offset(self.ptr, Lit(self.held), I64)
        return ArrayRep(first, (Lit(0), Lit(self.shape.words)), F64, self.root)

    def _add_segment(self) -> None:
        loops, words, rows = self.lowering.loops, self.shape.words, self.rows
        most = max(_LITTLE // words, _FIRST)
        little = loops.let("imin", loops.get(rows), Lit(most))
        more = loops.let("imax", loops.let("shr", loops.get(rows), Lit(2)), little)
        size = loops.let("imax", more, Lit(_FIRST))
        first = loops.reg("first", I64)
        loops.emit(l.CallRuntime(first, SEGMENT, (self.ptr, Lit(words), size)))
        loops.set(self.count, first)
        loops.set(self.behind, loops.let("iadd", first, size))
        loops.set(rows, loops.let("iadd", loops.get(rows), size))

    def _reserve(self, count: Atom) -> None:
        """The first segment."""
        loops = self.lowering.loops
        rows = loops.let("iadd", count, Lit(_FIRST))
        room = loops.let("imul", rows, Lit(self.shape.words))
        region = self.lowering.region(self.lowering.life.function)
        self.base = loops.reg(self.name, PTR)
        loops.emit(l.Alloc(self.base, region, room, I64, self.root))
        loops.set(self.behind, rows)
        loops.set(self.rows, rows)


def new_rows(stmts: Sequence[l.Stmt], segments: Sequence[l.Segments]) -> set[Reg]:
    """Pointers to the rows of nodes that are being made."""
    made = {s.reg: s for s in stmts if isinstance(s, l.Let)}
    found: set[Reg] = set()
    for heap in segments:
        following = heap.rooms[0]
        new = {s.reg for s in stmts if isinstance(s, l.Get) and s.slot is following}
        for stmt in stmts:
            match stmt:
                case l.Offset(reg, ptr, Reg() as at) if ptr is heap.base:
                    match made.get(at):
                        case l.Let(_, "imul", (Reg() as number, Lit())):
                            at = number
                    if at in new:
                        found.add(reg)
                case _:
                    pass
    return found
