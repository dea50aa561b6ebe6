"""CHAD as in §2: dense cotangents (Fig. 4) and environments as tuples.

Every zero and every contribution to one variable is as large as the environment, and so
is every addition: simple, and far from efficient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.chad.reference.linear import Linear, Pay
from chadllvm.chad.reference.rules import Rules, Scope
from chadllvm.chad.reference.terms import Do, Let, Operation, Ref, Term, fst, snd
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, UNIT, Product, Sum, Type

if TYPE_CHECKING:
    from chadllvm.chad.reference.machine import Machine

Types = tuple[Type, ...]


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
                return 0.0 if ty == F64 else ()

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
    def zero(self, types: Types, pay: Pay) -> Any:
        """Zero for all."""

    @abstractmethod
    def one(self, types: Types, index: int, cotangent: Any, pay: Pay) -> Any:
        """Zero for all but one."""

    @abstractmethod
    def plus(self, types: Types, a: Any, b: Any, pay: Pay) -> Any:
        """The sum."""

    @abstractmethod
    def split(self, types: Types, environment: Any, pay: Pay) -> tuple[Any, Any]:
        """The environment without its last variable, and the cotangent of that one."""


class Tuples(Environments):
    """Env Γ = ((τ₁ × τ₂) × …): all of it, always."""

    def zero(self, types: Types, pay: Pay) -> Any:
        return tuple(self.linear.zero(ty, pay) for ty in types)

    def one(self, types: Types, index: int, cotangent: Any, pay: Pay) -> Any:
        zero = self.zero(types, pay)
        return (*zero[:index], cotangent, *zero[index + 1 :])

    def plus(self, types: Types, a: Any, b: Any, pay: Pay) -> Any:
        triples = zip(a, b, types, strict=True)
        return tuple(self.linear.plus(x, y, ty, pay) for x, y, ty in triples)

    def split(self, types: Types, environment: Any, pay: Pay) -> tuple[Any, Any]:
        return environment[:-1], environment[-1]


@dataclass(frozen=True)
class EnvironmentOperation(Operation):
    """A method of the environments of the machine."""

    name: str
    types: Types
    index: int = 0

    def run(self, machine: Machine, *args: Any) -> Any:
        environments: Environments = machine.effects
        match self.name:
            case "zero":
                return environments.zero(self.types, machine.pay)
            case "one":
                return environments.one(self.types, self.index, args[0], machine.pay)
            case "plus":
                return environments.plus(self.types, args[0], args[1], machine.pay)
            case _:
                return environments.split(self.types, args[0], machine.pay)


class Basic(Rules):
    """Fig. 2: contributions are environments, which are added up."""

    def nothing(self, scope: Scope) -> Term:
        return Do(EnvironmentOperation("zero", _types(scope)))

    def both(self, scope: Scope, first: Term, second: Term) -> Term:
        return Do(EnvironmentOperation("plus", _types(scope)), (first, second))

    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        op = EnvironmentOperation("one", _types(scope), scope.index(var))
        return Do(op, (cotangent,))

    def scoped(
        self, scope: Scope, var: Var, inner: Term, rest: Callable[[Term], Term]
    ) -> Term:
        split = EnvironmentOperation("split", _types((*scope, var)))
        both = Var("both", UNIT)
        term = self.both(scope, fst(Ref(both)), rest(snd(Ref(both))))
        return Let(both, Do(split, (inner,)), term)


def _types(scope: Scope) -> Types:
    return tuple(v.type for v in scope)
