"""The heaps of nodes' tangents, in forward mode."""

from __future__ import annotations

from chadllvm.ir.build import Builder, unused_name
from chadllvm.ir.term import Apply, Block, If, Operand, Var, literal
from chadllvm.ops.heap import Count, Fetch, Load, New, heaps_of
from chadllvm.ops.ledger import HeapOp


class TangentHeaps:
    """The heaps of the tangents of nodes, in the forward mode of one function.

    A node that was there before the function was called does not move, whatever other
    calls have made of it; `top` stands at the function's beginning.
    """

    def __init__(self, body: Block, top: Builder) -> None:
        self._top = top
        self._taken = set(heaps_of(body))
        self._whole = _loaded(body)
        self._made: dict[str, New] = {}
        self._old: dict[str, Var] = {}

    def of(self, op: HeapOp) -> New:
        """The heap of the tangents: one for each real that a node holds."""
        if op.heap not in self._made:
            name = unused_name(f"{op.heap}_t", self._taken)
            self._made[op.heap] = New(name, tuple(op.types[k] for k, _ in op.reals()))
        return self._made[op.heap]

    def fetched(self, op: HeapOp, number: Operand, out: Builder) -> tuple[Operand, ...]:
        """The tangents of what a node holds."""
        moved = self.of(op)
        fetch = Apply(Fetch(moved.heap, moved.types), (number,))
        if op.heap in self._whole:
            return out.emit(fetch)
        if op.heap not in self._old:
            count = Apply(Count(op.heap, op.types), ())
            self._old[op.heap] = self._top.one(count, "old")
        is_new = out.prim("ile", self._old[op.heap], number, hint="is_new")
        inside = out.child()
        then = inside.block(inside.emit(fetch))
        zeros = out.child().block(literal(0, ty) for ty in moved.types)
        return out.emit(If(is_new, then, zeros))


def _loaded(block: Block) -> set[str]:
    """The heaps that a function begins with."""
    ops = (b.expr.op for b in block.bindings if isinstance(b.expr, Apply))
    return {op.heap for op in ops if isinstance(op, Load)}
