"""Cells of tables that are computed along diagonals are what they were row by row."""

from __future__ import annotations

import math
import re
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
from chadllvm.lower.diagonals import diagonals
from chadllvm.lower.lower import lower_function
from chadllvm.support.options import CompileOptions

pytestmark = pytest.mark.optimised

ALONG = CompileOptions()
ROWWISE = CompileOptions(disabled=frozenset(["diagonals"]))
SIZES = ((0, 40), (1, 40), (7, 40), (8, 31), (8, 32), (19, 33), (24, 45), (40, 5))


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = diagonals(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("diagonals.cases"), run, golden)


@cl.jit
def soft(a: float, b: float, c: float) -> float:
    return -math.log(math.exp(-a) + math.exp(-b) + math.exp(-c))


def warped(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """Three neighbours; the border is there before."""
    t = np.full((len(x) + 1, len(y) + 1), 50.0)
    t[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            t[i + 1, j + 1] = (x[i] - y[j]) ** 2 + soft(
                t[i, j + 1], t[i + 1, j], t[i, j]
            )
    return t


def above(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """Two rows up, and two to the right of there: less far than up is what counts."""
    t = np.ones((len(x) + 3, len(y) + 3))
    for i in range(len(x)):
        for j in range(len(y)):
            far = t[i, j + 2] + t[i + 1, j + 1] * x[i]
            t[i + 2, j + 1] = math.tanh(far - t[i + 2, j] * y[j]) + math.sin(far)
    return t


def beside(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """It needs the cell above to its right: its row is too early for a diagonal."""
    t = np.ones((len(x) + 3, len(y) + 3))
    for i in range(len(x)):
        for j in range(len(y)):
            far = t[i, j + 2] * x[i] + t[i + 1, j] * y[j]
            t[i + 1, j + 1] = math.tanh(far) + math.exp(-far * far) + math.sin(far)
    return t


def overwritten(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """Some of what it reads is what was there before the loops."""
    t = np.cos(np.arange((len(x) + 2) * (len(y) + 2)).reshape((len(x) + 2, len(y) + 2)))
    for i in range(len(x)):
        for j in range(len(y)):
            old = t[i + 2, j + 1] + t[i + 1, j + 2] * x[i]
            t[i + 1, j + 1] = math.exp(math.sin(old + t[i + 1, j]) - y[j])
    return t


def two(x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:, :]:
    """Two tables, whose rows have room for different numbers of cells."""
    a = np.zeros((len(x) + 1, len(y) + 1))
    b = np.zeros((len(x) + 1, len(y) + 4))
    for i in range(len(x)):
        for j in range(len(y)):
            gap = math.exp(-abs(x[i] - y[j])) + a[i, j + 1] * b[i + 1, j]
            a[i + 1, j + 1] = math.tanh(gap + a[i + 1, j])
            b[i + 1, j + 1] = math.sin(gap - b[i, j] + a[i + 1, j + 1])
    return a + b[:, : len(y) + 1]


def narrow(x: cl.f32[:], y: cl.f32[:]) -> cl.f32[:, :]:
    t = np.zeros((len(x) + 1, len(y) + 1), dtype=np.float32)
    for i in range(len(x)):
        for j in range(len(y)):
            gap = np.exp(-t[i, j + 1]) + np.tanh(t[i + 1, j] * x[i])
            t[i + 1, j + 1] = np.sin(gap + t[i, j] * y[j])
    return t


TAKEN = (warped, above, overwritten, two, narrow)


def arguments(function: Callable[..., Any], n: int, m: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([n, m])
    kind = np.float32 if function is narrow else np.float64
    return rng.normal(size=n).astype(kind), rng.normal(size=m).astype(kind)


def is_along(function: Any, *args: Any) -> bool:
    """Whether there are diagonals."""
    text = str(function.show("loops", *args))
    return bool(re.search(r"for k\d* in 7 .*\n +for l\d* in 0 .. 8:  # 8 lanes", text))


@pytest.mark.parametrize("function", [*TAKEN, beside])
def test_tables(function: Callable[..., Any]) -> None:
    compiled, plain = cl.jit(function), cl.jit(function, options=ROWWISE)
    assert is_along(compiled, *arguments(function, 8, 8)) == (function is not beside)
    assert not is_along(plain, *arguments(function, 8, 8))
    tolerance = 1e-4 if function is narrow else 1e-11
    for n, m in SIZES:
        args = arguments(function, n, m)
        found, wanted = compiled(*args), plain(*args)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(found, compiled(*args))
        if n * m < 400:
            py = function(*args)
            np.testing.assert_allclose(found, py, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("function", [warped, two])
def test_gradients(function: Callable[..., Any]) -> None:
    inner = cl.jit(function)

    def total(x: cl.f64[:], y: cl.f64[:]) -> float:
        return np.sum(np.sin(inner(x, y)))

    taken, plain = cl.jit(total), cl.jit(total, optimize=0)
    args = arguments(function, 17, 33)
    gradient = cl.value_and_grad(taken, argnums=(0, 1))
    assert is_along(gradient, *args)
    found, wanted = gradient(*args), cl.value_and_grad(plain, argnums=(0, 1))(*args)
    assert found[0] == pytest.approx(wanted[0], rel=1e-10)
    for a, b in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_a_nan_stays_where_it_was() -> None:
    x, y = arguments(above, 16, 40)
    x[11] = math.nan
    found, wanted = (cl.jit(above, options=o)(x, y) for o in (ALONG, ROWWISE))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    assert not np.isnan(found[:13]).any()
    assert np.isnan(found[13]).any()


def overlapping(t: cl.f64[:, :], x: cl.f64[:], m: int) -> cl.f64[:]:
    """Rows that reach into the next ones: asked at run time, and left as they are."""
    n = len(x)
    flat = np.zeros(n * 40 + 1000)
    row = t.shape[1]
    for i in range(n):
        for j in range(m):
            at = i * row + j
            flat[at + 1] = math.exp(-flat[at]) + math.tanh(0.1 * flat[at]) + x[i]
    return flat


def test_rows_that_overlap() -> None:
    x, compiled = np.linspace(-1.0, 1.0, 17), cl.jit(overlapping)
    assert is_along(compiled, np.zeros((1, 40)), x, 39)
    for row in (1, 20, 39, 40, 41):
        table = np.zeros((1, row))
        wanted = overlapping(table, x, 39)
        np.testing.assert_allclose(compiled(table, x, 39), wanted, rtol=1e-11)
