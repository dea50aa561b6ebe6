"""Functions and methods that assign fields of what compiled functions give them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.5, 1.25, 2.0, 0.75])


@dataclasses.dataclass
class Ball:
    height: float
    speed: float = 2.0

    def fall(self, time: float) -> None:
        self.height -= self.speed * time

    def kick(self, speed: float) -> float:
        self.speed += speed
        return self.speed

    def fall_twice(self, time: float) -> float:
        self.fall(time)
        return self.kick(1.0) + self.height

    def fall_often(self, count: int) -> float:
        self.fall(0.5)
        if count > 0:
            return self.fall_often(count - 1) + self.height
        return self.speed

    def itself(self) -> Ball:
        return self

    def hit(self, other: Ball) -> None:
        self.speed, other.speed = other.speed, self.speed


@dataclasses.dataclass
class Heavy(Ball):
    mass: float = 3.0

    def fall(self, time: float) -> None:
        super().fall(time)
        self.mass *= 0.5


@dataclasses.dataclass
class Path:
    at: cl.f64[:]
    time: float = 0.0

    def move(self, by: float) -> None:
        self.at[0] += by
        self.time += 1.0

    def double(self) -> None:
        self.at = 2.0 * self.at


class Fixed(NamedTuple):
    at: cl.f64[:]

    def move(self, by: float) -> None:
        self.at[0] += by


def fallen(ball: Ball, time: float) -> Ball:
    ball.height -= ball.speed * time
    return ball


def risen(ball: Ball) -> Ball:
    return Ball(ball.height + 1.0, ball.speed)


def swap(ball: Ball) -> None:
    ball.height, ball.speed = ball.speed, ball.height


def again(ball: Ball, count: int) -> None:
    if count > 0:
        ball.height *= 1.5
        again(ball, count - 1)


def first_above(ball: Ball, count: int) -> float:
    for _ in range(count):
        ball.height *= 1.5
        if ball.height > 2.0:
            return ball.height
    ball.speed = 9.0
    return ball.speed


def grown(ball: Ball) -> float:
    fallen(ball, 1.0)
    speed = ball.kick(0.25)
    ball.height += speed
    return ball.height * ball.speed


def bump(weights: dict[str, Any], by: float) -> None:
    weights["k"] += by
    weights["w"][0] = weights["k"]


def chosen(ball: Ball, other: Ball) -> Ball:
    return other


def methods(v: cl.f64[:]) -> float:
    ball, total = Ball(v[0]), 0.0
    for x in v:
        ball.fall(0.1)
        total += ball.kick(x) * 2.0
    return total * ball.height


def methods_of_bases(v: cl.f64[:]) -> float:
    ball = Heavy(v[0], v[1])
    ball.fall(v[2])
    return ball.fall_twice(0.5) * ball.mass


def recursive_method(v: cl.f64[:]) -> float:
    ball = Ball(v[0], v[1])
    return ball.fall_often(3) * ball.height


def functions(v: cl.f64[:]) -> float:
    ball = Ball(v[0], v[1])
    swap(ball)
    again(ball, 3)
    return ball.height - 3.0 * ball.speed


def same_name(v: cl.f64[:]) -> float:
    ball = Ball(v[0], v[1])
    ball = fallen(ball, v[2])
    ball = risen(ball)
    ball.height += 1.0
    ball = fallen(ball, 0.5)
    return ball.height


def two_objects(v: cl.f64[:]) -> float:
    one, two = Ball(v[0], v[1]), Ball(v[2], v[3])
    one.hit(two)
    return one.fall_twice(1.0) * two.fall_twice(2.0)


def left_early(v: cl.f64[:]) -> float:
    one, two = Ball(v[0], v[1]), Ball(v[2], v[3])
    a = first_above(one, 2)
    b = first_above(one, 1)
    return a + 2.0 * b + first_above(two, 3) * one.speed * two.height


def in_branches(v: cl.f64[:]) -> float:
    ball = Ball(v[0], v[1])
    for x in v:
        if x > 1.0:
            ball.fall(x)
        else:
            ball.kick(x)
        if ball.height < -9.0:
            break
    return ball.height * ball.speed


def arrays_in_fields(v: cl.f64[:]) -> float:
    path = Path(v * 1.0)
    for x in v:
        path.move(x)
        path.double()
    fixed = Fixed(path.at * 0.5)
    fixed.move(v[0])
    return np.sum(path.at**2) * path.time + fixed.at[0]


def entries(v: cl.f64[:]) -> float:
    weights = {"k": v[0], "w": 2.0 * v}
    for x in v:
        bump(weights, x)
    return weights["k"] * np.sum(weights["w"])


def made_for_calls(v: cl.f64[:]) -> float:
    total = sum([grown(Ball(x)) for x in v])
    return total * grown(dataclasses.replace(Ball(1.0), speed=v[1]))


def in_expressions(v: cl.f64[:]) -> float:
    one, two = Ball(v[0], v[1]), Ball(v[2], v[3])
    if grown(one) > -99.0 and one.height < 99.0:
        one.height = 1.0 + grown(one) * one.speed
    both = [grown(one), grown(two) * 1.0, one.height]
    held = {"one": grown(one), "two": grown(two)}
    total = both[0] + 2.0 * both[1] + 3.0 * both[2] + held["one"] * held["two"]
    return total if grown(two) < 99.0 else 0.0


def local_functions(v: cl.f64[:]) -> float:
    def kicked(ball: Ball, by: float) -> float:
        ball.speed *= by
        return ball.speed

    def thrown(x: float) -> float:
        ball = Ball(x)
        kicked(ball, x)
        return kicked(ball, 2.0) + ball.speed

    return thrown(v[0]) * thrown(v[1])


def gradients_inside(v: cl.f64[:]) -> float:
    slope = cl.grad(lambda x: grown(Ball(x, v[1])) ** 2)
    return slope(v[0])


CASES: list[Callable[..., Any]] = [
    methods,
    methods_of_bases,
    recursive_method,
    functions,
    same_name,
    two_objects,
    left_early,
    in_branches,
    arrays_in_fields,
    entries,
    made_for_calls,
    in_expressions,
    local_functions,
]


@pytest.mark.parametrize("options", [{}, {"optimize": 0}], ids=["default", "permanent"])
@pytest.mark.parametrize("function", CASES)
def test_as_in_python(function: Callable[..., Any], options: dict[str, Any]) -> None:
    compiled = cl.jit(function, **options)
    assert compiled(V) == pytest.approx(function(V.copy()), rel=1e-12)
    cl.check_grads(compiled, (V,))


def test_gradients_inside() -> None:
    height, speed = V[:2]
    risen = speed + 0.25
    value = (height - speed + risen) * risen
    assert cl.jit(gradients_inside)(V) == pytest.approx(2.0 * value * risen)


def given_twice(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    ball.hit(ball)
    return ball.speed


def second_name(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    other = ball
    other.fall(1.0)
    return ball.height


def name_of_what_is_given(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    other = fallen(ball, 1.0)
    other.height = 0.0
    return ball.height


def name_of_an_argument(v: cl.f64[:]) -> float:
    ball, other = Ball(v[0]), Ball(v[1])
    ball = chosen(ball, other)
    ball.height = 0.0
    return other.height


def second_name_inside(v: cl.f64[:]) -> float:
    def changed(ball: Ball) -> float:
        other = ball
        other.height = 1.0
        return ball.height

    return changed(Ball(v[0]))


def in_a_list(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    balls = [ball]
    ball.fall(1.0)
    return balls[0].height


def of_a_list(v: cl.f64[:]) -> float:
    balls = [Ball(v[0])]
    for ball in balls:
        ball.fall(1.0)
    return balls[0].height


def by_itself(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    other = ball.itself()
    ball.fall(1.0)
    return other.height


def captured(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    height = lambda: ball.height  # noqa: E731
    ball.fall(1.0)
    return height()


def differentiated(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    return cl.grad(grown)(ball).height + ball.height


SHARED = [
    given_twice,
    second_name,
    name_of_what_is_given,
    name_of_an_argument,
    second_name_inside,
    in_a_list,
    of_a_list,
    by_itself,
    captured,
    differentiated,
]


@pytest.mark.parametrize("function", SHARED)
def test_other_names_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(cl.CompileError, match="CL0826"):
        cl.jit(function)(V)


def read_before(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    return ball.height * grown(ball)


def added_to_what_was(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    ball.height += grown(ball)
    return ball.height


def perhaps(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    return v[1] > 0.0 and grown(ball) > 0.0 and ball.height > 0.0


def many_times(v: cl.f64[:]) -> float:
    ball = Ball(v[0])
    return sum([grown(ball) for _ in v])


@cl.jit(updates="a")
def raised(a: cl.f64[:]) -> float:
    a[0] += 5.0
    return a[0]


def added_to_an_element(v: cl.f64[:]) -> float:
    a = v * 1.0
    a[0] += raised(a)
    return a[0]


@pytest.mark.parametrize(
    "function",
    [read_before, added_to_what_was, perhaps, many_times, added_to_an_element],
)
def test_what_is_read_before_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(cl.CompileError, match="CL0822"):
        cl.jit(function)(V)


def test_arguments_of_python_are_not_changed() -> None:
    with pytest.raises(cl.CompileError, match="CL0826"):
        cl.jit(grown)(Ball(1.0))


def arrays_after_calls(v: cl.f64[:]) -> float:
    a = v * 1.0
    b = 2.0 * raised(a) + a[0]
    c = np.sum(a + raised(a))
    return b + c + raised(a) * raised(a) + np.sum(a)


def test_updates_of_arrays_in_expressions() -> None:
    compiled = cl.jit(arrays_after_calls)
    first, total = V[0], np.sum(V)
    right = 3.0 * (first + 5.0) + total + 10.0 + 4.0 * (first + 10.0)
    right += (first + 15.0) * (first + 20.0) + total + 20.0
    assert compiled(V) == pytest.approx(right)
    cl.check_grads(compiled, (V,))


def taken_in_expressions(v: cl.f64[:]) -> float:
    xs = [x for x in v]
    xs[0] = xs.pop()
    xs.append(xs.pop() + xs[0])
    total = 2.0 * xs.pop() + xs.pop() * len(xs)
    while xs:
        if xs.pop() > 0.0:
            total *= 1.5
    parts = [v, v[1:], v[2:]]
    return total * np.sum(parts.pop()) * parts.pop()[0]


def test_pop_in_expressions() -> None:
    compiled = cl.jit(taken_in_expressions)
    assert compiled(V) == pytest.approx(taken_in_expressions(V), rel=1e-12)
    cl.check_grads(compiled, (V,))


def aliased_array(v: cl.f64[:]) -> float:
    a = v * 1.0
    path = Path(a)
    path.move(1.0)
    return a[0]


def test_arrays_of_objects_have_one_name() -> None:
    with pytest.raises(cl.CompileError, match="CL0804"):
        cl.jit(aliased_array)(V)


@cl.jit
def moved_often(v: cl.f64[:]) -> float:
    path, total = Path(v * 1.0), 0.0
    for k in range(len(v)):
        path.move(v[k])
        total += path.at[k] * path.time
    return total


def test_objects_are_not_copied() -> None:
    works = {}
    for n in (250, 1000):
        found = moved_often.report(np.linspace(0.0, 1.0, n)).scaling
        works[n] = [each.work for each in found]
    assert works[1000][0] < 4.2 * works[250][0]
    assert works[1000][1] < 6.0 * works[1000][0]
