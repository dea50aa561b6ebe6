"""Moves what does not depend on a loop's steps in front of the loop.

    s = fold[add](n) { i ->             d = dim[0](a)
      d = dim[0](a)                     u = mul(v, v)
      k = bound(i, d)             →     s = fold[add](n) { i ->
      x = index(a, k)                     k = bound(i, d)
      u = mul(v, v)                       x = index(a, k)
      y = mul(x, u)                       y = mul(x, u)
      yield y }                           yield y }

What can fail stays, as does what adds to a cell; but a function with derivatives of its
own, which may do anything, moves if the loop is sure to run and nothing in front of it
there can fail: it would be the first to. Scalar code may move even if the loop
turns out to run no step; an array operation only if the loop is sure to run, lest a
loop of no steps cost more than it did. Reading an array needs an index in range, which
a check inside of the loop may have been the reason for: it moves if the loop is sure to
run and nothing in front of it there can fail, or if the index is proved to be in range
in front of the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

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
from chadllvm.ops.custom import Custom
from chadllvm.ops.index import Dim, Index, Sized, Unbox
from chadllvm.simplify.failing import can_fail, has_checks
from chadllvm.simplify.scopes import LOOPS, FactWalk, sure_to_start


def hoist(program: Program) -> Program:
    """Move invariant code out of loops, from inner loops outwards."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not _may_have_invariants(function.body):
        return function
    walk = _Hoisting(function.params)
    return with_body(function, walk.block(function.body))


def _may_have_invariants(block: Block) -> bool:
    """Whether there is something in a loop that its steps have nothing to do with."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(op, _, (body,)) if isinstance(op, LOOPS):
                variant = set(body.params)
                for inner in body.body.bindings:
                    if _is_apart(inner.expr, variant):
                        return True
                    variant.update(inner.vars)
        if any(_may_have_invariants(inner) for _, inner in nested(binding.expr)):
            return True
    return False


def _is_apart(expr: Expr, variant: set[Var]) -> bool:
    """Whether an expression that may be moved uses none of these variables."""
    if not variant.isdisjoint(operands(expr)):
        return False
    match expr:
        case Apply(Prim(can_fail=False) | Dim() | Unbox() | Sized() | Index()):
            return True
        case Apply(Custom()) | Const():
            return True
        case Apply(op) if isinstance(op, LOOPS):
            return _is_pure(expr) and variant.isdisjoint(free_vars_of(expr))
        case _:
            return False


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

        @cache
        def runs() -> bool:
            last = self.facts.value(count).plus(-1)
            return starts and self.facts.is_not_negative(last)

        checked = failed = False
        variant = set(body.params)
        left: list[Binding] = []
        for binding in body.body.bindings:
            apart = _is_apart(binding.expr, variant)
            if apart and self._is_invariant(binding.expr, runs, checked, failed):
                self.keep(binding)
            else:
                variant.update(binding.vars)
                left.append(binding)
                checked = checked or has_checks(binding.expr)
                failed = failed or can_fail(binding.expr, rows=True)
        if len(left) == len(body.body.bindings):
            return body
        return Lambda(body.params, Block(tuple(left), body.body.results))

    def _is_invariant(
        self, expr: Expr, runs: Callable[[], bool], checked: bool, failed: bool
    ) -> bool:
        """Whether what is apart from a loop's steps may be run in front of the loop.

        `runs` says whether the loop runs a step; `checked`: something before it there
        may be why its indices are in range, `failed`: something before it may fail.
        """
        match expr:
            case Apply(Custom()):
                return not failed and runs()
            case Apply(Index()):
                return (not checked and runs()) or self._is_in_range(expr)
            case Apply(op) if isinstance(op, LOOPS):
                return runs() and (not checked or self._is_in_range(expr))
            case _:
                return True

    def _is_in_range(self, expr: Expr) -> bool:
        """Whether all indices in an expression are proved to be in range."""
        match expr:
            case Apply(Index(), (Var() as array, *indices)):
                return all(
                    self.facts.is_in_range(
                        self.facts.form(i), self.facts.size(array, axis)
                    )
                    for axis, i in enumerate(indices)
                )
            case Apply(Index()):
                return False
            case Apply(op, args, (body,)) if isinstance(op, LOOPS):
                with self.facts.loop(args[0], body):
                    return self._are_in_range(body.body)
            case If(cond, then, orelse):
                with self.facts.branch(cond, True):
                    first = self._are_in_range(then)
                with self.facts.branch(cond, False):
                    return first and self._are_in_range(orelse)
            case _:
                return not nested(expr)

    def _are_in_range(self, block: Block) -> bool:
        for binding in block.bindings:
            if not self._is_in_range(binding.expr):
                return False
            self.facts.learn(binding)
        return True


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
