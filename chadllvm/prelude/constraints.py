# mypy: ignore-errors
# ruff: noqa: N801, N805
"""Maps from all vectors to the values of constrained parameters, with their Jacobians.

Each has `constrain(u)`, its inverse `unconstrain(y)`, and `log_jacobian(u)`, the
logarithm of the size of the determinant of `constrain`: what a log-density of y needs
to be one of u. The constructions are those of the Stan Reference Manual, chapter
"Constraint transforms".
"""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import vectorize
from chadllvm.prelude.special import LOG_2, log_logistic
from chadllvm.support.overloads import Namespace


def _expit(x):
    return math.exp(log_logistic(x))


class positive(Namespace):
    """Positive numbers: exp(u)."""

    @vectorize
    def constrain(u):
        return math.exp(u)

    @vectorize
    def unconstrain(y):
        return math.log(y)

    @jit
    def log_jacobian(u):
        return np.sum(u) if np.ndim(u) > 0 else u


class bounded(Namespace):
    """Numbers between two others: low + (high - low) / (1 + exp(-u))."""

    @vectorize
    def constrain(u, low, high):
        return low + (high - low) * _expit(u)

    @vectorize
    def unconstrain(y, low, high):
        return math.log((y - low) / (high - y))

    @jit
    def log_jacobian(u, low, high):
        total = _bounded(u, low, high)
        return np.sum(total) if np.ndim(total) > 0 else total


@vectorize
def _bounded(u, low, high):
    return math.log(high - low) + log_logistic(u) + log_logistic(-u)


class ordered(Namespace):
    """Vectors whose elements grow: the first one, and logarithms of the steps."""

    @jit
    def constrain(u):
        y = u.copy()
        for k in range(1, len(u)):
            y[k] = y[k - 1] + math.exp(u[k])
        return y

    @jit
    def unconstrain(y):
        u = y.copy()
        for k in range(1, len(y)):
            u[k] = math.log(y[k] - y[k - 1])
        return u

    @jit
    def log_jacobian(u):
        return np.sum(u[1:])


class simplex(Namespace):
    """n + 1 shares that sum to 1, of n numbers: pieces broken from a stick."""

    @jit
    def constrain(u):
        n = len(u)
        y = np.zeros(n + 1)
        rest = 1.0
        for k in range(n):
            share = _expit(u[k] - math.log(n - k))
            y[k] = rest * share
            rest = rest * (1.0 - share)
        y[n] = rest
        return y

    @jit
    def unconstrain(y):
        n = len(y) - 1
        u = np.zeros(n)
        rest = y[n]
        for step in range(n):
            k = n - 1 - step
            u[k] = math.log(y[k]) - math.log(rest) + math.log(n - k)
            rest = rest + y[k]
        return u

    @jit
    def log_jacobian(u):
        n = len(u)
        total, log_rest = 0.0, 0.0
        for k in range(n):
            z = u[k] - math.log(n - k)
            total = total + log_logistic(z) + log_logistic(-z) + log_rest
            log_rest = log_rest + log_logistic(-z)
        return total


class unit_vector(Namespace):
    """Vectors of length 1: of a vector of any length but 0, for which a normal prior is
    a part of the Jacobian."""

    @jit
    def constrain(u):
        return u / math.sqrt(np.sum(u * u))

    @jit
    def unconstrain(y):
        return y.copy()

    @jit
    def log_jacobian(u):
        return -0.5 * np.sum(u * u)


class sum_to_zero(Namespace):
    """n + 1 numbers that sum to 0, of n: an orthonormal map."""

    @jit
    def constrain(u):
        n = len(u)
        y = np.zeros(n + 1)
        total = 0.0
        for step in range(n):
            i = n - step
            w = u[i - 1] / math.sqrt(i * (i + 1.0))
            total = total + w
            y[i - 1] = y[i - 1] + total
            y[i] = y[i] - w * i
        return y

    @jit
    def unconstrain(y):
        n = len(y) - 1
        u = np.zeros(n)
        total = 0.0
        for step in range(n):
            i = n - step
            w = (total - y[i]) / i
            total = total + w
            u[i - 1] = w * math.sqrt(i * (i + 1.0))
        return u

    @jit
    def log_jacobian(u):
        return 0.0 * np.sum(u)


# ---- matrices --------------------------------------------------------------------


class cholesky_correlation(Namespace):
    """Lower Cholesky factors of correlation matrices, of d (d - 1) / 2 numbers."""

    @jit
    def constrain(u):
        d = _order(len(u), -1)
        c = np.zeros((d, d))
        c[0, 0] = 1.0
        for i in range(1, d):
            rest = 1.0
            for j in range(i):
                c[i, j] = math.tanh(u[i * (i - 1) // 2 + j]) * math.sqrt(rest)
                rest = rest - c[i, j] * c[i, j]
            c[i, i] = math.sqrt(rest)
        return c

    @jit
    def unconstrain(c):
        d = len(c)
        u = np.zeros(d * (d - 1) // 2)
        for i in range(1, d):
            rest = 1.0
            for j in range(i):
                u[i * (i - 1) // 2 + j] = math.atanh(c[i, j] / math.sqrt(rest))
                rest = rest - c[i, j] * c[i, j]
        return u

    @jit
    def log_jacobian(u):
        d = _order(len(u), -1)
        total = 0.0
        for i in range(1, d):
            log_rest = 0.0
            for j in range(i):
                z = u[i * (i - 1) // 2 + j]
                log_cut = 2.0 * (LOG_2 - abs(z) - math.log1p(math.exp(-2.0 * abs(z))))
                total = total + log_cut + 0.5 * log_rest
                log_rest = log_rest + log_cut
        return total


class covariance(Namespace):
    """Positive definite matrices, of d (d + 1) / 2 numbers: those of a Cholesky factor
    row by row, with the logarithms of its diagonal."""

    @jit
    def constrain(u):
        c = _lower(u)
        return c @ c.T

    @jit
    def unconstrain(y):
        d = len(y)
        c = np.linalg.cholesky(y)
        u = np.zeros(d * (d + 1) // 2)
        for i in range(d):
            for j in range(i):
                u[i * (i + 1) // 2 + j] = c[i, j]
            u[i * (i + 1) // 2 + i] = math.log(c[i, i])
        return u

    @jit
    def log_jacobian(u):
        d = _order(len(u), 1)
        total = d * LOG_2
        for k in range(d):
            total = total + (d - k + 1.0) * u[k * (k + 1) // 2 + k]
        return total


def _lower(u):
    d = _order(len(u), 1)
    c = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            c[i, j] = u[i * (i + 1) // 2 + j]
        c[i, i] = math.exp(u[i * (i + 1) // 2 + i])
    return c


def _order(count, side):
    """The d with d (d + side) / 2 numbers."""
    d = int(0.5 * (math.sqrt(8.0 * count + 1.0) - side) + 0.5)
    if d * (d + side) // 2 != count:
        raise ValueError("no matrix has so many free elements")
    return d
