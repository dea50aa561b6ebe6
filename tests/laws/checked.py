"""Programs of three arrays against plain Python and against differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl
from tests.laws.cost_sweep import arguments

Program = Callable[..., float]


def check_derivatives(program: Program, level: int) -> None:
    """Value, gradient, jvp and both second derivatives, at one place.

    Raises:
        AssertionError: where one is not what Python or differences give.
    """
    compiled = cl.jit(program, optimize=level)
    args, directions = arguments(12, 1), arguments(12, 2)
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
