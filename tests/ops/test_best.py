"""The best of elements that are kept besides: one loop finds it and writes them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import chadllvm as cl


@cl.jit
def largest(x: cl.f64[:]) -> tuple[float, cl.f64[:]]:
    """What is largest, and how far all are from it."""
    y = x * 0.5
    top = np.max(y)
    return top, y - top


@cl.jit
def least(x: cl.f32[:]) -> tuple[cl.f32, cl.f32[:]]:
    """The same for what is least, in single precision."""
    y = x * 0.5
    top = np.min(y)
    return top, y - top


@pytest.mark.parametrize("n", [1, 3, 37])
@pytest.mark.parametrize("program", [largest, least])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 9.0])
def test_the_best_beside_all(n: int, program: cl.Compiled, odd: float) -> None:
    kind = np.float64 if program is largest else np.float32
    for place in {0, n // 2, n - 1}:
        x = np.linspace(-2.0, 3.0, n).astype(kind)
        x[place] = odd
        with np.errstate(invalid="ignore"):
            top, rest = program.py_func(x)
        found, kept = program(x)
        np.testing.assert_array_equal(found, top)
        np.testing.assert_array_equal(kept, rest)


def test_nothing_but_the_worst() -> None:
    with np.errstate(invalid="ignore"):
        top, rest = largest(np.full(5, -math.inf))
    assert top == -math.inf
    assert np.isnan(rest).all()


def longest(x: cl.f64[:], y: cl.f64[:]) -> float:
    """An element takes a loop, in one branch of two."""
    return max(sum(v * w for w in y) if v > 0.0 else v for v in x)


def test_elements_that_take_long_are_computed_once() -> None:
    x, y = np.linspace(0.1, 1.0, 40), np.ones(50)
    value, both = cl.jit(longest).report(x, y).scaling
    assert value.work > 2 * x.size * y.size
    assert both.work < 1.5 * value.work
