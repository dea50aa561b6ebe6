"""Stencils and their reverses: at every place of a border, and where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.ranges import ranges


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = ranges(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("ranges.cases"), run, golden)


def plate(x: cl.f64[:, :], steps: int) -> float:
    """Heat on a plate whose border keeps what it has."""
    u = x.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.2 * (around - 4.0 * u[1:-1, 1:-1]) * u[2:, 2:]
    return np.sum(u**3)


def string(x: cl.f64[:, :], steps: int) -> float:
    """Rows that are moved by their neighbours, further away at one side."""
    total = 0.0
    for row in x:
        u = row.copy()
        for k in range(steps):
            u[1:-2] += (0.1 + k) * (u[3:] - u[:-3] * u[2:-1])
        total += np.sum(np.sin(u))
    return total


def asked(x: cl.f64[:, :], steps: int) -> float:
    """The border is asked for in every step, and again inside."""
    n, m = x.shape
    y = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i > 0 and i < n - 1 and j > 1 and j <= m - 2 and j < steps + 3:
                y[i, j] = x[i - 1, j - 2] * x[i + 1, j + 1]
            else:
                y[i, j] = x[i, j] ** 2
    return np.sum(y * x)


def skipped(x: cl.f64[:, :], steps: int) -> float:
    """The border is left out, said in three ways."""
    n, m = x.shape
    y = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0 or i == n - 1 or j == m - 1 or j == steps:
                continue
            y[i, j] = x[i - 1, j] * x[i + 1, j] - x[i, j - 1] * x[i, j]
    for i in range(n):
        for j in range(m):
            if i in (0, n - 1) or j in (0, m - 1):
                y[i, j] += 0.5 * x[i, j]
            else:
                y[i, j] += x[i - 1, j] * x[i, j + 1] + x[i - 1, j - 1] * x[i, j]
    for i in range(n):
        for j in range(m):
            if not (0 < i < n - 1 and 0 <= j <= m - 2):
                y[i, j] -= x[i, j]
                continue
            y[i, j] += x[i + 1, j] * y[i - 1, j] + x[i, j + 1]
    return np.sum(y * x)


def wide(x: cl.f64[:, :], steps: int) -> float:
    """More neighbours than there are parts of a loop for."""
    u = x.copy()
    for k in range(steps):
        far = u[:-4, 1:-1] * u[4:, 2:] - u[1:-3, :-2]
        u[2:-2, 1:-1] += (0.1 + k) * (far + u[3:-1, 1:-1] * u[2:-2, 1:-1])
    return np.sum(u**2)


def several(x: cl.f64[:, :], steps: int) -> float:
    """Sums side by side, over parts of records that are read again and again."""
    total, most = 0.0, 0.0
    for k in range(steps):
        a, b, c = 0.1, 0.0, -1.0
        for i in range(len(x)):
            if len(x[i]) > 1:
                w = x[i, 0] * x[i, 1] + k
                a += w
                b -= w * x[i, 0]
                if w > 0.0:
                    c += w * w
        total += math.sin(a) * b + c
        most = max(most, a)
    return total + most


def others(x: cl.f64[:, :], steps: int) -> float:
    """Pairs of different rows."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                total += sum(a * b for a, b in zip(x[i], x[j], strict=True)) / (1 + j)
    return total * steps


def one_row(x: cl.f64[:, :], steps: int) -> float:
    """One row is another one each time, and none at first and in the end."""
    u = x.copy()
    for k in range(steps + 1):
        for i in range(len(u)):
            if k == i + 1:
                for j in range(x.shape[1]):
                    u[i, j] = 0.5 * u[i, j] * x[0, j]
            else:
                for j in range(x.shape[1]):
                    u[i, j] += math.sin(u[i, j]) * (i - k)
    return np.sum(u * u)


PROGRAMS = [plate, string, asked, skipped, wide, several, others, one_row]
SHAPES = [(0, 0), (0, 4), (1, 1), (1, 5), (2, 3), (3, 3), (4, 2), (5, 7), (9, 12)]
PASSES = {"sums", "columns", "gather", "ranges", "finite", "scatter"}
PLAIN = replace(cl.CompileOptions(), disabled=frozenset(PASSES))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_edges(program: Callable[..., float]) -> None:
    fast = cl.jit(program)
    plain = cl.value_and_grad(cl.jit(program, options=PLAIN))
    gradient = cl.value_and_grad(fast)
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for steps in (0, 1, 3):
            x = rng.normal(size=shape)
            x[rng.uniform(size=shape) < 0.1] = 0.0
            value, slopes = gradient(x, steps)
            expected, exact = plain(x, steps)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert fast(x, steps) == pytest.approx(expected, rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(slopes, exact, rtol=1e-10, atol=1e-12)


@pytest.mark.sweep
def test_in_python() -> None:
    x = np.random.default_rng(1).normal(size=(6, 8))
    for program in PROGRAMS:
        expected = program(x, 2)
        assert cl.jit(program)(x, 2) == pytest.approx(expected, rel=1e-12)
        cl.check_grads(cl.jit(program), (x, 2))


def all_but_one(x: cl.f64[:, :], one: int) -> float:
    total = 0.0
    for i in range(len(x)):
        if i != one:
            for j in range(x.shape[1]):
                total += x[i, j] * (i + 2)
    return total


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_one_index_anywhere(rows: int) -> None:
    compiled, x = cl.jit(all_but_one), np.arange(1.0, 1.0 + 3 * rows).reshape(rows, 3)
    far = (1 << 62, (1 << 63) - 1, -(1 << 62), -(1 << 63))
    for one in (*range(-1, rows + 2), *far):
        assert compiled(x, one) == all_but_one(x, one)


def rooted(x: cl.f64[:], w: cl.f64[:]) -> float:
    """Slopes that are infinite, times cotangents that are zero."""
    a, b = 0.0, 0.0
    for i in range(len(x)):
        root = math.sqrt(x[i])
        a += w[i] * root
        b += w[i] * w[i] * root * x[i]
    y = np.sqrt(x)
    y[1:] += y[:-1] * w[1:]
    return a + b + np.sum(y * w)


def test_zeros_stay_zero() -> None:
    x, w = np.array([0.0, 4.0, 0.0, 9.0]), np.array([0.0, 1.0, 0.0, 0.0])
    results: list[Any] = []
    for options in (cl.CompileOptions(), PLAIN, cl.CompileOptions(optimize=0)):
        results.append(cl.grad(cl.jit(rooted, options=options), argnums=(0, 1))(x, w))
    for slopes in results[1:]:
        np.testing.assert_allclose(results[0][0], slopes[0], rtol=1e-12)
        np.testing.assert_allclose(results[0][1], slopes[1], rtol=1e-12)


@pytest.mark.sweep
def test_second_order() -> None:
    """Forward over reverse, and reverse over reverse."""
    x = np.random.default_rng(2).normal(size=(4, 6))
    v = np.cos(np.arange(24.0)).reshape(4, 6)
    for program in (plate, several):
        gradient = cl.grad(cl.jit(program))
        ends = [gradient(x + s * v, 2) for s in (1e-5, -1e-5)]
        expected = (ends[0] - ends[1]) / 2e-5
        found = cl.hvp(cl.jit(program))(x, 2, v)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        again = cl.grad(along(program), argnums=0)(x, v)
        np.testing.assert_allclose(again, expected, rtol=1e-5, atol=1e-6)


def along(program: Any) -> Any:
    inner = cl.jit(program)

    @cl.jit
    def slope(x: cl.f64[:, :], v: cl.f64[:, :]) -> float:
        return np.sum(cl.grad(inner)(x, 2) * v)

    return slope
