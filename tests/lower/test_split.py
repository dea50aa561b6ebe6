"""Splitting loops at clamps changes no result, wherever the clamps are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.split import split_loops


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = split_loops(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("split.cases"), run, golden)


@cl.jit
def clamped(a: cl.f64[:], low: int, high: int) -> float:
    """A sum whose terms are of different size, so that each of them shows."""
    total = 0.0
    for i in range(len(a)):
        left = min(max(max(i - 2, low), 0), len(a) - 1)
        right = max(min(min(high, i + 3), len(a) - 1), 0)
        total += a[left] * 3.0 + a[right] * a[i]
    return total


FAR = (-(2**63), -(2**62), -5, 0, 1, 4, 9, 2**62, 2**63 - 1)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 40])
def test_clamped(size: int) -> None:
    a = np.random.default_rng(0).normal(size=size)
    gradient = cl.value_and_grad(clamped, argnums=0)
    for low in FAR:
        for high in FAR:
            expected = clamped.py_func(a, low, high)
            value, slope = gradient(a, low, high)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert clamped(a, low, high) == pytest.approx(expected, rel=1e-12)
            step = 1e-6 * np.cos(np.arange(size))
            ends = [clamped.py_func(a + s * step, low, high) for s in (1, -1)]
            difference = (ends[0] - ends[1]) / 2
            assert slope @ step == pytest.approx(difference, rel=1e-6, abs=1e-12)


@cl.jit
def ring(a: cl.f64[:], b: cl.f64[:, :]) -> float:
    """Neighbours on a ring and on a torus, and what is no neighbour of a short one."""
    n, (rows, columns) = len(a), b.shape
    total = 0.0
    for i in range(n):
        total += a[(i + 1) % n] * a[i - 1] * 3.0 + a[(i - 1) % n] * a[(i + 2) % n]
    for i in range(rows):
        for j in range(columns):
            near = b[(i - 1) % rows, j] + b[i, (j + 1) % columns]
            total += near * b[(i + 1) % rows, (j - 1) % columns] * b[i, j]
    return total


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 33, 70])
def test_rings(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=size), rng.normal(size=(size // 3, size))
    quick = cl.value_and_grad(ring, argnums=(0, 1))
    plain = cl.value_and_grad(cl.jit(ring.py_func, optimize=0), argnums=(0, 1))
    (value, slopes), (expected, wanted) = quick(a, b), plain(a, b)
    assert value == pytest.approx(ring.py_func(a, b), rel=1e-12, abs=1e-12)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for slope, right in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-12)
