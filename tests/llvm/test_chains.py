"""Of two products that are added the one that is known last is in the multiply-add."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.llvm.chains import rounded


@cl.jit
def last(x: cl.f64[:], v: float, b: float) -> float:
    for i in range(len(x)):
        v = x[i] * b + v * 0.5
    return v


@cl.jit
def first(x: cl.f64[:], v: float, b: float) -> float:
    for i in range(len(x)):
        v = v * 0.5 - x[i] * b
    return v


@cl.jit
def branches(x: cl.f64[:], v: float, b: float) -> float:
    w = v
    for i in range(len(x)):
        a = w * b + 1.0
        if x[i] < 0.0:
            a = a * b
        v, w = v * x[i] + a * b, v - w
    return v


@cl.jit
def alike(x: cl.f64[:], v: float, b: float) -> float:
    w = v
    for i in range(len(x)):
        v, w = v * b + w * x[i], v - w
    return v


@cl.jit
def twice(x: cl.f64[:], v: float, b: float) -> float:
    for i in range(len(x)):
        a = x[i] * b
        v = a + v * 0.5
        v = v * a
    return v


@cl.jit
def without_chain(x: cl.f64[:], v: float, b: float) -> float:
    return sum(x[i] * b + v * v * x[i] for i in range(len(x)))


@pytest.mark.parametrize(
    ("function", "expected"),
    [(last, 1), (first, 1), (branches, 1), (alike, 0), (twice, 0), (without_chain, 0)],
)
def test_which_products_are_rounded(function: cl.Function, expected: int) -> None:
    compilation = function._version_for((np.ones(3), 2.0, 0.5)).compilation
    assert len(rounded(compilation.lowered)) == expected
    text = str(function.show("llvm", np.ones(3), 2.0, 0.5))
    assert "fmul double" in text or not expected
    arguments = np.linspace(-1.0, 1.0, 7), 0.7, 0.3
    np.testing.assert_allclose(
        function(*arguments), function.py_func(*arguments), rtol=1e-14
    )


def test_it_is_the_one_that_waits() -> None:
    for function in (last, first):
        text = str(function.show("llvm", np.ones(3), 2.0, 0.5))
        kept = [line for line in text.splitlines() if "fmul contract double" in line]
        assert kept and all("5.000000e-01" in line for line in kept)


@cl.jit
def rows(x: cl.f64[:]) -> float:
    total = 0.0
    for k in range(len(x)):
        v, steps = 0.1, 0
        while steps < 70 and v > 0.0:
            v = x[k] * v - v * v * 3.9
            steps += 1
        total += v
    return total


@pytest.mark.optimised
def test_products_are_rounded_in_lanes_as_well() -> None:
    """Rows that are left are run one after the other; chaos shows the last bit."""
    assert " lanes:" in str(rows.show("loops", np.ones(3)))
    one = rows(np.full(1, 3.9))
    for count in (7, 16, 37):
        assert rows(np.full(count, 3.9)) == pytest.approx(count * one, rel=1e-9)
