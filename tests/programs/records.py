"""Records, dictionaries, and lists of them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

import chadllvm as cl
from programs.case import case


class Point(NamedTuple):
    x: float
    y: float = 0.5

    def dot(self, other: Point) -> float:
        return self.x * other.x + self.y * other.y

    def turned(self, angle: float = 0.25) -> Point:
        c, s = math.cos(angle), math.sin(angle)
        return Point(c * self.x - s * self.y, y=s * self.x + c * self.y)

    @property
    def norm(self) -> float:
        return math.sqrt(self.dot(self))

    @classmethod
    def polar(cls, radius: float, angle: float) -> Point:
        return cls(radius * math.cos(angle), radius * math.sin(angle))

    @staticmethod
    def between(a: Point, b: Point) -> Point:
        return Point(0.5 * (a.x + b.x), 0.5 * (a.y + b.y))


@dataclass(frozen=True, slots=True)
class Body:
    at: Point
    velocity: Point
    mass: float = 1.0
    tag: int = 7

    SOFT = 0.1

    def kinetic(self) -> float:
        return 0.5 * self.mass * self.velocity.dot(self.velocity)

    def moved(self, step: float) -> Body:
        x = self.at.x + step * self.velocity.x
        return dataclasses.replace(self, at=self.at._replace(x=x))


@dataclass(frozen=True, kw_only=True)
class Layer:
    weights: cl.f64[:, :]
    bias: cl.f64[:]
    slope: float = 0.1


class Line(TypedDict):
    slope: float
    offset: float


class Sample(NamedTuple):
    inputs: cl.f64[:]
    wanted: float
    weight: int


ORIGIN = Point(0.25, -1)
SETTINGS = {"scale": 2.0, "origin": ORIGIN}

POINTS = [Point(1.0, 2.0), Point(-0.5, 0.75), Point(0.3, -1.2)]
BODIES = [
    Body(Point(1.0, 0.0), Point(0.1, 0.9), 1.5),
    Body(Point(-1.0, 0.2), Point(0.0, -0.8), tag=2),
    Body(Point(0.1, 1.4), Point(0.7, 0.0), 0.5, 3),
]
ROWS = np.zeros(4, [("x", float), ("count", np.int64), ("on", bool), ("v", float, 2)])
ROWS["x"] = [0.5, -1.0, 2.0, 0.75]
ROWS["count"] = [1, 2, 3, 4]
ROWS["on"] = [True, False, True, True]
ROWS["v"] = np.arange(8.0).reshape(4, 2) / 4
PAIRS = np.zeros((2, 3), [("p", [("x", float), ("y", float)]), ("w", float)])
PAIRS["p"]["x"], PAIRS["p"]["y"] = np.arange(6.0).reshape(2, 3), 0.5
PAIRS["w"] = [[1.0, 2.0, 0.5], [0.25, 1.5, 1.0]]
RANDOM = np.random.default_rng(5)


def layer(n: int, m: int) -> Layer:
    return Layer(weights=RANDOM.normal(size=(n, m)), bias=RANDOM.normal(size=n))


@case(Point(1.5, -0.5))
@cl.jit
def fields_by_name(p: Point) -> float:
    return p.x * p.x * p.y + p.norm


@case(Point(1.5, -0.5))
@cl.jit
def fields_by_place(p) -> float:
    x, y = p
    return p[0] * p[-1] + x / y + len(p)


@case(Point(1.5, -0.5), 0.3)
@cl.jit
def methods(p: Point, angle: float) -> float:
    turned = p.turned().turned(angle=angle)
    polar = Point.polar(turned.norm, angle)
    return turned.dot(polar) + Point.between(p, polar).y


@case(2, 3.0)
@cl.jit
def construction(n: int, y: float) -> float:
    p, q = Point(n), Point(y=y, x=2)
    return p.dot(q) * ORIGIN.x + ORIGIN.norm * y


@case(BODIES[0])
@cl.jit
def nested_records(body: Body) -> float:
    later = body.moved(0.5).moved(0.25)
    return later.kinetic() + later.at.norm * body.SOFT + later.tag * later.at.x


@case(BODIES[1], 2.0)
@cl.jit
def unannotated(body, scale) -> float:
    return scale * body.kinetic() + body.at.turned(scale).x


@case((BODIES[0], BODIES[1]), (2.0,))
@cl.jit
def tuple_of_records(pair: tuple[Body, Body], scale) -> float:
    first, second = pair
    return first.at.dot(second.velocity) * second.mass * scale[0]


@case(Point(0.5, 0.25), 20)
@cl.jit
def carried_by_a_loop(p: Point, steps: int) -> float:
    total = 0.0
    for k in range(steps):
        p = p.turned(0.1) if k % 3 else Point(p.y, 1.01 * p.x)
        total += p.dot(ORIGIN)
    return total


@case(Point(0.5, 0.25), True)
@case(Point(0.5, 0.25), False)
@cl.jit
def chosen_by_a_branch(p: Point, flag: bool) -> float:
    q = p
    if not flag:
        q = Point(p.y, 2)
    return q.x * math.exp(q.y)


@case(layer(3, 2), layer(1, 3), RANDOM.normal(size=2))
@cl.jit
def layers(first: Layer, second: Layer, x: cl.f64[:]) -> float:
    for_hidden = first.weights @ x + first.bias
    hidden = np.maximum(for_hidden, first.slope * for_hidden)
    return (second.weights @ hidden + second.bias)[0] * second.slope


@case({"w": np.array([1.0, -2.0]), "b": 0.5}, np.array([0.5, 2.0]))
@cl.jit
def dictionary(params, x: cl.f64[:]) -> float:
    return sum(params["w"] * x) + params["b"] ** 2


@case({"slope": 2.0, "offset": 0.5}, 3.0)
@cl.jit
def typed_dictionary(line: Line, x: float) -> float:
    return line["slope"] * x * x + line["offset"] * x


@case({"a": 2.0, "b": 3.0}, {"c": Point(1.0, 2.0)})
@cl.jit
def open_dictionaries(numbers: dict[str, float], points: dict) -> float:
    return numbers["a"] * numbers["b"] * points["c"].x


@case(
    {
        "layers": (layer(2, 2), {"scale": 2.0, "shift": Point(1.0, 2.0)}),
        "rate": 0.1,
        "steps": 3,
    },
    np.array([0.3, 0.7]),
)
@cl.jit
def tree_of_containers(params, x) -> float:
    first, second = params["layers"]
    y = np.tanh(first.weights @ x) * second["scale"]
    for _ in range(params["steps"]):
        y = y - params["rate"] * (y - second["shift"].y)
    return sum(y) * second["shift"].x


@case({"w": 2.0, "b": 0.5}, 3.0)
@cl.jit
def dictionaries_built(params, x: float) -> float:
    new = {**params, "w": params["w"] * x, "c": x}
    other = dict(a=new["c"], b=SETTINGS["scale"])
    return new["w"] * new["b"] + new["c"] * other["a"] * other["b"]


@case(POINTS)
@cl.jit
def list_of_records(points: list[Point]) -> float:
    total = 0.0
    for k, p in enumerate(points):
        total += p.norm * points[max(k - 1, 0)].x
    return total + len(points) * points[0].y


@case(BODIES)
@cl.jit
def bodies(system: list[Body]) -> float:
    """The energy of bodies that attract each other."""
    energy = sum(b.kinetic() for b in system)
    for i in range(len(system)):
        for j in range(i):
            a, b = system[i], system[j]
            dx, dy = a.at.x - b.at.x, a.at.y - b.at.y
            energy -= a.mass * b.mass / math.sqrt(dx * dx + dy * dy + Body.SOFT**2)
    return energy


@case(BODIES)
@cl.jit
def list_made(system) -> float:
    later = [b.moved(0.1 * k) for k, b in enumerate(system)]
    swapped = [Point(b.at.y, b.mass) for b in later]
    return sum(p.dot(q.at) for p, q in zip(swapped, later, strict=False))


@case(
    [
        Sample(np.array([1.0, 2.0]), 0.5, 1),
        Sample(np.array([-1.0, 0.5]), 1.5, 2),
        Sample(np.array([0.0, 3.0]), -0.5, 1),
    ],
    np.array([0.7, -0.2]),
)
@cl.jit
def records_with_arrays(samples: list[Sample], w: cl.f64[:]) -> float:
    return sum(s.weight * (s.inputs @ w - s.wanted) ** 2 for s in samples)


@case([[POINTS[0], POINTS[1]], [POINTS[2], POINTS[0]], [POINTS[1], POINTS[1]]])
@cl.jit
def lists_of_lists(grid: list[list[Point]]) -> float:
    return sum(sum(p.x * p.y for p in row) * row[0].x for row in grid) + grid[1][-1].y


@case([(1.0, 2), (2.0, 3)])
@cl.jit
def list_of_tuples(items) -> float:
    return sum(a**n for a, n in items) + items[0][0]


@case([{"a": 1.5, "n": 2}, {"a": -2.0, "n": 3}])
@cl.jit
def list_of_dictionaries(items) -> float:
    return sum(item["a"] ** 2 * item["n"] for item in items)


@case(ROWS)
@cl.jit
def structured_rows(rows) -> float:
    total = 0.0
    for row in rows:
        if row["on"]:
            total += row["x"] ** 2 * row["count"] + row["v"][0] * row["v"][1]
    return total


@case(ROWS)
@cl.jit
def structured_columns(rows: np.ndarray) -> float:
    x = rows["x"]
    return sum(x * rows["count"]) + x[1] * rows[2]["x"] + np.max(rows["x"] ** 2)


@case(PAIRS)
@cl.jit
def structured_matrix(rows) -> float:
    n, m = rows.shape
    return sum(
        sum(rows[i, j]["p"]["x"] * rows["w"][i, j] ** 2 for j in range(m))
        for i in range(n)
    )


@case(ROWS[1])
@cl.jit
def structured_row(row) -> float:
    return row["x"] * row["count"] + row["v"][0]
