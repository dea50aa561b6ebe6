# mypy: ignore-errors
# ruff: noqa: N801, N805
"""Distributions of integers, by SciPy's names and parameters, and others by their own.

k may be an integer or a float that holds one. What has no probability is -inf.
"""

from __future__ import annotations

import math

from chadllvm.api.vectorized import vectorize
from chadllvm.prelude.incomplete import log_betainc, log_gammainc
from chadllvm.prelude.special import (
    betaln,
    log_logistic,
    times_log,
    times_log1p,
)
from chadllvm.stats.family import with_probabilities
from chadllvm.support.overloads import Namespace, overload


def _is_count(k):
    return k >= 0 and k == math.floor(k)


def log_choose(n, k):
    """The logarithm of a binomial coefficient."""
    if k == 0 or k == n:
        return 0.0
    return -betaln(n - k + 1.0, k + 1.0) - math.log(n + 1.0)


@with_probabilities
class bernoulli(Namespace):
    """1 with probability p, else 0."""

    @overload("scipy.stats.bernoulli.logpmf")
    @vectorize
    def logpmf(k, p):
        if not 0.0 <= p <= 1.0:
            return math.nan
        if k == 1:
            return math.log(p)
        return math.log1p(-p) if k == 0 else -math.inf

    @overload("scipy.stats.bernoulli.logcdf")
    @vectorize
    def logcdf(k, p):
        if not 0.0 <= p <= 1.0:
            return math.nan
        if k < 0:
            return -math.inf
        return math.log1p(-p) if k < 1 else 0.0

    @overload("scipy.stats.bernoulli.ppf")
    @vectorize
    def ppf(q, p):
        if not (0.0 <= p <= 1.0 and 0.0 <= q <= 1.0):
            return math.nan
        if q == 0.0:
            return -1.0
        return 0.0 if q <= 1.0 - p else 1.0


@with_probabilities
class bernoulli_logit(Namespace):
    """1 with probability 1 / (1 + exp(-logit)), else 0."""

    @vectorize
    def logpmf(k, logit):
        if k == 1:
            return log_logistic(logit)
        return log_logistic(-logit) if k == 0 else -math.inf


@with_probabilities
class binom(Namespace):
    """How many of n trials succeed, each with probability p."""

    @overload("scipy.stats.binom.logpmf")
    @vectorize
    def logpmf(k, n, p):
        if not (0.0 <= p <= 1.0 and _is_count(n)):
            return math.nan
        if not (_is_count(k) and k <= n):
            return -math.inf
        return log_choose(n, k) + times_log(k, p) + times_log1p(n - k, -p)

    @overload("scipy.stats.binom.logcdf")
    @vectorize
    def logcdf(k, n, p):
        if not (0.0 <= p <= 1.0 and _is_count(n)):
            return math.nan
        return _binomial_below(k, n, p)

    @overload("scipy.stats.binom.ppf")
    @vectorize
    def ppf(q, n, p):
        if not (0.0 <= p <= 1.0 and _is_count(n) and 0.0 <= q <= 1.0):
            return math.nan
        if q == 0.0:
            return -1.0
        return _place(lambda k: _binomial_below(k, n, p), q, 1.0 * n)


def _binomial_below(k, n, p):
    """The logarithm of the probability of at most k."""
    k = math.floor(k)
    if k < 0:
        return -math.inf
    if k >= n or p == 0.0:
        return 0.0
    if p == 1.0:
        return -math.inf
    below, _ = log_betainc(n - k, k + 1.0, 1.0 - p, p)
    return below


def _place(log_below, q, most):
    """The least integer with at least this probability of being not exceeded."""
    log_q = math.log(q) * (1.0 - 1e-14) if q < 1.0 else 0.0
    low, high = -1.0, 1.0
    while high < most and log_below(high) < log_q:
        low, high = high, 2.0 * high
    high = min(high, most)
    while high - low > 1.0:
        middle = math.floor(0.5 * (low + high))
        if log_below(middle) < log_q:
            low = 1.0 * middle
        else:
            high = 1.0 * middle
    return high


@with_probabilities
class poisson(Namespace):
    """Counts of rare events, mu of them in the mean."""

    @overload("scipy.stats.poisson.logpmf")
    @vectorize
    def logpmf(k, mu):
        if not mu >= 0.0:
            return math.nan
        if not _is_count(k):
            return -math.inf
        return times_log(k, mu) - math.lgamma(k + 1.0) - mu

    @overload("scipy.stats.poisson.logcdf")
    @vectorize
    def logcdf(k, mu):
        if not mu >= 0.0:
            return math.nan
        return _poisson_below(k, mu)

    @overload("scipy.stats.poisson.ppf")
    @vectorize
    def ppf(q, mu):
        if not (mu >= 0.0 and 0.0 <= q <= 1.0):
            return math.nan
        if q == 0.0 or mu == 0.0:
            return -1.0 if q == 0.0 else 0.0
        if q == 1.0:
            return math.inf
        return _place(lambda k: _poisson_below(k, mu), q, math.inf)


def _poisson_below(k, mu):
    """The logarithm of the probability of at most k."""
    if k < 0:
        return -math.inf
    if mu == 0.0 or k == math.inf:
        return 0.0
    _, above = log_gammainc(math.floor(k) + 1.0, mu)
    return above


@with_probabilities
class poisson_log(Namespace):
    """Counts of rare events, exp(eta) of them in the mean."""

    @vectorize
    def logpmf(k, eta):
        if not _is_count(k):
            return -math.inf
        return k * eta - math.exp(eta) - math.lgamma(k + 1.0)


@with_probabilities
class nbinom(Namespace):
    """How many trials fail before n succeed, each with probability p."""

    @overload("scipy.stats.nbinom.logpmf")
    @vectorize
    def logpmf(k, n, p):
        if not (0.0 < p <= 1.0 and n > 0.0):
            return math.nan
        if not _is_count(k):
            return -math.inf
        ways = -betaln(1.0 * n, k + 1.0) - math.log(n + k)
        return ways + n * math.log(p) + times_log1p(k, -p)

    @overload("scipy.stats.nbinom.logcdf")
    @vectorize
    def logcdf(k, n, p):
        if not (0.0 < p <= 1.0 and n > 0.0):
            return math.nan
        return _failures_below(k, n, p)

    @overload("scipy.stats.nbinom.ppf")
    @vectorize
    def ppf(q, n, p):
        if not (0.0 < p <= 1.0 and n > 0.0 and 0.0 <= q <= 1.0):
            return math.nan
        if q == 0.0 or q == 1.0:
            return -1.0 if q == 0.0 else math.inf
        return _place(lambda k: _failures_below(k, n, p), q, math.inf)


def _failures_below(k, n, p):
    """The logarithm of the probability of at most k."""
    if k < 0:
        return -math.inf
    if p == 1.0 or k == math.inf:
        return 0.0
    below, _ = log_betainc(1.0 * n, math.floor(k) + 1.0, p, 1.0 - p)
    return below


# ---- with more zeros -------------------------------------------------------------


def _inflated(k, log_mass, zero):
    """The logarithm of a mixture of zero and of a distribution, given at k."""
    if not 0.0 <= zero <= 1.0:
        return math.nan
    if k != 0:
        return math.log1p(-zero) + log_mass
    return math.log(zero + (1.0 - zero) * math.exp(log_mass))


@with_probabilities
class zero_inflated_poisson(Namespace):
    """0 with probability `zero`, else as `poisson`."""

    @vectorize
    def logpmf(k, zero, mu):
        return _inflated(k, poisson.logpmf(k, mu), zero)


@with_probabilities
class zero_inflated_binom(Namespace):
    """0 with probability `zero`, else as `binom`."""

    @vectorize
    def logpmf(k, zero, n, p):
        return _inflated(k, binom.logpmf(k, n, p), zero)


@with_probabilities
class zero_inflated_nbinom(Namespace):
    """0 with probability `zero`, else as `nbinom`."""

    @vectorize
    def logpmf(k, zero, n, p):
        return _inflated(k, nbinom.logpmf(k, n, p), zero)
