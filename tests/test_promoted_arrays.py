"""Lists and arrays of integers as arguments for arrays, as integers are for floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chadllvm as cl

OPTIONS = [cl.CompileOptions(), cl.CompileOptions(optimize=0)]


def squares(x: cl.f64[:]) -> float:
    return np.sum(x * x)


def table(x: cl.f64[:, :]) -> float:
    return np.sum(x * x)


def open_rank(x: NDArray[np.float64], scale: float) -> float:
    return scale * np.sum(x * x)


def unlike(x: cl.f64[:], scale):
    return scale * np.sum(x * x)


@pytest.mark.parametrize("options", OPTIONS, ids=["usual", "reference"])
@pytest.mark.parametrize(
    "x",
    [
        [1, 2, 3],
        [1.5, 2, True],
        np.arange(4),
        np.arange(4, dtype=np.uint8),
        np.array([True, False]),
        [],
        [2**70],
        [np.float64(1.5), 2],
        range(3),
        np.arange(6)[::-2],
    ],
    ids=repr,
)
def test_vectors(x: Any, options: cl.CompileOptions) -> None:
    f = cl.jit(squares, options=options)
    floats = np.array([*x], np.float64)
    assert f(x) == np.sum(floats * floats)
    slope = cl.grad(f)(x)
    assert slope.dtype == np.float64
    assert np.array_equal(slope, 2.0 * floats)


@pytest.mark.parametrize(
    "x",
    [
        [[1, 2], [3, 4]],
        np.arange(6).reshape(2, 3),
        [np.arange(2), np.arange(2)],
        [[], []],
        [],
    ],
    ids=repr,
)
def test_matrices(x: Any) -> None:
    floats = np.array(x, np.float64)
    assert cl.jit(table)(x) == np.sum(floats * floats)
    assert np.array_equal(cl.grad(table)(x).ravel(), 2.0 * floats.ravel())
    if len(x):
        assert cl.jit(open_rank)(x, 2) == 2.0 * np.sum(floats * floats)
        assert np.array_equal(cl.grad(open_rank)(x, 2), 4.0 * floats)


def test_where_other_parameters_are_open() -> None:
    f = cl.jit(unlike)
    assert f([1, 2], 3) == 15.0
    assert f(np.array([1, 2]), 3.0) == 15.0
    assert len(f._versions) == 2  # For an int and for a float.
    by_x, by_scale = cl.grad(f, argnums=(0, 1))([1, 2], 2.0)
    assert np.array_equal(by_x, [4.0, 8.0])
    assert by_scale == 5.0


@pytest.mark.parametrize("x", [[1, 2], np.array([1, 2])], ids=repr)
def test_all_derivatives(x: Any) -> None:
    f, v = cl.jit(squares), [1, 0]
    assert cl.jvp(f, (x,), ([1.0, 1.0],)) == (5.0, 6.0)
    out, pullback = cl.vjp(f, x)
    assert (out, pullback(1.0)[0].tolist()) == (5.0, [2.0, 4.0])
    assert cl.linearize(f, x)[1](np.array([0.0, 1.0])) == 4.0
    assert np.array_equal(cl.hessian(f)(x), 2.0 * np.eye(2))
    assert np.array_equal(cl.hvp(f)(x, v), [2.0, 0.0])
    assert np.array_equal(cl.hvp(f, (0,))(x, (v,))[0], [2.0, 0.0])
    assert np.array_equal(cl.jacfwd(f)(x), [2.0, 4.0])
    assert np.array_equal(cl.jacrev(cl.grad(f))(x), 2.0 * np.eye(2))
    cl.check_grads(f, (x,), order=2)
    assert str(f.report(x).scaling)


def test_in_tuples() -> None:
    @cl.jit
    def inside(pair: tuple[cl.f64[:], float]) -> float:
        return np.sum(pair[0]) * pair[1]

    assert inside(([1, 2], 2)) == 6.0
    assert np.array_equal(cl.grad(inside)((np.array([1, 2]), 2))[0], [2.0, 2.0])


def test_singles() -> None:
    @cl.jit
    def f(x: cl.f32[:]) -> cl.f32:
        return np.sum(x * x)

    for x in ([1, 2], [0.1, 2], np.array([1, 2]), [np.float32(0.1), 2.0]):
        singles = np.asarray(x, np.float32)
        assert f(x) == np.sum(singles * singles)
        assert cl.grad(f)(x).dtype == np.float32
    with pytest.raises(TypeError, match="x must be a NumPy array of float32"):
        f([np.float64(0.1)])
    with pytest.raises(TypeError, match="x must be a NumPy array of float32"):
        f([np.ones(2)])


def test_integers_and_booleans() -> None:
    @cl.jit
    def total(n: cl.i64[:]) -> int:
        return np.sum(n)

    @cl.jit
    def some(b: cl.boolean[:]) -> bool:
        return np.any(b)

    assert total([1, True, np.int8(3)]) == 5
    assert some([False, True])
    with pytest.raises(TypeError, match=r"n must be a NumPy array of int64"):
        total([1.0])
    with pytest.raises(OverflowError, match="n: a number in it is too large"):
        total([2**63])
    with pytest.raises(TypeError, match="b must be a NumPy array of bool"):
        some([1, 0])


def test_the_argument_stays_as_it_is() -> None:
    x, rows = [1, 2], np.array([1, 2])

    @cl.jit
    def f(x: cl.f64[:]):
        y = x * 1.0
        y[0] = 7.5
        return y

    assert f(x).tolist() == f(rows).tolist() == [7.5, 2.0]
    assert x == rows.tolist() == [1, 2]


@pytest.mark.parametrize("options", OPTIONS, ids=["usual", "reference"])
def test_in_calls_inside_of_functions(options: cl.CompileOptions) -> None:
    @cl.jit(options=options)
    def square(x: cl.f64[:]) -> float:
        return np.sum(x * x / 2)

    @cl.jit(options=options)
    def of_any(x: NDArray[np.float64]) -> float:
        return np.sum(x / 2)

    @cl.jit(options=options)
    def add(a: cl.f64[:], b: cl.f64[:]) -> None:
        a += b

    @cl.jit(options=options)
    def outer(x: cl.f64[:]) -> float:
        y = x.copy()
        add(y, [1, 2])
        add(y, np.arange(2))
        add(y, y > 1.7)
        whole = square([1, 2]) + square(np.array([True, False]))
        return (whole + of_any(np.arange(6).reshape(2, 3))) * np.sum(y)

    x = np.array([0.5, -1.0])
    assert outer(x) == 10.5 * 4.5
    assert cl.grad(outer)(x).tolist() == [10.5, 10.5]


def test_what_is_updated_is_of_floats_already() -> None:
    @cl.jit
    def halve(a: cl.f64[:]) -> None:
        a /= 2.0

    def outer(x: float) -> float:
        a = np.array([1, 2])
        halve(a)
        return a[0] * x

    with pytest.raises(cl.CompileError, match="`a` of `halve` is f64"):
        cl.jit(outer)(1.0)
