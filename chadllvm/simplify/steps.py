"""What a block makes, and loops that may have no step.

A loop that makes an array in each step hands on the one that it begins with if it has
no step. It becomes a branch, and so that one is a reference (`references.py`),
which is not copied and keeps the cell that it has:

    x = iterate(n, b) { i, y: f64[:] ->      c = ilt(0, n)
      z = build(m) { … }                     x = if c { z = iterate(n, b) { … }
      yield z }                         →              yield z }
                                                 else { yield b }

If it begins with a part of an array, that is made in the branch alone. Only loops in
steps of others need that: what a function does once, it may also copy an array for.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import Renaming, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Var,
)
from chadllvm.ir.types import BOOL, Array, Box
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Empty, Sized, Zeros
from chadllvm.ops.iterate import Iterate, Steps, asked, has_step, taken_over
from chadllvm.ops.update import Update
from chadllvm.simplify.walk import Walk, same
from chadllvm.simplify.windows import window


class Side:
    """A block with what it binds; of one inside of another, the other is `around`.

    `steps`: a loop that asks for one of these has a step.
    """

    def __init__(
        self, block: Block, around: Side | None = None, steps: Sequence[Operand] = ()
    ) -> None:
        self.block = block
        self.bound = {v: b for b in block.bindings for v in b.vars}
        self._around, self._steps = around, steps

    def is_outside(self, *operands: Operand) -> bool:
        return self.bound.keys().isdisjoint(operands)

    def has_step(self, node: Apply) -> bool:
        """Whether a loop is known to have a step."""
        if has_step(node, self._steps):
            return True
        return self._around is not None and self._around.has_step(node)

    def part(self, array: Operand) -> Binding | None:
        """What makes an array, if that is a part of an old one."""
        binding = self.bound.get(array) if isinstance(array, Var) else None
        if binding is None:
            return None if self._around is None else self._around.part(array)
        return None if window(binding.expr) is None else binding

    def makes(self, array: Operand) -> bool:
        """Whether an array is made in here, and not of an old one by an update."""
        binding = self.bound.get(array) if isinstance(array, Var) else None
        if binding is None:
            return self._around is not None and self._around.makes(array)
        match binding.expr:
            case Apply(Build() | Fold() | Zeros() | Empty()):
                return True
            case If(_, then, orelse):
                k = binding.vars.index(array)
                sides = [Side(block, self) for block in (then, orelse)]
                return all(side.makes(side.block.results[k]) for side in sides)
            case Apply(Update() | Sized(), (old, *_)):
                return self.makes(old)
            case Apply(Iterate(), (_, *inits), (body,)) as node:
                k = binding.vars.index(array)
                if k >= len(inits) or self.makes(inits[k]):
                    return True
                return self.has_step(node) and renews(body, k)
            case _:
                return False


def renews(body: Lambda, k: int) -> bool:
    """Whether each step of a loop makes a state, or the one that it takes it from."""
    return any(map(Side(body.body).makes, taken_over(body, k)))


def guarded(function: Function) -> Function:
    """The function whose loops have a step where they hand on what a step makes."""
    return with_body(function, _Guarded().block(function.body))


class _Guarded(Walk):
    """Puts loops into branches."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = Steps()
        # What is copied to a row of an array, and so pays for itself.
        self._rows: set[Operand] = set()
        # The innermost block around a place, if it is in a step.
        self._side: Side | None = None

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        return self._within(Side(block))

    def _within(self, side: Side) -> Block:
        outer, self._side = self._side, side
        block = self.block(side.block)
        self._side = outer
        return block

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case If(cond, then, orelse) if self._side is not None:
                sides = (
                    Side(then, self._side, self._steps.where(cond)),
                    Side(orelse, self._side),
                )
                blocks = [self._within(side) for side in sides]
                return expr if same(blocks, (then, orelse)) else If(cond, *blocks)
            case Apply(Build(), _, (body,)):
                self._rows.update(body.body.results)
        return super().expr(expr)

    def visit(self, binding: Binding) -> None:
        self._steps.enter(binding)
        match binding.expr:
            case Apply(Iterate()) as node if self._may_hand_on(binding, node):
                self._guard(binding, node)
            case _:
                self.keep(binding)

    def _may_hand_on(self, binding: Binding, node: Apply) -> bool:
        """Whether a loop may hand on an old array in place of one that steps make."""
        (_, *inits), (body,), side = node.args, node.bodies, self._side
        if side is None or asked(node) is None or side.has_step(node):
            return False
        return len(binding.vars) == len(inits) and any(
            isinstance(final.type, Array | Box)
            and final not in self._rows
            and (side.part(init) or not side.makes(init))
            and renews(body, k)
            for k, (final, init) in enumerate(zip(binding.vars, inits, strict=True))
        )

    def _guard(self, binding: Binding, node: Apply) -> None:
        condition = asked(node)
        assert condition is not None
        if condition.type != BOOL:
            out = Builder(binding.span)
            condition = out.prim("ilt", Lit(0), condition)
            self.out += out.bindings
        finals = tuple([Var(v.name, v.type) for v in binding.vars])
        own = Renaming(fresh=True)
        assert self._side is not None
        parts = filter(None, map(self._side.part, node.args[1:]))
        copies = [own.binding(part) for part in dict.fromkeys(parts)]
        run = Apply(node.op, own.operands(node.args), node.bodies)
        loop = Block((*copies, Binding(finals, run, binding.span)), finals)
        branch = If(condition, loop, Block((), node.args[1:]))
        self.keep(Binding(binding.vars, branch, binding.span))
