"""The example's mixture model against NumPy, and its gradient against differences."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Vector = NDArray[np.float64]
MODEL = Path(__file__).parent.parent / "examples" / "gmm_model.py"
STEP = 1e-6


def load_model() -> Any:
    """A new instance of the module examples/gmm_model.py."""
    spec = importlib.util.spec_from_file_location("gmm_model", MODEL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_arguments(n: int, k: int, d: int) -> list[Any]:
    random = np.random.default_rng(7)
    shapes = [(k,), (k, d), (k, d), (k, d * (d - 1) // 2), (n, d)]
    return [*(random.normal(size=shape) for shape in shapes), 0.7, 3]


def log_sum_exp(values: Vector) -> Vector:
    largest = values.max(axis=-1)
    rest = np.exp(values - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(rest))


def expected(
    alpha: Vector,
    means: Vector,
    q: Vector,
    lower: Vector,
    x: Vector,
    gamma: float,
    m: int,
) -> float:
    """The same density by whole arrays."""
    (k, d), n = means.shape, len(x)
    root = np.zeros((k, d, d))
    root[:, *np.tril_indices(d, -1)] = lower
    root[:, range(d), range(d)] = np.exp(q)
    white = np.einsum("krc,knc->knr", root, x - means[:, None])
    terms = alpha + q.sum(axis=1) - 0.5 * (white**2).sum(axis=2).T
    prior = m * q.sum() - 0.5 * gamma**2 * (root**2).sum()
    total = log_sum_exp(terms).sum() - n * log_sum_exp(alpha) + prior
    return float(total - 0.5 * n * d * np.log(2.0 * np.pi))


def test_value_is_that_of_numpy() -> None:
    log_posterior = load_model().log_posterior
    for n, k, d in ((6, 3, 4), (2, 1, 1), (5, 4, 2)):
        arguments = random_arguments(n, k, d)
        wanted = expected(*arguments)
        np.testing.assert_allclose(log_posterior(*arguments), wanted, rtol=1e-12)


def test_plain_python_gives_the_same_value() -> None:
    module = load_model()
    for name, item in list(vars(module).items()):
        if hasattr(item, "py_func"):
            setattr(module, name, item.py_func)
    arguments = random_arguments(6, 3, 4)
    value = module.log_posterior(*arguments)
    np.testing.assert_allclose(value, expected(*arguments), rtol=1e-12)


def test_gradient_is_that_of_differences() -> None:
    arguments = random_arguments(6, 3, 4)
    gradient_of = cl.value_and_grad(load_model().log_posterior, argnums=(0, 1, 2, 3, 4))
    value, gradients = gradient_of(*arguments)
    np.testing.assert_allclose(value, expected(*arguments), rtol=1e-12)
    for number, gradient in enumerate(gradients):
        assert gradient.shape == arguments[number].shape
        for index in np.ndindex(gradient.shape):
            shifted = [list(arguments), list(arguments)]
            for side, step in zip(shifted, (STEP, -STEP), strict=True):
                side[number] = side[number].copy()
                side[number][index] += step
            difference = expected(*shifted[0]) - expected(*shifted[1])
            slope = difference / (2.0 * STEP)
            np.testing.assert_allclose(gradient[index], slope, rtol=1e-6, atol=1e-6)
