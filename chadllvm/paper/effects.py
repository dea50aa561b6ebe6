"""Contributions that come with a value, in the environment form and in the monadic one.

The rules for arrays and loops (Fig. 8) use the monad for more than contributions: they
pass cotangents on (do d ← s; t), and run computations whose number is known at run time
only (`sequence`, `unTree`). So that they serve the forms of §2 and §4.1 as well, they
are written in terms of M Γ τ, contributions to Γ and a value of type τ:

|                                | Fig. 2 (writer)         | Fig. 6                    |
|--------------------------------|-------------------------|---------------------------|
| M Γ τ                          | Env Γ × τ               | EVM Γ τ                   |
| `pure` a                       | ⟨0, a⟩                  | return a                  |
| `bind` s (λx. t)               | ⟨s₁ + t₁, t₂⟩, x = s₂   | s >>= λx. t               |
| `then`: t gives contributions  | s₁ + t, x = s₂          | s >>= λx. t               |
| `opened` s f: s adds to Γ, x   | ⟨s₁, f s₂⟩, split       | scope 0 s >>= λr. return… |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from chadllvm.ir.types import UNIT, Type
from chadllvm.paper.linear import Zero
from chadllvm.paper.monad import Bind, Monadic, OpenScope, Pure
from chadllvm.paper.naive import Basic, EnvironmentSplit
from chadllvm.paper.rules import Rules, let_
from chadllvm.paper.terms import Do, Term, fst, function, pair, snd
from chadllvm.paper.types import (
    Scope,
    computation,
    cotangent,
    environment,
    product,
)
from chadllvm.support.diagnostic import InternalError

Rest = Callable[[Term], Term]


class Effects(ABC):
    """The words in which the rules for arrays are written.

    `scope` is Γ; the types are those of values, not of what gives them. `backwards`:
    what may be done in any order is done from the end.
    """

    backwards: bool = False

    @abstractmethod
    def type(self, scope: Scope, value: Type) -> Type:
        """M Γ τ"""

    @abstractmethod
    def pure(self, scope: Scope, value: Term) -> Term:
        """M Γ τ of a value, without contributions."""

    @abstractmethod
    def bind(
        self, scope: Scope, first: Term, ty: Type, rest: Rest, result: Type
    ) -> Term:
        """M Γ τ: the first, which gives a value of type `ty`, then the rest of that."""

    @abstractmethod
    def then(self, scope: Scope, first: Term, ty: Type, rest: Rest) -> Term:
        """Contributions: the first, then the rest given its value."""

    @abstractmethod
    def opened(self, inner: Scope, term: Term, value: Rest) -> Term:
        """M Γ τ of a term that contributes to (Γ, x): a value of x's cotangent.

        `inner` is (Γ, x).
        """


class MonadicEffects(Effects):
    """M Γ τ is EVM Γ τ."""

    def __init__(self, backwards: bool) -> None:
        self.backwards = backwards

    def type(self, scope: Scope, value: Type) -> Type:
        return computation(scope, value)

    def pure(self, scope: Scope, value: Term) -> Term:
        return Do(Pure(scope), (value,))

    def bind(
        self, scope: Scope, first: Term, ty: Type, rest: Rest, result: Type
    ) -> Term:
        return Do(Bind(), (first, function("r", ty, rest)))

    def then(self, scope: Scope, first: Term, ty: Type, rest: Rest) -> Term:
        return Do(Bind(), (first, function("r", ty, rest)))

    def opened(self, inner: Scope, term: Term, value: Rest) -> Term:
        scope, ty = _last(inner)
        opened = Do(OpenScope(inner, ty), (Do(Zero(ty)), term))
        both = product(cotangent(ty), UNIT)
        rest = function("r", both, lambda r: Do(Pure(scope), (value(fst(r)),)))
        return Do(Bind(), (opened, rest))


class BasicEffects(Effects):
    """M Γ τ is Env Γ × τ."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def type(self, scope: Scope, value: Type) -> Type:
        return product(environment(scope), value)

    def pure(self, scope: Scope, value: Term) -> Term:
        return pair(self.rules.nothing(scope), value)

    def bind(
        self, scope: Scope, first: Term, ty: Type, rest: Rest, result: Type
    ) -> Term:
        def joined(s: Term, t: Term) -> Term:
            return pair(self.rules.both(scope, fst(s), fst(t)), snd(t))

        return let_(
            self.type(scope, ty),
            first,
            lambda s: let_(
                self.type(scope, result), rest(snd(s)), lambda t: joined(s, t)
            ),
        )

    def then(self, scope: Scope, first: Term, ty: Type, rest: Rest) -> Term:
        return let_(
            self.type(scope, ty),
            first,
            lambda s: self.rules.both(scope, fst(s), rest(snd(s))),
        )

    def opened(self, inner: Scope, term: Term, value: Rest) -> Term:
        scope, ty = _last(inner)
        return let_(
            product(environment(scope), cotangent(ty)),
            Do(EnvironmentSplit(inner), (term,)),
            lambda both: pair(fst(both), value(snd(both))),
        )


def _last(inner: Scope) -> tuple[Scope, Type]:
    assert inner.outer is not None and inner.var is not None
    return inner.outer, inner.var.type


def effects_of(rules: Rules) -> Effects:
    """The effects that go with these rules."""
    match rules:
        case Monadic():
            return MonadicEffects(rules.swapped)
        case Basic():
            return BasicEffects(rules)
        case _:
            raise InternalError("reference: rules of neither form")
