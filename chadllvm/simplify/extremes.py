"""Loops that only look for the least or the largest value become folds.

    s = iterate(n, z) { i, s: f64 ->      t = ilt(0, n)
      x = index(a, i)                     s = if t {
      c = flt(s, x)                         m = fold[max, quiet](n) { i ->
      s_1 = select(c, x, s)       →           x = index(a, i)
      yield s_1 }                             yield x }
                                            c = flt(z, m)
                                            b = select(c, m, z)
                                            yield b
                                          } else { yield z }

The loop has one state and collects nothing; each step compares the state with what does
not depend on it, strictly, so that a NaN never wins but as the initial value. A fold is
vectorised, and keeps for its reverse the place of the winner, where the loop would keep
what became of the state in each step. A step that does not look for anything in one of
its branches has the worst value there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
    literal,
)
from chadllvm.ir.types import is_float
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.walk import Walk


def extremes(program: Program) -> Program:
    """Make folds of the loops that look for an extremum."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _Extremes().block(function.body))


class _Extremes(Walk):
    """Rewrites each loop after the loops inside of it."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Iterate(stops=False), (_, _), (body,)) as node if len(
                body.body.results
            ) == 1 and is_float(body.params[1].type):
                self._iterate(binding, node)
            case _:
                self.keep(binding)

    def _iterate(self, binding: Binding, node: Apply) -> None:
        (count, init), (body,) = node.args, node.bodies
        index, state = body.params
        for kind in ("max", "min"):
            block = _Candidates(state, kind).block(body.body)
            if block is not None:
                break
        else:
            self.keep(binding)
            return
        out, inner = Builder(binding.span), Builder(binding.span)
        some = out.prim("ilt", lit(0), count)
        fold = Fold(kind, quiet=True)
        (best,) = inner.apply(fold, [count], [Lambda((index,), block)], [state.name])
        pair = (init, best) if kind == "max" else (best, init)
        better = inner.prim("flt", *pair)
        result = inner.prim("select", better, best, init)
        for before in out.bindings:
            self.keep(before)
        choice = If(some, inner.block([result]), Block((), (init,)))
        self.keep(Binding(binding.vars, choice, binding.span))


class _Candidates:
    """Finds in a step what the state is compared with."""

    def __init__(self, state: Var, kind: str) -> None:
        self._state = state
        self._kind = kind
        worst = -math.inf if kind == "max" else math.inf
        self._worst = literal(worst, state.type)

    def block(self, block: Block) -> Block | None:
        """The block with the candidate for its result; None if it does other things."""
        (result,) = block.results
        if result is self._state:
            return self._checked(block.bindings, self._worst)
        if not block.bindings or block.bindings[-1].vars != (result,):
            return None
        *before, last = block.bindings
        match last.expr:
            case Apply(Prim(name="select"), (cond, new, old)) if old is self._state:
                return self._compared(before, cond, new)
            case If(cond, Block((), (new,)), Block((), (old,))) if old is self._state:
                compared = self._compared(before, cond, new)
                return compared or self._branch(before, last, last.expr)
            case If() as node:
                return self._branch(before, last, node)
            case _:
                return None

    def _compared(
        self, before: Sequence[Binding], cond: Operand, new: Operand
    ) -> Block | None:
        """The candidate wins where the comparison with the state says so."""
        pair = (self._state, new) if self._kind == "max" else (new, self._state)
        rest = [b for b in before if b.vars != (cond,)]
        match [b.expr for b in before if b.vars == (cond,)]:
            case [Apply(Prim(name="flt"), args)] if args == pair:
                return self._checked(rest, new)
            case _:
                return None

    def _branch(
        self, before: Sequence[Binding], last: Binding, node: If
    ) -> Block | None:
        """Both branches look for the extremum, or leave the state as it is."""
        then, orelse = self.block(node.then), self.block(node.orelse)
        if then is None or orelse is None or node.cond is self._state:
            return None
        var = Var(last.vars[0].name, last.vars[0].type)
        chosen = Binding((var,), If(node.cond, then, orelse), last.span)
        return self._checked([*before, chosen], var)

    def _checked(self, bindings: Sequence[Binding], result: Operand) -> Block | None:
        """The block, if nothing is left of the state."""
        used = any(self._state in free_vars_of(b.expr) for b in bindings)
        if used or result is self._state:
            return None
        return Block(tuple(bindings), (result,))
