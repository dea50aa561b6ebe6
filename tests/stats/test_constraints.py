"""Constrained parameters: what holds of them, inverses, Jacobians by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm import transforms

Coordinates = Callable[[Any], Any]


def below(m: Any) -> Any:
    return m[np.tril_indices(len(m))]


def strictly_below(m: Any) -> Any:
    return m[np.tril_indices(len(m), -1)]


def first(y: Any) -> Any:
    return y[:-1]


def whole(y: Any) -> Any:
    return y


# A map, other arguments, how many numbers it takes, and coordinates of its values.
CASES: tuple[tuple[str, tuple[float, ...], int, Coordinates], ...] = (
    ("positive", (), 3, whole),
    ("bounded", (-1.0, 2.5), 3, whole),
    ("ordered", (), 4, whole),
    ("simplex", (), 4, first),
    ("cholesky_correlation", (), 6, strictly_below),
    ("covariance", (), 6, below),
)


@pytest.mark.parametrize(("name", "rest", "size", "coordinates"), CASES)
def test_inverse_and_jacobian(
    name: str, rest: tuple[float, ...], size: int, coordinates: Coordinates
) -> None:
    space = getattr(transforms, name)
    u = np.random.default_rng(3).normal(size=size)
    y = space.constrain(u, *rest)
    assert np.allclose(space.unconstrain(y, *rest), u, atol=1e-12)
    jacobian = np.array(
        [
            coordinates(space.constrain(u + h, *rest) - space.constrain(u - h, *rest))
            / 2e-6
            for h in 1e-6 * np.eye(size)
        ]
    )
    _, log_size = np.linalg.slogdet(jacobian)
    assert space.log_jacobian(u, *rest) == pytest.approx(log_size, abs=1e-7)


def test_simplex_sums_to_one() -> None:
    u = np.array([3.0, -40.0, 800.0])
    y = transforms.simplex.constrain(u)
    assert np.sum(y) == pytest.approx(1.0, abs=1e-15) and np.all(y >= 0.0)
    even = transforms.simplex.constrain(np.zeros(3))
    assert np.allclose(even, 0.25)


def test_sum_to_zero_is_orthonormal() -> None:
    constrain = transforms.sum_to_zero.constrain
    basis = np.array([constrain(e) for e in np.eye(4)])
    assert np.allclose(basis @ basis.T, np.eye(4)) and np.allclose(basis.sum(1), 0.0)
    u = np.array([0.3, -1.0, 2.0, 0.1])
    assert np.allclose(transforms.sum_to_zero.unconstrain(constrain(u)), u)
    assert transforms.sum_to_zero.log_jacobian(u) == 0.0


def test_unit_vectors_and_factors() -> None:
    y = transforms.unit_vector.constrain(np.array([3.0, 4.0]))
    assert np.allclose(y, [0.6, 0.8])
    c = transforms.cholesky_correlation.constrain(np.array([0.3, -1.0, 2.0]))
    assert np.allclose(np.diag(c @ c.T), 1.0)
    with pytest.raises(ValueError, match="free elements"):
        transforms.covariance.constrain(np.zeros(4))


def test_densities_of_unconstrained_parameters() -> None:
    """An exponential density of a positive number integrates to 1 over all u."""

    @cl.jit
    def density(u: float) -> float:
        y = transforms.positive.constrain(u)
        return np.exp(-y + transforms.positive.log_jacobian(u))

    u = np.linspace(-30.0, 6.0, 20_001)
    total = sum(density(v) for v in u[::10]) * (u[10] - u[0])
    assert total == pytest.approx(1.0, abs=1e-6)
    cl.check_grads(density, (0.3,), order=2)
