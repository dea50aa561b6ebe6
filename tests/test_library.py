"""`cl.fold` and `cl.build` in plain Python, and that compiled code does the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

import chadllvm as cl


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("ab", "(ab)"),
        ("abcd", "((ab)(cd))"),
        ("abcdefgh", "(((((ab)c)((de)f))g)h)"),
    ],
)
def test_blocks_are_combined_and_then_their_results(items: str, expected: str) -> None:
    assert cl.fold(lambda a, b: f"({a}{b})", items) == expected


def test_one_element_stays() -> None:
    assert cl.fold(max, [3]) == 3


def test_fold_of_nothing() -> None:
    with pytest.raises(ValueError, match="no elements"):
        cl.fold(max, [])


@cl.jit
def mixed(x: cl.f64[:]) -> float:
    return cl.fold(lambda a, b: 0.5 * a + b / 3.0, x)


@pytest.mark.parametrize("size", [*range(1, 20), 1000, 1025])
def test_compiled_folds_have_the_same_order(size: int) -> None:
    """Not associative, so that another order would show."""
    x = np.random.default_rng(size).normal(size=size)
    assert math.isclose(mixed(x), mixed.py_func(x), rel_tol=1e-15, abs_tol=1e-300)


@cl.jit
def slope_of_all(x: cl.f64[:]) -> float:
    return cl.fold(lambda a, b: a * b, x)


def test_gradient_of_a_long_fold() -> None:
    x = np.random.default_rng(0).uniform(0.99, 1.01, 10_000)
    value, gradient = cl.value_and_grad(slope_of_all)(x)
    assert np.isclose(value, np.prod(x))
    assert np.allclose(gradient, np.prod(x) / x)


def test_blocks_and_their_reverses_do_not_need_each_other() -> None:
    x = np.ones(10)
    assert str(slope_of_all.report(x)).count("runs in chunks") == 1
    report = str(cl.value_and_grad(slope_of_all).report(x))
    assert report.count("runs in chunks") == 2


def test_rows_may_grow_in_a_fold() -> None:
    x = np.random.default_rng(1).normal(size=(5, 3))
    assert np.allclose(cl.grad(squares_of_all)(x), 2.0 * x)


@cl.jit
def squares_of_all(x: cl.f64[:, :]) -> float:
    return np.sum(cl.fold(lambda a, b: np.concatenate((a, b)), x) ** 2)


def test_build_makes_arrays() -> None:
    assert cl.build(3, lambda i: i * i).dtype == np.int64
    assert np.array_equal(cl.build((2, 3), lambda i, j: i + 0.5 * j), _grid())
    assert cl.build((2, 2), lambda i, j: np.ones(3)).shape == (2, 2, 3)
    assert cl.build((0, 3), lambda i, j: 1.0).shape == (0, 3)


def _grid() -> np.ndarray:
    return np.array([[0.0, 0.5, 1.0], [1.0, 1.5, 2.0]])


def test_build_of_tuples_is_a_list() -> None:
    assert cl.build(2, lambda i: (i, 2 * i)) == [(0, 0), (1, 2)]


def test_build_of_a_negative_size() -> None:
    with pytest.raises(ValueError, match="negative"):
        cl.build(-1, lambda i: i)
