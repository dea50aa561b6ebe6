"""To pass an array on costs nothing for its length: values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import chadllvm as cl
from tests.laws import kept_arrays
from tests.laws.checked import check_derivatives
from tests.laws.cost_sweep import (
    PROGRAMS,
    arguments,
    broken,
    first_order,
    is_flat,
    measured,
)
from tests.sweep import marks

Program = Callable[..., float]


# Of these a step in many does most of the work, or a tangent is zero in all steps.
SELDOM: tuple[Program, ...] = (
    kept_arrays.large_once_then_old,
    kept_arrays.made_then_flip,
    kept_arrays.closure_made,
    kept_arrays.option_made,
    kept_arrays.made_or_sliced,
    kept_arrays.chosen_maximum,
)


def parameters(share: int, always: Sequence[Program] = ()) -> list[object]:
    """All programs; those outside of a part of them are for whole sweeps."""
    return [
        pytest.param(
            f,
            id=f.__name__,
            marks=[] if f in always else marks(f.__name__, share, "arrays"),
        )
        for f in PROGRAMS
    ]


@pytest.mark.sweep(share=8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_work_and_memory_are_linear(program: Program) -> None:
    sizes = (200, 1600)
    assert broken(program, list(measured(program, sizes)), sizes) == []


@pytest.mark.sweep
@pytest.mark.parametrize("program", parameters(12, SELDOM))
def test_second_derivatives_are_linear(program: Program) -> None:
    sizes = (200, 3200)
    found = list(measured(program, sizes, orders=True))
    assert broken(program, found, sizes) == []


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("program", parameters(12))
def test_gradients_without_optimisation_are_a_constant_times_the_value(
    program: Program,
) -> None:
    value, gradient = first_order(program, (50, 200, 800), level=0)
    assert is_flat(value, gradient)


@pytest.mark.sweep
@pytest.mark.parametrize("program", parameters(6))
def test_derivatives_without_optimisation(program: Program) -> None:
    check_derivatives(program, level=0)


@pytest.mark.sweep
@pytest.mark.parametrize("program", parameters(3))
def test_derivatives(program: Program) -> None:
    check_derivatives(program, level=2)


@pytest.mark.sweep
@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("program", parameters(8))
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


def short_or_long(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    w = a[1:]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.5:
            w = b[2:]
        elif c[i] < -0.5:
            w = b[:2]
        elif c[i] > 0.2:
            w = a[1:]
        s += w[i % len(w)]
    return s


def test_elements_are_read_of_the_chosen_array_alone() -> None:
    """An index into one array may be far outside of the others."""
    a, _, c = arguments(4000)
    options = cl.CompileOptions(sanitize=True)
    checked = cl.jit(short_or_long, options=options)
    for b in (a[:4], a[:3]):
        assert checked(a, b, c) == pytest.approx(short_or_long(a, b, c), rel=1e-12)
        slopes = cl.grad(checked, argnums=(0, 1))(a, b, c)
        assert sum(map(np.sum, slopes)) == pytest.approx(len(a))
