"""Unions, numbers and tuples taken apart by `match`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case
from programs.sums import SHAPES, Body, Circle, Polygon, Rectangle, Shape


@case(Circle(1.5))
@case(Rectangle(0.5, 3.0))
@case(Polygon(2.0, 6))
@cl.jit
def matched_in_turn(shape: Shape) -> float:
    match shape:
        case Circle(r):
            return math.pi * r**2
        case Rectangle(width=w, height=h):
            return w * h
        case Polygon(side, corners):
            return corners * side**2


@case(Circle(1.5), 0.3)
@case(Rectangle(0.5, 3.0), 0.3)
@case(Polygon(2.0, 6), 0.3)
@case(Polygon(2.0, 3), 0.3)
@cl.jit
def matched_with_guards(shape: Shape, x: float) -> float:
    total = x
    match shape:
        case Circle(r) if r > 10.0:
            total = r
        case Circle() | Rectangle(height=2.0):
            total += 1.0
        case Polygon(side=s, corners=3 | 4):
            total += s**2
        case Polygon() as p if p.side * x < 5.0:
            total += shape.side * p.corners
        case Rectangle(w, _) as rectangle:
            total += w * rectangle.height
        case _:
            total = -x
    return total * x


@case(Circle(1.5), Circle(2.0))
@case(Circle(1.5), Rectangle(2.0))
@case(Rectangle(1.5), Polygon(2.0, 3))
@case(Polygon(1.5, 4), Polygon(2.0, 3))
@cl.jit
def matched_pairs(first: Shape, second: Shape) -> float:
    match first, second:
        case Circle(r), Circle(s):
            return r * s
        case (Circle(r=a), Rectangle(width=b)) | (Rectangle(width=a), Polygon(side=b)):
            return a + b * b
        case Polygon(), other:
            return first.area() * other.area()
        case _:
            return first.area() - second.area()


@case(2.0, None)
@case(2.0, 0.0, is_smooth=False)
@case(2.0, 0.5)
@cl.jit
def matched_none(x: float, y: float | None) -> float:
    match y:
        case None:
            return x
        case 0.0:
            return x * x
        case value:
            return x * value


@case(0.7, 0)
@case(0.7, 1)
@case(0.7, -1)
@case(0.7, 5)
@cl.jit
def matched_numbers(x: float, n: int) -> float:
    match n:
        case 0:
            y = x
        case 1 | 2:
            y = x * x
        case -1:
            y = 1.0 / x
        case k if k > 3:
            y = x**3 * k
        case _:
            y = 0.0
    return y + x


@case(0.7, True, False)
@case(0.7, True, True)
@case(0.7, False, True)
@cl.jit
def matched_bools(x: float, a: bool, b: bool) -> float:
    match (a, b):
        case True, True:
            return x
        case True, False:
            return x * x
        case False, c:
            return math.sin(x) if c else 1.0


@case(0.7, 3)
@case(0.7, 8)
@cl.jit
def no_case_taken(x: float, n: int) -> float:
    match n:
        case 3:
            x = x * x
        case 4:
            x = -x
    match n:
        case 8:
            return x + 1.0
    return x


@case((1.5, -0.5))
@case((0.0, 2.0), is_smooth=False)
@case((0.0, 0.0), is_smooth=False)
@cl.jit
def matched_tuples(point: tuple[float, float]) -> float:
    match point:
        case (0.0, 0.0):
            return 0.0
        case (0.0, y):
            return y**2
        case (x, *_):
            return x**3 + point[1]


@case(Body(2.0, Circle(0.5)))
@case(Body(2.0, Circle(0.5), 1.5))
@case(Body(2.0, Rectangle(0.5), 1.5))
@case(Body(2.0, Polygon(0.5, 3)))
@cl.jit
def matched_inside(body: Body) -> float:
    match body:
        case Body(m, Circle(r), None):
            return m * r
        case Body(mass=m, shape=Circle(r=r), spin=float(s)):
            return m * r * s**2
        case Body(shape=Rectangle(diagonal=d) | Polygon(side=d)):
            return d * body.mass


@case({"a": 2.0, "b": Circle(1.5)})
@case({"a": 2.0, "b": Rectangle(1.5)})
@cl.jit
def matched_dictionary(params) -> float:
    match params:
        case {"b": Circle(r)}:
            return r * params["a"]
        case {"a": a}:
            return a * a
    return 0.0


@case(0.3, 12)
@cl.jit
def matched_in_a_loop(x: float, n: int) -> float:
    state: Shape = Circle(x)
    seen = 0.0
    for k in range(n):
        match state:
            case Circle(r) if r > 1.0:
                state = Rectangle(r, x)
            case Circle(r):
                if k > 9:
                    break
                state = Circle(r * 2)
                continue
            case Rectangle(w, h):
                state = Polygon(w + h, 3)
            case Polygon(side):
                state = Circle(side * 0.3)
        seen += state.area()
    return seen + state.area()


@case(SHAPES, 0.3)
@cl.jit
def matched_items(shapes: list[Shape], x: float) -> float:
    total = 0.0
    for shape in shapes:
        match shape:
            case Circle(r):
                total += r * x
            case Rectangle():
                total += shape.diagonal
            case _:
                pass
    return total


@case(Circle(1.5), 2.0)
@case(Circle(0.5), 2.0)
@case(Rectangle(0.5), 2.0)
@cl.jit
def captured_though_the_guard_fails(shape: Shape, x: float) -> float:
    match shape:
        case Circle(x) if x > 1.0:
            return x
        case Circle():
            return x**2
        case _:
            return 3.0 * x


@case(0.5)
@cl.jit
def matched_statically(x: float) -> float:
    return kind_of_curve(x, "square") + kind_of_curve(x, "line")


@cl.jit(static_argnames="kind")
def kind_of_curve(x, kind):
    match kind:
        case "square" | "parabola":
            return x * x
        case "line":
            return x


@case(Circle(1.5), 0.5)
@case(Rectangle(1.5), 0.5)
@cl.jit
def matched_in_a_function(shape: Circle | Rectangle, x: float) -> float:
    def scaled(y):
        match shape:
            case Circle(r):
                return r * y
            case Rectangle(w):
                return w + y

    return scaled(scaled(x))


@case(Circle(1.5), 0.5)
@case(Rectangle(1.5), 0.5)
@case(Polygon(1.5, 3), 0.5)
@cl.jit
def a_case_that_raises(shape: Shape, x: float) -> float:
    match shape:
        case Circle(r):
            y = r
        case Rectangle() if x > 9.0:
            raise ValueError("too large")
        case Rectangle(w, _) | Polygon(w, _):
            y = w * x
        case _:
            raise ValueError("no shape")
    return y * y


@case(0.7, Circle(1.5))
@case(-0.7, Polygon(1.5, 4))
@cl.jit
def cases_for_what_it_is_not(x: float, shape: Shape) -> float:
    """What is matched is found to be less than there are cases for."""
    other = Circle(x) if x > 0 else Polygon(x, 3)
    match other:
        case Rectangle(w, _):
            return w
        case Circle(r):
            total = r
        case _:
            total = x * x
    match shape, other:
        case (Rectangle(a), q) | (q, Rectangle(a)):
            total += a * q.area()
        case (Circle(a), _) | (_, Circle(a)):
            total += a * a
        case _:
            total += shape.area()
    return total


class Either(NamedTuple):
    share: float
    first: Shape
    second: Circle | Rectangle | None = None


PARTS: list[Shape | Either] = [
    Either(0.3, Circle(0.5), Rectangle(0.5, 0.7)),
    Circle(0.9),
    Either(-0.2, Polygon(0.6, 4)),
    Polygon(0.8, 3),
]


@cl.jit
def log_size(shape: Shape, x: float) -> float:
    """There is none of circles that are too large."""
    match shape:
        case Circle(r) if r < x:
            return math.log(x - r)
        case Rectangle(w, h):
            return math.log(w * h + x)
        case Polygon(side, corners):
            return side * x - math.lgamma(corners * x)
        case _:
            return -math.inf


@case(PARTS, 1.0)
@case(PARTS, 0.7)
@case(PARTS[2:], 1.3)
@cl.jit
def unions_inside_of_unions(parts: list[Shape | Either], x: float) -> float:
    total = 0.0
    for part in parts:
        match part:
            case Either(share, first, None):
                total += share * log_size(first, x)
            case Either(share, first, second):
                a = share + log_size(first, x)
                b = 0.0 if second is None else log_size(second, x)
                total = np.logaddexp(total, np.logaddexp(a, b))
            case single:
                total = np.logaddexp(total, log_size(single, x))
    return total


# ---- lists of unions with arrays --------------------------------------------------


class Dense(NamedTuple):
    weights: cl.f64[:, :]
    bias: cl.f64[:]


class Scale(NamedTuple):
    by: float
    times: int


Layer = Dense | Scale

LAYERS = [
    Dense(np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]]), np.array([0.1, 0.2, 0.3])),
    Scale(0.7, 2),
    Dense(np.array([[0.2, -0.3, 0.4]]), np.array([0.6])),
]


@case(LAYERS, np.array([0.3, 0.4]))
@cl.jit
def network(layers: list[Layer], x: cl.f64[:]) -> float:
    for layer in layers:
        match layer:
            case Dense(weights, bias):
                x = np.tanh(weights @ x + bias)
            case Scale(by, times):
                x = times * by * x
    return np.sum(x * x)


@case([None, np.array([1.0, 2.0]), np.array([0.5])], 0.3)
@cl.jit
def rows_or_none(rows: list[cl.f64[:] | None], x: float) -> float:
    turned = [None if row is None else x * row**2 for row in rows[1:] + rows[:1]]
    found = [row for row in turned if row is not None]
    return found[0][1] * np.sum(found[1])


@case(np.array([0.5, 2.0]), 4)
@cl.jit
def layers_changed(x: cl.f64[:], n: int) -> float:
    """Appended, replaced by smaller and by larger ones, and taken off the end."""
    layers: list[Layer] = []
    for i in range(n):
        layers.append(Dense(np.outer(x, x[: i % 3]), x) if i % 2 else Scale(x[0], i))
    layers[1] = Dense(np.outer(x, x), x[:1])
    layers[3] = Dense(np.outer(x[:1], x[:1]), x[1:])
    layers.append(layers[0])
    last = layers.pop()
    layers[0] = layers[2]
    layers.append(last)
    total = 0.0
    for k, layer in enumerate(layers):
        if isinstance(layer, Scale):
            total += layer.by**2 * layer.times
        else:
            total += (k + 1) * np.sum(layer.weights**2) + np.sum(layer.bias**3)
    return total


ROWS = [np.array([1.0, 2.0]), np.zeros(0), np.array([0.5])]


@case(ROWS, 0.3)
@case(None, 0.3)
@cl.jit
def lists_or_none(rows: list[cl.f64[:]] | None, x: float) -> float:
    scaled = None
    if rows is not None:
        scaled = [x * row**2 for row in rows[::-1]]
    return x if scaled is None else np.sum(scaled[0]) * np.sum(scaled[2]) + len(scaled)
