"""Python's `sum` of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

X = np.array([0.3, -1.7, 2.9])
M = np.random.default_rng(1).normal(size=(4, 3))


def neighbours(m: cl.f64[:, :]) -> float:
    steps = (-1, 0, 1)
    around = sum(
        np.roll(np.roll(m, i, 0), j, 1)
        for i in steps
        for j in steps
        if (i, j) != (0, 0)
    )
    return np.sum(around * around * m)


def of_rows(m: cl.f64[:, :]) -> float:
    total = sum(m) + sum(m[i] * i for i in range(3)) + sum(m, np.ones(3))
    return np.sum(total**2) + sum(sum(row) for row in m) + sum(sum(m * m))


def written_out(m: cl.f64[:, :]) -> float:
    total = sum([m[0], m[1], 2.0 * m[2]]) + sum((m[0], m[1])) - sum([m[0]], m[3])
    return np.sum(total**2)


def of_a_name(m: cl.f64[:, :]) -> float:
    parts = [m, m * m]
    return np.sum(sum(parts) * sum(p * p for p in parts) + sum(list(parts)))


def filtered(m: cl.f64[:, :]) -> float:
    return np.sum(sum((row for row in m if row[0] > 0.0), m[0]) ** 2)


def outer_products(m: cl.f64[:, :]) -> float:
    return np.sum(sum(np.outer(a, b) for a, b in zip(m, 2.0 * m, strict=True)))


@pytest.mark.parametrize(
    "function",
    [neighbours, of_rows, written_out, of_a_name, filtered, outer_products],
)
def test_values_and_gradients(function: Callable[..., float]) -> None:
    assert np.isclose(cl.jit(function)(M), function(M), rtol=1e-13)
    cl.check_grads(cl.jit(function), (M,))


def lists(xs: list[cl.f64[:]]) -> Any:
    return sum(xs), sum(w * x for w, x in zip((1.0, 2.0), xs, strict=True))


def test_lists_of_arrays() -> None:
    xs = [X, X * X]
    for found, right in zip(cl.jit(lists)(xs), lists(xs), strict=True):
        assert found.tolist() == right.tolist()
    with pytest.raises(ValueError, match=r"test_array_sums\.py"):
        cl.jit(lists)([X, X[1:]])


def of_truths(x: cl.f64[:]) -> Any:
    return sum([x > 0.0, x > 1.0]), sum(x > 0.0)


def test_truths_are_counted() -> None:
    counts, number = cl.jit(of_truths)(X)
    assert counts.tolist() == [1, 0, 2] and number == 2


def scaled(x: cl.f64[:], n: int) -> Any:
    return sum(x / (k + 1) for k in range(n))


def test_in_the_order_of_python() -> None:
    strict = cl.jit(scaled, options=cl.CompileOptions(strict=True))
    assert strict(X, 20).tolist() == scaled(X, 20).tolist()


def test_of_none() -> None:
    with pytest.raises(ValueError, match=r"(?s)sum of no arrays.*test_array_sums\.py"):
        cl.jit(scaled)(X, 0)


def of_lists(x: cl.f64[:]) -> Any:
    return sum([[x[0], 1.0], [2.0, 3.0]], [])  # noqa: RUF017


def exact(m: cl.f64[:, :]) -> float:
    return math.fsum(m)


@pytest.mark.parametrize(("function", "given"), [(of_lists, X), (exact, M)])
def test_what_is_not_added(function: Callable[..., Any], given: Any) -> None:
    with pytest.raises(cl.CompileError, match="CL0413"):
        cl.jit(function)(given)


def shown(x: cl.f64[:], k: int) -> cl.f64[:]:
    print("step", k)
    return x * k


def printed(x: cl.f64[:]) -> float:
    return np.sum(sum(shown(x, k) for k in range(2)))


def test_steps_are_taken_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert cl.jit(printed)(X) == np.sum(X)
    assert capfd.readouterr().out == "step 0\nstep 1\n"
