"""Functions that the tests of the command line are about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl


@cl.jit
def energy(x: cl.f64[:], stiffness: float) -> float:
    stretch = sum((x[i + 1] - x[i]) ** 2 for i in range(len(x) - 1))
    return 0.5 * stiffness * stretch + sum(math.cos(value) for value in x)


class Point(NamedTuple):
    x: float
    y: float = 0.5


@dataclass(frozen=True)
class Circle:
    radius: float
    centre: Point


@dataclass(frozen=True)
class Square:
    side: float
    centre: Point


class Settings(TypedDict):
    scale: float
    steps: int


@dataclass(frozen=True)
class Leaf:
    value: float
    rest: Leaf | None


@cl.jit
def area(shape: Circle | Square) -> float:
    match shape:
        case Circle(r, centre):
            return math.pi * r * r + centre.x
        case Square(side, centre):
            return side * side * centre.y


@cl.jit
def records(
    points: list[Point], settings: Settings, pair: tuple[float, bool], last: Leaf | None
) -> float:
    total = 0.0
    for point in points:
        total += point.x * point.y * settings["scale"]
    if last is not None:
        total += last.value
    return total * settings["steps"] + (pair[0] if pair[1] else 0.0)


@cl.jit
def chain(last: Leaf) -> float:
    return last.value


@cl.jit
def ragged(rows: list[cl.f64[:]], width: cl.f32, table: cl.i64[:, :]) -> float:
    total = 0.0
    for row in rows:
        total += sum(value * value for value in row)
    return total * np.float64(width) + table[0, 1]


@cl.jit(static_argnames="kind")
def loss(x: float, kind: str = "square", *, weight: float) -> float:
    return weight * (x * x if kind == "square" else abs(x))


@cl.jit
def squares(x: cl.f64[:], p: Point) -> tuple[cl.f64[:], Point, int]:
    return x * x * p.x, Point(p.y * x[0], p.x), 3


def untyped(x, k):
    return x[k] ** 3


def open_rank(x: NDArray[np.float64]) -> float:
    return np.sum(x * x)


@cl.custom_vjp
def product(x: float, y: float) -> float:
    return x * y


product.defvjp(
    lambda x, y: (x * y, (x, y)), lambda kept, ct: (ct * kept[1], 1.01 * ct * kept[0])
)


def refused(x: float) -> float:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


tau = 2.0 * math.pi
slope = cl.grad(energy)


@cl.custom_vjp
def first_apart(x: cl.f64[:]) -> float:
    return np.sum(x)


def _wrong_at_one_place(kept, ct):
    slopes = np.full(kept, ct)
    slopes[117] = 0.0
    return (slopes,)


first_apart.defvjp(lambda x: (np.sum(x), len(x)), _wrong_at_one_place)


@cl.jit
def one_is_wrong(x: cl.f64[:]) -> float:
    return first_apart(x)


@cl.jit
def walk(x: cl.f64[:], n: int) -> float:
    at = x[0]
    for _ in range(n):
        at = math.sin(at) * at
    return at


@cl.jit
def whole(n: int) -> int:
    return n * n


@cl.jit
def rounded(x: float) -> int:
    return int(x)


@cl.jit
def first_row(rows) -> float:
    return rows[0]["x"] * rows[0]["y"]
