"""A part of a list of arrays is a list of its own that refers to the same arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl

Function = Callable[..., float]


def part_grows(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a, b, a * b]
    ys = xs[1:]
    ys.append(a)
    return xs[0][0] + ys[2][1] + len(xs) * len(ys)


def whole_grows(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [np.sin(a), a * b, b + 1.0]
    ys = xs[1:]
    xs.append(a)
    ys.append(b)
    xs[0], xs[1] = xs[1], xs[0]
    return xs[0][0] + ys[1][1] + len(xs) * len(ys)


def part_turned_and_cut(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a * k for k in range(4)]
    ys = xs[::-1]
    ys.pop()
    ys[0] = b
    xs[2] = a + b
    return xs[0][1] + ys[0][1] + xs[2][2] * ys[1][0]


def part_becomes_the_whole(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a, b, a * b]
    for i in range(5):
        ys = xs[1:]
        if a[i] > 0.0:
            ys[0], ys[1] = ys[1], ys[0]
        ys.append(xs[0])
        xs = ys
    return xs[0][1] + xs[1][2] * xs[2][0]


def popped_and_put_in_front(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a, b, a * b]
    s = 0.0
    for i in range(4):
        last = xs.pop()
        s += last[i] * xs[0][0]
        xs = [last, *xs]
    return s


def emptied_and_joined(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a, b]
    s = 0.0
    for i in range(5):
        xs = [x for x in xs if x[i] > 0.0]
        xs = [*xs[1:], b]
        xs = [a, *xs[:1]]
        s += xs[0][i] * xs[-1][0] + len(xs)
    return s


def joined_of_two_that_may_be_empty(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs, ys = [a, b], [b]
    s = 0.0
    for i in range(6):
        zs = xs[i % 3 :] + ys[i % 2 :]
        for z in zs:
            s += z[0] * z[i % 5]
        s += len(zs)
    return s


def element_of_a_part_changes(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [np.sin(a), a * b, b + 1.0]
    ys = xs[1:]
    ys[0][1] = 5.0
    return ys[0][1] + ys[1][1]


ALLOWED = (
    part_grows,
    whole_grows,
    part_turned_and_cut,
    part_becomes_the_whole,
    popped_and_put_in_front,
    emptied_and_joined,
    joined_of_two_that_may_be_empty,
    element_of_a_part_changes,
)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("function", ALLOWED, ids=lambda f: f.__name__)
def test_values_and_slopes(function: Function, level: int) -> None:
    rng = np.random.default_rng(4)
    a, b, p, q = rng.standard_normal((4, 5))
    compiled = cl.jit(function, optimize=level)
    assert compiled(a, b) == pytest.approx(function(a, b), rel=1e-12)
    slopes = cl.grad(compiled, argnums=(0, 1))(a, b)
    h = 1e-6
    ends = (function(a + t * p, b + t * q) for t in (h, -h))
    difference = (next(ends) - next(ends)) / (2 * h)
    assert slopes[0] @ p + slopes[1] @ q == pytest.approx(difference, rel=1e-7)


def part_sees_the_whole(a: cl.f64[:]) -> float:
    xs = [np.sin(a), a * 2.0, a + 1.0]
    ys = xs[1:]
    xs[1][1] = 5.0
    return xs[1][1] + ys[0][1]


def whole_sees_a_part(a: cl.f64[:]) -> float:
    xs = [np.sin(a), a * 2.0, a + 1.0]
    ys = xs[1:]
    ys[0][1] = 5.0
    return xs[1][1] + ys[1][1]


def one_array_twice(a: cl.f64[:]) -> float:
    xs = [a * k for k in range(4)]
    ys = xs[1:] + xs[:2]
    ys[0][0] = 7.0
    return ys[0][0] + xs[1][0]


@pytest.mark.parametrize(
    "function",
    [part_sees_the_whole, whole_sees_a_part, one_array_twice],
    ids=lambda f: f.__name__,
)
def test_what_another_name_sees_is_refused(function: Function) -> None:
    with pytest.raises(cl.CompileError, match=r"CL080[34]"):
        cl.jit(function)(np.arange(3.0))
