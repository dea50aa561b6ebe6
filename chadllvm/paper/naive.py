"""CHAD as in §2: dense cotangents (Fig. 4) and environments as tuples.

Every zero and every contribution to one variable is as large as the environment, and so
is every addition: simple, and far from efficient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import Product, Sum, Type
from chadllvm.paper.linear import Linear, Pay
from chadllvm.paper.rules import Rules, let_
from chadllvm.paper.terms import Do, Operation, Term, fst, snd
from chadllvm.paper.types import Scope, cotangent, environment, product

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine


class Dense(Linear):
    """D[σ × τ]₂ is a pair: its zero is as large as the type."""

    def zero(self, ty: Type, pay: Pay) -> Any:
        match ty:
            case Product((_, _)):
                pay(1)
                return tuple(self.zero(field, pay) for field in ty.fields)
            case Sum():
                return None
            case _:
                return self.zero_of_other(ty, pay)

    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        return pair[index]

    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        pay(1)
        return tuple(map(lambda x, y, t: self.plus(x, y, t, pay), a, b, ty.fields))


class Environments(ABC):
    """Environment cotangents: a cotangent for every variable in a scope."""

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    @abstractmethod
    def zero(self, scope: Scope, pay: Pay) -> Any:
        """Zero for all."""

    @abstractmethod
    def one(self, scope: Scope, index: int, cotangent: Any, pay: Pay) -> Any:
        """Zero for all but one."""

    @abstractmethod
    def plus(self, scope: Scope, a: Any, b: Any, pay: Pay) -> Any:
        """The sum."""

    @abstractmethod
    def split(self, scope: Scope, environment: Any, pay: Pay) -> tuple[Any, Any]:
        """The environment without its last variable, and the cotangent of that one."""

    @abstractmethod
    def cotangents(self, scope: Scope, environment: Any) -> tuple[Any, ...]:
        """The cotangents of all variables, zeros too."""


class Tuples(Environments):
    """Env Γ = ((τ₁ × τ₂) × …): all of it, always. A step for each variable."""

    def zero(self, scope: Scope, pay: Pay) -> Any:
        pay(len(scope))
        return tuple([self.linear.zero(ty, pay) for ty in scope.types])

    def one(self, scope: Scope, index: int, cotangent: Any, pay: Pay) -> Any:
        zero = self.zero(scope, pay)
        return (*zero[:index], cotangent, *zero[index + 1 :])

    def plus(self, scope: Scope, a: Any, b: Any, pay: Pay) -> Any:
        triples = zip(a, b, scope.types, strict=True)
        return tuple([self.linear.plus(x, y, ty, pay) for x, y, ty in triples])

    def split(self, scope: Scope, environment: Any, pay: Pay) -> tuple[Any, Any]:
        return environment[:-1], environment[-1]

    def cotangents(self, scope: Scope, environment: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = environment
        return found


@dataclass(frozen=True)
class EnvironmentZero(Operation):
    """0 : Env Γ"""

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        return _environments(machine).zero(self.scope, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return environment(self.scope)


@dataclass(frozen=True)
class EnvironmentOne(Operation):
    """one x d : Env Γ"""

    scope: Scope
    index: int

    def run(self, machine: Machine, *args: Any) -> Any:
        environments = _environments(machine)
        return environments.one(self.scope, self.index, args[0], machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.scope.type_at(self.index)))
        return environment(self.scope)


@dataclass(frozen=True)
class EnvironmentPlus(Operation):
    """a + b : Env Γ"""

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        return _environments(machine).plus(self.scope, args[0], args[1], machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, environment(self.scope), environment(self.scope))
        return environment(self.scope)


@dataclass(frozen=True)
class EnvironmentSplit(Operation):
    """split : Env (Γ, x : τ) → Env Γ × D[τ]₂; `scope` is the one with x."""

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        return _environments(machine).split(self.scope, args[0], machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, environment(self.scope))
        assert self.scope.outer is not None and self.scope.var is not None
        return product(environment(self.scope.outer), cotangent(self.scope.var.type))


def _environments(machine: Machine) -> Environments:
    found: Environments = machine.effects
    return found


class Basic(Rules):
    """Fig. 2: contributions are environments, which are added up."""

    def contribution(self, scope: Scope) -> Type:
        return environment(scope)

    def nothing(self, scope: Scope) -> Term:
        return Do(EnvironmentZero(scope))

    def both(self, scope: Scope, first: Term, second: Term) -> Term:
        return Do(EnvironmentPlus(scope), (first, second))

    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        op = EnvironmentOne(scope, scope.index(var))
        return Do(op, (cotangent,))

    def scoped(self, inner: Scope, term: Term, rest: Callable[[Term], Term]) -> Term:
        split = EnvironmentSplit(inner)
        outer = inner.outer
        assert outer is not None
        return let_(
            split.type_of([environment(inner)]),
            Do(split, (term,)),
            lambda both: self.both(outer, fst(both), rest(snd(both))),
        )
