"""Gradients of expressions over whole arrays are loops that store each element once."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl

RANDOM = np.random.default_rng(17)


# Asked for NaN, in lanes and in chunks for threads, a pass is more than one loop.
WHOLE = cl.CompileOptions(disabled=frozenset({"finite", "lanes", "parallel"}))


@cl.jit(options=WHOLE)
def polynomial(x: cl.f64[:], y: cl.f64[:], a: float) -> float:
    r = a * x + y
    return np.sum(r * (1.0 + r * (0.5 + x * (0.25 - 0.125 * y))))


@cl.jit(options=WHOLE)
def standardised(x: cl.f64[:, :], mean: cl.f64[:], scale: cl.f64[:]) -> float:
    z = (x - mean) / scale
    return np.sum(np.sqrt(np.sum(z * z, axis=1) + 1.0))


def matrix(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return RANDOM.normal(size=(n, m)), np.ones(m), RANDOM.uniform(1.0, 2.0, m)


def test_nothing_is_cleared_and_read_again() -> None:
    x, y = RANDOM.normal(size=(2, 5))
    for text in (
        cl.grad(polynomial, argnums=(0, 1)).show("loops", x, y, 0.5),
        cl.grad(standardised).show("loops", *matrix(3, 4)),
    ):
        assert "zeros" not in text and "] +=" not in text
        assert text.count("\n  for ") == 1


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0), (1, 1), (20, 3)])
def test_gradients_of_any_shape(shape: tuple[int, int]) -> None:
    """Also where an array without rows has columns."""
    x, mean, scale = matrix(*shape)
    z = (x - mean) / scale
    by_z = z / np.sqrt(np.sum(z * z, axis=1, keepdims=True) + 1.0)
    gradient = cl.grad(standardised, argnums=(0, 1, 2))(x, mean, scale)
    expected = by_z / scale, -np.sum(by_z / scale, axis=0), -np.sum(by_z * z / scale, 0)
    for one, other in zip(gradient, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
