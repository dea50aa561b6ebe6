"""Nests whose inner loops change places compute what they did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops import For, Local, LoopFunction, Store
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.parse import parse
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Program
from chadllvm.lower.interchange import interchange
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = interchange(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("interchange.cases"), run, golden)


def product(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """The squares of a product of matrices."""
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(b.shape[0]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


def batched(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """Products of several, and what only one of the loops needs besides."""
    c = np.zeros((3, a.shape[0], b.shape[1]))
    for s in range(3):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(b.shape[0]):
                    c[s, i, j] += (a[i, k] + s) * (b[k, j] - j)
    return np.sum(c * c)


def rows_times(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """Rows of which each has more to do than to be multiplied by a matrix."""
    total = 0.0
    for row in a:
        found = (row * row) @ b
        total += np.sum(found * found) + np.sum(row)
    return total


def sums(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """Columns that are added up by themselves, and what comes of it."""
    total, n = 0.0, b.shape[1]
    c = np.zeros(n)
    for i in range(a.shape[0]):
        for j in range(n):
            s, p = c[j], 1.0
            for k in range(b.shape[0]):
                s += a[i, k] * b[k, j]
                p += b[k, j] * b[k, j]
            c[j] = s - c[j]
            total += s * p - j
    return total + np.sum(c)


def in_turn(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """Each sum needs the ones before it."""
    c = np.zeros(b.shape[0] + b.shape[1])
    for j in range(b.shape[1]):
        s = 1.0
        for k in range(b.shape[0]):
            s += (c[k] % 3.0) * b[k, j]
        c[j] = s
    return np.sum(c) + np.sum(a)


def in_passing(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    """Sums and a product beside each other, and rows that are no longer than they."""
    total = 0.0
    for row in a:
        c = np.array(
            [sum(row[k] * b[k, j] for k in range(len(row))) for j in range(40)]
        )
        for j in range(b.shape[1]):
            for k in range(len(row)):
                c[j % 40] += row[k] * b[k, j]
        total += np.sum(c * c)
    return total


SHAPES = [(2, 3, 8), (3, 2, 7), (1, 1, 9), (4, 5, 33), (3, 9, 1), (2, 0, 9), (0, 3, 9)]
LONG = [(2, 15, 40), (2, 16, 40), (3, 33, 300), (1, 40, 256), (2, 20, 41)]


def _ways(function: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """The function, with its gradient, and both as they stand."""
    value = cl.jit(function)
    plain = cl.jit(function, optimize=0)
    wrt = (0, 1)
    return value, cl.value_and_grad(value, wrt), cl.value_and_grad(plain, wrt)


@pytest.mark.parametrize("function", [product, batched, rows_times])
def test_exact(function: Callable[..., Any]) -> None:
    """Sums of small integers are exact in any order."""
    value, gradient, plain = _ways(function)
    rng = np.random.default_rng(4)
    for rows, inner, columns in SHAPES:
        a = rng.integers(-3, 4, (rows, inner)).astype(float)
        b = rng.integers(-3, 4, (inner, columns)).astype(float)
        found, wanted = gradient(a, b), plain(a, b)
        assert found[0] == wanted[0] == value(a, b)
        for one, other in zip(found[1], wanted[1], strict=True):
            np.testing.assert_array_equal(one, other)
    assert "many" in str(gradient.show("loops"))
    assert ("many" in str(value.show("loops"))) == (function is not rows_times)


@pytest.mark.parametrize("function", [sums, in_turn, in_passing])
def test_sums(function: Callable[..., Any]) -> None:
    """By strips or not, they are what they are in Python, exactly."""
    value, gradient, plain = _ways(function)
    rng = np.random.default_rng(5)
    shapes = LONG if function is in_passing else (*SHAPES, *LONG)
    for rows, inner, columns in shapes:
        a = rng.integers(-1, 2, (rows, inner)).astype(float)
        b = rng.integers(-1, 2, (inner, columns)).astype(float)
        found, wanted = gradient(a, b), plain(a, b)
        assert found[0] == wanted[0] == value(a, b) == function(a, b)
        for one, other in zip(found[1], wanted[1], strict=True):
            np.testing.assert_array_equal(one, other)
    assert ("strip" in str(value.show("loops"))) == (function is not in_turn)


def test_an_index_behind_the_sums_is_checked() -> None:
    """What fails behind the sum of one step fails as it did."""

    @cl.jit
    def filled(a: cl.f64[:], b: cl.f64[:, :], c: cl.f64[:]) -> cl.f64[:]:
        d = np.zeros(len(c))
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(len(a)):
                s += a[k] * b[k, j]
            d[j] = s / c[j]
        return d

    a, b = np.ones(50), np.ones((50, 300))
    np.testing.assert_array_equal(filled(a, b, np.full(300, 2.0)), np.full(300, 25.0))
    with pytest.raises(IndexError, match="299 is out of range for size 299"):
        filled(a, b, np.ones(299))


RAGGED = """
def main(a: f64[:, :], b: f64[:, :], n: i64[:], m: i64) {
  l = dim[0](a)
  c = build(l) { i ->
    o = index(n, i)
    r = fold[add](o) { j ->
      s = fold[add](m) { k ->
        x = index(a, i, k)
        y = index(b, k, j)
        z = mul(x, y)
        yield z
      }
      t = mul(s, s)
      yield t
    }
    yield r
  }
  return c
}
"""


def test_loops_around_a_buffer_are_not_run_side_by_side() -> None:
    """They share it, also where the loop that has it is not the outermost one."""
    before = lower_function(parse(RAGGED).entry)
    after = interchange(before)
    strips = [s.root for s in everywhere(after.body) if isinstance(s, Local)]
    assert len(strips) == 1

    def commuting(function: LoopFunction) -> list[For]:
        found = (s for s in everywhere(function.body) if isinstance(s, For))
        return [loop for loop in found if loop.commutes]

    assert commuting(before)
    for loop in commuting(after):
        inside = [*everywhere(loop.body)]
        is_around = any(isinstance(stmt, For) for stmt in inside)
        stores = {stmt.root for stmt in inside if isinstance(stmt, Store)}
        assert not is_around or stores.isdisjoint(strips)
