"""Unions of classes, and values that may be None: made, asked, taken apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case


@dataclass(frozen=True)
class Circle:
    r: float

    def area(self) -> float:
        return math.pi * self.r**2


@dataclass(frozen=True)
class Rectangle:
    width: float
    height: float = 2.0

    def area(self) -> float:
        return self.width * self.height

    @property
    def diagonal(self) -> float:
        return math.hypot(self.width, self.height)


class Polygon(NamedTuple):
    side: float
    corners: int

    def area(self) -> float:
        return self.corners * self.side**2 / (4 * math.tan(math.pi / self.corners))


Shape = Circle | Rectangle | Polygon
SHAPES = [Circle(1.5), Rectangle(0.5, 3.0), Polygon(2.0, 6), Circle(0.25)]


class Spring(NamedTuple):
    at: float
    stiffness: float


class Wall(NamedTuple):
    at: float
    normal: cl.f64[:]


class Body(NamedTuple):
    mass: float
    shape: Shape
    spin: float | None = None


CENTRE = Body(2.0, Circle(0.5))


@case(Circle(1.5))
@case(Rectangle(0.5, 3.0))
@case(Polygon(2.0, 6))
@cl.jit
def asked_in_turn(shape: Shape) -> float:
    if isinstance(shape, Circle):
        return math.pi * shape.r**2
    elif isinstance(shape, Rectangle):
        return shape.width * shape.height
    return shape.corners * shape.side**2


@case(Circle(1.5), 0.3)
@case(Polygon(2.0, 6), 0.3)
@cl.jit
def asked_for_two(shape: Shape, x: float) -> float:
    if isinstance(shape, (Circle, Polygon)):
        size = shape.r if isinstance(shape, Circle) else shape.side
        return size * math.sin(x)
    return shape.diagonal * x


@case(Rectangle(0.5, 3.0), 0.3)
@case(Polygon(2.0, 6), 0.3)
@cl.jit
def asked_and_computed(shape: Circle | Rectangle | Polygon, x: float) -> float:
    if isinstance(shape, Rectangle) and shape.width * x < 10.0:
        x = x + shape.height**2
    if not isinstance(shape, Polygon) or shape.side < 1.0:
        return x * x
    return x * shape.side


@case(2.0, None)
@case(2.0, 0.5)
@cl.jit
def given_or_not(x: float, scale: float | None) -> float:
    if scale is None:
        scale = 3.0
    return scale * x**2


@case(2.0, None)
@case(2.0, 0.5)
@cl.jit
def none_by_default(x: float, scale: float | None = None) -> float:
    return x if scale is None else x * math.exp(scale)


@case(2.0, None)
@case(2.0, 0.5)
@cl.jit
def none_unannotated(x, scale=None):
    return x**3 if scale is None else x * scale


@case(np.array([0.5, 2.0]), None)
@case(np.array([0.5, 2.0]), np.array([3.0, -1.0]))
@cl.jit
def weights_or_none(x: np.ndarray, w: np.ndarray | None) -> float:
    return np.sum(x * x) if w is None else x @ (w * x)


@case(np.array([0.5, 2.0]), None)
@case(np.array([0.5, 2.0]), np.array([3.0, -1.0]))
@cl.jit
def closed_array_or_none(x: cl.f64[:], w: cl.f64[:] | None) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k] ** 2 * (1.0 if w is None else w[k])
    return total


@case(SHAPES)
@cl.jit
def areas(shapes: list[Shape]) -> float:
    return sum(s.area() for s in shapes)


@case(SHAPES, 0.7)
@cl.jit
def list_of_a_union(shapes: list[Shape], x: float) -> float:
    total = 0.0
    for k, s in enumerate(shapes):
        if isinstance(s, Circle):
            total += s.r * x
        elif isinstance(s, Polygon):
            total -= s.side**2 * k
    first = shapes[0]
    return total + (first.r if isinstance(first, Circle) else 0.0)


@case([Circle(1.0), None, Circle(3.0)])
@cl.jit
def list_with_gaps(shapes: list[Circle | None]) -> float:
    return sum(s.r**2 for s in shapes if s is not None)


@case(SHAPES)
@cl.jit
def picked_by_class(shapes) -> float:
    circles = [s for s in shapes if isinstance(s, Circle)]
    return sum(c.r * len(circles) for c in circles)


@case(1.2, 5)
@cl.jit
def list_made(x: float, n: int) -> float:
    shapes = [Circle(x * k) if k % 2 == 0 else Rectangle(x, x + k) for k in range(n)]
    return sum(s.area() for s in shapes) + len(shapes)


@case(1.2, 5)
@cl.jit
def list_learned(x: float, n: int) -> float:
    shapes = []
    for k in range(n):
        shapes.append(Circle(x + k))
        if k % 2:
            shapes.append(None)
            shapes.append(Polygon(x * k, 3))
    return sum(s.area() for s in shapes if s is not None)


@case(1.2, 5)
@cl.jit
def list_grown(x: float, n: int) -> float:
    shapes: list[Shape] = [Circle(x)]
    for k in range(n):
        if k % 2:
            shapes.append(Polygon(x * k, 3))
        else:
            shapes.append(Circle(x + k))
    return sum(s.area() for s in shapes)


@case(1.2)
@case(-0.7)
@cl.jit
def joined_by_branches(x: float) -> float:
    shape = Rectangle(x * x)
    if x > 0:
        shape = Circle(x)
    other = Polygon(x, 5) if x < 1 else shape
    return shape.area() + other.area()


@case(0.3, 12)
@cl.jit
def machine(x: float, n: int) -> float:
    """A state that is one of three classes."""
    state: Shape = Circle(x)
    for _ in range(n):
        if isinstance(state, Circle):
            state = Rectangle(state.r, state.r + x) if state.r > x else Circle(x * 2)
        elif isinstance(state, Rectangle):
            state = Polygon(state.width * 0.9, 3)
        else:
            state = Circle(state.side + 0.1)
    return state.area()


@case(np.array([3.0, -1.0, 0.5, -2.0]))
@cl.jit
def best_so_far(xs: cl.f64[:]) -> float:
    best = None
    for x in xs:
        if best is None or x * x < best:
            best = x * x
    assert best is not None
    return best


@case(np.array([3.0, -1.0, 0.5, -2.0]), 0.0)
@case(np.array([3.0, -1.0, 0.5, -2.0]), 9.0)
@cl.jit
def first_below(xs: cl.f64[:], limit: float) -> float:
    found = None
    for x in xs:
        if x < limit:
            found = x
            break
    if found is None:
        return -1.0
    return found * found


@case(1.5)
@cl.jit
def while_not_none(x: float) -> float:
    rest, total = next_of(x), 0.0
    while rest is not None:
        total += rest * rest
        rest = next_of(rest)
    return total


@cl.jit
def next_of(x: float) -> float | None:
    if x > 20.0:
        return None
    return x * 1.5 + 0.1


@cl.jit
def grown(shape: Shape, factor: float) -> Shape:
    if isinstance(shape, Circle):
        return Circle(shape.r * factor)
    if isinstance(shape, Rectangle):
        return Rectangle(shape.width * factor, shape.height)
    return shape._replace(side=shape.side + factor)


@case(Circle(1.5), 0.3)
@case(Rectangle(0.5, 3.0), 0.3)
@case(Polygon(2.0, 6), 0.3)
@cl.jit
def through_functions(shape: Shape, x: float) -> float:
    shape = grown(grown(shape, x), 2.0)
    return shape.area() + grown(Circle(x), x).area()


@case(Body(2.0, Circle(0.5)))
@case(Body(2.0, Rectangle(0.5), 1.5))
@cl.jit
def fields_that_are_unions(body: Body) -> float:
    energy = body.mass * body.shape.area()
    if body.spin is not None:
        energy += 0.5 * body.spin**2 * body.mass
    if isinstance(body.shape, Circle):
        energy *= body.shape.r
    return energy * CENTRE.shape.area()


@case([Body(2.0, Circle(0.5)), Body(1.0, Polygon(0.5, 4), 1.5)], 0.4)
@cl.jit
def records_with_unions(bodies: list[Body], x: float) -> float:
    total = 0.0
    for b in bodies:
        spin = x if b.spin is None else b.spin
        total += b.shape.area() * spin**2
    return total + bodies[0].mass


@case(Spring(0.5, 2.0), 1.5)
@case(Wall(-0.5, np.array([1.0, 2.0])), 1.5)
@cl.jit
def common_fields(thing: Spring | Wall, x: float) -> float:
    away = x - thing.at
    if isinstance(thing, Wall):
        return away * np.sum(thing.normal**2)
    return thing.stiffness * away**2


@case((Circle(1.5), None), 0.3)
@case((None, Rectangle(0.5)), 0.3)
@cl.jit
def tuples_of_unions(pair: tuple[Circle | None, Rectangle | None], x: float) -> float:
    first, second = pair
    total = x * x
    if first is not None:
        total += first.r * x
    if second is not None:
        total += second.width * second.height
    return total


@case(Circle(1.5), 0.3)
@case(Polygon(0.5, 3), 0.3)
@cl.jit
def captured(shape: Shape, x: float) -> float:
    def scaled(y):
        return y * shape.area()

    if isinstance(shape, Circle):

        def radius(y):
            return y + shape.r

        return radius(scaled(x))
    return scaled(scaled(x))


@case(Circle(1.5), Rectangle(2.0), 0.3)
@cl.jit
def generic(first, second, x) -> float:
    shapes = [first, second, first]
    total = x
    for s in shapes:
        total += s.r if isinstance(s, Circle) else s.width * x
    return total


@case(1.5, 2)
@case(1.5, -2)
@cl.jit
def number_or_record(x: float, n: int) -> float:
    value: float | Circle = x
    if n > 0:
        value = Circle(x * n)
    if isinstance(value, float):
        return value**3
    return value.r


@case((2.0, 3.0), 1.0)
@case(None, 1.0)
@cl.jit
def tuple_or_none(pair: tuple[float, float] | None, x: float) -> float:
    if pair is None:
        return x
    a, b = pair
    return a * b * x


@case(SHAPES, 1.5)
@cl.jit
def chosen_of_some(shapes: list[Shape], x: float) -> float:
    largest = max(s.r for s in shapes if isinstance(s, Circle))
    first = shapes[0]
    twice = [first, first]
    every = twice + [Circle(x)] * 2 + shapes[1:]
    return largest + sum(s.area() for s in every)


@cl.jit
def scaled_area(shape: Shape, x: float) -> float:
    match shape:
        case Circle(r):
            return math.pi * r**2 * x
        case Rectangle(w, h):
            return w * h * x**2
        case Polygon(side, corners):
            return side**3 * corners * x


@case(Circle(1.5), 0.5)
@case(Rectangle(1.5), 0.5)
@case(Polygon(1.5, 3), 0.5)
@cl.jit
def gradient_of_a_union(shape: Shape, x: float) -> float:
    match cl.grad(scaled_area)(shape, x):
        case Circle(r):
            return r * x
        case Rectangle(w, h):
            return w + h**2
        case Polygon(side):
            return side


@case(SHAPES, 0.5)
@cl.jit
def gradients_in_a_list(shapes: list[Shape], x: float) -> float:
    slopes = cl.grad(total_area)(shapes, x)
    return sum(s.r**2 for s in slopes if isinstance(s, Circle)) + x


@cl.jit
def total_area(shapes: list[Shape], x: float) -> float:
    return sum(scaled_area(s, x) for s in shapes)


@case(0.5)
@case(-0.5)
@cl.jit
def tangent_of_a_union(x: float) -> float:
    shape, tangent = cl.jvp(bent, (x,), (2.0,))
    if isinstance(tangent, Circle):
        return tangent.r
    assert isinstance(tangent, Rectangle)
    return tangent.width * shape.area()


@cl.jit
def bent(x: float) -> Shape:
    return Circle(x * x) if x > 0 else Rectangle(x**3, x)


@case(0.5, 2.0)
@cl.jit
def cotangents_of_unions(x: float, y: float) -> float:
    shape, pull = cl.vjp(bent, x)
    (slope,) = pull(Circle(y))
    value, back = cl.vjp(scaled_area, shape, y)
    shape_ct, y_ct = back(slope)
    assert isinstance(shape_ct, Circle)
    return value * shape_ct.r + y_ct


@case(2.0, None)
@case(2.0, 3.0)
@cl.jit
def gradient_by_what_may_be_none(x: float, y: float | None) -> float:
    a, b = cl.grad(given_or_not, argnums=(0, 1))(x, y)
    return a if b is None else a * b
