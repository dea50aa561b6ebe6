"""Typed closure conversion T[·] (App. B): every function becomes a closed one.

    T[σ → τ] = Σα. α × (α × T[σ] →ᶜ T[τ])

    T[λx. t] = pack_ρ ⟨⟨x₁, …, xₙ⟩, λp. T[t] where xᵢ is in fst p, and x is snd p⟩
               for the free variables xᵢ of λx. t, and ρ the type of ⟨x₁, …, xₙ⟩
    T[s t]   = let f = T[s] in let a = T[t] in
               unpack f as α, z in (snd z) ⟨fst z, a⟩

Two details differ from the printed rules. ⟨x₁, …, xₙ⟩ is nested evenly, and the body
takes what it uses out of it where it uses it, in log n steps: else a call would pay for
all that is captured, though it may use little of it. And the argument is evaluated
before the closure is opened, so that what stands under an unpack is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Fun, Sum, Type
from chadllvm.paper.deep import deep
from chadllvm.paper.free import free_variables
from chadllvm.paper.function_types import (
    TYPE,
    bound,
    closed,
    exists,
    has_function,
    hidden,
    mapped,
    opened,
)
from chadllvm.paper.packed import ClosedFunction, Pack, Unpack
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    MakePair,
    Match,
    Operation,
    Ref,
    Term,
    Typing,
    fst,
    pair,
    snd,
    unit,
)
from chadllvm.paper.types import is_function, product
from chadllvm.support.diagnostic import InternalError


def converted(ty: Type) -> Type:
    """T[τ]"""
    match ty:
        case Fun((param,), (result,)):
            taken = product(bound(), converted(param))
            return exists(product(bound(), closed(taken, converted(result))))
        case _:
            return mapped(ty, converted)


def convert(term: Term) -> Term:
    """T[t], whose free variables are those of t.

    Raises:
        InternalError: if one of these holds a function, of which nothing is known.
    """
    with deep():
        return _Conversion().term(term)


class _Conversion:
    """`known` are the terms in place of the variables of the source."""

    def __init__(self) -> None:
        self.known: dict[Var, Term] = {}
        self._type_of = Typing().of

    def term(self, term: Term) -> Term:
        match term:
            case Ref(var):
                return self._variable(term, var)
            case Let(var, value, body):
                bound_term = self.term(value)
                return Let(self._bind(var), bound_term, self.term(body))
            case Lam():
                return self._closure(term)
            case Call():
                return self._call(term)
            case Match(arg, left, right):
                return Match(self.term(arg), self._branch(left), self._branch(right))
            case Do(MakePair() | Inject() as op, args):
                return Do(_converted(op), tuple([self.term(arg) for arg in args]))
            case Do(op, args):
                return Do(op, tuple([self._argument(arg) for arg in args]))
            case _:
                assert_never(term)

    def _variable(self, term: Ref, var: Var) -> Term:
        found = self.known.get(var)
        if found is None and has_function(var.type):
            raise InternalError(f"reference: the function in {var.name} is unknown")
        return found or term

    def _bind(self, var: Var) -> Var:
        """The variable of the converted type in place of one of the source."""
        ty = converted(var.type)
        if ty == var.type:
            return var
        new = Var(var.name, ty)
        self.known[var] = Ref(new)
        return new

    def _argument(self, arg: Term) -> Term:
        """That of an operation; the body of a loop is no function value."""
        return self._branch(arg) if isinstance(arg, Lam) else self.term(arg)

    def _branch(self, branch: Lam) -> Lam:
        return Lam(self._bind(branch.var), self.term(branch.body))

    def _closure(self, term: Lam) -> Term:
        captured = free_variables(term)
        values = balanced([self.term(Ref(var)) for var in captured])
        hides = balanced_type([converted(var.type) for var in captured])
        taken = product(hides, converted(term.var.type))
        function = Do(ClosedFunction(self._function(term, captured, taken)))
        op = Pack(hides, converted(self._type_of(term)))
        return Do(op, (pair(values, function),))

    def _function(self, term: Lam, captured: Sequence[Var], taken: Type) -> Lam:
        """The body, with the captured variables and the parameter in place."""
        outer, param = dict(self.known), Var(term.var.name, taken)
        for index, var in enumerate(captured):
            self.known[var] = component(fst(Ref(param)), index, len(captured))
        self.known[term.var] = snd(Ref(param))
        function = Lam(param, self.term(term.body))
        self.known = outer
        return function

    def _call(self, term: Call) -> Term:
        function, arg = self.term(term.function), self.term(term.arg)
        ty = converted(self._type_of(term.function))
        param, _ = is_function("Call", self._type_of(term.function))
        alpha = Var("α", TYPE)
        f, a = Var("f", ty), Var("a", converted(param))
        z = Var("z", opened(ty, hidden(alpha)))
        call = Call(snd(Ref(z)), pair(fst(Ref(z)), Ref(a)))
        unpacked = Let(z, Do(Unpack(alpha), (Ref(f),)), call)
        return Let(f, function, Let(a, arg, unpacked))


def _converted(op: Operation) -> Operation:
    if not isinstance(op, Inject):
        return op
    ty = converted(op.type)
    assert isinstance(ty, Sum)
    return Inject(op.index, ty)


# Evenly nested pairs.


def balanced(terms: Sequence[Term]) -> Term:
    """⟨t₁, …, tₙ⟩"""
    if len(terms) < 2:
        return terms[0] if terms else unit()
    middle = len(terms) // 2
    return pair(balanced(terms[:middle]), balanced(terms[middle:]))


def balanced_type(types: Sequence[Type]) -> Type:
    """The type of ⟨t₁, …, tₙ⟩."""
    if len(types) < 2:
        return types[0] if types else UNIT
    middle = len(types) // 2
    return product(balanced_type(types[:middle]), balanced_type(types[middle:]))


def component(whole: Term, index: int, count: int) -> Term:
    """tᵢ of ⟨t₁, …, tₙ⟩"""
    while count > 1:
        middle = count // 2
        if index < middle:
            whole, count = fst(whole), middle
        else:
            whole, index, count = snd(whole), index - middle, count - middle
    return whole
