"""Branches between arrays and rows of arrays: what the gradient of a choice costs."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted


@cl.jit
def rows_of_several(m: cl.f64[:, :], p: cl.f64[:, :], k: int) -> float:
    """Of each row that is picked two elements are read; one of fifty is new."""
    whole = p[0] * 1.0
    s = 0.0
    for t in range(k):
        if t % 3 == 0:
            r = m[t % len(m)]
        elif t % 50 == 49:
            r = p[0] * s
        elif t % 7 == 1:
            r = whole
        else:
            q = t % len(p)
            r = p[q]
        s += r[0] * r[1]
    return s


def test_to_pick_a_row_costs_nothing_for_its_length() -> None:
    rng = np.random.default_rng(3)
    steps = []
    for size in (8, 512):
        args = [0.5 * rng.standard_normal((rows, size)) for rows in (7, 5)]
        value, both = (
            Counted(rows_of_several.py_func, wrt, cl.CompileOptions())
            for wrt in (None, (0, 1))
        )
        value_steps, steps_of_both = (
            run(*args, 600)[1] - run(*args, 300)[1] for run in (value, both)
        )
        steps.append(steps_of_both / value_steps)
    assert steps[1] < 1.3 * steps[0] < 6.0


@pytest.mark.parametrize("level", [0, 2])
def test_its_derivatives_are_right(level: int) -> None:
    rng = np.random.default_rng(4)
    m, p = 0.5 * rng.standard_normal((7, 3)), 0.5 * rng.standard_normal((5, 3))
    dm, dp = rng.standard_normal(m.shape), rng.standard_normal(p.shape)
    gradient = cl.grad(cl.jit(rows_of_several.py_func, optimize=level), argnums=(0, 1))
    for k in (0, 60):
        found = gradient(m, p, k)
        ends = [
            rows_of_several.py_func(m + e * dm, p + e * dp, k) for e in (1e-6, -1e-6)
        ]
        slope = (ends[0] - ends[1]) / 2e-6
        along = np.sum(found[0] * dm) + np.sum(found[1] * dp)
        assert along == pytest.approx(slope, rel=1e-6, abs=1e-8)
    ends = [gradient(m + e * dm, p + e * dp, 60) for e in (1e-6, -1e-6)]
    _, moved = cl.jvp(gradient, (m, p, 60), (dm, dp, 0))
    _, pull = cl.vjp(gradient, m, p, 60)
    for high, low, one, other in zip(*ends, moved, pull((dm, dp))[:2], strict=True):
        np.testing.assert_allclose(one, (high - low) / 2e-6, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-12)


def one_or_other(x: cl.f64[:], w: cl.f64[:], c: bool) -> float:
    y = x if c else w
    total = 0.0
    for i in range(len(y)):
        total += y[i] * y[i] * w[i]
    return total


@pytest.mark.parametrize("level", [0, 2])
def test_a_choice_beside_what_is_not_differentiated(level: int) -> None:
    """What is added to the other's cotangent is lost."""
    x, w = np.arange(1.0, 4.0), np.arange(5.0, 8.0)
    gradient = cl.grad(cl.jit(one_or_other, optimize=level), argnums=0)
    np.testing.assert_array_equal(gradient(x, w, True), 2.0 * x * w)
    np.testing.assert_array_equal(gradient(x, w, False), np.zeros(3))
