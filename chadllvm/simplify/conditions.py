"""Conditions of several comparisons are computed, not decided one after the other.

    c = if a {                            m = iadd(n, -1)
      m = iadd(n, -1)                     b = ilt(i, m)
      b = ilt(i, m)                →      c = and(a, b)
      yield b
    } else {
      yield false
    }

That is `0 < i < n - 1` or `0 < i and i < n - 1`, as Python means it. What is compared
second costs next to nothing and cannot fail, so that it does not matter whether it is
asked for. A branch on the condition knows both parts then, for what is proved in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    If,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import BOOL
from chadllvm.simplify.walk import Walk

# A branch with more bindings than this, or one that costs more, stays one.
_MOST = 4
_CHEAP = 2


def conditions(program: Program) -> Program:
    """Put `and` and `or` in the place of branches that choose truth values."""
    return map_functions(program, lambda f: with_body(f, _Conditions().block(f.body)))


class _Conditions(Walk):
    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case If(cond, then, orelse) if _only_decides(then, orelse):
                for inner in (*then.bindings, *orelse.bindings):
                    self.keep(inner)
                for var, yes, no in zip(
                    binding.vars, then.results, orelse.results, strict=True
                ):
                    self._decide(
                        Binding((var,), binding.expr, binding.span), cond, yes, no
                    )
            case _:
                self.keep(binding)

    def _decide(
        self, binding: Binding, cond: Operand, yes: Operand, no: Operand
    ) -> None:
        """Bind `yes` where the condition holds, else `no`; one of them is known."""
        match yes, no:
            case Lit(a), Lit(b) if a == b:
                self.replace(binding.vars[0], yes)
            case Lit(True), Lit():
                self.replace(binding.vars[0], cond)
            case Lit(), Lit():
                self._bind(binding, "not", cond)
            case _, Lit(False):
                self._bind(binding, "and", cond, yes)
            case Lit(True), _:
                self._bind(binding, "or", cond, no)
            case _, Lit():
                self._bind(binding, "or", self._opposite(binding, cond), yes)
            case _:
                self._bind(binding, "and", self._opposite(binding, cond), no)

    def _opposite(self, binding: Binding, cond: Operand) -> Var:
        var = Var("not_so", BOOL)
        self.keep(Binding((var,), Apply(PRIMS["not"], (cond,)), binding.span))
        return var

    def _bind(self, binding: Binding, name: str, *args: Operand) -> None:
        self.keep(Binding(binding.vars, Apply(PRIMS[name], args), binding.span))


def _only_decides(then: Block, orelse: Block) -> bool:
    """Whether a branch gives truth values only, of which it knows one on either side,
    and costs next to nothing."""
    pairs = [*zip(then.results, orelse.results, strict=True)]
    return (
        bool(pairs)
        and all(yes.type == BOOL for yes, _ in pairs)
        and all(isinstance(yes, Lit) or isinstance(no, Lit) for yes, no in pairs)
        and _is_cheap((*then.bindings, *orelse.bindings))
    )


def _is_cheap(bindings: Sequence[Binding]) -> bool:
    return len(bindings) <= _MOST and all(
        isinstance(b.expr, Apply)
        and isinstance(b.expr.op, Prim)
        and not b.expr.op.can_fail
        and b.expr.op.cycles <= _CHEAP
        for b in bindings
    )
