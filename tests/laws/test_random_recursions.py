"""Random recursions: right, within memory, and derivatives that cost what values do."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import chadllvm as cl
from tests.laws.checked import Program, check_derivatives
from tests.laws.cost_sweep import arguments, derivatives, is_flat, measured
from tests.laws.random_recursions import Writer, program
from tests.sweep import part

SIZES = (20, 80, 320)

# Calls are given rows of one of three arrays of arrays, of which some steps have more.
ROWS = """
def f(
    x: cl.f64[:], y: cl.f64[:], c: cl.f64[:], s: float, i: int, d: int
) -> float:
    if d <= 0:
        return x[0] + x[0]
    u = x.copy()
    u[0] = s * 0.3
    if x[0] > 0.2:
        return f(u, y, c, x[0], i, d - 2) + y[i % len(y)]
    v = f(u, u, c, x[-1] * y[0], i, d - 2)
    return v + f(np.sin(y), u, c, s, i + 1, d - 1)

def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x, y, s = a.copy(), b.copy(), 0.2
    for i in range(len(a)):
        s = f(x * 2.0, b, c, s, i, 2)
        if i % 3 == 1:
            x = x * 2.0
    return s + y[0]
"""


def random_program(seed: int) -> Program:
    return program(Writer(Random(seed)).text())


def check_sanitized(main: Program) -> None:
    """The gradient of a gradient is the same with a check of each access."""
    *_, slope = derivatives(main)
    found = []
    for sanitize in (True, False):
        options = cl.CompileOptions(sanitize=sanitize, cache=False)
        gradient = cl.grad(cl.jit(slope, options=options), argnums=(0, 1, 2))
        found.append(gradient(*arguments(6)))
    for checked, plain in zip(*found, strict=True):
        np.testing.assert_allclose(checked, plain, rtol=1e-9, atol=1e-10)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(400, 40)))
def test_derivatives(seed: int) -> None:
    check_derivatives(random_program(seed), level=2)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(100, 25)))
def test_derivatives_without_optimisation(seed: int) -> None:
    check_derivatives(random_program(seed), level=0)


@pytest.mark.parametrize("seed", range(part(400, 80)))
def test_second_derivatives_keep_within_memory(seed: int) -> None:
    check_sanitized(random_program(seed))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(400, 40)))
@pytest.mark.usefixtures("small_chunks")
def test_threads_make_no_difference(seed: int) -> None:
    *_, slope = derivatives(random_program(seed))
    function = cl.jit(slope, options=cl.CompileOptions(cache=False))
    found = []
    for threads in (1, 2, 2):
        cl.set_num_threads(threads)
        gradients = cl.grad(function, argnums=(0, 1, 2))(*arguments(9))
        found.append([gradient.tobytes() for gradient in gradients])
    assert found[0] == found[1] == found[2]


def test_rows_are_read_of_the_array_that_has_them() -> None:
    check_sanitized(program(ROWS))


@pytest.mark.parametrize("seed", range(part(400, 80)))
def test_derivatives_take_as_long_as_values(seed: int) -> None:
    value, *others = measured(random_program(seed), SIZES, True)
    assert [other.what for other in others if not is_flat(value, other)] == []
