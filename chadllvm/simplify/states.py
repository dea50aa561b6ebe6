"""States of loops that are none: a state that each step passes through.

    s, t = iterate(n, 0.0, x)             s = iterate(n, 0.0)
      { i, s: f64, t: f64 ->                { i, s: f64 ->
      y = mul(s, t)                 →       y = mul(s, x)
      yield y, t }                          yield y }
    return s, t                           return s, x

It is what it was before the loop. So is one that begins with zeros, and that each step
makes of as many zeros. Inner loops go first, so that what an inner loop passes through
may be seen to be passed through by the outer one.
"""

from __future__ import annotations

from typing import TypeVar

from chadllvm.ir.rewrite import Renaming, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ops.index import Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.identities import is_same
from chadllvm.simplify.walk import Walk

T = TypeVar("T")


def states(program: Program) -> Program:
    """Put the initial value in the place of every state that no step changes."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _States().block(function.body))


class _States(Walk):
    """Rewrites each loop after the loops inside of it."""

    def __init__(self) -> None:
        super().__init__()
        # The arrays of zeros, with their dimensions.
        self._zeros: dict[Operand, tuple[Zeros, tuple[Operand, ...]]] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Iterate()) as node:
                self.keep(self._iterate(binding, node))
            case Apply(Zeros() as op, dims):
                self._zeros[binding.vars[0]] = op, dims
                self.keep(binding)
            case _:
                self.keep(binding)

    def _iterate(self, binding: Binding, node: Apply) -> Binding:
        (count, *inits), (body,) = node.args, node.bodies
        index, *params = body.params
        results = body.body.results
        # A loop that stops does so by its first state.
        first = 1 if node.op == Iterate(stops=True) else 0
        passed = [
            k
            for k, param in enumerate(params)
            if k >= first
            and (results[k] is param or self._is_same(results[k], inits[k]))
        ]
        if not passed:
            return binding
        inner: dict[Var, Operand] = {params[k]: inits[k] for k in passed}
        for k in passed:
            self.replace(binding.vars[k], inits[k])
        block = Renaming(inner).block(body.body)
        block = Block(block.bindings, _without(block.results, passed))
        rest = Lambda((index, *_without(tuple(params), passed)), block)
        loop = Apply(node.op, (count, *_without(tuple(inits), passed)), (rest,))
        return Binding(_without(binding.vars, passed), loop, binding.span)

    def _is_same(self, result: Operand, init: Operand) -> bool:
        """Whether a step makes what the loop began with."""
        zeros = self._zeros.get(result)
        is_zero = zeros is not None and zeros == self._zeros.get(init)
        return is_zero or is_same(result, init)


def _without(items: tuple[T, ...], positions: list[int]) -> tuple[T, ...]:
    return tuple([x for k, x in enumerate(items) if k not in positions])
