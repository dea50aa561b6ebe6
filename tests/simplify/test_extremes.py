"""A loop that looks for an extremum finds the one that Python does, NaN or not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.interp import evaluate
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import alpha_equal, pretty

VALUES = (math.nan, 1.0, -2.0, -math.inf)


@cl.jit
def largest(x: cl.f64[:], start: float) -> float:
    best = start
    for v in x:
        best = max(best, 1.5 * v)
    return best


@cl.jit
def least(x: cl.f64[:], start: float) -> float:
    best = start
    for v in x:
        if 1.5 * v < best:
            best = 1.5 * v
    return best


@cl.jit
def of_all(x: cl.f64[:], start: float) -> float:
    return max(1.5 * v for v in x) + 0.0 * (start if start < 0.0 else 0.0)


@pytest.mark.parametrize("program", [largest, least, of_all])
def test_as_in_python(program: cl.Function[..., float]) -> None:
    gradient = cl.value_and_grad(program)
    for start in (-1.0, math.nan, math.inf, -math.inf):
        for values in itertools.product(VALUES, repeat=3):
            x = np.array(values)
            expected = program.py_func(x, start)
            np.testing.assert_equal(program(x, start), expected)
            value, slopes = gradient(x, start)
            np.testing.assert_equal(value, expected)
            np.testing.assert_equal(slopes, _slopes(program, x, start))


def _slopes(
    program: cl.Function[..., float], x: np.ndarray, start: float
) -> np.ndarray:
    """1.5 at the place that Python takes the extremum from."""
    best, winner = start, None
    if program is of_all:
        best, winner = 1.5 * x[0], 0
    for k, v in enumerate(1.5 * x):
        if v < best if program is least else v > best:
            best, winner = v, k
    slopes = np.zeros_like(x)
    if winner is not None:
        slopes[winner] = 1.5
    return slopes


def test_of_nothing() -> None:
    value, slopes = cl.value_and_grad(largest, argnums=(0, 1))(np.zeros(0), 2.5)
    assert value == 2.5
    assert slopes[0].shape == (0,)
    assert slopes[1] == 1.0


def test_a_quiet_fold() -> None:
    """What the pass writes is read again, and means the same to the interpreter."""
    text = """def f(n: i64, x: f64) {
      y, w = fold[argmax, quiet](n) { i ->
        c = ilt(i, 2)
        z = select(c, x, -3.0)
        yield z
      }
      return y, w
    }"""
    program = parse(text)
    assert alpha_equal(program, parse(pretty(program)))
    assert evaluate(program, 4, math.nan) == (-3.0, 2)
    assert evaluate(program, 2, math.nan) == (-math.inf, 0)
    assert evaluate(program, 3, 5.0) == (5.0, 0)
