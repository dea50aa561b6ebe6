"""The best of all steps, and what belongs to it, in chunks: as in program order.

The sums in the elements make them long, so that they are computed once, in one loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from containers import leaves

import chadllvm as cl
from chadllvm.backend.runtime import runtime

pytestmark = [pytest.mark.optimised, pytest.mark.usefixtures("small_grain")]

# The grain is no option, so nothing may come from the cache.
THREADED = cl.CompileOptions(cache=False)
SERIAL = replace(THREADED, parallel=False)


@cl.jit
def cost(v: float, w: cl.f64[:]) -> float:
    return sum(v * u for u in w)


def largest(x: cl.f64[:], w: cl.f64[:]) -> float:
    return max(cost(v, w) for v in x)


def placed(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, int, bool, float]:
    """Four states that change together."""
    best, at, above, second = -math.inf, -1, False, 0.0
    for i in range(len(x)):
        c = cost(x[i], w)
        if c > best:
            best, at, above, second = c, i, c > 1.0, x[i] * x[i]
    return best, at, above, second


def least(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, int]:
    """The comparison is of what is kept."""
    best, at = math.inf, -1
    for i in range(len(x)):
        c = cost(x[i], w)
        keeps = not c < best
        best = best if keeps else c
        at = at if keeps else i
    return best, at


def of_integers(x: cl.f64[:], w: cl.f64[:]) -> tuple[int, int]:
    best, at = 1 << 40, -1
    for i in range(len(x)):
        k = 0
        if abs(x[i]) < 1e6:
            for u in w:
                k += int(10.0 * x[i] * u)
        if k < best:
            best, at = k, i
    return best, at


def first_nan(x: cl.f64[:], w: cl.f64[:]) -> tuple[int, float]:
    costs = np.array([cost(v, w) for v in x])
    return int(np.argmin(costs)), np.max(costs)


def nested(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, int, int]:
    """Changed in a loop inside."""
    best, row, column = -math.inf, -1, -1
    for i in range(len(x)):
        for j in range(len(w)):
            c = math.atan(x[i]) * w[j]
            if c > best:
                best, row, column = c, i, j
    return best, row, column


BESTS: list[Callable[..., Any]] = [
    largest,
    placed,
    least,
    of_integers,
    first_nan,
    nested,
]

W = np.array([0.3, -0.1, 0.7, 0.2])
ORDINARY = np.sin(7.0 * np.arange(61.0))


def inputs() -> dict[str, np.ndarray]:
    few = np.round(ORDINARY)  # The best is there again and again.
    some, early = ORDINARY.copy(), ORDINARY.copy()
    some[[20, 33, 47]] = math.nan
    early[[0, 1, 30]] = math.nan
    return {
        "ordinary": ORDINARY,
        "equal": few,
        "rising": np.arange(61.0),
        "infinite": np.where(few < 0.0, -math.inf, few),
        "all the worst": np.full(61, -math.inf),
        "a NaN": some,
        "NaN first": early,
        "all NaN": np.full(61, math.nan),
        "one": ORDINARY[:1],
    }


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", BESTS)
@pytest.mark.parametrize("name", inputs())
def test_the_first_of_the_best(function: Callable[..., Any], name: str) -> None:
    x = inputs()[name]
    threaded = cl.jit(options=THREADED)(function)
    with np.errstate(invalid="ignore"):
        wanted = [*leaves(cl.jit(options=SERIAL)(function)(x, W))]
        plain = [*leaves(function(x, W))]
    np.testing.assert_allclose(wanted, plain, rtol=1e-13)
    for threads in (1, 2, 5):
        runtime().lib.chad_set_threads(threads)
        found = [*leaves(threaded(x, W))]
        np.testing.assert_array_equal(found, wanted)
    assert "spread chunk" in threaded.show("loops")


def last(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, int]:
    """Of equal ones the last is kept: a chunk that has none has what is worst."""
    best, at = -math.inf, -1
    for i in range(len(x)):
        c = cost(x[i], w)
        if c >= best:
            best, at = c, i
    return best, at


def two_best(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, float]:
    best, second = -math.inf, -math.inf
    for v in x:
        c = cost(v, w)
        if c > best:
            best, second = c, best
    return best, second


def on_the_way(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, float]:
    best, total = -math.inf, 0.0
    for v in x:
        c = cost(v, w)
        if c > best:
            best = c
        total += best
    return best, total


def of_another(x: cl.f64[:], w: cl.f64[:]) -> tuple[float, int]:
    """What is compared is not what is kept."""
    best, at = -math.inf, -1
    for i in range(len(x)):
        c = cost(x[i], w)
        if 2.0 * c > best:
            best, at = c, i
    return best, at


@pytest.mark.parametrize("function", [last, two_best, on_the_way, of_another])
def test_what_needs_the_steps_before(function: Callable[..., Any]) -> None:
    """The loop over all runs in order; those inside of it may not."""
    compiled = cl.jit(options=THREADED)(function)
    for x in inputs().values():
        np.testing.assert_allclose(compiled(x, W), function(x, W), rtol=1e-13)
    assert "i in 0 .. x_n0:" in compiled.show("loops")
