"""Arrays without rows, and loops of no steps, where programs suppose that there are."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl


@cl.jit
def moved(x: cl.f64[:, :], b: cl.f64[:], steps: int) -> float:
    """A state that each step makes anew, of a size that only its rows tell."""
    for _ in range(steps):
        x = x + 0.5 * b * x
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("shape", "steps"),
    [((0, 3), 0), ((0, 3), 1), ((0, 0), 3), ((2, 3), 3), ((1, 1), 3)],
)
def test_sizes(shape: tuple[int, int], steps: int) -> None:
    x = np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape)
    b = np.linspace(0.1, 0.9, shape[1])
    factor = (1.0 + 0.5 * b) ** steps
    value, (x_ct, b_ct) = cl.value_and_grad(moved, argnums=(0, 1))(x, b, steps)
    expected = np.sum((x * factor) ** 2)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(moved(x, b, steps), expected, rtol=1e-13)
    assert x_ct.shape == x.shape and b_ct.shape == b.shape
    np.testing.assert_allclose(x_ct, 2.0 * x * factor**2, rtol=1e-13)
    slope = steps * np.sum((x * factor) ** 2, axis=0) / (1.0 + 0.5 * b)
    np.testing.assert_allclose(b_ct, slope, rtol=1e-12)


def test_sizes_that_differ() -> None:
    x, b = np.ones((2, 3)), np.ones(4)
    assert moved(x, b, 0) == 6.0
    np.testing.assert_array_equal(cl.grad(moved)(x, b, 0), 2.0 * x)
    with pytest.raises(ValueError, match=r"3.*4|4.*3"):
        moved(x, b, 1)
    with pytest.raises(ValueError, match=r"3.*4|4.*3"):
        cl.grad(moved)(x, b, 1)


@cl.jit
def guarded(x: cl.f64[:], steps: int) -> cl.f64[:]:
    """The gradient by x has factors that are infinite where x is zero."""
    y = x.copy()
    for _ in range(steps):
        y = np.where(x > 0.0, np.sqrt(x) * y, y)
    return y


@pytest.mark.parametrize("at", [0, 1, 63, 64, 199])
def test_a_nan_in_a_gradient_is_found(at: int) -> None:
    x = np.linspace(1.0, 2.0, 200)
    x[at] = 0.0
    _, pull = cl.vjp(guarded, x, 2)
    seed = np.ones(200)
    x_ct = pull(seed)[0]
    expected = np.where(x > 0.0, 2.0 * x, 1.0)
    np.testing.assert_allclose(x_ct, expected, rtol=1e-13)
