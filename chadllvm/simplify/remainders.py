"""Remainders of neighbours are comparisons, and so is where a loop begins or ends.

    build(n) { i ->                         build(n) { i ->
      k = iadd(i, 1)                          k = iadd(i, 1)
      l = imod(k, n)                          c = ilt(k, n)
      x = index(a, l)               →         l = select(c, k, 0)
      j = isub(i, 1)                          x = index(a, l)
      m = imod(j, n)                          j = isub(i, 1)
      y = index(a, m)                         d = ilt(j, 0)
      …                                       e = iadd(j, n)
                                              m = select(d, e, j)
                                              …

That is how a ring or a torus is written down. A division takes ten times as long, so
that its result would be stored for the reverse. What is proved to be in [0, n) is its
own remainder, n has the remainder 0 and -1 the remainder n - 1. A remainder says more
to the proof that an index is in range than a choice does.

Nor is an index equal to the first or the last one in any but one step: `ieq(i, 0)` is
`ilt(i, 1)`, where a loop can be split.
"""

from __future__ import annotations

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lit,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.simplify.scopes import FactWalk


def remainders(program: Program) -> Program:
    """Compare in the place of divisions where that is enough."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not _asks(function.body):
        return function
    return with_body(function, _Remainders(function.params).block(function.body))


def _asks(block: Block) -> bool:
    """Whether there are remainders or equalities in a block."""
    return any(
        (
            isinstance(binding.expr, Apply)
            and isinstance(binding.expr.op, Prim)
            and binding.expr.op.name in ("imod", "ieq")
        )
        or any(_asks(inner) for _, inner in nested(binding.expr))
        for binding in block.bindings
    )


class _Remainders(FactWalk):
    """Rewrites those of which enough is known."""

    def __init__(self, params: tuple[Var, ...]) -> None:
        super().__init__(params)
        self._indices = set[Var]()

    def inside(self, block: Block, index: Var | None) -> Block:
        if index is not None:
            self._indices.add(index)
        return super().inside(block, index)

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="imod"), (number, size)):
                self._remainder(binding, number, size)
            case Apply(Prim(name="ieq"), (x, y)):
                self._equality(binding, x, y)
            case _:
                self.keep(binding)

    def _equality(self, binding: Binding, x: Operand, y: Operand) -> None:
        facts, out = self.facts, Builder(binding.span)
        ahead = facts.form(x) - facts.form(y)
        if self._indices.isdisjoint(ahead.variables()):
            self.keep(binding)
            return
        if facts.is_not_negative(ahead):
            result = out.prim("ilt", x, _moved(out, y, 1))
        elif facts.is_not_negative(ahead.times(-1)):
            result = out.prim("ilt", _moved(out, y, -1), x)
        else:
            self.keep(binding)
            return
        self._emit(out, binding, result)

    def _remainder(self, binding: Binding, number: Operand, size: Operand) -> None:
        facts, out = self.facts, Builder(binding.span)
        form, limit = facts.form(number), facts.value(size)
        if facts.is_in_range(form, limit):
            self.replace(binding.vars[0], number)
            return
        is_some = facts.is_not_negative(limit.plus(-1))
        if is_some and facts.is_in_range(form, limit.plus(1)):
            below = out.prim("ilt", number, size)
            result = out.prim("iselect", below, number, lit(0))
        elif is_some and facts.is_in_range(form.plus(1), limit.plus(1)):
            before = out.prim("ilt", number, lit(0))
            last = out.prim("iadd", number, size)
            result = out.prim("iselect", before, last, number)
        else:
            self.keep(binding)
            return
        self._emit(out, binding, result)

    def _emit(self, out: Builder, binding: Binding, result: Operand) -> None:
        for new in out.bindings:
            self.keep(new)
        self.replace(binding.vars[0], result)


def _moved(out: Builder, number: Operand, by: int) -> Operand:
    """The number, or the constant, beside another one."""
    if isinstance(number, Lit):
        return lit(int(number.value) + by)
    return out.prim("iadd", number, lit(by))
