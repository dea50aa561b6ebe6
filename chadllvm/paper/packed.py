"""Closed functions and packed values (App. B), and the cotangents of the latter.

| term                   | written as                                         |
|------------------------|----------------------------------------------------|
| λx. t of type σ →ᶜ τ   | `ClosedFunction(λx. t)`, only x may be free in t   |
| pack_ρ t               | `Pack(ρ, Σα. τ)` of t                              |
| unpack t as α, x in s  | let x = `Unpack(α)` of t in s                      |
| pack_ρ on cotangents   | `LinearPack(ρ, Σα. τ)`                             |
| cast_ρ                 | `LinearUnpack(ρ, Σα. τ)`                           |

D₂ of a closed function is unit. D₂ of a packed value is zero (None) or a cotangent with
the value's tag; sums and casts compare tags. D never brings different tags together: if
it happens all the same, that is an internal error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import Type
from chadllvm.paper.free import free_variables
from chadllvm.paper.function_types import (
    TYPE,
    Closed,
    Exists,
    closed,
    hidden,
    is_exists,
    opened,
    tags,
)
from chadllvm.paper.linear import Linear, Monoid, Monoids, Pay
from chadllvm.paper.machine import Closure
from chadllvm.paper.terms import Do, Lam, Operation, Term, Typing
from chadllvm.paper.types import IllTyped, Scope, cotangent
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules


@dataclass(frozen=True, slots=True)
class Packed:
    """A value, or a cotangent, and the type that its own type hides."""

    tag: Type
    value: Any


@dataclass(frozen=True, eq=False)
class ClosedFunction(Operation):
    """A function that captures neither variables nor the tags of hidden types.

    Raises:
        IllTyped: if it does.
    """

    function: Lam

    def __post_init__(self) -> None:
        free_in = free_variables(self.function)
        if free_in:
            names = ", ".join(var.name for var in free_in)
            raise IllTyped(f"ClosedFunction: {names} not bound in it")
        if tags(self.function.var.type):
            raise IllTyped("ClosedFunction: its parameter's type is hidden")

    def run(self, machine: Machine, *args: Any) -> Any:
        return Closure(self.function, {})

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return closed(self.function.var.type, Typing().of(self.function.body))


@dataclass(frozen=True)
class Pack(Operation):
    """pack_ρ t : Σα. τ, of a t : τ[ρ]"""

    tag: Type
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return Packed(self.tag, args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, opened(self.type, self.tag))
        return self.type

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[pack_ρ t] = let ⟨x, x'⟩ = D[t] in ⟨pack_ρ x, λv. x' (cast_ρ v)⟩"""
        cast = LinearUnpack(self.tag, self.type)
        return rules.unary(scope, term, lambda d: Do(cast, (d,)))


@dataclass(frozen=True)
class Unpack(Operation):
    """What is packed, where it is bound by a let; its type is α from there on."""

    alpha: Var

    @property
    def hidden(self) -> Type:
        """α"""
        return hidden(self.alpha)

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0].value

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        is_exists(self.rule, args[0])
        return opened(args[0], self.hidden)


@dataclass(frozen=True)
class TagOf(Operation):
    """The tag of a packed value."""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0].tag

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        is_exists(self.rule, args[0])
        return TYPE


@dataclass(frozen=True)
class LinearPack(Operation):
    """D[τ[ρ]]₂ → D[Σα. τ]₂"""

    tag: Type
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return _packs(machine, self.type).pack(self.tag, args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(opened(self.type, self.tag)))
        return cotangent(self.type)


@dataclass(frozen=True)
class LinearUnpack(Operation):
    """cast_ρ : D[Σα. τ]₂ → D[τ[ρ]]₂"""

    tag: Type
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        packs, ty = _packs(machine, self.type), opened(self.type, self.tag)
        return packs.cast(machine.linear, args[0], self.tag, ty, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.type))
        return cotangent(opened(self.type, self.tag))


class PackedCotangents(Monoid):
    """D[Σα. τ]₂ = 1 + Σα. D[τ]₂"""

    def pack(self, tag: Type, held: Any) -> Any:
        """pack_ρ of a cotangent"""
        return Packed(tag, held)

    def cast(self, linear: Linear, d: Any, tag: Type, ty: Type, pay: Pay) -> Any:
        """cast_ρ, to D[ty]₂"""
        if d is None:
            pay(1)
            return linear.zero(ty, pay)
        _same_tags(tag, d.tag)
        return d.value

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Any:
        return None

    def plus(self, linear: Linear, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        pay(1)
        if a is None or b is None:
            return b if a is None else a
        _same_tags(a.tag, b.tag)
        return Packed(a.tag, linear.plus(a.value, b.value, opened(ty, a.tag), pay))

    def numbers(self, linear: Linear, d: Any, ty: Type) -> list[float]:
        return linear.numbers(d.value, opened(ty, d.tag)) if d else []

    def size(self, linear: Linear, d: Any, ty: Type) -> int:
        return 1 + linear.size(d.value, opened(ty, d.tag)) if d else 1


def _packs(machine: Machine, ty: Type) -> PackedCotangents:
    found = machine.linear.other(ty)
    if not isinstance(found, PackedCotangents):
        raise InternalError("reference: linear types without those of packed values")
    return found


def _same_tags(expected: Type, found: Type) -> None:
    if expected != found:
        text = f"a cotangent of a value that hides {found}, not {expected}"
        raise InternalError(f"reference: {text}")


class Nothing(Monoid):
    """D[σ →ᶜ τ]₂ = 1: a closed function holds no numbers."""

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Any:
        return linear.unit()

    def plus(self, linear: Linear, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        pay(1)
        return linear.unit()

    def numbers(self, linear: Linear, d: Any, ty: Type) -> list[float]:
        return []

    def size(self, linear: Linear, d: Any, ty: Type) -> int:
        return 1


# What the linear types need to know of closed functions and packed values.
CLOSED: Monoids = {Closed: Nothing(), Exists: PackedCotangents()}
