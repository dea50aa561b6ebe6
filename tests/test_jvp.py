"""`cl.jvp`: what it takes and returns, and what it says of wrong tangents."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.api.tangents import with_tangents

X = np.array([1.0, 2.0, 3.0])
T = np.array([0.5, -1.0, 2.0])


@cl.jit
def square_sum(x: cl.f64[:]) -> float:
    return sum(v * v for v in x)


def test_scalars() -> None:
    def product(x: float, y: float) -> float:
        return x * y

    assert cl.jvp(product, (3.0, 2.0), (1.0, 10.0)) == (6.0, 32.0)
    assert cl.jvp(product, [3, 2], [1, np.float64(10)]) == (6.0, 32.0)


def test_arrays() -> None:
    value, tangent = cl.jvp(square_sum, (X,), (T,))
    assert (value, tangent) == (14.0, 2.0 * float(X @ T))


def test_results_of_every_kind() -> None:
    @cl.jit
    def several(x: cl.f64[:], n: int, p: tuple[float, tuple[bool, cl.f64[:]]]):
        a, (flag, v) = p
        s = sum(x[i] * v[i] for i in range(n))
        return (s, n), flag, [u * a for u in x], [(u, 2.0 * u) for u in v]

    v = np.array([1.0, 0.0, 2.0])
    primals = (X, 3, (2.0, (True, v)))
    out, slope = cl.jvp(several, primals, (T, None, (1.0, (None, np.ones(3)))))
    (s, n), flag, scaled, pairs = out
    assert (s, n, flag, pairs) == (7.0, 3, True, [(1.0, 2.0), (0.0, 0.0), (2.0, 4.0)])
    np.testing.assert_array_equal(scaled, 2.0 * X)
    (s_t, n_t), flag_t, scaled_t, pairs_t = slope
    assert (s_t, n_t, flag_t) == (T @ v + X.sum(), None, None)
    np.testing.assert_array_equal(scaled_t, 2.0 * T + X)
    assert pairs_t == [(1.0, 2.0)] * 3


def test_results_without_reals_and_constant_results() -> None:
    @cl.jit
    def sizes(x: cl.f64[:]):
        return len(x), [i for i in range(len(x))], [1.0 for _ in x], 2.5

    (n, indices, ones, c), tangent = cl.jvp(sizes, (X,), (T,))
    assert (n, c, indices.tolist(), ones.tolist()) == (3, 2.5, [0, 1, 2], [1.0] * 3)
    assert (tangent[0], tangent[1], tangent[3]) == (None, None, 0.0)
    np.testing.assert_array_equal(tangent[2], np.zeros(3))


def test_a_function_of_integers_has_no_slope() -> None:
    @cl.jit
    def half(n: int) -> float:
        return n / 2

    assert cl.jvp(half, (3,), (None,)) == (1.5, 0.0)
    assert cl.jvp(half, (3,), (0,)) == (1.5, 0.0)


def test_defaults_are_held_fixed() -> None:
    @cl.jit
    def power(x: float, scale: float = 2.0, n: int = 3) -> float:
        return scale * x**n

    assert cl.jvp(power, (2.0,), (1.0,)) == (16.0, 24.0)
    assert cl.jvp(power, (2.0, 1.0), (1.0, 1.0)) == (8.0, 20.0)


def test_hessian_times_a_direction() -> None:
    @cl.jit
    def rosenbrock(x: cl.f64[:]) -> float:
        return sum(
            100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
            for i in range(len(x) - 1)
        )

    x, y = 1.5, 2.0
    hessian = np.array([[1200 * x * x - 400 * y + 2, -400 * x], [-400 * x, 200.0]])
    point = np.array([x, y])
    for t in np.eye(2):
        gradient, product = cl.jvp(cl.grad(rosenbrock), (point,), (t,))
        np.testing.assert_allclose(gradient, cl.grad(rosenbrock)(point))
        np.testing.assert_allclose(product, hessian @ t)
    (value, _), (slope, _) = cl.jvp(cl.value_and_grad(rosenbrock), (point,), (point,))
    assert value == rosenbrock(point)
    assert slope == pytest.approx(cl.grad(rosenbrock)(point) @ point)


def test_auxiliary_results_have_tangents() -> None:
    @cl.jit
    def loss(x: float):
        return x**3, (x**2, 7)

    derivative = cl.grad(loss, has_aux=True)
    out, tangent = cl.jvp(derivative, (2.0,), (1.0,))
    assert out == (12.0, (4.0, 7))
    assert tangent == (12.0, (4.0, None))


def test_it_is_compiled_once_for_all_shapes() -> None:
    def cube(x: cl.f64[:]):
        return [v * v * v for v in x]

    for n in (0, 1, 4):
        value, tangent = cl.jvp(cube, (np.ones(n),), (np.ones(n),))
        np.testing.assert_array_equal(value, np.ones(n))
        np.testing.assert_array_equal(tangent, np.full(n, 3.0))
    assert with_tangents(cube) is with_tangents(cube)
    assert len(with_tangents(cube)._versions) == 1
    compiled = cl.jit(cube)
    assert with_tangents(compiled) is not with_tangents(cube)


def test_strided_arguments_are_taken_and_not_written_to() -> None:
    x, t = np.arange(6.0)[::2], np.ones(6)[::-2]
    x.flags.writeable = False
    assert cl.jvp(square_sum, (x,), (t,)) == (20.0, 12.0)


def test_failures_of_the_program_are_raised() -> None:
    @cl.jit
    def third(x: cl.f64[:]) -> float:
        return x[2] * x[0]

    with pytest.raises(IndexError):
        cl.jvp(third, (np.ones(2),), (np.ones(2),))
    assert cl.jvp(third, (X,), (T,)) == (3.0, 3.5)


def pair(p: tuple[float, int], x: cl.f64[:]) -> float:
    return p[0] + x[0]


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "message"),
    [
        (X, (T,), TypeError, "primals must be a tuple, not a ndarray"),
        (((1.0, 2), X), T, TypeError, "tangents must be a tuple, not a ndarray"),
        (((1.0, 2), X), (T,), ValueError, "2 primals and 1 tangents"),
        (((1.0, 2),), ((1.0, None),), TypeError, "misses argument 'x'"),
        (((1.0, 2), X), (1.0, T), TypeError, "p (tangent) must be a tuple of 2"),
        (((1.0, 2), X), ((1.0, None, 2.0), T), ValueError, "must be a tuple of 2"),
        (((1.0, 2), X), ((1.0, 1), T), TypeError, "p[1] holds no real numbers"),
        (
            ((1.0, 2), X),
            ((1.0, None), T[:2]),
            ValueError,
            "x has shape (3,), its tangent",
        ),
        (((1.0, 2), X), ((1.0, None), 1.0), TypeError, "x (tangent) must be a NumPy"),
        (
            ((1.0, 2), X),
            ((1.0, None), X * 1j),
            TypeError,
            "x (tangent) must be a NumPy",
        ),
    ],
)
def test_wrong_tangents(
    primals: Any, tangents: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        cl.jvp(pair, primals, tangents)


def test_arrays_of_tuples_with_integers() -> None:
    @cl.jit
    def numbered(x: cl.f64[:]):
        return [(v * v, i) for i, v in enumerate(x)]

    out, out_tangent = cl.jvp(numbered, (X,), (T,))
    assert out == numbered(X)
    assert out_tangent == [(2 * x * t, None) for x, t in zip(X, T, strict=True)]


def test_names_that_are_taken() -> None:
    def taken(t: float, t0: float, t_0: float) -> float:
        return math.sin(t) * t0 * t_0

    assert cl.jvp(taken, (0.0, 2.0, 3.0), (1.0, 0.0, 0.0)) == (0.0, 6.0)
