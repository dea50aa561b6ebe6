"""Loops that are cut where they come to an element in a register."""

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
from chadllvm.lower.apart import apart
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised

# Around the least number of steps, and around the lanes of vectors.
LENGTHS = (0, 1, 7, 8, 9, 12, 17, 33)


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = apart(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("apart.cases"), run, golden)


def crossed(x: cl.f64[:, :], rows: cl.i64[:, :]) -> float:
    """Rows that are another row, or the same; what is read is in one of them."""
    a = x.copy()
    for r in range(len(rows)):
        i, k, p, q = rows[r, 0], rows[r, 1], rows[r, 2], rows[r, 3]
        for j in range(a.shape[1]):
            a[i, j] += a[p, q] * a[k, j]
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * (i + 2 * j)
    return total


def backwards(x: cl.f64[:, :], rows: cl.i64[:, :]) -> float:
    """From right to left, and two elements that are read."""
    a = x.copy()
    for r in range(len(rows)):
        i, k, p, q = rows[r, 0], rows[r, 1], rows[r, 2], rows[r, 3]
        for j in range(a.shape[1] - 1, -1, -1):
            a[i, j] = a[k, j] + a[p, q] * a[i, q]
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * (i + 2 * j)
    return total


def single(x: cl.f32[:, :], rows: cl.i64[:, :]) -> cl.f32:
    a = x.copy()
    for r in range(len(rows)):
        i, k, p, q = rows[r, 0], rows[r, 1], rows[r, 2], rows[r, 3]
        for j in range(a.shape[1]):
            a[i, j] = max(a[i, j], a[p, q] + a[k, j])
    total = np.float32(0.0)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
    return total


@pytest.mark.parametrize("function", [crossed, backwards, single])
def test_exact(function: Callable[..., Any]) -> None:
    """Small integers have no rounding, in whatever order they are added."""
    dtype = np.float32 if function is single else np.float64
    gradient = cl.value_and_grad(cl.jit(function))
    plain = cl.value_and_grad(cl.jit(function, optimize=0))
    rng = np.random.default_rng(5)
    for length in LENGTHS:
        x = rng.integers(-2, 3, (3, length)).astype(dtype)
        rows = rng.integers(0, [3, 3, 3, max(length, 1)], (6, 4))
        found, wanted = gradient(x, rows), plain(x, rows)
        assert found[0] == wanted[0]
        np.testing.assert_array_equal(found[1], wanted[1])
    assert "begin" in str(gradient.show("loops"))


def eliminated(x: cl.f64[:, :]) -> float:
    """The logarithm of a determinant."""
    a = x.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= a[i, k] * a[k, j]
    return sum(np.log(a[i, i]) for i in range(len(a)))


@pytest.mark.parametrize("size", [3, 9, 25])
def test_elimination(size: int) -> None:
    """The gradient is the inverse, transposed."""
    x = np.random.default_rng(size).normal(size=(size, size))
    x = x @ x.T + size * np.eye(size)
    value, gradient = cl.value_and_grad(cl.jit(eliminated))(x)
    assert value == pytest.approx(np.linalg.slogdet(x)[1], rel=1e-12)
    np.testing.assert_allclose(gradient, np.linalg.inv(x).T, atol=1e-12)


def test_nothing_is_read_where_there_is_no_step() -> None:
    @cl.jit
    def read(x: cl.f64[:], k: int, n: int) -> float:
        a = x.copy()
        for j in range(n):
            a[j] += a[k] * x[j]
        return np.sum(a)

    assert cl.grad(read)(np.ones(9), 99, 0).tolist() == [1.0] * 9
    with pytest.raises(IndexError, match="index 99 is out of range for size 9"):
        cl.grad(read)(np.ones(9), 99, 9)
