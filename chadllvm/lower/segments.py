"""Heaps whose nodes stand in segments, wherever there is room for one.

    | 0 1 2 . . . . |        | n n+1 . . . . . . |      | m m+1 . . . . . . . . . . |
    base                     base + n rows              base + m rows

A segment never moves, and the number of a node says where it is as seen from the first
one. So calls that run on another thread have segments of their own, and whoever is
given the number of a node finds it with no more ado. Numbers have gaps and may be
negative: nobody may count by them, compare them, or hand them to Python. What is
written in Python does none of that, for it has no numbers (`frontend/references.py`);
what derivatives and the border do is looked for here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom, Reg
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Apply, Block, Lit, Operand, Var, nested
from chadllvm.ir.types import I64
from chadllvm.lower.heap import Heap
from chadllvm.ops.heap import Columns, Count, Fetch, Load, New, Place
from chadllvm.ops.ledger import Ledger
from chadllvm.ops.recurse import Recurse

# How many rows the first segment has at least; the next as many as there are, up to so
# many words, or a quarter of them.
_FIRST = 16
_LITTLE = 1024

SEGMENT = "chad_arena_segment"


class SegmentHeap(Heap):
    """A heap in the making whose nodes stand in segments."""

    def _begin(self) -> None:
        """`count` is the number of the next node."""
        loops = self.lowering.loops
        self.behind = loops.slot(f"{self.name}_behind", Lit(0))
        self.rows = loops.slot(f"{self.name}_rows", Lit(0))
        self.base: Reg | None = None

    @property
    def segments(self) -> l.Segments:
        """What others need to know to have nodes made elsewhere."""
        return l.Segments(self.ptr, (self.count, self.behind, self.rows))

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
        self.shape.store(loops, self._row(number), atoms, self.root)
        loops.set(self.count, loops.let("iadd", number, Lit(1)))
        self.lowering.bind(var, number)

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


def in_segments(body: Block) -> set[str]:
    """The heaps of a function that are in segments: calls of recursions make nodes in
    them, and only who has been given the number of a node asks for one."""
    ops = [op for op, _ in _operations(body)]
    if any(isinstance(op, Place) for op in ops):
        return set()  # Two heaps have the same numbers.
    dense = {op.heap for op in ops if isinstance(op, Count | Columns | Ledger)}
    made = {op.heap for op, is_call in _operations(body) if is_call}
    if _computes(body, _numbers(body)):
        return set()
    return {heap for heap in made - dense if _begins(body, heap)}


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


def _operations(
    block: Block, is_call: bool = False
) -> Iterator[tuple[New | Place | Fetch | Load | Columns | Count | Ledger, bool]]:
    """All that is done with heaps, and whether it makes a node in a call."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(New() as op):
                yield op, is_call
            case Apply(
                (Place() | Fetch() | Load() | Columns() | Count() | Ledger()) as op
            ):
                yield op, False
            case _:
                pass
        inside = is_call or (
            isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Recurse)
        )
        for _, inner in nested(binding.expr):
            yield from _operations(inner, inside)


def _numbers(block: Block) -> set[Operand]:
    """Variables that are numbers of nodes: those that `new` and `fetch` say it of."""
    found: set[Operand] = set()
    for binding in everywhere(block):
        match binding.expr:
            case Apply(New()):
                found.update(binding.vars)
            case Apply(Fetch(), args):
                found.update(arg for arg in args if isinstance(arg, Var))
            case _:
                pass
    return found


def _computes(block: Block, numbers: set[Operand]) -> bool:
    """Whether anything is computed of these."""
    return any(
        isinstance(b.expr, Apply)
        and isinstance(b.expr.op, Prim)
        and not numbers.isdisjoint(b.expr.args)
        for b in everywhere(block)
    )


def _begins(body: Block, heap: str) -> bool:
    """Whether all that is done with a heap is behind the one place that fills it."""
    loads = 0
    for binding in body.bindings:
        match binding.expr:
            case Apply(Load(name)) if name == heap:
                loads += 1
                continue
        inside = (op for _, b in nested(binding.expr) for op, _ in _operations(b))
        own = [binding.expr.op] if isinstance(binding.expr, Apply) else []
        if not loads and any(getattr(op, "heap", "") == heap for op in (*own, *inside)):
            return False
    return loads == 1 and _loads(body, heap) == 1


def _loads(body: Block, heap: str) -> int:
    """The places where a heap is filled, anywhere."""
    ops = (op for op, _ in _operations(body))
    return sum(isinstance(op, Load) and op.heap == heap for op in ops)
