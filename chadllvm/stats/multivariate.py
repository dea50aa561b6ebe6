# mypy: ignore-errors
# ruff: noqa: N801, N805
"""Distributions of vectors and of matrices, of categories, and mixtures."""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.prelude.dense import forward_matrix, forward_vector
from chadllvm.prelude.special import (
    LOG_2,
    LOG_2PI,
    betaln,
    log_softmax,
    logsumexp,
    multigammaln,
    times_log,
)
from chadllvm.support.overloads import Namespace, overload


class multivariate_normal(Namespace):
    """Normal vectors: of a covariance, its lower Cholesky factor, or its inverse.

    x is a vector, or a matrix of which each row is one; then the result is a vector.
    A covariance that is not positive definite raises a ValueError.
    """

    @overload("scipy.stats.multivariate_normal.logpdf")
    @jit
    def logpdf(x, mean, cov):
        return _normal(x - mean, np.linalg.cholesky(cov))

    @overload("scipy.stats.multivariate_normal.pdf")
    @jit
    def pdf(x, mean, cov):
        return np.exp(_normal(x - mean, np.linalg.cholesky(cov)))

    @jit
    def logpdf_cholesky(x, mean, c):
        return _normal(x - mean, c)

    @jit
    def logpdf_precision(x, mean, precision):
        c = np.linalg.cholesky(precision)
        y = (x - mean) @ c
        size = np.sum(y * y, axis=-1)
        return -0.5 * (size + len(c) * LOG_2PI) + np.sum(np.log(np.diag(c)))


def _normal(x, c):
    """log density of x less its mean, by the Cholesky factor of the covariance."""
    y = forward_vector(c, x, False) if x.ndim == 1 else forward_matrix(c, x.T, False)
    size = np.sum(y * y, axis=0)
    return -0.5 * (size + len(c) * LOG_2PI) - np.sum(np.log(np.diag(c)))


# ---- shares ----------------------------------------------------------------------


class dirichlet(Namespace):
    """Shares that sum to 1: Π x^(α - 1) / B(α)."""

    @overload("scipy.stats.dirichlet.logpdf")
    @jit
    def logpdf(x, alpha):
        total = math.lgamma(np.sum(alpha))
        for k in range(len(x)):
            if not alpha[k] > 0.0:
                return math.nan
            if not 0.0 <= x[k] <= 1.0:
                return -math.inf
            total = total + times_log(alpha[k] - 1.0, x[k]) - math.lgamma(alpha[k])
        return total if abs(np.sum(x) - 1.0) < 1e-9 else -math.inf


class categorical(Namespace):
    """An index from 0 on: of probabilities p, or of their logarithms but for a sum."""

    @jit
    def logpmf(k, p):
        return math.log(p[k]) if 0 <= k < len(p) else -math.inf

    @jit
    def logpmf_logit(k, logits):
        return log_softmax(logits)[k] if 0 <= k < len(logits) else -math.inf


class multinomial(Namespace):
    """How many of n trials end in each of several ways."""

    @overload("scipy.stats.multinomial.logpmf")
    @jit
    def logpmf(x, n, p):
        if np.sum(x) != n:
            return -math.inf
        total = math.lgamma(n + 1.0)
        for k in range(len(x)):
            if x[k] < 0:
                return -math.inf
            total = total + times_log(x[k], p[k]) - math.lgamma(x[k] + 1.0)
        return total


@jit
def mixture(log_weights, log_densities):
    """log Σ w f: of the logarithms of weights that sum to 1, and of the densities.

    `log_densities` may be a matrix, each row of which is of one observation.
    """
    return logsumexp(log_weights + log_densities, axis=-1)


# ---- matrices --------------------------------------------------------------------


class wishart(Namespace):
    """Σ of df outer products of normal vectors whose covariance is `scale`."""

    @overload("scipy.stats.wishart.logpdf")
    @jit
    def logpdf(x, df, scale):
        d = len(x)
        c, s = np.linalg.cholesky(x), np.linalg.cholesky(scale)
        y = forward_matrix(s, c, False)
        log_x, log_s = np.sum(np.log(np.diag(c))), np.sum(np.log(np.diag(s)))
        total = (df - d - 1.0) * log_x - 0.5 * np.sum(y * y) - df * log_s
        return total - 0.5 * df * d * LOG_2 - multigammaln(0.5 * df, d)


class lkj(Namespace):
    """Correlation matrices with density det^(η - 1), up to a factor that is known.

    D. Lewandowski, D. Kurowicka, H. Joe, Journal of Multivariate Analysis 100 (2009).
    """

    @jit
    def logpdf(x, eta):
        c = np.linalg.cholesky(x)
        return 2.0 * (eta - 1.0) * np.sum(np.log(np.diag(c))) - _lkj(len(x), eta)

    @jit
    def logpdf_cholesky(c, eta):
        """Of the lower Cholesky factor, whose rows have the length 1."""
        d = len(c)
        total = 0.0
        for k in range(1, d):
            total = total + (d - k - 3.0 + 2.0 * eta) * math.log(c[k, k])
        return total - _lkj(d, eta)


def _lkj(d, eta):
    """The logarithm of the integral of the density."""
    total = 0.0
    for k in range(1, d):
        half = eta + 0.5 * (d - k - 1)
        total = total + (d - k) * (betaln(half, half) + (2.0 * half - 1.0) * LOG_2)
    return total
