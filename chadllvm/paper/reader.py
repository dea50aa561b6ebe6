"""Reads blocks of the core as terms of the paper, as far as they are of first order.

A block is nested lets, its results a nested pair; products and sums become binary ones,
and `if` is a case of a truth value. The paper's one type of reals is f64: there is no
f32 in any of the reference's forms. What is not in the paper's first-order language has
its own readers: `source` reads arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.term import (
    Apply,
    Block,
    Case,
    Expr,
    If,
    Inject,
    Lambda,
    Operand,
    Proj,
    Tuple,
    Var,
)
from chadllvm.ir.types import F32, UNIT, Product, Sum, Type, holds
from chadllvm.paper import terms
from chadllvm.paper.terms import (
    TRUTH,
    Do,
    Lam,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    binary,
    pairs,
    path,
    unit,
)
from chadllvm.support.diagnostic import InternalError


class Reader:
    """Reads blocks; `known` gives the terms that variables of the core stand for."""

    def __init__(self, known: dict[Var, Term]) -> None:
        self.known = known

    def bind(self, var: Var) -> Var:
        """A variable of the term in place of a variable of the core."""
        if holds(var.type, F32):
            raise InternalError(f"reference: {var.name} is f32, the paper's reals f64")
        new = Var(var.name, binary(var.type))
        self.known[var] = Ref(new)
        return new

    def operand(self, operand: Operand) -> Term:
        if isinstance(operand, Var):
            return self.known[operand]
        value = operand.value
        if isinstance(value, bool):
            return Do(terms.Inject(int(value), TRUTH), (unit(),))
        return Do(Literal(value), (unit(),))

    def operands(self, operands: Sequence[Operand]) -> list[Term]:
        return list(map(self.operand, operands))

    def block(
        self, block: Block, results: Callable[[list[Term]], Term] = pairs
    ) -> Term:
        """let … in let … in ⟨results⟩, or what `results` makes of them"""
        lets: list[tuple[Var, Term]] = []
        for binding in block.bindings:
            bound = self.expr(binding.expr)
            if len(binding.vars) == 1:
                lets.append((self.bind(binding.vars[0]), bound))
                continue
            types = tuple(v.type for v in binding.vars)
            whole = Var("results", binary(Product(types)))
            lets.append((whole, bound))
            for index, var in enumerate(binding.vars):
                part = path(Ref(whole), index, len(binding.vars))
                lets.append((self.bind(var), part))
        term = results(self.operands(block.results))
        for var, bound in reversed(lets):
            term = Let(var, bound, term)
        return term

    def expr(self, expr: Expr) -> Term:
        match expr:
            case Apply(Prim() as op, args):
                return Do(Primitive(op), (pairs(self.operands(args)),))
            case Tuple(args, _):
                return pairs(self.operands(args))
            case Proj(arg, index):
                assert isinstance(arg.type, Product)
                return path(self.operand(arg), index, len(arg.type.fields))
            case If(cond, then, orelse):
                no, yes = (Lam(Var("u", UNIT), self.block(b)) for b in (orelse, then))
                return Match(self.operand(cond), no, yes)
            case Inject(ty, index, arg):
                return _injected(self.operand(arg), index, ty)
            case Case(arg, branches):
                return self._case(self.operand(arg), branches)
            case _:
                name = type(expr).__name__
                raise InternalError(f"reference: {name} is not in the language")

    def _case(self, arg: Term, branches: tuple[Lambda, ...]) -> Term:
        """case of n constructors = case of the first one or the others"""
        first, *others = branches
        var = self.bind(first.params[0])
        if not others:
            return Let(var, arg, self.block(first.body))
        left = Lam(var, self.block(first.body))
        payloads = tuple(("", b.params[0].type) for b in others)
        rest = Var("rest", binary(Sum(payloads)))
        return Match(arg, left, Lam(rest, self._case(Ref(rest), tuple(others))))


def _injected(arg: Term, index: int, ty: Sum) -> Term:
    """inr (inr … (inl t))"""
    suffixes = [binary(Sum(ty.constructors[k:])) for k in range(index + 1)]
    last = index == len(ty.constructors) - 1
    if not last:
        arg = Do(terms.Inject(0, _sum(suffixes[index])), (arg,))
    for suffix in reversed(suffixes[:index]):
        arg = Do(terms.Inject(1, _sum(suffix)), (arg,))
    return arg


def _sum(ty: Type) -> Sum:
    assert isinstance(ty, Sum)
    return ty
