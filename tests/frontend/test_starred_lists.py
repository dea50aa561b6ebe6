"""`[*xs, x]`: the elements of lists, tuples and whatever a loop runs over in a list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl


def numbers(a: cl.f64[:]) -> float:
    xs = [a[0], 2.0]
    ys = [1.0, *xs, a[1], *xs]
    ys.append(3.0)
    return sum(ys) * len(ys)


def copied(a: cl.f64[:]) -> float:
    xs = [*a, 1.0]
    ys = [*xs]
    ys.append(a[2])
    return sum(y * k for k, y in enumerate(ys)) + len(xs)


def arrays(a: cl.f64[:]) -> float:
    xs = [a, a * 2.0]
    s = 0.0
    for i in range(4):
        xs = [*xs[1:], xs[0] * 0.5]
        s += xs[0][i] * xs[1][0]
    return s


def arrays_of_several_lengths(a: cl.f64[:]) -> float:
    xs = [a, a[1:]]
    return sum(np.sum(y * y) for y in [*xs, a[2:]])


def tuples_and_iterators(a: cl.f64[:]) -> float:
    t = (a[0], a[1])
    ys = [*t, *range(3), *(x * 2.0 for x in a), *[1.0, a[2]]]
    return sum(ys) + len(ys)


def in_order(a: cl.f64[:]) -> float:
    xs = [a[0], a[1], a[2]]
    ys = [xs.pop(), *xs]
    return ys[0] * 2.0 + ys[1] + len(ys) + len(xs)


def lists_of_lists(a: cl.f64[:]) -> float:
    xs = [[a[0], 1.0], [2.0, a[1]]]
    ys = [[0.0, 0.5], *xs]
    return ys[1][0] * ys[2][1] + len(ys)


def stars_in_stars(a: cl.f64[:]) -> float:
    t = (1.0, a[1])
    ys = [a[0], *[*a[1:], *t], *(2.0, *t)]
    x = np.array([*a, *a[:2], *[3.0, *ys]])
    z = np.asarray([*t, 2.0])
    return sum(y * k for k, y in enumerate(ys)) + np.sum(x * x) + np.sum(z)


@pytest.mark.parametrize(
    "function",
    [
        stars_in_stars,
        numbers,
        copied,
        arrays,
        arrays_of_several_lengths,
        tuples_and_iterators,
        in_order,
        lists_of_lists,
    ],
    ids=lambda f: f.__name__,
)
def test_values_and_slopes(function: Callable[..., float]) -> None:
    a, p = np.random.default_rng(1).standard_normal((2, 4))
    compiled = cl.jit(function)
    assert compiled(a) == pytest.approx(function(a), rel=1e-12)
    slope = (function(a + 1e-6 * p) - function(a - 1e-6 * p)) / 2e-6
    assert cl.grad(compiled)(a) @ p == pytest.approx(slope, rel=1e-7)
