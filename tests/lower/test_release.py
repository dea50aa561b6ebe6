"""What is needed at different times has the same memory; what a call takes is exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from bench.workloads import nbody
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.release import release


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = release(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("release.cases"), run, golden)


def peak(function: Callable[..., Any], *args: Any) -> int:
    """The most bytes that a call has at once."""
    function(*args)
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    function(*args)
    assert lib.chad_memory_used(context) == 0
    return int(lib.chad_memory_peak(context))


# What the regions of a call take besides their buffers, and small ones in them.
BESIDES = 8 << 10


@cl.jit(parallel=False)
def smoothed(x: cl.f64[:]) -> float:
    """Each array is needed for the next one only."""
    a = [x[i] * x[len(x) - 1 - i] for i in range(len(x))]
    b = [a[i] * a[len(x) - 1 - i] for i in range(len(x))]
    c = [b[i] * b[len(x) - 1 - i] for i in range(len(x))]
    d = [c[i] * c[len(x) - 1 - i] for i in range(len(x))]
    return sum(d)


@cl.jit(parallel=False)
def diffused(x: cl.f64[:], steps: int) -> float:
    """A state that is made anew in each step, and needs no tape."""
    u = x.copy()
    for _ in range(steps):
        u = np.array([0.5 * (u[i] + u[max(i - 1, 0)]) for i in range(len(u))])
    return np.sum(u * u)


@cl.jit(parallel=False)
def driven(x: cl.f64[:, :], y: cl.f64[:, :], rate: float, steps: int) -> float:
    """The same with a target; the gradient is looked through for NaN by the runtime."""
    u = x.copy()
    for _ in range(steps):
        u[1:-1, :] += rate * (u[:-2, :] + u[2:, :] - 2.0 * u[1:-1, :])
    return np.sum((u - y) ** 2)


@cl.jit(parallel=False)
def orbit(x: float, steps: int) -> float:
    """A chain of cheap operations, in a loop whose steps keep their state."""
    v = 0.0
    for _ in range(steps):
        a = x * x - 1.0
        b = a * x + v
        v = v - 0.01 * b * a
        x = x + 0.01 * v * b
    return x * v


@pytest.mark.parametrize("n", [3_000, 100_000])
def test_of_a_chain_of_arrays_there_are_two_at_a_time(n: int) -> None:
    assert peak(smoothed, np.ones(n)) <= 2 * 8 * n * 9 / 8 + BESIDES


@pytest.mark.parametrize("n", [3_000, 100_000])
def test_the_gradient_has_the_state_twice_and_itself(n: int) -> None:
    x = np.linspace(0.0, 1.0, n)
    assert peak(diffused, x, 5) <= 2 * 8 * n * 9 / 8 + BESIDES
    gradient = cl.value_and_grad(diffused)
    assert peak(gradient, x, 5) == peak(gradient, x, 25) <= 3 * 8 * n * 9 / 8 + BESIDES


def test_what_the_forward_loop_needed_is_there_for_the_reverse() -> None:
    x, y = np.linspace(0.0, 1.0, 40_000).reshape(200, 200), np.ones((200, 200))
    gradient = cl.value_and_grad(driven)
    assert peak(gradient, x, y, 0.2, 5) <= 3 * x.nbytes * 9 / 8 + BESIDES


def test_a_chain_keeps_its_state_alone() -> None:
    steps = 100_000
    assert peak(cl.value_and_grad(orbit), 0.5, steps) <= 2 * 8 * steps * 9 / 8 + BESIDES


def test_states_that_begin_as_arguments_and_cotangents_of_states_used_twice() -> None:
    """Places at each step; speeds, places and pulls twice each; copies for chunks."""
    arguments = nbody.problem(500, 20)
    gradient = cl.value_and_grad(cl.jit(parallel=False)(nbody.nbody.py_func), (0, 1, 2))
    assert peak(gradient, *arguments) <= (20 + 13) * arguments[0].nbytes
