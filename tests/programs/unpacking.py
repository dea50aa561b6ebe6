"""Arrays that are unpacked, loops over tuples, operators of records, `np.cross`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case


class Weights(NamedTuple):
    slope: float
    offset: float
    count: int = 2


@case(np.array([0.3, -1.2, 2.0]))
@cl.jit
def components(x: cl.f64[:]) -> float:
    a, b, c = x
    (d, e), f = x[1:] * a, b
    return a * b * c + d * e - f


@case(np.array([[0.3, -1.2], [2.0, 0.7], [1.1, 0.4]]))
@case(np.zeros((0, 2)))
@cl.jit
def points(rows: cl.f64[:, :]) -> float:
    total = 0.0
    for x, y in rows:
        total += x * y * y
    return total + sum(x * k for k, (x, _) in enumerate(rows))


@case(np.array([[0.3, -1.2], [2.0, 0.7]]))
@cl.jit
def unpacked_rows(m: cl.f64[:, :]) -> float:
    (a, b), second = m
    return a * second[1] - b * second[0]


@case(1.5, np.array([0.3, -1.2]))
@cl.jit
def loop_over_a_tuple(x: float, v: cl.f64[:]) -> float:
    total = 1.0
    for factor in (x, 2, x * x):
        total += factor * total
    for k, row in enumerate((v, v * x, [x, x * x])):
        total += k * row[0] * row[1]
    for s, (p, q) in zip(reversed((1, -1)), ((x, 2.0), (total, x)), strict=True):
        total += s * p * q
    return total + sum((x, 3)) + max(a * b for a, b in ((x, 1.0), (2.0, x)))


@case(Weights(0.7, -0.2), Weights(1.0, 2.0, 3))
@cl.jit
def loop_over_records(w: Weights, prior: Weights) -> float:
    total = 0.0
    for value, mean in zip(w, prior, strict=True):
        total += (value - mean) ** 2
    many = (w.slope, w.offset, w.slope**2, 1.0, 2.0, w.offset**2, 3.0, 4.0, w.slope**3)
    return total + sum(a * b for a, b in zip(many, range(9), strict=True))


@case(np.array([0.3, -1.2, 2.0]), 3)
@cl.jit
def strict_pairs(x: cl.f64[:], n: int) -> float:
    return sum(a * b * k for a, b, k in zip(x, x[::-1], range(n), strict=True))


@dataclass(frozen=True)
class Dual:
    """A number with a derivative, as people write it."""

    value: float
    slope: float = 0.0

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Dual) -> Dual:
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    def __rmul__(self, other: float) -> Dual:
        return Dual(other * self.value, other * self.slope)

    def __matmul__(self, v: cl.f64[:]) -> float:
        return self.value * v[0] + self.slope * v[1]

    def __pow__(self, n: int) -> Dual:
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __isub__(self, other: Dual) -> Dual:
        return self + -other


@dataclass(frozen=True)
class Special(Dual):
    """Python asks the class that is derived first."""

    def __radd__(self, other: Dual) -> Dual:
        return Dual(100.0 * self.value, other.slope)


@case(0.7, np.array([1.5, -0.5]))
@cl.jit
def operators_of_records(x: float, v: cl.f64[:]) -> float:
    a = Dual(x, 1.0)
    b = a * a + 3 * a
    b -= a**3
    c = b + Special(x, 2.0)
    return -b @ (2.0 * v) + b.slope * c.value + c.slope


@case(np.array([0.3, -1.2, 2.0]), np.array([[1.0, 0.5, -0.5], [0.2, 0.1, 3.0]]))
@cl.jit
def cross_products(u: cl.f64[:], rows: cl.f64[:, :]) -> float:
    first = np.cross(u, rows[0] * u)
    every = np.cross(rows, u) + np.cross(rows[::-1], rows)
    integers = np.cross(np.arange(3), np.array([2, 0, 1]))
    return np.sum(first * np.array([1.0, 2.0, 3.0])) + np.sum(every**3) + integers[1]
