"""What facts say of comparisons, of the lesser and larger of two, and of remainders.

    build(n) { i ->                         build(n) { i ->
      k = iadd(i, 1)                          k = iadd(i, 1)
      l = imod(k, n)                          c = ilt(k, n)
      x = index(a, l)               →         l = select(c, k, 0)
      j = isub(i, 1)                          x = index(a, l)
      m = imod(j, n)                          j = isub(i, 1)
      y = index(a, m)                         d = ilt(j, 0)
      e = ieq(i, 0)                           e = iadd(j, n)
      h = imax(i, 0)                          m = select(d, e, j)
      …                                       e = ilt(i, 1)
                                              …

A remainder of neighbours is how a ring or a torus is written down. A division takes ten
times as long, so that its result would be stored for the reverse. What is proved to be
in [0, n) is its own remainder, n has the remainder 0 and -1 the remainder n - 1. A
remainder says more to the proof that an index is in range than a choice does.

An index is equal to the first or the last one in one step only: loops are split at
comparisons. The ends of slices are the lesser or the larger of what often is known.
"""

from __future__ import annotations

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.simplify.affine import Form
from chadllvm.simplify.scopes import FactWalk


def decided(program: Program) -> Program:
    """Put in what is proved, and comparisons where they are enough."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not _asks(function.body):
        return function
    return with_body(function, _Decided(function.params).block(function.body))


_ASKED = frozenset({"imod", "ieq", "ine", "ilt", "ile", "imin", "imax", "shift_count"})


def _asks(block: Block) -> bool:
    """Whether a block asks for what facts may say."""
    return any(
        isinstance(binding.expr, Apply)
        and isinstance(binding.expr.op, Prim)
        and binding.expr.op.name in _ASKED
        for binding in everywhere(block)
    )


class _Decided(FactWalk):
    """Rewrites what enough is known of."""

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
            case Apply(Prim(name="shift_count"), (places,)):
                if self.facts.is_not_negative(self.facts.value(places)):
                    self.replace(binding.vars[0], places)
                else:
                    self.keep(binding)
            case Apply(Prim(name="ieq" | "ine" as name), (x, y)):
                self._equality(binding, x, y, is_equal=name == "ieq")
            case Apply(Prim(name="ilt"), (x, y)):
                self._order(binding, self._ahead(x, y), -1)
            case Apply(Prim(name="ile"), (x, y)):
                self._order(binding, self._ahead(x, y), 0)
            case Apply(Prim(name="imin"), (x, y)):
                self._choose(binding, self._ahead(x, y), x, y)
            case Apply(Prim(name="imax"), (x, y)):
                self._choose(binding, self._ahead(x, y), y, x)
            case _:
                self.keep(binding)

    def _ahead(self, x: Operand, y: Operand) -> Form:
        """How much larger the second of two numbers is."""
        return self.facts.value(y) - self.facts.value(x)

    def _order(self, binding: Binding, ahead: Form, more: int) -> None:
        """Whether one number is so much ahead of another one."""
        if self.facts.is_not_negative(ahead.plus(more)):
            self.replace(binding.vars[0], Lit(True))
        elif self.facts.is_not_negative(ahead.times(-1).plus(-1 - more)):
            self.replace(binding.vars[0], Lit(False))
        else:
            self.keep(binding)

    def _choose(
        self, binding: Binding, ahead: Form, first: Operand, second: Operand
    ) -> None:
        """The first of two if there is something between, the second if less."""
        if self.facts.is_not_negative(ahead):
            self.replace(binding.vars[0], first)
        elif self.facts.is_not_negative(ahead.times(-1)):
            self.replace(binding.vars[0], second)
        else:
            self.keep(binding)

    def _equality(
        self, binding: Binding, x: Operand, y: Operand, is_equal: bool
    ) -> None:
        """Whether two numbers are equal, or are not, one of which is no larger."""
        facts, out = self.facts, Builder(binding.span)
        ahead = self._ahead(x, y)
        if self._indices.isdisjoint(ahead.variables()):
            self.keep(binding)
            return
        if facts.is_not_negative(ahead):
            near = (_moved(out, y, -1), x) if is_equal else (x, y)
        elif facts.is_not_negative(ahead.times(-1)):
            near = (x, _moved(out, y, 1)) if is_equal else (y, x)
        else:
            self.keep(binding)
            return
        result = out.prim("ilt", *near)
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
