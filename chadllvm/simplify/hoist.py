"""Moves what does not depend on a loop's steps in front of the loop.

    s = fold[add](n) { i ->             d = dim[0](a)
      d = dim[0](a)                     u = mul(v, v)
      k = bound(i, d)             →     s = fold[add](n) { i ->
      x = index(a, k)                     k = bound(i, d)
      u = mul(v, v)                       x = index(a, k)
      y = mul(x, u)                       y = mul(x, u)
      yield y }                           yield y }

What can fail stays, as does what adds to a cell. Scalar code may move even if the loop
turns out to run no step; an array operation only if the loop is sure to run, lest a
loop of no steps cost more than it did. Reading an array needs an index in range, which
a check inside of the loop may have been the reason for: it moves if the loop is sure to
run, or if the index is proved to be in range in front of the loop.
"""

from __future__ import annotations

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Const,
    Expr,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array
from chadllvm.ops.index import Dim, Index, Sized, Unbox
from chadllvm.simplify.scopes import LOOPS, FactWalk, sure_to_start


def hoist(program: Program) -> Program:
    """Move invariant code out of loops, from inner loops outwards."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    walk = _Hoisting(function.params)
    return with_body(function, walk.block(function.body))


class _Hoisting(FactWalk):
    """Empties each loop of what is invariant, after the loops inside of it."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(op, args, (body,)) as loop if isinstance(op, LOOPS):
                left = self._left(body, args[0], sure_to_start(loop))
                if left is not body:
                    new = Apply(op, args, (left,))
                    binding = Binding(binding.vars, new, binding.span)
        self.keep(binding)

    def _left(self, body: Lambda, count: Operand, starts: bool) -> Lambda:
        """The body without what is invariant, which is kept here, in front of it.

        `starts`: if the count is positive, the loop is sure to run a step.
        """
        last = self.facts.value(count).plus(-1)
        runs = starts and self.facts.is_not_negative(last)
        variant = set(body.params)
        left: list[Binding] = []
        for binding in body.body.bindings:
            if self._is_invariant(binding.expr, variant, runs):
                self.keep(binding)
            else:
                variant.update(binding.vars)
                left.append(binding)
        if len(left) == len(body.body.bindings):
            return body
        return Lambda(body.params, Block(tuple(left), body.body.results))

    def _is_invariant(self, expr: Expr, variant: set[Var], runs: bool) -> bool:
        """Whether an expression of a loop's body may be run in front of the loop."""
        if any(o in variant for o in operands(expr)):
            return False
        match expr:
            case Apply(Prim(can_fail=False) | Dim() | Unbox() | Sized()) | Const():
                return True
            case Apply(Index(), (array, *indices)):
                return runs or self._are_in_range(array, indices)
            case Apply(op) if isinstance(op, LOOPS) and runs:
                return _is_pure(expr) and variant.isdisjoint(free_vars_of(expr))
            case _:
                return False

    def _are_in_range(self, array: Operand, indices: list[Operand]) -> bool:
        if not isinstance(array, Var):
            return False
        return all(
            self.facts.is_in_range(self.facts.form(i), self.facts.size(array, axis))
            for axis, i in enumerate(indices)
        )


def _is_pure(expr: Expr) -> bool:
    """Whether running an expression can neither fail nor add to a cell."""
    match expr:
        case Apply(op):
            if op.can_fail or (isinstance(op, LOOPS) and _has_rows(expr)):
                return False
        case Const() | If():
            pass
        case _:
            return False
    return all(_is_pure(b.expr) for _, block in nested(expr) for b in block.bindings)


def _has_rows(node: Apply) -> bool:
    """Whether rows are stacked, which fails if their shapes differ."""
    return any(isinstance(ty, Array) for ty in node.bodies[0].body.types)
