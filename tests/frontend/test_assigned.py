"""Fields and entries that are assigned, where an object has one name only."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.5, -1.25, 2.0, 0.75])


@dataclasses.dataclass
class Ball:
    height: float
    speed: float = 2.0

    @property
    def energy(self) -> float:
        return self.height + self.speed**2

    def itself(self) -> Ball:
        return self


@dataclasses.dataclass
class Path:
    at: cl.f64[:]
    speed: cl.f64[:]
    time: float = 0.0


class Fixed(NamedTuple):
    at: cl.f64[:]
    scale: float


def stepped(v: cl.f64[:]) -> float:
    ball = Ball(0.0, 1.0)
    for x in v:
        ball.height, ball.speed = (
            ball.height + 0.1 * ball.speed,
            ball.speed - x * ball.height,
        )
    return ball.energy


def in_arrays(v: cl.f64[:]) -> float:
    path = Path(v.copy(), np.zeros(len(v)))
    for k in range(3):
        path.speed[0] += 0.1 * path.at[1]
        path.at = path.at + 0.1 * path.speed
        path.at[k] *= 1.5
        path.time += 0.1
    return np.sum(path.at * path.speed) * path.time


def in_a_named_tuple(v: cl.f64[:]) -> float:
    fixed = Fixed(v * 1.0, 2.0)
    fixed.at[1:] = 3.0 * v[0]
    return np.sum(fixed.at**2) * fixed.scale


def entries(v: cl.f64[:]) -> float:
    given = {"w": 2.0 * v, "k": v[0]}
    given["k"] = given["k"] * 3.0
    given["w"] = given["w"] - 0.1 * v
    given["k"] -= 1.0
    given["new"] = v[1]
    return np.sum(given["w"]) * given["k"] * given["new"]


def entries_by_key(v: cl.f64[:]) -> float:
    given = {"a": v[0], "b": v[1]}
    for key, value in given.items():
        given[key] = value + 1.0
    for key in given:
        given[key] *= 2.0
    return given["a"] * given["b"]


def in_branches(v: cl.f64[:]) -> float:
    found = {"up": 0.0, "down": 0.0}
    for x in v:
        if x > 0.0:
            found["up"] += x * x
        else:
            found["down"] += x
    return found["up"] * 2.0 - found["down"]


def copies(v: cl.f64[:]) -> float:
    one = Ball(v[0])
    two = dataclasses.replace(one)
    two.height = 5.0 * v[1]
    three = copy.copy(two)
    three.speed = v[2]
    old = {"x": v[0]}
    new = old.copy()
    new["x"] = 2.0
    last = dict(new)
    last["x"] += v[3]
    return one.energy * two.height * three.speed + old["x"] * new["x"] * last["x"]


def given_to_functions(v: cl.f64[:]) -> float:
    def total(ball: Ball) -> float:
        return ball.height + ball.speed

    ball, found = Ball(v[0]), 0.0
    ball = Ball(v[1], v[2]) if v[0] > 9.0 else Ball(v[0])
    while ball.height > 1e-3:
        found += total(ball) * ball.energy
        ball.height *= 0.5
        if found > 9.0:
            break
    return found


def several(v: cl.f64[:]) -> float:
    ball = Ball(1, 2)
    ball.height = other = 3.0 * v[0]
    ball.speed, rest = v[1], ball.speed
    return ball.height * other * ball.speed * rest


CASES: list[Callable[..., Any]] = [
    stepped,
    in_arrays,
    in_a_named_tuple,
    entries,
    entries_by_key,
    in_branches,
    copies,
    given_to_functions,
    several,
]


@pytest.mark.parametrize("function", CASES)
def test_as_in_python(function: Callable[..., Any]) -> None:
    compiled = cl.jit(function)
    assert compiled(V) == pytest.approx(function(V.copy()), rel=1e-12)
    cl.check_grads(compiled, (V,))


def second_name(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    other = ball
    ball.speed = 1.0
    return other.speed


def method_of_itself(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    other = ball.itself()
    ball.speed = 1.0
    return other.speed


def element(v: cl.f64[:]) -> float:
    balls = [Ball(v[0]), Ball(v[1])]
    for ball in balls:
        ball.speed = 1.0
    return balls[0].speed


def appended(v: cl.f64[:]) -> float:
    balls = [Ball(v[0])]
    for x in v:
        ball = Ball(x)
        balls.append(ball)
        ball.speed = 1.0
    return balls[-1].speed


def in_a_tuple(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    pair = (ball, 1.0)
    ball.speed = 1.0
    return pair[0].speed


def captured(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    get = lambda: ball.speed  # noqa: E731
    ball.speed = 1.0
    return (get,)[0]()


def field_of_another(v: cl.f64[:]) -> float:
    inner = {"x": v[0]}
    outer = {"inner": inner}
    inner["x"] = 1.0
    return outer["inner"]["x"]


def inside_of_another(v: cl.f64[:]) -> float:
    outer = {"inner": {"x": v[0]}}
    outer["inner"]["x"] = 1.0
    return outer["inner"]["x"]


def parameter_first(v: cl.f64[:], ball: Ball) -> float:
    before = ball.speed
    ball.speed = 1.0
    ball = Ball(v[0])
    return before


class Pair(NamedTuple):
    ball: Ball
    scale: float


def taken_apart(v: cl.f64[:]) -> float:
    one = Ball(v[0])
    ball, _ = Pair(one, 1.0)
    ball.speed = 1.0
    return one.speed


def one_of_two(v: cl.f64[:]) -> float:
    one, two = Ball(v[0]), Ball(v[1])
    ball = one if v[0] > 0.0 else two
    ball.speed = 1.0
    return one.speed


@pytest.mark.parametrize(
    "function",
    [
        second_name,
        method_of_itself,
        element,
        appended,
        in_a_tuple,
        captured,
        field_of_another,
        inside_of_another,
        one_of_two,
        taken_apart,
    ],
)
def test_objects_with_other_names_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(cl.CompileError, match="CL0826"):
        cl.jit(function)(V)


def test_arguments_are_the_callers() -> None:
    with pytest.raises(cl.CompileError, match="CL0826"):
        cl.jit(parameter_first)(V, Ball(1.0))

    @cl.jit
    def moved(ball: Ball) -> Ball:
        ball = dataclasses.replace(ball)
        ball.height += ball.speed
        return ball

    before = Ball(1.0)
    assert moved(before) == Ball(3.0) and before == Ball(1.0)


def test_arrays_in_fields_have_their_own_names() -> None:
    def shared(v: cl.f64[:]) -> float:
        at = 1.0 * v
        path = Path(at, 2.0 * v)
        path.at[0] = 5.0
        return np.sum(at) + path.at[0]

    def of_the_caller(v: cl.f64[:]) -> float:
        path = Path(v, 2.0 * v)
        path.at *= 2.0
        return np.sum(path.at)

    with pytest.raises(cl.CompileError, match="CL0804"):
        cl.jit(shared)(V)
    with pytest.raises(cl.CompileError, match="CL0803"):
        cl.jit(of_the_caller)(V)


def test_dataclasses_that_may_change_are_records() -> None:
    @cl.jit
    def energy(ball) -> float:  # type: ignore[no-untyped-def]
        for _ in range(2):
            ball = Ball(2.0 * ball.height, ball.speed)
        return ball.height**2 * ball.speed

    ball = Ball(3.0, 2.0)
    assert energy(ball) == 288.0
    assert cl.grad(energy)(ball) == Ball(192.0, 144.0)
    ball.height = 1.0
    assert energy(ball) == 32.0


def test_dataclasses_with_more_than_data_are_objects() -> None:
    @dataclasses.dataclass
    class Named:
        name: str
        scale: float

    @dataclasses.dataclass
    class Derived:
        scale: float

        def __post_init__(self) -> None:
            self.double = 2.0 * self.scale

    @cl.jit
    def named(of, x: float) -> float:  # type: ignore[no-untyped-def]
        return of.scale * x if of.name == "a" else x

    @cl.jit
    def doubled(of) -> float:  # type: ignore[no-untyped-def]
        return of.double * of.scale

    assert named(Named("a", 2.0), 3.0) == 6.0 and named(Named("b", 2.0), 3.0) == 3.0
    assert doubled(Derived(3.0)) == 18.0
