"""Sums of f32 lose no more digits than NumPy's, however many numbers there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.llvm import optimize

COUNT = 10**7
SAME = np.full(COUNT, 0.1, np.float32)
RANDOM = np.random.default_rng(0).random(COUNT).astype(np.float32)
# A few roundings of the result: how many depends on how wide the machine's vectors are.
PRECISION = 5e-7


@cl.jit
def total(a: cl.f32[:]) -> cl.f32:
    return np.sum(a)


@cl.jit
def mean(a: cl.f32[:]) -> cl.f32:
    return np.mean(a)


@cl.jit
def looped(a: cl.f32[:]) -> cl.f32:
    s = 0.0
    for x in a:
        s += x
    return s


@cl.jit
def rows(a: cl.f32[:]) -> cl.f32:
    return np.max(np.sum(a.reshape(10, -1), axis=1))


@cl.jit
def squares(a: cl.f32[:]) -> cl.f32:
    return a @ a


@cl.jit
def above(a: cl.f32[:]) -> cl.f32:
    return sum(x * x for x in a if x > 0.05)


def exact_rows(a: np.ndarray) -> float:
    return float(np.max(np.sum(a.reshape(10, -1), axis=1)))


SUMS: list[tuple[Any, Callable[[np.ndarray], float]]] = [
    (total, np.sum),
    (mean, np.mean),
    (looped, np.sum),
    (rows, exact_rows),
    (squares, lambda a: float(a @ a)),
]


@pytest.mark.optimised
@pytest.mark.parametrize(("function", "exact"), SUMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("values", [SAME, RANDOM], ids=["same", "random"])
def test_a_long_sum(
    function: Any, exact: Callable[[np.ndarray], float], values: np.ndarray
) -> None:
    found = function(values)
    assert isinstance(found, np.float32)
    assert float(found) == pytest.approx(exact(values.astype(float)), rel=PRECISION)


@pytest.mark.parametrize("size", [63, 64, 999_968, 999_999])
@pytest.mark.parametrize("function", [total, squares, above], ids=lambda f: f.__name__)
def test_sums_in_functions_of_any_size(
    function: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LLVM does less for large ones; of whole vectors the sum is the same bits."""
    values = SAME[:size]
    exact = float(function.py_func(values.astype(float)))
    found = []
    for *_, effort in optimize.EFFORTS:
        monkeypatch.setattr(optimize, "effort_for", lambda text, e=effort: e)
        compiled = cl.jit(function.py_func, options=cl.CompileOptions(cache=False))
        found.append(compiled(values))
        assert float(found[-1]) == pytest.approx(exact, rel=2 * PRECISION)
    if size % 32 == 0:
        assert len(set(found)) == 1


def test_the_gradient_by_a_number_that_all_elements_use() -> None:
    @cl.jit
    def weighted(a: cl.f32[:], w: cl.f32) -> cl.f32:
        return np.sum(w * a * a)

    found = cl.grad(weighted, argnums=1)(SAME, 1.5)
    exact = np.sum(SAME.astype(float) ** 2)
    assert float(found) == pytest.approx(exact, rel=PRECISION)


def test_infinities_stay() -> None:
    values = np.ones(5000, np.float32)
    values[7] = np.inf
    assert total(values) == np.inf
    assert total(np.full(3000, 3e38, np.float32)) == np.inf
    values[8] = -np.inf
    assert np.isnan(total(values))
