"""Turns forms back into bindings: the checks in front of loops."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Apply, Lit, Operand, Var
from chadllvm.ops.index import Dim
from chadllvm.ops.scalar.integer import wrap
from chadllvm.simplify.affine import Form, Monomial
from chadllvm.simplify.facts import LIMIT, Facts
from chadllvm.support.diagnostic import Span


class Emitter:
    """Emits integer code for forms into its builder."""

    def __init__(self, facts: Facts, span: Span) -> None:
        self.facts = facts
        self.builder = Builder(span)
        self._atoms: dict[Var, Operand] = {}

    def within(self, index: Form, size: Form) -> None:
        """Fail unless 0 <= index < size."""
        self.builder.prim("within", self.operand(index), self.operand(size))

    def steps(self, step: Form, times: Form) -> None:
        """Fail if |step| (times - 1) > 2^62: the index may have wrapped around."""
        b, count = self.builder, self.operand(times.plus(-1))
        room = b.prim("ifloordiv", lit(LIMIT), b.prim("imax", count, lit(1)))
        size = b.prim("iabs", self.operand(step))
        moves = b.prim("ilt", lit(0), count)
        used = b.prim("iselect", moves, size, lit(0))
        b.prim("within", used, b.prim("iadd", room, lit(1)))

    def all_positive(self, forms: Sequence[Form]) -> Operand:
        """Whether all of these are positive."""
        b = self.builder
        result, *rest = [b.prim("ilt", lit(0), self.operand(f)) for f in forms]
        for cond in rest:
            result = b.prim("and", result, cond)
        return result

    def operand(self, form: Form) -> Operand:
        """The value of a form, modulo 2^64."""
        total: Operand | None = None
        terms = [(m, c) for m, c in form.terms.items() if m]
        for monomial, coefficient in sorted(terms, key=lambda term: term[1] < 0):
            total = self._plus(total, monomial, coefficient)
        constant = wrap(form.terms.get((), 0))
        if total is None:
            return Lit(constant)
        return self.builder.prim("iadd", total, lit(constant)) if constant else total

    def _plus(
        self, total: Operand | None, monomial: Monomial, coefficient: int
    ) -> Operand:
        b = self.builder
        first, *others = map(self._atom, monomial)
        product = first
        for factor in others:
            product = b.prim("imul", product, factor)
        if abs(coefficient) != 1:
            product = b.prim("imul", product, lit(wrap(abs(coefficient))))
        if total is None:
            return b.prim("ineg", product) if coefficient < 0 else product
        return b.prim("isub" if coefficient < 0 else "iadd", total, product)

    def _atom(self, var: Var) -> Operand:
        """The variable, or the size that it stands for."""
        if var in self._atoms:
            return self._atoms[var]
        atom: Operand = var
        if var in self.facts.size_of:
            array, axis = self.facts.size_of[var]
            atom = self.builder.one(Apply(Dim(axis), (array,)), var.name)
        elif var in self.facts.clamp_of:
            value = self.operand(self.facts.clamp_of[var])
            atom = self.builder.prim("imax", value, lit(0))
        elif var in self.facts.rows_of:
            size, number = map(self.operand, self.facts.rows_of[var])
            some = self.builder.prim("ilt", lit(0), number)
            atom = self.builder.prim("iselect", some, size, lit(0))
        self._atoms[var] = atom
        return atom
