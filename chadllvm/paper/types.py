"""The types of the target language, and scopes.

Beside the core's types, with functions σ → τ of one parameter and one result, the
target has abstract ones: D[τ]₂, environments Env Γ and computations EVM Γ τ. They are
told apart by what they are of; how they are implemented is the machine's business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Fun, Product, Type
from chadllvm.support.diagnostic import InternalError


class IllTyped(InternalError):
    """A term that breaks a typing rule; the message begins with the rule's name."""


class Scope(Collection[Var]):
    """Γ, variables in order, each of them once.

    Scopes share what they have in common on the left, as a derivative has one for each
    variable it binds: tuples would take memory quadratic in the depth of a program.
    `_jump` is a scope further out, so that every one is found in logarithmic time, and
    `_places` tells where a variable was bound last, in scopes that may not be this one.
    """

    __slots__ = ("_jump", "_length", "_places", "outer", "var")

    def __init__(self, outer: Scope | None = None, var: Var | None = None) -> None:
        self.outer = outer
        self.var = var
        self._length = 0
        self._jump = self
        self._places: dict[Var, int] = {}
        if outer is not None and var is not None:
            self._extend(outer, var)

    def _extend(self, outer: Scope, var: Var) -> None:
        self._length = len(outer) + 1
        self._places = outer._places
        self._places[var] = len(outer)
        far = outer._jump
        is_regular = len(outer) - len(far) == len(far) - len(far._jump)
        self._jump = far._jump if is_regular else outer

    @staticmethod
    def of(variables: Collection[Var]) -> Scope:
        """These variables as a scope."""
        if isinstance(variables, Scope):
            return variables
        scope = Scope()
        for var in variables:
            scope = scope.and_(var)
        return scope

    def and_(self, var: Var) -> Scope:
        """Γ, x"""
        return Scope(self, var)

    def index(self, var: Var) -> int:
        """The position of a variable."""
        place = self._places.get(var, self._length)
        if place < self._length and self._at(place).var is var:
            return place
        for index, other in enumerate(self):
            if other is var:
                return index
        raise InternalError(f"reference: {var.name} is not in the scope")

    def type_at(self, index: int) -> Type:
        """The type of the variable at a position."""
        found = self._at(index).var
        assert found is not None
        return found.type

    def _at(self, index: int) -> Scope:
        """The scope that ends with the variable at a position."""
        scope = self
        while scope._length > index + 1:
            far = scope._jump
            if far._length <= index:
                assert scope.outer is not None
                far = scope.outer
            scope = far
        return scope

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple([var.type for var in self])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Var]:
        found: list[Var] = []
        scope: Scope | None = self
        while scope is not None and scope.var is not None:
            found.append(scope.var)
            scope = scope.outer
        return reversed(found)

    def __contains__(self, var: object) -> bool:
        return any(var is v for v in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scope) or self._length != other._length:
            return False
        a: Scope | None = self
        b: Scope | None = other
        while a is not b and a is not None and b is not None:
            if a.var is not b.var:
                return False
            a, b = a.outer, b.outer
        return True

    def __hash__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return ", ".join(f"{v.name}: {v.type}" for v in self)


@dataclass(frozen=True, slots=True)
class Cotangent:
    """D[τ]₂"""

    of: Type

    def __str__(self) -> str:
        return f"D[{self.of}]₂"


@dataclass(frozen=True, slots=True)
class Environment:
    """Env D[Γ]₂: a cotangent for each variable."""

    scope: Scope

    def __str__(self) -> str:
        return f"Env({self.scope})"


@dataclass(frozen=True, slots=True)
class Computation:
    """EVM D[Γ]₂ τ: adds to the cotangents of the variables, and gives a τ."""

    scope: Scope
    result: Type

    def __str__(self) -> str:
        return f"EVM({self.scope}) {self.result}"


# The core's `Type` is closed, but what holds types here holds the abstract ones too:
# the functions below, and no other place, say to the type checker that they are types.


def cotangent(ty: Type) -> Type:
    """D[τ]₂"""
    return cast(Type, Cotangent(ty))


def environment(scope: Scope) -> Type:
    """Env D[Γ]₂"""
    return cast(Type, Environment(scope))


def computation(scope: Scope, result: Type) -> Type:
    """EVM D[Γ]₂ τ"""
    return cast(Type, Computation(scope, result))


def arrow(param: Type, result: Type) -> Type:
    """σ → τ"""
    return Fun((param,), (result,))


def product(first: Type, second: Type) -> Type:
    """σ × τ"""
    return Product((first, second))


def products(types: Sequence[Type]) -> Type:
    """((τ1 × τ2) × …) × τn"""
    if not types:
        return UNIT
    first, *rest = types
    for ty in rest:
        first = product(first, ty)
    return first


def expect(rule: str, expected: object, found: object) -> None:
    """Refuses what is not as a rule wants it."""
    if expected != found:
        raise IllTyped(f"{rule}: expected {expected}, found {found}")


def is_cotangent(rule: str, ty: Type) -> Type:
    """The τ of a D[τ]₂."""
    if not isinstance(ty, Cotangent):
        raise IllTyped(f"{rule}: expected a cotangent, found {ty}")
    found: Type = ty.of
    return found


def is_function(rule: str, ty: Type) -> tuple[Type, Type]:
    """The parameter and the result of a function's type."""
    match ty:
        case Fun((param,), (result,)):
            return param, result
        case _:
            raise IllTyped(f"{rule}: expected a function, found {ty}")


def is_product(rule: str, ty: Type) -> tuple[Type, Type]:
    """The parts of a product's type."""
    match ty:
        case Product((first, second)):
            return first, second
        case _:
            raise IllTyped(f"{rule}: expected a pair, found {ty}")
