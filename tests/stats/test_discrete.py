"""Distributions of integers: SciPy's values, and derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import chadllvm as cl
from chadllvm import stats

K = np.array([-1, 0, 1, 3, 7, 20, 2])
Q = np.array([0.0, 1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-9, 1.0])
CASES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("bernoulli", (0.3,)),
    ("bernoulli", (0.0,)),
    ("binom", (10, 0.3)),
    ("binom", (7, 1.0)),
    ("binom", (7, 0.0)),
    ("poisson", (3.5,)),
    ("poisson", (0.0,)),
    ("nbinom", (2.5, 0.4)),
    ("nbinom", (3, 1.0)),
)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("name", "given"), CASES)
@pytest.mark.parametrize("method", ["logpmf", "pmf", "logcdf", "cdf", "ppf"])
def test_values_are_scipys(name: str, given: tuple[Any, ...], method: str) -> None:
    places = Q if method == "ppf" else K
    found = getattr(getattr(stats, name), method)(places, *given)
    with np.errstate(all="ignore"):
        right = getattr(getattr(scipy.stats, name), method)(places, *given)
    if method == "ppf" and given[-1] == 0.0:
        right[-1] = 0.0  # SciPy has the end of the support, not the least such integer.
    np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-15)
    if method == "pmf":
        np.testing.assert_allclose(found, right, rtol=1e-12)


def test_no_counts_have_no_probability() -> None:
    assert stats.poisson.logpmf(1.5, 2.0) == -np.inf
    assert stats.binom.logpmf(4, 3, 0.5) == -np.inf
    assert stats.bernoulli.logpmf(2, 0.5) == -np.inf
    for wrong in (
        stats.poisson.logpmf(1, -1.0),
        stats.binom.logpmf(1, 3, 1.5),
        stats.binom.ppf(0.5, 3.5, 0.5),
        stats.nbinom.logpmf(1, -1.0, 0.5),
        stats.bernoulli.ppf(1.5, 0.5),
    ):
        assert np.isnan(wrong)


def test_other_parameters_of_the_same() -> None:
    logit, p = 0.4, 1.0 / (1.0 + np.exp(-0.4))
    for k in (0, 1, 2):
        expected = stats.bernoulli.logpmf(k, p)
        found = stats.bernoulli_logit.logpmf(k, logit)
        assert found == pytest.approx(expected, rel=1e-14)
    found = stats.poisson_log.logpmf(K, np.log(3.5))
    np.testing.assert_allclose(found, stats.poisson.logpmf(K, 3.5), rtol=1e-13)
    assert stats.bernoulli_logit.logpmf(0, 800.0) == -800.0


def test_more_zeros() -> None:
    for inflated, plain, given in (
        ("zero_inflated_poisson", "poisson", (2.0,)),
        ("zero_inflated_binom", "binom", (5, 0.3)),
        ("zero_inflated_nbinom", "nbinom", (2.5, 0.4)),
    ):
        found = getattr(stats, inflated).pmf(np.arange(60), 0.25, *given)
        expected = 0.75 * getattr(stats, plain).pmf(np.arange(60), *given)
        expected[0] += 0.25
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert np.isnan(stats.zero_inflated_poisson.logpmf(1, 1.5, 2.0))


@pytest.mark.sweep
def test_derivatives() -> None:
    @cl.jit
    def total(p: float, mu: float, n: float) -> float:
        masses = stats.binom.logpmf(3, 10, p) + stats.poisson.logpmf(4, mu)
        masses += stats.nbinom.logpmf(3, n, p) + stats.bernoulli.logpmf(1, p)
        masses += stats.zero_inflated_poisson.logpmf(0, p, mu)
        sums = stats.binom.logcdf(3, 10, p) + stats.poisson.logcdf(4, mu)
        return masses + sums + stats.nbinom.logcdf(3, n, p)

    cl.check_grads(total, (0.3, 2.5, 1.7), order=2)
    assert total(0.3, 2.5, 1.7) == pytest.approx(total.py_func(0.3, 2.5, 1.7))
