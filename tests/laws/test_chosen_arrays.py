"""To choose an array costs nothing for its length: values and derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted
from tests.laws.chosen_arrays import PROGRAMS

Program = Callable[..., float]


def arguments(n: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(n) for _ in range(3)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_work_is_linear(program: Program) -> None:
    value, both = (
        Counted(program, wrt, cl.CompileOptions()) for wrt in (None, (0, 1, 2))
    )
    sizes = (200, 1600)
    steps = [[run(*arguments(n))[1] for n in sizes] for run in (value, both)]
    growth = [large / small for small, large in steps]
    assert max(growth) < 1.15 * sizes[1] / sizes[0]
    assert steps[1][1] < 6 * steps[0][1]


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program: Program, level: int) -> None:
    compiled = cl.jit(program, optimize=level)
    args, directions = arguments(9, 1), arguments(9, 2)
    assert compiled(*args) == pytest.approx(program(*args), rel=1e-12)
    gradient = cl.grad(compiled, argnums=(0, 1, 2))
    ends = [
        [x + e * d for x, d in zip(args, directions, strict=True)]
        for e in (1e-6, -1e-6)
    ]
    slope = (program(*ends[0]) - program(*ends[1])) / 2e-6
    pairs = zip(gradient(*args), directions, strict=True)
    along = sum(float(np.sum(g * d)) for g, d in pairs)
    assert along == pytest.approx(slope, rel=1e-6, abs=1e-7)
    _, tangent = cl.jvp(compiled, tuple(args), tuple(directions))
    assert tangent == pytest.approx(along, rel=1e-10, abs=1e-12)
    _, moved = cl.jvp(gradient, tuple(args), tuple(directions))
    _, pull = cl.vjp(gradient, *args)
    highs, lows = (gradient(*end) for end in ends)
    for high, low, one, other in zip(
        highs, lows, moved, pull(tuple(directions)), strict=True
    ):
        np.testing.assert_allclose(one, (high - low) / 2e-6, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)
