"""Random recursions: right, within memory, and derivatives that cost what values do."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

import chadllvm as cl
from tests.laws.checked import Program, check_derivatives
from tests.laws.cost_sweep import arguments, derivatives, is_flat, measured
from tests.laws.random_recursions import Writer, program
from tests.sweep import part

SIZES, LARGER = (20, 80, 320), (100, 400, 1600)

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

# Calls in a loop return an array that the next steps do not read, but what is behind.
LAST = """
def f(
    x: cl.f64[:], y: cl.f64[:], c: cl.f64[:], s: float, i: int, d: int
) -> tuple[cl.f64[:], float]:
    if d <= 0:
        return x, np.sum(x)
    if (i + d) % 3 == 0:
        z, v = np.sin(y), s
        for k in range(2):
            z, v = f(x, x, c, v, i + k, d - 1)
        r, w = f(x, y * 2.0, c, np.sum(x), i, d - 2)
        return r, v * y[0] + z[0] * x[-1] * y[0]
    z, v = f(y * 2.0, y * 2.0, c, s, i, d - 1)
    r, w = f(y * 2.0, x * y, c, s, i, d - 2)
    return r, v

def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    z, w = f(a, b, c, 0.2, 0, 4)
    return w + z[0]
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


def steep(main: Program, sizes: Sequence[int]) -> set[str]:
    """The derivatives whose share of the value's cost grows with the sizes."""
    value, *others = measured(main, sizes, orders=True)
    return {other.what for other in others if not is_flat(value, other)}


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(400, 40)))
def test_derivatives(seed: int) -> None:
    check_derivatives(random_program(seed), level=2)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(100, 25)))
def test_derivatives_without_optimisation(seed: int) -> None:
    check_derivatives(random_program(seed), level=0)


@pytest.mark.sweep(share=3)
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


def test_the_last_of_arrays_that_steps_make_is_kept() -> None:
    check_sanitized(program(LAST))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(part(400, 80)))
def test_derivatives_take_as_long_as_values(seed: int) -> None:
    # Calls take other branches at other sizes, whose derivatives cost other factors.
    main = random_program(seed)
    found = steep(main, SIZES)
    assert not found or found.isdisjoint(steep(main, LARGER))
