"""Jacobians and Hessians against each other, differences and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import chadllvm as cl

X = np.array([0.5, -1.0, 2.0])
M = np.array([[1.0, 2.0, -0.5], [0.3, 0.0, 1.5]])


@cl.jit
def waves(x: cl.f64[:], t: float, n: int):
    return np.sin(x * t) * n + x[0]


@cl.jit
def outer(m: cl.f64[:, :], x: cl.f64[:]):
    return m * (m @ x)[:, None]


@cl.jit
def energy(x: cl.f64[:], t: float) -> float:
    return np.sum(np.exp(x * t)) + np.prod(x)


def test_jacobian_of_vectors() -> None:
    expected = np.diag(np.cos(X * 0.7) * 0.7 * 3)
    expected[:, 0] += 1.0
    for jacobian in (cl.jacfwd(waves), cl.jacrev(waves)):
        np.testing.assert_allclose(jacobian(X, 0.7, 3), expected, rtol=1e-13)


def test_jacobian_by_a_float_and_of_one() -> None:
    for make in (cl.jacfwd, cl.jacrev):
        by_t = make(waves, argnums="t")(X, 0.7, 3)
        np.testing.assert_allclose(by_t, 3 * X * np.cos(X * 0.7), rtol=1e-13)
        slope = make(energy)(X, 0.7)
        np.testing.assert_allclose(slope, cl.grad(energy)(X, 0.7), rtol=1e-13)
        assert math.isclose(make(lambda x: math.sin(x))(0.3), math.cos(0.3))


def test_jacobian_of_matrices_by_matrices() -> None:
    forward, reverse = cl.jacfwd(outer)(M, X), cl.jacrev(outer)(M, X)
    assert forward.shape == reverse.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(forward, reverse, rtol=1e-13, atol=1e-15)
    direction = np.random.default_rng(0).normal(size=M.shape)
    moved = (outer(M + 1e-6 * direction, X) - outer(M - 1e-6 * direction, X)) / 2e-6
    np.testing.assert_allclose(np.tensordot(forward, direction, 2), moved, rtol=1e-8)


def test_hessian_and_its_products() -> None:
    full = cl.hessian(energy)(X, 0.7)
    others = np.array([[0.0, 2.0, -1.0], [2.0, 0.0, 0.5], [-1.0, 0.5, 0.0]])
    expected = np.diag(0.49 * np.exp(0.7 * X)) + others
    np.testing.assert_allclose(full, expected, rtol=1e-13)
    reverse = cl.jacrev(cl.grad(energy))(X, 0.7)
    np.testing.assert_allclose(reverse, expected, rtol=1e-13)
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(cl.hvp(energy)(X, 0.7, v), expected @ v, rtol=1e-13)
    by_t = np.sum(X**2 * np.exp(0.7 * X))
    assert math.isclose(cl.hvp(energy, "t")(X, 0.7, 2.0), 2.0 * by_t)
    assert math.isclose(cl.hessian(energy, 1)(X, 0.7), by_t)


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(TypeError, match="by floats and arrays"):
        cl.jacfwd(waves, argnums="n")(X, 0.7, 3)
    with pytest.raises(TypeError, match="takes 3 arguments"):
        cl.jacrev(waves)(X, 0.7, 3, 4)
    with pytest.raises(ValueError, match="2 parameters"):
        cl.hessian(energy, 2)
