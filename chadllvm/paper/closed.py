"""D of closed functions, their calls, and packed values (App. B), in both forms.

D[λx. t] = ⟨λx. D[t], λ_. nothing⟩, where t is derived in the scope of x alone. What a
caller needs of its backpropagator is the cotangent of the argument:

    D[σ →ᶜ τ]₁ = D[σ]₁ →ᶜ D[τ]₁ × (D[τ]₂ → D[σ]₂)

The environment form has it: it is the one cotangent in Env (x : σ). In the monadic form
D[t] gives a computation EVM (x : σ) 1, which cannot be bound to computations of the
caller's scope. It is run on a cell of its own:

    λv. snd (run (snd D[t] v) ⟨0⟩)

As the scope of a closed function is one variable, such a run is two steps and the zero,
for each call of the function: the cost law keeps its form. (The other way, backward
functions that take the cell of the caller's argument, saves the zero and the addition
to that cell, but then D[·]₁ depends on what the argument is. The compiler does that.)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection

from chadllvm.ir.term import Var
from chadllvm.ir.types import Sum, Type
from chadllvm.paper.function_types import Closed, primal
from chadllvm.paper.linear import Zero
from chadllvm.paper.monad import Monadic, Run
from chadllvm.paper.naive import Basic, EnvironmentSplit
from chadllvm.paper.packed import ClosedFunction, LinearPack, Pack, Unpack
from chadllvm.paper.rules import Rules, backpropagator, let_
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Operation,
    Term,
    fst,
    pair,
    snd,
)
from chadllvm.paper.type_passing import pass_types
from chadllvm.paper.types import Scope, is_function


class FunctionRules(Rules):
    """What all rules share if D[τ]₁ is not always τ."""

    def __init__(self) -> None:
        super().__init__()
        self._targets: dict[Var, Var] = {}

    def primal(self, ty: Type) -> Type:
        return primal(ty)

    def target(self, var: Var) -> Var:
        found = self._targets.get(var)
        if found is None:
            ty = primal(var.type)
            found = var if ty == var.type else Var(var.name, ty)
            self._targets[var] = found
        return found

    def unary(self, scope: Scope, term: Do, linear: Callable[[Term], Term]) -> Term:
        op = _primal_operation(term.op)

        def result(s: Term) -> Term:
            bp = backpropagator(self.type_of(term), lambda d: Call(snd(s), linear(d)))
            return pair(Do(op, (fst(s),)), bp)

        return self.with_derived(scope, term.args[0], result)

    def without_derivative(self, scope: Scope, term: Do) -> Term:
        (arg,) = term.args
        bp = backpropagator(self.type_of(term), lambda d: self.nothing(scope))
        return self.with_derived(scope, arg, lambda s: pair(Do(term.op, (fst(s),)), bp))

    def called(
        self, scope: Scope, term: Call, result: Callable[[Term, Term, Term], Term]
    ) -> Term:
        """let f = D[s] in let a = D[t] in let r = (fst f) (fst a) in `result`"""
        _, call_type = is_function("Call", primal(self.type_of(term.function)))

        def call(f: Term, a: Term) -> Term:
            return let_(call_type, Call(fst(f), fst(a)), lambda r: result(f, a, r))

        return self.with_derived(
            scope,
            term.function,
            lambda f: self.with_derived(scope, term.arg, lambda a: call(f, a)),
        )


def _primal_operation(op: Operation) -> Operation:
    """The operation at the types D[τ]₁ of what it is applied to."""
    match op:
        case Inject(index, ty):
            whole = primal(ty)
            assert isinstance(whole, Sum)
            return Inject(index, whole)
        case Pack(tag, ty):
            return Pack(tag, primal(ty))
        case _:
            return op


class ClosedRules(FunctionRules):
    """App. B: functions are closed, and what they would capture is packed with them."""

    def differentiate(self, variables: Collection[Var], term: Term) -> Term:
        return pass_types(super().differentiate(variables, term))

    def derive(self, scope: Scope, term: Term) -> Term:
        match term:
            case Do(ClosedFunction(function)):
                derived = Do(ClosedFunction(self._closed(function)))
                ty = self.type_of(term)
                return pair(derived, backpropagator(ty, lambda d: self.nothing(scope)))
            case Let(var, Do(Unpack() as op, (arg,)), body):
                inner = scope.and_(var)
                return self.with_derived(
                    scope,
                    arg,
                    lambda s: Let(
                        self.target(var),
                        Do(op, (fst(s),)),
                        self._unpacked(inner, op, self.type_of(arg), s, body),
                    ),
                )
            case _:
                return super().derive(scope, term)

    def call(self, scope: Scope, term: Call) -> Term:
        ty = self.type_of(term.function)
        if not isinstance(ty, Closed):
            return super().call(scope, term)

        def result(f: Term, a: Term, r: Term) -> Term:
            bp = backpropagator(
                self.type_of(term), lambda d: Call(snd(a), Call(snd(r), d))
            )
            return pair(fst(r), bp)

        return self.called(scope, term, result)

    def _closed(self, function: Lam) -> Lam:
        """λx. let p = D[t] in ⟨fst p, λv. the cotangent of x⟩"""
        inner = Scope.of((function.var,))

        def result(p: Term) -> Term:
            bp = backpropagator(
                self.type_of(function.body),
                lambda d: self.alone(inner, Call(snd(p), d)),
            )
            return pair(fst(p), bp)

        body = self.with_derived(inner, function.body, result)
        return Lam(self.target(function.var), body)

    @abstractmethod
    def alone(self, inner: Scope, contribution: Term) -> Term:
        """What is contributed to the only variable of a scope."""

    def _unpacked(
        self, inner: Scope, op: Unpack, packed: Type, outer: Term, body: Term
    ) -> Term:
        """⟨y, λv. split into w₁ and w₂, and w₁ + x' (pack_α w₂)⟩"""
        pack = LinearPack(op.hidden, packed)
        return self.inside(inner, body, outer, pack)


class ClosedBasic(ClosedRules, Basic):
    """In the environment form (Fig. 2)."""

    def alone(self, inner: Scope, contribution: Term) -> Term:
        return snd(Do(EnvironmentSplit(inner), (contribution,)))


class ClosedMonadic(ClosedRules, Monadic):
    """In the monadic form (Fig. 6)."""

    def alone(self, inner: Scope, contribution: Term) -> Term:
        zero = Do(Zero(inner.types[0]))
        return snd(Do(Run(inner), (contribution, zero)))
