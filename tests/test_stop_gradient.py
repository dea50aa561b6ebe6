"""`stop_gradient`: the value as it is, and no derivative in any direction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

LEVELS = pytest.mark.parametrize("optimize", [2, 0])


class Pair(NamedTuple):
    a: cl.f64[:, :]
    n: int


def program(optimize: int) -> Any:
    @cl.jit(optimize=optimize)
    def f(x: cl.f64[:], c: float, p: Pair) -> float:
        y = cl.stop_gradient(x)
        s, (t, n) = 0.0, cl.stop_gradient((c * c, 3))
        q = cl.stop_gradient(p)
        for i in range(len(x)):
            s = s + y[i] * x[i] * n + t * x[i] * q.a[0, i] * p.a[0, i] * q.n
        return s * c + cl.stop_gradient(s)

    return f


X, C, A = np.array([1.0, 2.0, 3.0]), 2.0, np.array([[0.5, -1.0, 2.0]])
ARGS = X, C, Pair(A, 2)


@LEVELS
def test_values_are_unchanged(optimize: int) -> None:
    f = program(optimize)
    assert f(*ARGS) == pytest.approx(f.py_func(*ARGS), rel=1e-14)


@LEVELS
def test_gradients(optimize: int) -> None:
    f = program(optimize)
    total = sum(3 * X * X + C * C * X * A[0] * A[0] * 2)
    x_ct, c_ct, p_ct = cl.grad(f, argnums=(0, 1, 2))(*ARGS)
    np.testing.assert_allclose(x_ct, C * (3 * X + C * C * A[0] * A[0] * 2))
    assert c_ct == pytest.approx(total)
    np.testing.assert_allclose(p_ct.a, [C * C * C * X * A[0] * 2])


@LEVELS
def test_tangents(optimize: int) -> None:
    """They are those that the gradient says."""
    f = program(optimize)
    gradients = cl.grad(f, argnums=(0, 1))(*ARGS)
    moved = np.array([1.0, -2.0, 0.5])
    value, tangent = cl.jvp(f, ARGS, (moved, 0.25, None))
    assert value == pytest.approx(f(*ARGS))
    assert tangent == pytest.approx(gradients[0] @ moved + gradients[1] * 0.25)


@LEVELS
def test_second_derivatives(optimize: int) -> None:
    """The derivative of c (3 y + t…) by c, with t = c² stopped again."""
    f = program(optimize)
    _, found = cl.jvp(cl.grad(f), ARGS, (np.zeros(3), 1.0, None))
    np.testing.assert_allclose(found, 3 * X + C * C * A[0] * A[0] * 2)
    twice = cl.grad(cl.grad(lambda x: cl.stop_gradient(x) * x * x))
    assert twice(3.0) == pytest.approx(6.0)


def test_single_precision_and_whole_numbers() -> None:
    @cl.jit
    def f(x: cl.f32, n: int) -> cl.f32:
        return cl.stop_gradient(x) * x * cl.stop_gradient(n) * cl.stop_gradient(2.0)

    assert cl.grad(f)(np.float32(3.0), 2) == 12.0


def test_optional_values() -> None:
    @cl.jit
    def f(x: float, y: float | None) -> float:
        z = cl.stop_gradient(y)
        if z is not None and y is not None:
            return x * z + y * y
        return x

    assert cl.grad(f, argnums=(0, 1))(3.0, 2.0) == (2.0, 4.0)
    assert cl.grad(f)(3.0, None) == 1.0


def test_functions_stop_what_they_captured() -> None:
    @cl.jit
    def f(x: float) -> float:
        g = cl.stop_gradient(lambda t: x * t)
        return g(x)

    assert cl.grad(f)(3.0) == 3.0


def test_the_array_is_a_new_one() -> None:
    """In plain Python too, so that an update of it means the same."""

    @cl.jit
    def f(x: cl.f64[:]) -> float:
        y = cl.stop_gradient(x)
        y[0] = 10.0
        return np.sum(x * y)

    x = np.array([1.0, 2.0])
    assert f(x) == f.py_func(x) == 14.0
    np.testing.assert_array_equal(cl.grad(f)(x), [10.0, 2.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_infinite_slopes_do_not_pass() -> None:
    f = cl.jit(lambda x: cl.stop_gradient(np.sqrt(x)) * x)
    assert cl.grad(f)(0.0) == 0.0
