"""Unions at the boundary: what is passed, what comes back, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl


class Circle(NamedTuple):
    r: float


@dataclass(frozen=True)
class Square:
    side: float
    corners: int = 4


@dataclass(frozen=True)
class Empty:
    pass


class Wall(NamedTuple):
    at: float
    normal: cl.f64[:]


class Triangle(NamedTuple):
    a: float


Shape = Circle | Square


@cl.jit
def area(shape: Shape, scale: float | None = None) -> float:
    found = 3.0 * shape.r**2 if isinstance(shape, Circle) else shape.side**2
    return found if scale is None else scale * found


@cl.jit
def total(shapes: list[Shape | None], x: float = 1.0) -> float:
    return sum(area(s, x) for s in shapes if s is not None)


@cl.jit
def made(x: float, n: int) -> Shape | None:
    match n:
        case 0:
            return None
        case 1:
            return Circle(x * x)
        case _:
            return Square(x**3, n)


@cl.jit
def push(wall: Wall | Circle | None, x: float) -> float:
    match wall:
        case Wall(at, normal):
            return at * x + np.sum(normal**2)
        case Circle(r):
            return r * x
        case None:
            return x


MODES: list[Callable[[Any], Any]] = [
    lambda f: f,
    lambda f: cl.jit(f.py_func, optimize=0),
]


@pytest.mark.parametrize("mode", MODES)
def test_gradients_are_of_the_class_of_the_value(mode: Any) -> None:
    slope = cl.grad(mode(area), argnums=(0, 1))
    assert slope(Circle(2.0), 3.0) == (Circle(36.0), 12.0)
    assert slope(Square(2.0), 3) == (Square(12.0, None), 4.0)
    assert slope(Square(2.0), None) == (Square(4.0, None), None)
    assert slope(Circle(2.0)) == (Circle(12.0), None)


@pytest.mark.parametrize("mode", MODES)
def test_lists_of_unions(mode: Any) -> None:
    shapes = [Circle(1.0), None, Square(2.0, 3), Circle(0.5)]
    value, (slopes, x_ct) = cl.value_and_grad(mode(total), argnums=(0, 1))(shapes, 2.0)
    assert value == 2 * (3.0 + 4.0 + 0.75)
    assert slopes == [Circle(12.0), None, Square(8.0, None), Circle(6.0)]
    assert x_ct == value / 2
    assert mode(total)([]) == 0.0
    assert cl.grad(mode(total))([None]) == [None]


@pytest.mark.parametrize("mode", MODES)
def test_results_of_unions(mode: Any) -> None:
    f = mode(made)
    assert [f(2.0, k) for k in range(3)] == [None, Circle(4.0), Square(8.0, 2)]
    assert cl.jvp(f, (2.0, 0), (1.0, None)) == (None, None)
    assert cl.jvp(f, (2.0, 1), (1.0, None)) == (Circle(4.0), Circle(4.0))
    out, tangent = cl.jvp(f, (2.0, 5), (1.0, None))
    assert (out, tangent) == (Square(8.0, 5), Square(12.0, None))


@pytest.mark.parametrize("mode", MODES)
def test_arrays_in_members(mode: Any) -> None:
    f, normal = mode(push), np.array([1.0, 2.0])
    value, (wall, x) = cl.value_and_grad(f, argnums=(0, 1))(Wall(2.0, normal), 3.0)
    assert value == 11.0 and wall.at == 3.0 and x == 2.0
    np.testing.assert_array_equal(wall.normal, [2.0, 4.0])
    assert cl.grad(f)(Circle(2.0), 3.0) == Circle(3.0)
    assert cl.grad(f, argnums=(0, 1))(None, 3.0) == (None, 1.0)
    strided = Wall(2, np.arange(6)[::3].astype(float))
    assert f(strided, 3.0) == 15.0
    assert cl.jvp(f, (Wall(2.0, normal), 3.0), (Wall(1.0, normal), None))[1] == 13.0


def test_tangents_of_tangents() -> None:
    slope = cl.grad(area, argnums=(0, 1))
    out, tangent = cl.jvp(slope, (Circle(2.0), 3.0), (Circle(1.0), 1.0))
    assert out == (Circle(36.0), 12.0)
    assert tangent == (Circle(3 * 6.0 + 12.0), 12.0)


def test_pullbacks() -> None:
    value, pull = cl.vjp(made, 2.0, 1)
    assert value == Circle(4.0)
    assert pull(Circle(0.5)) == (2.0, None)
    with pytest.raises(TypeError, match="not of the class that its value is of"):
        pull(Square(1.0))
    assert cl.vjp(made, 2.0, 3)[1](Square(1.0)) == (12.0, None)


def test_open_members_are_what_is_given() -> None:
    @cl.jit
    def norm(x, weights: np.ndarray | None = None):
        return np.sum(x * x) if weights is None else np.sum(weights * x * x)

    x = np.array([1.0, 2.0])
    assert norm(x) == norm(x, None) == 5.0
    assert norm(x, 2 * x) == 18.0
    assert norm(np.ones((2, 2)), np.ones((2, 2))) == 4.0


def test_spellings_of_unions() -> None:
    def f(a: Circle | None, b: Circle | None, c: cl.f64 | None) -> float:
        found = [x for x in (a, b) if x is not None]
        return sum(x.r for x in found) + (0.0 if c is None else c)

    assert cl.jit(f)(Circle(1.0), None, 2) == 3.0
    assert cl.jit(f)(None, Circle(1.0), None) == 1.0


def test_members_without_fields() -> None:
    @cl.jit
    def f(shape: Circle | Empty, x: float) -> Circle | Empty:
        match shape:
            case Circle(r):
                return Empty() if r > x else Circle(r + 1)
            case Empty():
                return Circle(x)

    assert f(Empty(), 2.0) == Circle(2.0)
    assert f(Circle(3.0), 2.0) == Empty()
    assert cl.jvp(f, (Circle(1.0), 2.0), (Circle(0.5), None))[1] == Circle(0.5)
    assert cl.jvp(f, (Empty(), 2.0), (Empty(), 3.0))[1] == Circle(3.0)


def test_classes_decide_where_nothing_is_annotated() -> None:
    @cl.jit
    def size(shape):
        match shape:
            case Circle(r):
                return r
            case Square(side) | Triangle(side):
                return 2.0 * side

    assert [size(Circle(1.0)), size(Square(1.0)), size(Triangle(1.5))] == [1, 2, 3]
    assert size.py_func(Square(1.0)) == 2.0

    @cl.jit
    def sizes(shapes):
        return sum(size(s) for s in shapes)

    assert sizes([Circle(1.0)]) == 1.0
    assert sizes([Circle(1.0), Square(1.0), Circle(2.0)]) == 5.0
    assert sizes([Triangle(1.0), Square(1.0)]) == 4.0


CIRCLES = "of class Circle or of class Square"


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (area, (Triangle(1.0),), f"parameter shape must be {CIRCLES}, found Triangle"),
        (area, (2.0,), "parameter shape must be"),
        (area, (None,), "found NoneType None"),
        (area, (Circle("a"),), "parameter shape.r must be a float, found str 'a'"),
        (area, (Circle(1.0), "a"), "parameter scale must be a float or None"),
        (total, ([Circle(1.0), 3.0],), f"shapes[1] must be {CIRCLES} or None, found"),
        (total, ([Wall(1.0, np.ones(2))],), f"shapes[0] must be {CIRCLES} or None"),
        (area, (Circle([1.0, [2.0]]),), "parameter shape.r must be a float, found"),
        (total, ([Circle(1.0), Square("a")],), "shapes[1].side must be a float"),
        (total, (Circle(1.0),), "must be a list of Circle | Square | None, found"),
        (push, (Wall(1.0, (1.0,)), 1.0), "wall.normal must be a NumPy array"),
        (push, (np.ones(2), 1.0), "parameter wall must be"),
    ],
)
def test_wrong_arguments(function: Any, args: tuple[Any, ...], message: str) -> None:
    for run in (function, cl.grad(function), cl.jit(function.py_func, optimize=0)):
        with pytest.raises(TypeError, match=re.escape(message)):
            run(*args)


@pytest.mark.parametrize(
    ("args", "tangents", "message"),
    [
        ((Circle(1.0), 1.0), (Square(1.0), 1.0), "shape is Circle, so that its"),
        ((Circle(1.0), None), (Circle(1.0), 1.0), "scale is None, so that its"),
        ((Circle(1.0), 1.0), (3.0, 1.0), "shape (tangent) must be"),
    ],
)
def test_wrong_tangents(
    args: tuple[Any, ...], tangents: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        cl.jvp(area, args, tangents)


def test_wrong_tangents_in_lists() -> None:
    shapes = [Circle(1.0), None]
    with pytest.raises(TypeError, match=re.escape("shapes[1] is None, so that its")):
        cl.jvp(total, (shapes, 1.0), ([Circle(1.0), Circle(1.0)], None))
    with pytest.raises(ValueError, match="shape"):
        cl.jvp(total, (shapes, 1.0), ([Circle(1.0)], None))


def test_no_fields_at_all_in_a_list() -> None:
    with pytest.raises(cl.CompileError, match="CL1410"):
        cl.jit(lambda xs: len(xs))([Empty()])


# ---- arrays in the members of unions in lists ----


@cl.jit
def squares(walls: list[Wall | Circle | None]) -> float:
    total = 0.0
    for k, wall in enumerate(walls):
        if isinstance(wall, Wall):
            total += wall.at * np.sum(wall.normal**2)
        elif wall is not None:
            total += (k + 1) * wall.r**2
    return total


WALLS = [Wall(2.0, np.array([1.0, 3.0])), None, Circle(0.5), Wall(1.0, np.ones(1))]


def test_arrays_in_lists_of_unions_have_sizes_of_their_own() -> None:
    first, none, circle, last = cl.grad(squares)(WALLS)
    assert (first.at, none, circle) == (10.0, None, Circle(3.0))
    assert first.normal.tolist() == [4.0, 12.0]
    assert (last.at, last.normal.tolist()) == (1.0, [2.0])
    assert cl.jvp(squares, (WALLS,), (cl.grad(squares)(WALLS),))[1] == 274.0
    assert cl.grad(squares)([None]) == [None]
    assert squares([]) == 0.0


def test_they_are_returned() -> None:
    @cl.jit
    def rows(x: cl.f64[:], n: int) -> list[cl.f64[:, :] | None]:
        return [np.outer(x, x[:i]) if i != 1 else None for i in range(n)]

    first, none, last = rows(np.array([1.0, 2.0]), 3)
    assert (first.shape, none, last.tolist()) == ((2, 0), None, [[1, 2], [2, 4]])
    _, tangent = cl.jvp(rows, (np.array([1.0, 2.0]), 3), (np.ones(2), None))
    assert (tangent[0].shape, tangent[1]) == ((2, 0), None)
    assert tangent[2].tolist() == [[2.0, 3.0], [3.0, 4.0]]


@pytest.mark.sweep
def test_derivatives_by_them_inside_of_programs() -> None:
    @cl.jit
    def steepest(walls: list[Wall | Circle | None]) -> float:
        total = 0.0
        for slope in cl.grad(squares)(walls):
            if isinstance(slope, Wall):
                total += slope.at * np.sum(slope.normal)
        _, tangent = cl.jvp(squares, (walls,), (cl.grad(squares)(walls),))
        return total + tangent

    assert steepest(WALLS) == 162.0 + 274.0
    cl.check_grads(steepest, (WALLS,))


def test_tangents_of_other_sizes() -> None:
    shorter = [Wall(2.0, np.ones(1)), None, Circle(0.5), Wall(1.0, np.ones(2))]
    with pytest.raises(ValueError, match=re.escape("walls[0].normal has shape (2,)")):
        cl.jvp(squares, (WALLS,), (shorter,))

    @cl.jit
    def inside(walls: list[Wall | None], other: list[Wall | None]) -> float:
        def f(walls):
            return sum(0.0 if w is None else np.sum(w.normal) for w in walls)

        return cl.jvp(f, (walls,), (other,))[1]

    wall = Wall(1.0, np.ones(2))
    assert inside([None, wall], [None, wall]) == 2.0
    with pytest.raises(ValueError, match="sizes"):
        inside([wall], [Wall(1.0, np.ones(3))])
    with pytest.raises(TypeError, match="not of the class"):
        inside([wall], [None])


def test_arrays_in_lists_of_lists_of_unions() -> None:
    with pytest.raises(cl.CompileError, match="CL1410"):
        cl.jit(lambda xs: len(xs))([[WALLS[0], None]])


# ---- lists of arrays, or None ----


class Data(NamedTuple):
    rows: list[cl.f64[:]] | None
    times: int = 2


@cl.jit
def energy(data: Data) -> float:
    if data.rows is None:
        return 0.0
    return data.times * sum(np.sum(row**2) for row in data.rows)


DATA = Data([np.array([1.0, 2.0]), np.zeros(0), np.array([3.0])])


def test_lists_of_arrays_or_none() -> None:
    gradient = cl.grad(energy)(DATA)
    assert gradient.times is None
    assert [row.tolist() for row in gradient.rows] == [[4.0, 8.0], [], [12.0]]
    assert cl.grad(energy)(Data(None)) == Data(None, None)
    assert cl.grad(energy)(Data([])) == Data([], None)
    moved = Data(DATA.rows, None)
    assert cl.jvp(energy, (DATA,), (moved,)) == (28.0, 56.0)
    (pulled,) = cl.vjp(energy, DATA)[1](0.5)
    assert [row.tolist() for row in pulled.rows] == [[2.0, 4.0], [], [6.0]]
    with pytest.raises(TypeError, match="tangent"):
        cl.jvp(energy, (DATA,), (Data(np.ones(3), None),))


def test_lists_of_arrays_or_none_inside_of_programs() -> None:
    @cl.jit
    def steepest(data: Data, shorter: bool) -> float:
        slope = cl.grad(energy)(data)
        along = Data(data.rows[:1], 2) if data.rows is not None and shorter else data
        _, tangent = cl.jvp(energy, (data,), (along,))
        return tangent if slope.rows is None else tangent + np.sum(slope.rows[0])

    assert steepest(DATA, False) == 56.0 + 12.0
    assert steepest(Data(None), False) == 0.0
    cl.check_grads(lambda data: steepest(data, False), (DATA,))
    with pytest.raises(ValueError, match="sizes"):
        steepest(DATA, True)


def test_lists_of_arrays_or_none_are_returned() -> None:
    @cl.jit
    def pieces(x: cl.f64[:], n: int) -> list[cl.f64[:]] | None:
        if n == 0:
            return None
        if n == 1:
            return [x, x]
        return [x[:i] for i in range(n)]

    x = np.array([1.0, 2.0])
    assert pieces(x, 0) is None
    assert [row.tolist() for row in pieces(x, 1)] == [[1.0, 2.0]] * 2
    _, tangent = cl.jvp(pieces, (x, 2), (np.ones(2), None))
    assert [row.tolist() for row in tangent] == [[], [1.0]]
    pulled = cl.vjp(pieces, x, 2)[1]([np.zeros(0), np.ones(1)])
    assert pulled[0].tolist() == [1.0, 0.0]


def test_lists_of_lists_or_none() -> None:
    with pytest.raises(cl.CompileError, match="CL1410"):
        cl.jit(lambda xs: len(xs))([None, [np.ones(2)]])


# ---- rules ----


@cl.custom_vjp
def extent(shape: Shape, walls: list[cl.f64[:] | None], rows: list[cl.f64[:]]) -> float:
    size = 3.0 * shape.r if isinstance(shape, Circle) else shape.side
    inner = sum(0.0 if wall is None else np.sum(wall**2) for wall in walls)
    return size * (inner + sum(np.sum(row) for row in rows))


def kept(shape, walls, rows):
    return extent(shape, walls, rows), (shape, walls, rows)


def pulled(kept, ct):
    shape, walls, rows = kept
    inner = sum(0.0 if wall is None else np.sum(wall**2) for wall in walls)
    inner += sum(np.sum(row) for row in rows)
    if isinstance(shape, Circle):
        size, slope = 3.0 * shape.r, Circle(3.0 * ct * inner)
    else:
        size, slope = shape.side, Square(ct * inner, 0)
    by_walls = [None if wall is None else 2.0 * ct * size * wall for wall in walls]
    return slope, by_walls, [np.full(len(row), ct * size) for row in rows]


extent.defvjp(kept, pulled)


@pytest.mark.parametrize("optimize", [0, 2])
def test_rules_of_unions_and_lists(optimize: int) -> None:
    @cl.jit(optimize=optimize)
    def squared(shape: Shape, walls: list[cl.f64[:] | None], rows: list[cl.f64[:]]):
        return extent(shape, walls, rows) ** 2

    lists = [None, np.array([1.0, 2.0])], [np.ones(1), np.zeros(0), np.ones(2)]
    by_shape, walls, rows = cl.grad(squared, (0, 1, 2))(Circle(0.5), *lists)
    assert by_shape == Circle(576.0)
    assert (walls[0], walls[1].tolist()) == (None, [72.0, 144.0])
    assert [row.tolist() for row in rows] == [[36.0], [], [36.0, 36.0]]
    cl.check_grads(squared, (Square(0.5), *lists))


def test_rules_that_give_what_does_not_fit() -> None:
    @cl.custom_vjp
    def first(shape: Shape, rows: list[cl.f64[:]]) -> float:
        return rows[0][0]

    def back(kept, ct):
        return Circle(ct), [row[:1] * ct for row in kept]

    first.defvjp(lambda shape, rows: (first(shape, rows), rows), back)
    gradient = cl.grad(cl.jit(lambda shape, rows: first(shape, rows)), (0, 1))
    assert gradient(Circle(1.0), [np.ones(1)])[0] == Circle(1.0)
    with pytest.raises(ValueError, match="sizes"):
        gradient(Circle(1.0), [np.ones(2)])


@cl.custom_jvp
def cuts(x: cl.f64[:], n: int) -> list[cl.f64[:]] | None:
    return None if n == 0 else [x[:i] ** 2 for i in range(n)]


@cuts.defjvp
def cuts_rule(primals, tangents):
    (x, n), (x_t, _) = primals, tangents
    if n == 0:
        return cuts(x, n), None
    return cuts(x, n), [2.0 * x[:i] * x_t[:i] for i in range(n)]


def test_rules_for_tangents_of_lists_or_none() -> None:
    @cl.jit
    def total(x: cl.f64[:], n: int) -> float:
        found = cuts(x, n)
        return x[0] if found is None else sum(np.sum(row) ** 2 for row in found)

    x = np.array([1.0, 2.0])
    assert cl.grad(total)(x, 3).tolist() == [24.0, 40.0]
    assert cl.jvp(total, (x, 3), (np.ones(2), None)) == (26.0, 64.0)
    assert cl.grad(total)(x, 0).tolist() == [1.0, 0.0]
