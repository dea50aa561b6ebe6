"""Quadtrees, ropes and sparse polynomials: structures of space, text and algebra."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import chadllvm as cl

from .case import recursive_case
from .recursive_data import Leaf

# ---- quadtrees, ropes, polynomials -----------------------------------------------


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Body:
    at: Point
    mass: float


@dataclass(frozen=True)
class Quad:
    """A square of the plane, with what its quarters hold."""

    center: Point
    size: float
    parts: tuple[Cell, Cell, Cell, Cell]


Cell = Quad | Body | None


@cl.jit
def total_mass(cell: Cell) -> float:
    if cell is None:
        return 0.0
    if isinstance(cell, Body):
        return cell.mass
    a, b, c, d = cell.parts
    return total_mass(a) + total_mass(b) + total_mass(c) + total_mass(d)


@cl.jit
def potential(cell: Cell, p: Point) -> float:
    """Of far squares as a whole, of near ones by their parts."""
    if cell is None:
        return 0.0
    if isinstance(cell, Body):
        return cell.mass / math.hypot(p.x - cell.at.x, p.y - cell.at.y)
    distance = math.hypot(p.x - cell.center.x, p.y - cell.center.y)
    if cell.size < 0.5 * distance:
        return total_mass(cell) / distance
    a, b, c, d = cell.parts
    near = potential(a, p) + potential(b, p)
    return near + potential(c, p) + potential(d, p)


QUAD = Quad(
    Point(0.0, 0.0),
    2.0,
    (
        Body(Point(0.5, 0.25), 1.5),
        Quad(
            Point(-0.5, 0.5),
            1.0,
            (Body(Point(-0.75, 0.75), 0.5), None, None, Body(Point(-0.25, 0.3), 2.0)),
        ),
        None,
        Body(Point(0.5, -0.5), 1.0),
    ),
)


@recursive_case(QUAD, Point(1.5, 2.0))
@cl.jit
def quadtree_force(cell: Cell, p: Point) -> float:
    return potential(cell, p) + potential(cell, Point(p.x + 1.0, 3.0 * p.y))


@dataclass(frozen=True)
class Rope:
    """Numbers in pieces; how many there are in the left part is known."""

    count: int
    left: Rope | Leaf
    right: Rope | Leaf


@cl.jit
def number_at(rope: Rope | Leaf, k: int) -> float:
    while isinstance(rope, Rope):
        if k < rope.count:
            rope = rope.left
        else:
            k -= rope.count
            rope = rope.right
    return rope.value


ROPE = Rope(2, Rope(1, Leaf(0.5), Leaf(1.5)), Rope(1, Leaf(-2.0), Leaf(0.75)))


@recursive_case(ROPE)
@cl.jit
def rope_of_numbers(rope: Rope) -> float:
    total = 0.0
    for k in range(4):
        total += number_at(rope, k) * number_at(rope, 3 - k) ** 2
    return total


@dataclass(frozen=True)
class Term:
    """A polynomial: its terms of falling degrees."""

    degree: int
    factor: float
    rest: Term | None


@cl.jit
def added(p: Term | None, q: Term | None) -> Term | None:
    if p is None:
        return q
    if q is None:
        return p
    if p.degree > q.degree:
        return Term(p.degree, p.factor, added(p.rest, q))
    if p.degree < q.degree:
        return Term(q.degree, q.factor, added(p, q.rest))
    return Term(p.degree, p.factor + q.factor, added(p.rest, q.rest))


@cl.jit
def times_term(p: Term | None, degree: int, factor: float) -> Term | None:
    if p is None:
        return None
    return Term(
        p.degree + degree, p.factor * factor, times_term(p.rest, degree, factor)
    )


@cl.jit
def multiplied(p: Term | None, q: Term | None) -> Term | None:
    if p is None:
        return None
    return added(times_term(q, p.degree, p.factor), multiplied(p.rest, q))


@recursive_case(
    Term(3, 1.5, Term(0, -2.0, None)), Term(2, 0.5, Term(1, 1.0, None)), 0.8
)
@cl.jit
def sparse_polynomials(p: Term, q: Term, x: float) -> float:
    both = multiplied(p, q)
    total = 0.0
    while both is not None:
        total += both.factor * x**both.degree
        both = both.rest
    return total
