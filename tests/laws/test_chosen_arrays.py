"""To pass an array on costs nothing for its length: values and derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl
from tests.laws.cost_sweep import (
    OPEN,
    PROGRAMS,
    arguments,
    measured,
    violations,
)
from tests.sweep import marks

Program = Callable[..., float]


def parameters(share: int) -> list[object]:
    """All programs; those outside of a part of them are for whole sweeps."""
    return [
        pytest.param(f, id=f.__name__, marks=marks(f.__name__, share, "arrays"))
        for f in PROGRAMS
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_work_and_memory_are_linear(program: Program) -> None:
    sizes = (200, 1600)
    wrong = list(violations(list(measured(program, sizes)), sizes))
    assert bool(wrong) == (program.__name__ in OPEN), wrong


@pytest.mark.parametrize("program", parameters(3))
def test_derivatives_without_optimisation(program: Program) -> None:
    check_derivatives(program, level=0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program: Program) -> None:
    check_derivatives(program, level=2)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("program", parameters(4))
def test_short_arrays(program: Program, size: int) -> None:
    """What Python computes, or the exception that Python raises."""
    compiled, args = cl.jit(program), arguments(size)
    gradient = cl.grad(compiled, argnums=(0, 1, 2))
    try:
        expected = program(*args)
    except (ArithmeticError, LookupError, ValueError) as error:
        for run in (compiled, gradient):
            with pytest.raises(type(error)):
                run(*args)
        return
    assert compiled(*args) == pytest.approx(expected, rel=1e-11, abs=1e-13)
    gradient(*args)


def check_derivatives(program: Program, level: int) -> None:
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
