"""Dual numbers: derivatives along a direction by running a program, exactly.

The primitives of the core compute with anything that has Python's operators; what has
a tangent is compared by its primal.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from chadllvm.ir.types import F64, Array, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.elements import Elements

# Integers up to here are exact, with room for what is made of them on the way.
EXACT = 2.0**40


@dataclass(frozen=True)
class Dual:
    """A number with its tangent."""

    primal: float
    tangent: float

    def __add__(self, other: Any) -> Dual:
        other = dual(other)
        return Dual(self.primal + other.primal, self.tangent + other.tangent)

    def __sub__(self, other: Any) -> Dual:
        other = dual(other)
        return Dual(self.primal - other.primal, self.tangent - other.tangent)

    def __mul__(self, other: Any) -> Dual:
        other = dual(other)
        tangent = self.tangent * other.primal + self.primal * other.tangent
        return Dual(self.primal * other.primal, tangent)

    def __neg__(self) -> Dual:
        return Dual(-self.primal, -self.tangent)

    def __lt__(self, other: Any) -> bool:
        return self.primal < dual(other).primal

    def __le__(self, other: Any) -> bool:
        return self.primal <= dual(other).primal

    def __gt__(self, other: Any) -> bool:
        return self.primal > dual(other).primal

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Dual:
        return dual(other) - self


def dual(number: Any) -> Dual:
    """A number without a tangent as one with zero."""
    return number if isinstance(number, Dual) else Dual(number, 0.0)


def moving(rng: Random, value: Any, ty: Type) -> Any:
    """A value whose numbers have small integers as tangents."""
    match ty:
        case Product((first, second)):
            return moving(rng, value[0], first), moving(rng, value[1], second)
        case Sum():
            held = ty.payloads[value.index]
            return Injected(value.index, moving(rng, value.value, held))
        case Array(elem, 1):
            return Elements([moving(rng, x, elem) for x in value.items])
        case _:
            return Dual(value, float(rng.randint(-2, 2))) if ty == F64 else value


def product(cotangent: Any, value: Any, ty: Type) -> float:
    """The inner product of a cotangent laid out like the value, and its tangents."""
    match ty:
        case Product((first, second)):
            left = product(cotangent[0], value[0], first)
            return left + product(cotangent[1], value[1], second)
        case Sum():
            return product(cotangent.value, value.value, ty.payloads[value.index])
        case Array(elem, 1):
            pairs = zip(cotangent.items, value.items, strict=True)
            return sum([product(c, v, elem) for c, v in pairs])
        case _:
            return cotangent * dual(value).tangent if ty == F64 else 0.0


def primal(value: Any, ty: Type) -> Any:
    """The value without its tangents."""
    match ty:
        case Product((first, second)):
            return primal(value[0], first), primal(value[1], second)
        case Sum():
            held = ty.payloads[value.index]
            return Injected(value.index, primal(value.value, held))
        case Array(elem, 1):
            return Elements([primal(x, elem) for x in value.items])
        case _:
            return dual(value).primal if ty == F64 else value


def largest(value: Any, ty: Type) -> float:
    """The largest absolute number, of tangents too."""
    match ty:
        case Product((first, second)):
            return max(largest(value[0], first), largest(value[1], second))
        case Sum():
            return largest(value.value, ty.payloads[value.index])
        case Array(elem, 1):
            return max([largest(x, elem) for x in value.items], default=0.0)
        case _:
            both = dual(value)
            return max(abs(both.primal), abs(both.tangent)) if ty == F64 else 0.0
