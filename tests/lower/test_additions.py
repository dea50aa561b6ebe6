"""Loops that add to several places, one after the other, add what they did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.additions import additions
from chadllvm.lower.lower import lower_function
from chadllvm.lower.striped import FEW, STRIP

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = additions(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("additions.cases"), run, golden)


def variation(x: cl.f64[:, :]) -> float:
    """How much neighbours differ."""
    total = 0.0
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            down, right = x[i + 1, j] - x[i, j], x[i, j + 1] - x[i, j]
            total += (down * down + right) ** 2
    return total


def single(x: cl.f32[:, :]) -> cl.f32:
    total = np.float32(0.0)
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            down, right = x[i + 1, j] - x[i, j], x[i, j + 1] - x[i, j]
            total += (down * down + right) ** 2
    return total


def backwards(x: cl.f64[:, :]) -> float:
    """From right to left, and three places in each step."""
    total = 0.0
    for i in range(len(x)):
        n = x.shape[1]
        for j in range(n - 4):
            k = n - 1 - j
            total += x[i, k] * x[i, k - 1] + x[i, k - 3] ** 2 * x[i, k - 1]
    return total


@pytest.mark.parametrize("function", [variation, single, backwards])
def test_exact(function: Callable[..., Any]) -> None:
    """Sums of small integers are exact in any order."""
    dtype = np.float32 if function is single else np.float64
    gradient = cl.value_and_grad(cl.jit(function))
    plain = cl.value_and_grad(cl.jit(function, optimize=0))
    for columns in (1, FEW + 1, FEW + 4, STRIP + 1, 2 * STRIP + 77):
        rng = np.random.default_rng(7)
        x = rng.integers(-3, 4, (5, columns)).astype(dtype)
        found, wanted = gradient(x), plain(x)
        assert found[0] == wanted[0]
        np.testing.assert_array_equal(found[1], wanted[1])
    assert "strip[" in str(gradient.show("loops"))


def lagged(x: cl.f64[:], width: int, lag: int) -> float:
    """Windows that are run in lanes, in which the additions stay."""
    total = 0.0
    for i in range(len(x) - width - lag + 1):
        inner = 0.0
        for j in range(width):
            inner += np.exp(x[i + j] * x[i + j + lag] - x[i + j + 1])
        total += inner * inner
    return total


def test_lanes() -> None:
    x = 0.1 * np.random.default_rng(8).normal(size=120)
    compiled = cl.value_and_grad(cl.jit(lagged))
    plain = cl.value_and_grad(cl.jit(lagged, optimize=0))
    for width, lag in ((3, 2), (40, 2), (40, 40), (50, 60)):
        value, slopes = compiled(x, width, lag)
        expected, wanted = plain(x, width, lag)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(slopes, wanted, rtol=1e-9, atol=1e-12)
