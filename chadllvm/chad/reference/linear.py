"""The API of the linear types (Fig. 3), which `naive` and `sparse` implement.

The linear type of a type is not written down: D[ℝ]₂ holds a float, that of integers and
of unit nothing, D[σ + τ]₂ is zero (None) or a cotangent of the one or the other. How
D[σ × τ]₂ looks like is what the implementations differ in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.chad.reference.terms import Operation
from chadllvm.diagnostic import InternalError
from chadllvm.ir.types import F64, Product, Sum, Type
from chadllvm.ir.value import Injected

if TYPE_CHECKING:
    from chadllvm.chad.reference.machine import Machine

Pay = Callable[[int], None]


class Linear(ABC):
    """An implementation of the linear types; `pay` is given the cost of a method."""

    @abstractmethod
    def zero(self, ty: Type, pay: Pay) -> Any:
        """The zero of D[ty]₂."""

    @abstractmethod
    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        """lfst or lsnd of a cotangent of a pair; that part is of type D[ty]₂."""

    @abstractmethod
    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        """The sum of two cotangents of a pair."""

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
                pay(1)
                return a + b if ty == F64 else ()

    def numbers(self, cotangent: Any, ty: Type) -> list[float]:
        """All real numbers in a cotangent in order, of both constructors of a sum."""
        match ty:
            case Product((first, second)):
                parts = [
                    self.part(cotangent, k, t, _free) for k, t in enumerate(ty.fields)
                ]
                return self.numbers(parts[0], first) + self.numbers(parts[1], second)
            case Sum():
                found: list[float] = []
                for index, payload in enumerate(ty.payloads):
                    here = cotangent is not None and cotangent.index == index
                    zero = self.zero(payload, _free)
                    found += self.numbers(cotangent.value if here else zero, payload)
                return found
            case _:
                return [cotangent] if ty == F64 else []


def _free(cost: int) -> None:
    """What nobody pays for."""


@dataclass(frozen=True)
class Zero(Operation):
    """0 : D[τ]₂. That of ℝ is LZERO of unit, which is two steps."""

    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        if self.type == F64:
            machine.pay(1)
        return machine.linear.zero(self.type, machine.pay)


@dataclass(frozen=True)
class LinearUnit(Operation):
    """lunit, the cotangent of what holds no real numbers."""

    def run(self, machine: Machine, *args: Any) -> Any:
        return ()


@dataclass(frozen=True)
class LinearPair(Operation):
    """lpair"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args


@dataclass(frozen=True)
class LinearPart(Operation):
    """lfst or lsnd, of type D[τ]₂"""

    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.part(args[0], self.index, self.type, machine.pay)


@dataclass(frozen=True)
class LinearInject(Operation):
    """linl or linr"""

    index: int

    def run(self, machine: Machine, *args: Any) -> Any:
        return Injected(self.index, args[0])


@dataclass(frozen=True)
class LinearCast(Operation):
    """lcastl or lcastr, to D[τ]₂"""

    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return machine.linear.cast(args[0], self.index, self.type, machine.pay)
