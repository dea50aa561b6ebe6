"""The API of the linear types (Fig. 3), which `naive` and `sparse` implement.

D[ℝ]₂ holds a float, that of integers and of unit nothing, D[σ + τ]₂ is zero (None) or
a cotangent of the one or the other. How D[σ × τ]₂ looks like is what the
implementations differ in. Further types have a `Monoid` each, given to the machine's
implementation: arrays and functions plug in there.

D op^t : ℝⁿ → D[ℝ]₂ → D[ℝⁿ]₂ is written with the primitives of the core: `AsNumber`
reads its cotangent, `AsCotangent` makes those of the arguments. They cost nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import F64, UNIT, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.terms import Operation
from chadllvm.paper.types import IllTyped, cotangent, expect, is_cotangent
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine

Pay = Callable[[int], None]


class Monoid(ABC):
    """D[τ]₂ for the types of one class, such as arrays."""

    @abstractmethod
    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Any:
        """The zero of D[ty]₂."""

    @abstractmethod
    def plus(self, linear: Linear, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        """The sum of two cotangents."""

    @abstractmethod
    def numbers(self, linear: Linear, d: Any, ty: Type) -> list[float]:
        """All real numbers in a cotangent, in order."""

    @abstractmethod
    def size(self, linear: Linear, d: Any, ty: Type) -> int:
        """The nodes of a cotangent."""


Monoids = Mapping[type, Monoid]


class Linear(ABC):
    """An implementation of the linear types; `pay` is given the cost of a method.

    `others`: how D[τ]₂ is for types that are no products, sums, or scalars.
    """

    def __init__(self, others: Monoids | None = None) -> None:
        self.others = others or {}

    def other(self, ty: Type) -> Monoid | None:
        """D[ty]₂, if it is neither a product nor a sum nor a scalar's."""
        return self.others.get(type(ty))

    @abstractmethod
    def zero(self, ty: Type, pay: Pay) -> Any:
        """The zero of D[ty]₂."""

    @abstractmethod
    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        """lfst or lsnd of a cotangent of a pair; that part is of type D[ty]₂."""

    @abstractmethod
    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        """The sum of two cotangents of a pair."""

    def unit(self) -> Any:
        """lunit"""
        return ()

    def pair(self, first: Any, second: Any) -> Any:
        """lpair"""
        return first, second

    def inject(self, index: int, held: Any) -> Any:
        """linl or linr"""
        return Injected(index, held)

    def number(self, cotangent: Any) -> float:
        """The number that a cotangent of ℝ is."""
        found: float = cotangent
        return found

    def of_number(self, number: float) -> Any:
        """The cotangent of ℝ that is this number."""
        return number

    def cast(self, cotangent: Any, index: int, ty: Type, pay: Pay) -> Any:
        """lcastl or lcastr, to D[ty]₂."""
        if cotangent is None:
            return self.zero(ty, pay)
        if cotangent.index != index:
            raise InternalError("reference: a cotangent of the other constructor")
        return cotangent.value

    def plus(self, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        """The sum of two cotangents: one step for each node that both have."""
        match ty:
            case Product((_, _)):
                return self.plus_pair(a, b, ty, pay)
            case Sum():
                pay(1)
                if a is None or b is None:
                    return b if a is None else a
                inner = self.cast(b, a.index, ty.payloads[a.index], pay)
                held = self.plus(a.value, inner, ty.payloads[a.index], pay)
                return Injected(a.index, held)
            case _:
                monoid = self.other(ty)
                if monoid is not None:
                    return monoid.plus(self, a, b, ty, pay)
                pay(1)
                return a + b if ty == F64 else ()

    def zero_of_other(self, ty: Type, pay: Pay) -> Any:
        """The zero of what is neither a product nor a sum."""
        monoid = self.other(ty)
        if monoid is not None:
            return monoid.zero(self, ty, pay)
        return 0.0 if ty == F64 else ()

    def size(self, cotangent: Any, ty: Type) -> int:
        """The nodes of a cotangent; a zero of a pair or a sum is one node."""
        match ty:
            case Product((first, second)) if cotangent is not None:
                a, b = cotangent
                return 1 + self.size(a, first) + self.size(b, second)
            case Sum() if cotangent is not None:
                held = ty.payloads[cotangent.index]
                return 1 + self.size(cotangent.value, held)
            case _:
                monoid = self.other(ty)
                return monoid.size(self, cotangent, ty) if monoid else 1

    def numbers(self, cotangent: Any, ty: Type) -> list[float]:
        """All real numbers in a cotangent in order, of both constructors of a sum."""
        match ty:
            case Product((first, second)):
                parts = [
                    self.part(cotangent, k, t, free) for k, t in enumerate(ty.fields)
                ]
                return self.numbers(parts[0], first) + self.numbers(parts[1], second)
            case Sum():
                found: list[float] = []
                for index, payload in enumerate(ty.payloads):
                    here = cotangent is not None and cotangent.index == index
                    held = cotangent.value if here else self.zero(payload, free)
                    found += self.numbers(held, payload)
                return found
            case _:
                monoid = self.other(ty)
                if monoid is not None:
                    return monoid.numbers(self, cotangent, ty)
                return [cotangent] if ty == F64 else []


def free(cost: int) -> None:
    """What nobody pays for."""


@dataclass(frozen=True)
class Zero(Operation):
    """0 : D[τ]₂. That of ℝ is LZERO of unit, which is two steps."""

    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        if self.type == F64:
            machine.pay(1)
        return machine.linear.zero(self.type, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return cotangent(self.type)


@dataclass(frozen=True)
class LinearUnit(Operation):
    """lunit, the cotangent of what holds no real numbers."""

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.unit()

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return cotangent(UNIT)


@dataclass(frozen=True)
class LinearPair(Operation):
    """lpair"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.pair(*args)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        return cotangent(Product(tuple([is_cotangent(self.rule, a) for a in args])))


@dataclass(frozen=True)
class LinearPart(Operation):
    """lfst or lsnd, of type D[τ]₂"""

    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.part(args[0], self.index, self.type, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        match is_cotangent(self.rule, args[0]):
            case Product((_, _) as fields):
                expect(self.rule, self.type, fields[self.index])
                return cotangent(self.type)
            case other:
                raise IllTyped(f"{self.rule}: expected that of a pair, found {other}")


@dataclass(frozen=True)
class LinearInject(Operation):
    """linl or linr, to D[σ + τ]₂"""

    index: int
    type: Sum

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.inject(self.index, args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.type.payloads[self.index]))
        return cotangent(self.type)


@dataclass(frozen=True)
class LinearCast(Operation):
    """lcastl or lcastr, from D[σ + τ]₂"""

    index: int
    type: Sum

    def run(self, machine: Machine, *args: Any) -> Any:
        held = self.type.payloads[self.index]
        return machine.linear.cast(args[0], self.index, held, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.type))
        return cotangent(self.type.payloads[self.index])


@dataclass(frozen=True)
class AsNumber(Operation):
    """The number that a cotangent of ℝ is."""

    steps = 0

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.number(args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(F64))
        return F64


@dataclass(frozen=True)
class AsCotangent(Operation):
    """The cotangent of ℝ that is this number."""

    steps = 0

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.of_number(args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, F64)
        return cotangent(F64)
