"""Buffers that hold the sums of lanes hold what one lane after the other adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

pytestmark = pytest.mark.optimised

# Sums of small integers, and their halves, are exact in any order.
SIZES = (0, 1, 7, 8, 16, 21, 48, 200)

Matrix = cl.f64[:, :]


def linear(x: Matrix, w: Matrix) -> cl.f64[:]:
    """What each row has of its own is only added to what all have."""
    out = np.zeros(w.shape[1])
    for i in range(len(x)):
        own = np.zeros(w.shape[1])
        for row in range(w.shape[0]):
            t = x[i, row]
            own[0] += t
            own[1] += w[row, 0]
            for k in range(w.shape[1]):
                own[k] += -t * w[row, k]
        for k in range(w.shape[1]):
            out[k] += own[k] * w[0, k] / 2.0 - own[0]
    return out


def squared(x: Matrix, w: Matrix) -> cl.f64[:]:
    out = np.zeros(w.shape[1])
    for i in range(len(x)):
        own = np.zeros(w.shape[1])
        for row in range(w.shape[0]):
            for k in range(w.shape[1]):
                own[k] += x[i, row] * w[row, k]
        for k in range(w.shape[1]):
            out[k] += own[k] * own[k]
    return out


def scaled(x: Matrix, w: Matrix) -> cl.f64[:]:
    out = np.zeros(w.shape[1])
    for i in range(len(x)):
        own = np.zeros(w.shape[1])
        for row in range(w.shape[0]):
            for k in range(w.shape[1]):
                own[k] += x[i, row] * w[row, k]
        for k in range(w.shape[1]):
            out[k] += own[k] * x[i, 0]
    return out


def shifted(x: Matrix, w: Matrix) -> cl.f64[:]:
    """A number is not added once for each lane, if it is for all of them."""
    out = np.zeros(w.shape[1])
    for i in range(len(x)):
        own = np.zeros(w.shape[1])
        for row in range(w.shape[0]):
            for k in range(w.shape[1]):
                own[k] += x[i, row] * w[row, k]
        for k in range(w.shape[1]):
            out[k] += own[k] + w[0, k]
    return out


def arguments(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    return rng.integers(-3, 4, (n, 4)) * 1.0, rng.integers(-3, 4, (4, 6)) * 1.0


@pytest.mark.parametrize("function", [linear, squared, scaled, shifted])
def test_values(function: Callable[..., Any]) -> None:
    compiled = cl.jit(function)
    assert "# polls, 16 lanes" in compiled.show("loops", *arguments(8))
    for n in SIZES:
        np.testing.assert_array_equal(compiled(*arguments(n)), function(*arguments(n)))


def test_one_buffer_for_all_lanes() -> None:
    """Only the totals need no room for each lane."""
    rooms = [
        cl.jit(function).show("loops", *arguments(8)).count("room = ")
        for function in (linear, squared, scaled, shifted)
    ]
    assert rooms == [0, 1, 1, 1]


def whitened(x: Matrix, mean: cl.f64[:], lower: Matrix) -> float:
    """The squares of a triangular matrix times differences."""
    total = 0.0
    for i in range(len(x)):
        centred = x[i] - mean
        for row in range(len(mean)):
            value = centred[row]
            for k in range(row):
                value += lower[row, k] * centred[k]
            total += value * value
    return total


def test_cotangents() -> None:
    """For the mean sums are enough, for each point its own is needed."""
    gradients = [
        cl.grad(cl.jit(whitened), argnums=by) for by in ((1, 2), (0, 1), (0, 1, 2))
    ]
    for n in SIZES:
        x, w = arguments(n)
        mean, lower = w[:, 0].copy(), np.tril(w[:, 1:5], -1)
        slopes = 2.0 * (x - mean) @ (np.eye(4) + lower).T
        x_ct = slopes @ (np.eye(4) + lower)
        mean_ct = -x_ct.sum(axis=0)
        lower_ct = np.tril(slopes.T @ (x - mean), -1)
        wanted = ((mean_ct, lower_ct), (x_ct, mean_ct), (x_ct, mean_ct, lower_ct))
        for gradient, parts in zip(gradients, wanted, strict=True):
            found = gradient(x, mean, lower)
            for a, b in zip(found, parts, strict=True):
                np.testing.assert_array_equal(a, b)
