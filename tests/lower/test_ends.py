"""Loops whose ends overlap do what they did, for rows of any length and beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops import (
    PTR,
    RESULT,
    AddTo,
    Alloc,
    ArrayResult,
    For,
    Let,
    Load,
    LoopFunction,
    Reg,
    Return,
    Stmt,
    Store,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Lit, Program
from chadllvm.ir.types import F64, I64, Array
from chadllvm.lower.count import count_operations
from chadllvm.lower.ends import ends
from chadllvm.lower.lower import lower_function
from tests.loop_programs import function, native, vector

pytestmark = pytest.mark.optimised

LENGTHS = (*range(20), 30, 31, 32, 33, 62, 63, 64, 65, 100, 2500)


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = ends(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("ends.cases"), run, golden)


def overlapping(function: Any) -> list[str]:
    """The loops of a compiled program whose ends overlap."""
    lines = function.show("loops").splitlines()
    return [line for line in lines if "ends overlap" in line]


def smoothed(x: cl.f64[:], w: float) -> cl.f64[:]:
    u = np.array([x * (1.0 + 0.1 * row) for row in range(5)])
    for _ in range(2):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += w * (around - 4.0 * u[1:-1, 1:-1])
    return u[2]


def in_place(x: cl.f64[:], w: float) -> cl.f64[:]:
    y = 1.0 + x * x
    for i in range(len(y)):
        y[i] = np.exp(-w * y[i]) + y[i] / (2.0 + x[i])
    return y


def chosen(x: cl.f64[:], w: float) -> cl.f64[:]:
    return np.where(x > w, np.exp(w * x), x * x)


def of_steps(x: cl.f64[:], w: float) -> cl.f64[:]:
    u = x.copy()
    for step in range(3):
        v = np.tanh(w * u) + step
        u = u * v
    return u


PROGRAMS = [smoothed, in_place, chosen, of_steps]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_length(program: Any) -> None:
    compiled, plain = cl.jit(program), cl.jit(program, optimize=0)
    numbers, weights = np.random.default_rng(3).normal(size=(2, 2600))
    for length in LENGTHS:
        for start in (0, 1, 5):
            args = numbers[start : start + length], 0.3
            got, back = cl.vjp(compiled, *args)
            wanted, plain_back = cl.vjp(plain, *args)
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
            slopes = back(weights[:length])
            plain_slopes = plain_back(weights[:length])
            for one, other in zip(slopes, plain_slopes, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert overlapping(compiled)


def softened(x: cl.f32[:], w: cl.f32) -> cl.f32[:]:
    return np.exp(x * w) + x


def test_single_precision_has_more_lanes() -> None:
    compiled, plain = cl.jit(softened), cl.jit(softened, optimize=0)
    numbers = np.random.default_rng(4).normal(size=2600).astype(np.float32)
    for length in LENGTHS:
        args = numbers[3 : 3 + length], np.float32(0.3)
        np.testing.assert_allclose(compiled(*args), plain(*args), rtol=1e-5, atol=1e-6)
    lines = overlapping(compiled)
    assert lines and all("16 lanes" in line for line in lines)


def steep(x: cl.f64[:]) -> cl.boolean[:]:
    return np.exp(x) > 1.5


def test_bytes() -> None:
    compiled = cl.jit(steep)
    numbers = np.random.default_rng(4).normal(size=2600)
    for length in LENGTHS:
        x = numbers[3 : 3 + length]
        np.testing.assert_array_equal(compiled(x), np.exp(x) > 1.5)
    assert overlapping(compiled)


def added(x: cl.f64[:], rows: int) -> cl.f64[:]:
    total = np.zeros(len(x))
    for row in range(rows):
        for i in range(len(x)):
            total[i] += np.exp(0.0 * x[i]) * row
    return total


def test_steps_are_taken_once_where_they_add() -> None:
    compiled = cl.jit(added)
    for length in LENGTHS:
        x = np.arange(1.0, length + 1.0)
        np.testing.assert_array_equal(compiled(x, 5), np.full(length, 10.0))
    assert overlapping(compiled)


def test_neighbours_stay_as_they_were() -> None:
    """What is around the places of a loop is not touched."""

    @cl.jit
    def middle(x: cl.f64[:], low: int, high: int) -> cl.f64[:]:
        y = x.copy()
        y[low:high] = np.sqrt(x[low:high]) + np.cbrt(x[low:high])
        return y

    x = np.arange(1.0, 301.0)
    for low in range(0, 20):
        for high in (low, low + 7, low + 8, low + 9, low + 33, 290):
            wanted = x.copy()
            wanted[low:high] = np.sqrt(x[low:high]) + np.cbrt(x[low:high])
            np.testing.assert_allclose(middle(x, low, high), wanted, rtol=1e-14)
    assert overlapping(middle)


def last_of(x: cl.f64[:]) -> float:
    return np.exp(x)[-1]


def test_steps_are_counted_once() -> None:
    derivative = cl.value_and_grad(cl.jit(last_of))
    derivative(np.ones(9))
    (version,) = derivative._versions.values()
    entry = version.compilation.stages["simplified"].entry
    changed = ends(lower_function(entry))
    assert any(isinstance(s, For) and s.ends for s in everywhere(changed.body))
    counted = count_operations(changed)
    assert not any(isinstance(s, For) and s.ends for s in everywhere(counted.body))


INDEX, V, W, OUT = Reg("i", I64), Reg("v", F64), Reg("w", F64), Reg("out", PTR)


def of_exponentials(*more: Stmt, commutes: bool) -> LoopFunction:
    """A loop that writes the exponential of each element, and does more behind it."""
    a = vector("a")
    (n,) = a.dims
    body = (Load(V, a.ptr, INDEX, 0), Let(W, "exp", (V,)), Store(OUT, INDEX, W, 1))
    loop = For(INDEX, Lit(0), n, (*body, *more), commutes=commutes)
    stmts = (Alloc(OUT, RESULT, n, F64, 1, zero=True), loop, Return((OUT, n)))
    return function("f", [a], [ArrayResult(F64, 1)], stmts)


@pytest.mark.parametrize("commutes", [False, True])
def test_a_step_that_comes_back_is_taken_once(commutes: bool) -> None:
    """It would add again to what it has added to."""
    once = of_exponentials(commutes=commutes)
    again = of_exponentials(AddTo(OUT, INDEX, V, 1), commutes=commutes)
    assert is_overlapping(once)
    assert not is_overlapping(again)
    x = np.linspace(-1.0, 1.0, 11)
    compiled = native(ends(again), [Array(F64, 1)], Array(F64, 1))
    np.testing.assert_allclose(compiled(x), np.exp(x) + x, atol=1e-14)


def is_overlapping(function: LoopFunction) -> bool:
    return any(
        isinstance(stmt, For) and stmt.ends for stmt in everywhere(ends(function).body)
    )
