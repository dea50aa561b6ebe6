"""Large arrays are cleared and copied in pieces: the same values, whatever the size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.fills import PIECE, fills
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised

THREADED = cl.CompileOptions(cache=False)


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = fills(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("fills.cases"), run, golden)


@pytest.fixture
def any_threads() -> Iterator[None]:
    yield
    runtime().lib.chad_set_threads(0)


def counts(k: cl.i64[:], n: int) -> tuple[cl.f64[:], cl.f32[:], cl.boolean[:]]:
    """What is filled with zeros, of elements of every size."""
    many = np.zeros(n)
    short = np.zeros(n, dtype=np.float32)
    there = np.zeros(n, dtype=bool)
    for i in k:
        many[i] += 1.0
        short[i] = 2.0
        there[i] = True
    return many, short, there


@cl.jit
def moved(x: cl.f64[:], k: cl.i64[:], steps: int) -> cl.f64[:]:
    """Copies and zeros in each of the steps."""
    y = x.copy()
    for _ in range(steps):
        z = np.zeros(len(x))
        for i in k:
            z[i] += y[i] * y[i - 1]
        y = y.copy()
        for i in k:
            y[i] = 0.5 * z[i] - y[i]
    return y


def ends(x: cl.f64[:], k: cl.i64[:]) -> float:
    y = moved(x, k, 3)
    return y[0] * y[-1] + sum(y[i] ** 2 for i in k)


def in_python(x: np.ndarray, k: np.ndarray) -> float:
    y = moved.py_func(x, k, 3)
    return float(y[0] * y[-1] + sum(y[i] ** 2 for i in k))


# Small, and just below and above what is filled in pieces, for each width of elements.
SIZES = (1, 17, *[2 * PIECE // width + d for width in (8, 4, 1) for d in (-1, 9)])


@pytest.mark.usefixtures("any_threads")
def test_values_and_gradients() -> None:
    both = THREADED, replace(THREADED, parallel=False)
    zeros, same = (cl.jit(counts, options=options) for options in both)
    value, plain = (cl.jit(ends, options=options) for options in both)
    slopes = [cl.value_and_grad(f) for f in (value, plain)]
    for size in SIZES:
        rng = np.random.default_rng(size)
        k, x = rng.integers(size, size=5), rng.normal(size=size)
        expected, (number, slope) = same(k, size), slopes[1](x, k)
        assert number == pytest.approx(in_python(x, k), rel=1e-12)
        for threads in (1, 2, 3):
            runtime().lib.chad_set_threads(threads)
            for found, right in zip(zeros(k, size), expected, strict=True):
                assert np.array_equal(found, right)
            assert value(x, k) == number
            assert slopes[0](x, k)[0] == number
            assert np.array_equal(slopes[0](x, k)[1], slope)
    assert [float(part.sum()) for part in expected] == [5.0, 2.0 * len({*k}), len({*k})]
    cl.check_grads(value, (x[:9], k % 9), modes="rev")


def test_large_arrays_are_filled_in_pieces() -> None:
    def cleared(**more: Any) -> list[str]:
        function: Any = cl.jit(counts, options=replace(THREADED, **more))
        function(np.array([1]), 5)
        return re.findall("zeros.*# in pieces", function.show("loops"))

    assert len(cleared()) == 2
    assert not cleared(parallel=False)
    assert not cleared(disabled=frozenset({"fills"}))
