"""What a block makes, and loops that may have no step.

A loop that makes an array in each step hands on the one that it begins with if it has
no step. It becomes a branch, and so that one is a reference (`references.py`),
which is not copied and keeps the cell that it has:

    x = iterate(n, b) { i, y: f64[:] ->      c = ilt(0, n)
      z = build(m) { … }                     x = if c { z = iterate(n, b) { … }
      yield z }                         →              yield z }
                                                 else { yield b }

Where states take over what steps make from others, `x, y = y, f(x)`, the first step
stands in front of the loop, in the branch: behind it `x` is what `y` was at first, and
behind the others what a step has made.

If it begins with a part of an array, that is made in the branch alone. Only loops in
steps of others need that: what a function does once, it may also copy an array for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import Renaming, everywhere, with_body
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
from chadllvm.ir.types import BOOL, I64, Array, Box
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Empty, Sized, Zeros
from chadllvm.ops.iterate import Iterate, Steps, asked, begun_with, least_steps
from chadllvm.ops.update import Update
from chadllvm.simplify.walk import Walk, same
from chadllvm.simplify.windows import window


class Side:
    """A block with what it binds; of one inside of another, the other is `around`.

    `asked`: a loop that asks for one of these has a step.
    """

    def __init__(
        self,
        block: Block,
        steps: Steps,
        around: Side | None = None,
        asked: Sequence[Operand] = (),
    ) -> None:
        self.block = block
        self.bound = {v: b for b in block.bindings for v in b.vars}
        self._steps, self._around, self._asked = steps, around, asked

    def sides(self, branch: If) -> tuple[Side, Side]:
        """The sides of a branch in here."""
        then = Side(branch.then, self._steps, self, self._steps.where(branch.cond))
        return then, Side(branch.orelse, self._steps, self)

    def is_outside(self, *operands: Operand) -> bool:
        return self.bound.keys().isdisjoint(operands)

    def has_step(self, asked: Operand) -> bool:
        """Whether a loop that asks for this is known to have a step."""
        if asked in self._asked:
            return True
        return self._around is not None and self._around.has_step(asked)

    def old_states(self, node: Apply, k: int) -> list[int] | None:
        """By which states a loop begins with what a state is before a step makes it."""
        (body,) = node.bodies
        return begun_with(body, k, Side(body.body, self._steps).makes)

    def _renews(self, node: Apply, k: int) -> bool:
        """Whether a state of a loop is made by a step, or was made before."""
        old = self.old_states(node, k)
        return old is not None and all(
            self.makes(node.args[1 + j])
            for j in old[least_steps(node, self.has_step) :]
        )

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
            case If() as branch:
                k = binding.vars.index(array)
                sides = self.sides(branch)
                return all(side.makes(side.block.results[k]) for side in sides)
            case Apply(Update() | Sized(), (old, *_)):
                return self.makes(old)
            case Apply(Iterate(), (_, *inits)) as node:
                k = binding.vars.index(array)
                return k >= len(inits) or self.makes(inits[k]) or self._renews(node, k)
            case _:
                return False


class Blocks(Walk):
    """A walk that knows which blocks around a place run as often as it does.

    `side`: the innermost of them, if they are in a step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = Steps()
        self.side: Side | None = None

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        return self._within(Side(block, self.steps))

    def _within(self, side: Side) -> Block:
        outer, self.side = self.side, side
        block = self.block(side.block)
        self.side = outer
        return block

    def expr(self, expr: Expr) -> Expr:
        if not isinstance(expr, If) or self.side is None:
            return super().expr(expr)
        blocks = [self._within(side) for side in self.side.sides(expr)]
        if same(blocks, (expr.then, expr.orelse)):
            return expr
        return If(self.operand(expr.cond), *blocks)


def guarded(function: Function) -> Function:
    """The function whose loops have a step where they hand on what a step makes."""
    return with_body(function, _Guarded().block(function.body))


class _Guarded(Blocks):
    """Puts loops into branches."""

    def __init__(self) -> None:
        super().__init__()
        # What is copied to a row of an array, and so pays for itself.
        self._rows: set[Operand] = set()

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Apply(Build(), _, (body,)):
                self._rows.update(body.body.results)
        return super().expr(expr)

    def visit(self, binding: Binding) -> None:
        self.steps.enter(binding)
        match binding.expr:
            case Apply(Iterate()) as node if self.side is not None:
                self._loop(binding, node, self.side, len(node.args))
            case _:
                self.keep(binding)

    def _loop(self, binding: Binding, node: Apply, side: Side, most: int) -> None:
        """A loop, as it is, in a branch, or with so many first steps apart at most."""
        unknown = [asks for asks in asked(node) if not side.has_step(asks)]
        if not any(self._old(binding, node, side)):
            self.keep(binding)
        elif unknown:
            self._guard(binding, node, unknown[0], side, most)
        elif most:
            self._peel(binding, node, side, most)
        else:
            self.keep(binding)

    def _old(self, binding: Binding, node: Apply, side: Side) -> Iterator[bool]:
        """Whether states begin with old arrays, where a loop may hand on these in place
        of what its steps make."""
        inits, least = node.args[1:], least_steps(node, side.has_step)
        if len(binding.vars) != len(inits):
            return
        for k, final in enumerate(binding.vars):
            if isinstance(final.type, Array | Box) and final not in self._rows:
                for j in (side.old_states(node, k) or [])[least:]:
                    yield side.part(inits[j]) is not None or not side.makes(inits[j])

    def _guard(
        self, binding: Binding, node: Apply, asks: Operand, side: Side, most: int
    ) -> None:
        """A branch that has the loop, if there is a step."""
        condition = asks
        if condition.type != BOOL:
            out = Builder(binding.span)
            condition = out.prim("ilt", Lit(0), condition)
            self.out += out.bindings
        finals = tuple([Var(v.name, v.type) for v in binding.vars])
        own = Renaming(fresh=True)
        parts = filter(None, map(side.part, node.args[1:]))
        copies = [own.binding(part) for part in dict.fromkeys(parts)]
        run = Apply(node.op, own.operands(node.args), node.bodies)
        outer, self.out = self.out, copies
        loop = Side(Block(tuple(copies), ()), self.steps, side, (condition, asks))
        self._loop(Binding(finals, run, binding.span), run, loop, most)
        then, self.out = Block(tuple(self.out), finals), outer
        branch = If(condition, then, Block((), node.args[1:]))
        self.keep(Binding(binding.vars, branch, binding.span))

    def _peel(self, binding: Binding, node: Apply, side: Side, most: int) -> None:
        """The first step, and a loop of the others."""
        (body,), (count, *inits) = node.bodies, node.args
        first = Renaming(dict(zip(body.params, (lit(0), *inits), strict=True)), True)
        step = first.block(body.body)
        out = Builder(binding.span)
        rest = out.prim("isub", count, lit(1))
        index, inner = Var("i", I64), out.child()
        shifted = Renaming({body.params[0]: inner.prim("iadd", index, lit(1))})
        later = shifted.block(body.body)
        block = Block((*inner.bindings, *later.bindings), later.results)
        loop = Lambda((index, *body.params[1:]), block)
        for each in everywhere(step):
            self.steps.enter(each)
        for each in (*step.bindings, *out.bindings):
            side.bound.update(dict.fromkeys(each.vars, each))
            self.keep(each)
        others = Apply(node.op, (rest, *step.results), (loop,))
        self._loop(Binding(binding.vars, others, binding.span), others, side, most - 1)
