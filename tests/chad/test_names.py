"""Cells of what nested branches choose, which no pass has made references of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl
from tests.chad.paid import found

AS_WRITTEN = cl.CompileOptions(disabled=frozenset({"references", "separate"}))


def nested(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    rows = np.outer(b[:3], a)
    s = 0.0
    for i in range(len(a)):
        first, second, third, k = c[i] > 0.0, b[i] > 0.0, a[i] > 0.0, i % 3
        t = a if first else (rows[k] if second else (b if third else rows[0]))
        s += t[i] * t[i] * t[0]
    return s


def ragged(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [x[k:] for k, x in enumerate([a, b, c])]
    s = 0.0
    for i in range(len(a) - 2):
        first, second, k = c[i] > 0.0, b[i] > 0.0, i % 3
        t = a if first else (items[k] if second else b)
        s += t[i] * t[i] * t[0]
    return s


def test_they_are_parts_of_other_cells() -> None:
    assert found(nested, *AS_WRITTEN.disabled) == []


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("options", [AS_WRITTEN, cl.CompileOptions()])
@pytest.mark.parametrize("program", [nested, ragged])
def test_second_derivatives(
    program: Callable[..., float], options: cl.CompileOptions
) -> None:
    compiled = cl.jit(program, options=options)
    random = np.random.default_rng(3)
    args, along = random.standard_normal((3, 7)), random.standard_normal((3, 7))
    gradient = cl.grad(compiled, argnums=(0, 1, 2))
    value = compiled(*args)
    assert value == pytest.approx(compiled.py_func(*args), rel=1e-12)
    ends = [gradient(*(args + e * along)) for e in (1e-6, -1e-6)]
    expected = (np.array(ends[0]) - np.array(ends[1])) / 2e-6
    _, pull = cl.vjp(gradient, *args)
    np.testing.assert_allclose(pull(tuple(along)), expected, rtol=1e-5, atol=1e-6)
    _, moved = cl.jvp(gradient, tuple(args), tuple(along))
    np.testing.assert_allclose(moved, expected, rtol=1e-5, atol=1e-6)
    values = [compiled(*(args + e * along)) for e in (1e-6, -1e-6)]
    slope = np.sum(np.array(gradient(*args)) * along)
    assert slope == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6)
