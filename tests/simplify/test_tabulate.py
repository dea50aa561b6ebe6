"""Loops that fill arrays give what they gave when they wrote to them, for all sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

pytestmark = pytest.mark.optimised


def prefix_sums(x: cl.f64[:]) -> cl.f64[:]:
    z, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
        z[i] = total
    return z


def returned_table(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """A table of no rows has columns, as in NumPy."""
    z = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            z[i, j] = x[i] * math.sin(y[j])
    return z


def inner_table(x: cl.f64[:], y: cl.f64[:]) -> float:
    z = np.zeros((len(x), len(y), 2))
    for i in range(len(x)):
        for j in range(len(y)):
            for k in range(2):
                z[i, j, k] = x[i] * y[j] + k
    total = 0.0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            total += z[i, j, 0] * z[i, j, 1]
    return total + z.shape[1]


def where_positive(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:]:
    z = y.copy()
    for i in range(len(y)):
        if x[i] > 0.0:
            z[i] = x[i] * x[i]
    return z


def written_twice(x: cl.f64[:]) -> cl.f64[:]:
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i]
        z[i] = z[i] * x[i]
    return z


def inner_points(x: cl.f64[:]) -> cl.f64[:]:
    z = np.ones(len(x))
    for i in range(1, len(x) - 1):
        z[i] = x[i - 1] * x[i + 1]
    return z


def turned(x: cl.f64[:]) -> cl.f64[:]:
    z, n = np.zeros(len(x)), len(x)
    for i in range(n):
        z[n - 1 - i] = x[i] ** 2
    return z


def by_border(x: cl.f64[:]) -> cl.f64[:]:
    z, n = np.zeros(len(x)), len(x)
    for i in range(n):
        if 0 < i < n - 1:
            z[i] = x[i - 1] - 2.0 * x[i] + x[i + 1]
        elif i == 0 or i == n - 1:
            z[i] = x[i] * x[i]
    return z


def looks_back(x: cl.f64[:]) -> cl.f64[:]:
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * x[i] + (z[i - 1] if i > 0 else 0.0)
    return z


def on_a_ring(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:]:
    """Two arrays take turns; each is filled."""
    a, b, n = x.copy(), np.zeros(len(x)), len(x)
    for _ in range(len(y)):
        for i in range(n):
            b[i] = a[i] * a[(i + 1) % n] * 0.5
        a, b = b, a
    return a


ONE = [prefix_sums, written_twice, inner_points, turned, by_border, looks_back]
TWO = [returned_table, inner_table, on_a_ring]
SIZES = 0, 1, 2, 3, 17, 70


def arguments(function: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(3)
    for n in SIZES:
        if function in ONE:
            yield (rng.normal(size=n),)
        elif function is where_positive:
            yield rng.normal(size=n), rng.normal(size=n)
        else:
            yield from ((rng.normal(size=n), rng.normal(size=m)) for m in (0, 1, 5))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", [*ONE, *TWO, where_positive])
def test_values_and_derivatives(function: Callable[..., Any]) -> None:
    fast, plain = cl.jit(function), cl.jit(function, optimize=0)
    rng = np.random.default_rng(4)
    for args in arguments(function):
        value, pull_back = cl.vjp(fast, *args)
        wanted = function(*args)
        assert np.shape(value) == np.shape(wanted)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        ct = rng.normal(size=np.shape(wanted)) if np.ndim(wanted) else 1.0
        right = cl.vjp(plain, *args)[1](ct)
        for slope, expected in zip(pull_back(ct), right, strict=True):
            np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-12)


def table_made(function: Callable[..., Any], *args: Any) -> bool:
    compiled = cl.jit(function)
    compiled(*args)
    return "update(" not in str(compiled.show("simplified"))


def test_what_is_made() -> None:
    x = np.ones(4)
    assert all(map(table_made, [prefix_sums, by_border], [x] * 2))
    assert table_made(inner_table, x, x)
    assert table_made(on_a_ring, x, x)
    assert not table_made(looks_back, x)
    assert not table_made(returned_table, x, x)
