"""Distributions of vectors and matrices: SciPy's values, integrals, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from scipy.integrate import quad

import chadllvm as cl
from chadllvm import stats

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 3))
COVARIANCE = A @ A.T + 3.0 * np.eye(3)
X, MEAN = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=3)
P = np.array([0.2, 0.3, 0.5])


@pytest.mark.parametrize("x", [X, X[0]], ids=["rows", "vector"])
def test_normal_vectors(x: Any) -> None:
    right = scipy.stats.multivariate_normal.logpdf(x, MEAN, COVARIANCE)
    family = stats.multivariate_normal
    for found in (
        family.logpdf(x, MEAN, COVARIANCE),
        np.log(family.pdf(x, MEAN, COVARIANCE)),
        family.logpdf_cholesky(x, MEAN, np.linalg.cholesky(COVARIANCE)),
        family.logpdf_precision(x, MEAN, np.linalg.inv(COVARIANCE)),
    ):
        np.testing.assert_allclose(found, right, rtol=1e-12)
    with pytest.raises(ValueError, match="definite"):
        family.logpdf(x, MEAN, -COVARIANCE)


def test_shares() -> None:
    alpha = np.array([1.0, 2.5, 0.7])
    expected = scipy.stats.dirichlet.logpdf(P, alpha)
    assert stats.dirichlet.logpdf(P, alpha) == pytest.approx(expected, rel=1e-13)
    assert stats.dirichlet.logpdf(P * 1.1, alpha) == -np.inf
    assert np.isnan(stats.dirichlet.logpdf(P, -alpha))
    counts = np.array([1, 2, 0])
    expected = scipy.stats.multinomial.logpmf(counts, 3, P)
    assert stats.multinomial.logpmf(counts, 3, P) == pytest.approx(expected, rel=1e-13)
    assert stats.multinomial.logpmf(counts, 4, P) == -np.inf


def test_categories_and_mixtures() -> None:
    assert stats.categorical.logpmf(1, P) == pytest.approx(np.log(0.3))
    found = stats.categorical.logpmf_logit(1, np.log(P) + 5.0)
    assert found == pytest.approx(np.log(0.3))
    for k in (-1, 3):
        assert stats.categorical.logpmf(k, P) == -np.inf
        assert stats.categorical.logpmf_logit(k, P) == -np.inf
    logs = RANDOM.normal(size=(4, 3)) * 300.0
    weights = np.log(P)
    right = scipy.special.logsumexp(weights + logs, axis=1)
    np.testing.assert_allclose(stats.mixture(weights, logs), right, rtol=1e-13)
    assert stats.mixture(weights, logs[0]) == pytest.approx(right[0], rel=1e-13)


def test_matrices() -> None:
    scale = COVARIANCE + np.eye(3)
    right = scipy.stats.wishart.logpdf(COVARIANCE, 5.0, scale)
    assert stats.wishart.logpdf(COVARIANCE, 5.0, scale) == pytest.approx(right)


def test_correlations() -> None:
    """The density of one correlation integrates to 1, and so does its factor's."""

    def factor(r: float) -> Any:
        return np.array([[1.0, 0.0], [r, np.sqrt(1.0 - r * r)]])

    for eta in (0.8, 1.0, 3.0):
        for density in (
            lambda r, eta=eta: stats.lkj.logpdf(factor(r) @ factor(r).T, eta),
            lambda r, eta=eta: stats.lkj.logpdf_cholesky(factor(r), eta),
        ):
            total, _ = quad(lambda r, f=density: np.exp(f(r)), -1.0, 1.0)
            assert total == pytest.approx(1.0, rel=1e-7)


@pytest.mark.sweep
def test_derivatives() -> None:
    @cl.jit
    def total(x: cl.f64[:], c: cl.f64[:, :]) -> float:
        covariance = c @ c.T + np.eye(3)
        terms = stats.multivariate_normal.logpdf(x, 2.0 * x * x, covariance)
        terms += scipy.stats.wishart.logpdf(covariance, 5.0, np.eye(3))
        shares = np.exp(x) / np.sum(np.exp(x))
        return terms + stats.dirichlet.logpdf(shares, x * x + 1.0)

    cl.check_grads(total, (MEAN, A), order=2)
    assert total(MEAN, A) == pytest.approx(total.py_func(MEAN, A))
