"""Compiled functions in PyTensor and PyMC: gradients, and a sampled model."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from chadllvm import stats

pymc = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from chadllvm.interop.pytensor import pytensor_op  # noqa: E402


@cl.jit
def energy(x: cl.f64[:], k: float) -> float:
    return k * np.sum(np.sin(x) * x) + np.sum(x * x * x)


X = np.array([0.3, -1.2, 2.0])


def test_gradients_of_all_orders() -> None:
    x, k = pt.vector("x"), pt.scalar("k")
    value = pytensor_op(energy)(x, k)
    slopes = pytensor.grad(value, [x, k])
    second = pytensor.grad(pt.sum(slopes[0] ** 2), x)
    found = pytensor.function([x, k], [value, *slopes, second])(X, 1.5)
    assert np.allclose(found[0], energy(X, 1.5))
    by_x, by_k = cl.grad(energy, argnums=(0, 1))(X, 1.5)
    assert np.allclose(found[1], by_x) and np.allclose(found[2], by_k)
    squared = cl.jit(lambda x, k: np.sum(cl.grad(energy)(x, k) ** 2))
    assert np.allclose(found[3], cl.grad(squared)(X, 1.5))


def test_arrays_as_results() -> None:
    x = pt.vector("x")
    doubled = pytensor_op(lambda x: x * x, rank=1)(x)
    slope = pytensor.grad(pt.sum(doubled * np.arange(3.0)), x)
    found = pytensor.function([x], [doubled, slope])(X)
    assert np.allclose(found[0], X * X)
    assert np.allclose(found[1], 2.0 * X * np.arange(3.0))


def test_a_sampled_model() -> None:
    data = np.random.default_rng(1).normal(2.0, 1.0, size=50)

    @cl.jit
    def log_likelihood(mean: float, x: cl.f64[:]) -> float:
        return np.sum(stats.norm.logpdf(x, mean, 1.0))

    with pymc.Model():
        mean = pymc.Normal("mean", 0.0, 10.0)
        pymc.Potential("data", pytensor_op(log_likelihood)(mean, data))
        trace = pymc.sample(
            300, tune=300, chains=1, cores=1, random_seed=1, progressbar=False
        )
    drawn = trace.posterior["mean"].values
    assert abs(drawn.mean() - data.mean()) < 0.1
    assert abs(drawn.std() - 1.0 / np.sqrt(50)) < 0.05
