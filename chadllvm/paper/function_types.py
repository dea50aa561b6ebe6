"""Types for functions: closed functions and tagged existential types (App. B).

- σ →ᶜ τ holds functions that capture nothing.
- Σα. τ holds a value of τ[ρ] for some type ρ, with ρ itself as a tag: type tags have
  decidable equality. α is a de Bruijn index here, so that types are equal if they are
  equal as Python objects.
- In the scope of `unpack t as α, x in s`, α is `Hidden`. It has a variable of the
  term's language, which holds the tag when the program runs (`type_passing`).

D[·]₁ changes the types of functions only:

    D[σ → τ]₁  = D[σ]₁ → D[τ]₁ × (D[τ]₂ → D[σ]₂)
    D[σ →ᶜ τ]₁ = D[σ]₁ →ᶜ D[τ]₁ × (D[τ]₂ → D[σ]₂)
    D[Σα. τ]₁  = Σα. D[τ]₁

In the last, α ranges over the types of the source, of which τ has both halves: `Primal`
is D[α]₁ until the type is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from chadllvm.ir.term import Var
from chadllvm.ir.types import Array, Box, Fun, Product, Scalar, Sum, Type
from chadllvm.paper.types import (
    Cotangent,
    IllTyped,
    Scope,
    arrow,
    cotangent,
    product,
)

# The type of type tags.
TYPE = Scalar("type")


@dataclass(frozen=True, slots=True)
class Closed(Fun):
    """σ →ᶜ τ, which is called as any other function is."""

    def __str__(self) -> str:
        return f"closed {Fun.__str__(self)}"


@dataclass(frozen=True, slots=True)
class Exists:
    """Σα. τ; in `body`, α is the type variable of this Σ."""

    body: Type

    def __str__(self) -> str:
        return f"Σ.{self.body}"


@dataclass(frozen=True, slots=True)
class Bound:
    """The type variable of the Σ that is this many Σs further out."""

    depth: int = 0

    def __str__(self) -> str:
        return f"α{self.depth}"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The type α of an unpacked value; the variable holds it at run time."""

    tag: Var

    def __str__(self) -> str:
        return self.tag.name


@dataclass(frozen=True, slots=True)
class Primal:
    """D[α]₁ of a type variable."""

    of: Type

    def __str__(self) -> str:
        return f"D[{self.of}]₁"


# As in `types`, these functions say to the type checker that they are types.


def closed(param: Type, result: Type) -> Type:
    """σ →ᶜ τ"""
    return Closed((param,), (result,))


def exists(body: Type) -> Type:
    """Σα. τ"""
    return cast(Type, Exists(body))


def bound(depth: int = 0) -> Type:
    """α in Σα. τ"""
    return cast(Type, Bound(depth))


def hidden(tag: Var) -> Type:
    """α in the scope of an unpack"""
    return cast(Type, Hidden(tag))


def is_exists(rule: str, ty: Type) -> Exists:
    """The type of a packed value."""
    if not isinstance(ty, Exists):
        raise IllTyped(f"{rule}: expected a packed value, found {ty}")
    return ty


def opened(ty: Type, hidden_type: Type) -> Type:
    """τ[ρ] of Σα. τ"""
    body = is_exists("opened", ty).body

    def leaf(variable: Type, depth: int) -> Type:
        return hidden_type if variable == bound(depth) else variable

    return replaced(body, leaf)


def replaced(ty: Type, leaf: Callable[[Type, int], Type], depth: int = 0) -> Type:
    """The type with its type variables replaced; `leaf` is told how many Σs deep."""

    def inner(part: Type) -> Type:
        return replaced(part, leaf, depth)

    match ty:
        case Scalar():
            return ty
        case Bound() | Hidden():
            return leaf(ty, depth)
        case Primal(of):
            return primal(inner(of))
        case Cotangent(of):
            return cotangent(inner(of))
        case Exists(body):
            return exists(replaced(body, leaf, depth + 1))
        case _:
            return mapped(ty, inner)


def mapped(ty: Type, change: Callable[[Type], Type]) -> Type:
    """A type of the core with each of its parts changed."""
    match ty:
        case Product(fields, names):
            return Product(tuple(map(change, fields)), names)
        case Sum(constructors):
            return Sum(tuple((name, change(held)) for name, held in constructors))
        case Fun(params, results):
            return type(ty)(tuple(map(change, params)), tuple(map(change, results)))
        case Array(elem, rank):
            return Array(change(elem), rank)
        case Box(content):
            held = change(content)
            assert isinstance(held, Array)
            return Box(held)
        case _:
            return ty


def tags(ty: Type) -> tuple[Var, ...]:
    """The variables that hold the type variables of a type at run time, in order."""
    found: dict[Var, None] = {}

    def leaf(variable: Type, depth: int) -> Type:
        if isinstance(variable, Hidden):
            found[variable.tag] = None
        return variable

    replaced(ty, leaf)
    return tuple(found)


def instantiated(ty: Type, known: dict[Var, Type]) -> Type:
    """The type, with what these variables hold in place of type variables."""

    def leaf(variable: Type, depth: int) -> Type:
        if isinstance(variable, Hidden):
            return known.get(variable.tag, variable)
        return variable

    return replaced(ty, leaf)


def scope_tags(scope: Scope) -> tuple[Var, ...]:
    """The type variables of all types of a scope."""
    return tuple(dict.fromkeys(var for ty in scope.types for var in tags(ty)))


def instantiated_scope(scope: Scope, known: dict[Var, Type]) -> Scope:
    """A scope of variables of the instantiated types."""
    return Scope.of([Var(v.name, instantiated(v.type, known)) for v in scope])


def primal(ty: Type) -> Type:
    """D[τ]₁"""
    match ty:
        case Scalar():
            return ty
        case Fun((param,), (result,)):
            return type(ty)((primal(param),), (_derived(param, result),))
        case Exists(body):
            return exists(primal(body))
        case Bound() | Hidden():
            return cast(Type, Primal(ty))
        case _:
            return mapped(ty, primal)


def _derived(param: Type, result: Type) -> Type:
    """D[τ]₁ × (D[τ]₂ → D[σ]₂)"""
    bp = arrow(cotangent(result), cotangent(param))
    return product(primal(result), bp)


def has_function(ty: Type) -> bool:
    """Whether a value of this type of the source holds a function."""
    found = False

    def look(part: Type) -> Type:
        nonlocal found
        found = found or isinstance(part, Fun | Closed | Exists | Bound | Hidden)
        return part if found else mapped(part, look)

    look(ty)
    return found
