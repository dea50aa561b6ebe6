"""Distributions of real numbers: SciPy's values, derivatives against differences."""

from __future__ import annotations

import functools
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import chadllvm as cl
from chadllvm import stats
from tests.stats.families import CASES, Case

X = np.array([-30.0, -5.0, -1.0, -0.1, 0.0, 0.05, 0.3, 0.5, 0.9, 1.0, 1.7, 3.0, 40.0])
P = np.array([0.0, 1e-12, 1e-4, 0.1, 0.5, 0.6, 0.99, 1.0 - 1e-9, 1.0])
METHODS = ("logpdf", "logcdf", "logsf", "pdf", "cdf", "sf", "ppf", "isf")
LOC, SCALE = 0.25, 1.5


def ids(cases: tuple[Case, ...]) -> list[str]:
    return list(map(str, cases))


def assert_near(found: Any, right: Any, near: float) -> None:
    """Equal, both NaN, or near; where SciPy has no digits left, within a few units."""
    assert found.shape == right.shape
    with np.errstate(invalid="ignore"):
        same = (found == right) | (np.isnan(found) & np.isnan(right))
        same |= np.abs(found - right) <= near * np.abs(right) + 1e-15
    assert np.all(same), (found[~same], right[~same])


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_values_are_scipys(case: Case) -> None:
    family = case.family
    for method in METHODS:
        is_circular = case.name == "vonmises"
        loc, scale = (0.0, 1.0) if is_circular else (LOC, SCALE)
        x = X[np.abs(X) < 3.0] if is_circular else X * scale + loc
        given = P if method in ("ppf", "isf") else x
        found = getattr(family, method)(given, *case.shapes, loc, scale)
        with np.errstate(all="ignore"):
            right = getattr(getattr(scipy.stats, case.name), method)(
                given, *case.shapes, loc, scale
            )
        assert_near(found, right, case.near)


@functools.cache
def total_of(family: Any, shapes: int) -> Any:
    """The sum of a family's functions, with so many parameters of shape."""
    log_density, log_below = family.logpdf, family.logcdf
    log_above, quantile = family.logsf, family.ppf

    match shapes:
        case 0:

            def total(x: float, p: float, loc: float, scale: float) -> float:
                size = log_density(x, loc, scale) + log_below(x, loc, scale)
                return size + log_above(x, loc, scale) + quantile(p, loc, scale)

        case 1:

            def total(  # type: ignore[misc]
                x: float, p: float, a: float, loc: float, scale: float
            ) -> float:
                size = log_density(x, a, loc, scale) + log_below(x, a, loc, scale)
                return size + log_above(x, a, loc, scale) + quantile(p, a, loc, scale)

        case _:

            def total(  # type: ignore[misc]
                x: float, p: float, a: float, b: float, loc: float, scale: float
            ) -> float:
                size = log_density(x, a, b, loc, scale)
                size += log_below(x, a, b, loc, scale) + log_above(x, a, b, loc, scale)
                return size + quantile(p, a, b, loc, scale)

    return cl.jit(total)


@pytest.mark.sweep
@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_derivatives_are_those_of_the_values(case: Case) -> None:
    x = 1.9 if case.name == "pareto" else 0.7
    total = total_of(case.family, min(len(case.shapes), 2))
    place = (x, 0.3, *case.shapes, 0.1, 1.2)
    cl.check_grads(total, place)
    assert np.all(np.isfinite(cl.grad(total, argnums=(*range(len(place)),))(*place)))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_quantiles_undo_probabilities(case: Case) -> None:
    p = np.array([1e-60, 1e-20, 1e-3, 0.2, 0.5, 0.8])
    if case.name == "vonmises":
        p = p[2:]  # Its probabilities have an absolute error.
    sides = (("logcdf", "ppf"), ("logsf", "isf"))
    # Next to an end other than 0 there are too few floats.
    for below, quantile in sides[: 2 if case.family.high == np.inf else 1]:
        x = getattr(case.family, quantile)(p, *case.shapes)
        assert np.all(np.isfinite(x))
        inner = (x > case.family.low) & (x < case.family.high)
        found = getattr(case.family, below)(x, *case.shapes)
        # What a last place of x makes of the logarithm of the probability.
        slope = np.exp(case.family.logpdf(x, *case.shapes) - found) * np.abs(x)
        error = np.abs(found - np.log(p))[inner]
        assert np.all(error <= 1e-12 * np.abs(np.log(p[inner])) + 1e-14 * slope[inner])


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_other_parameters_give_nan(case: Case) -> None:
    family, shapes = case.family, case.shapes
    assert np.isnan(family.logpdf(0.5, *shapes, 0.0, -1.0))
    assert np.isnan(family.ppf(0.5, *shapes, 0.0, 0.0))
    assert np.isnan(family.logcdf(np.nan, *shapes))
    for wrong in (-0.1, 1.1, np.nan):
        assert np.isnan(family.ppf(wrong, *shapes))
    if shapes and family.valid:
        assert np.isnan(family.logpdf(0.5, *(-1.0 for _ in shapes)))


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("a", [0.0, 0.1, 1.0, 3.0, -0.5, -2.0])
@pytest.mark.parametrize("z", [-9.0, -1.0, -0.05, 0.0, 0.05, 0.5, 3.0])
def test_skew_normal(z: float, a: float) -> None:
    with mp.workdps(30):
        ends = [z - 40, *(z - mp.mpf(2) ** k for k in range(4, -8, -1)), z]
        right = mp.log(mp.quad(lambda t: 2 * mp.npdf(t) * mp.ncdf(a * t), ends))
    assert stats.skewnorm.logcdf(z, a) == pytest.approx(float(right), rel=1e-12)


@pytest.mark.parametrize("kappa", [0.0, 0.5, 40.0, 1000.0])
def test_von_mises(kappa: float) -> None:
    for z in (-2.0, -0.1, 0.02, 0.7):
        with mp.workdps(30):
            whole = 2 * mp.pi * mp.besseli(0, kappa) * mp.exp(-kappa)
            density = lambda t, whole=whole: mp.exp(kappa * (mp.cos(t) - 1)) / whole  # noqa: E731
            right = float(mp.quad(density, mp.linspace(-mp.pi, z, 40)))
        assert stats.vonmises.cdf(z, kappa) == pytest.approx(right, abs=3e-15)
        log_density = float(mp.log(density(z)))
        assert stats.vonmises.logpdf(z, kappa) == pytest.approx(log_density, rel=1e-13)


def test_half_student() -> None:
    x = np.array([0.0, 0.3, 2.0, 50.0])
    twice = 2.0 * scipy.stats.t.pdf(x, 3.5)
    assert np.allclose(stats.halft.pdf(x, 3.5), twice, rtol=1e-13)
    assert np.allclose(
        stats.halft.sf(x, 3.5), 2.0 * scipy.stats.t.sf(x, 3.5), rtol=1e-13
    )
    p = np.array([1e-8, 0.3, 0.999])
    assert np.allclose(stats.halft.cdf(stats.halft.ppf(p, 3.5), 3.5), p, rtol=1e-12)
    assert stats.halft.logpdf(-0.1, 3.5) == -np.inf


@pytest.mark.sweep
def test_scipys_names_mean_these() -> None:
    @cl.jit
    def f(x: cl.f64[:], m: float, s: float) -> float:
        terms = scipy.stats.norm.logpdf(x, m, scale=s) + scipy.stats.gamma.logsf(x, 2.0)
        return np.sum(terms) + scipy.stats.norm.ppf(0.3, loc=m)

    x = np.array([0.5, 1.5, 2.5])
    assert f(x, 0.4, 2.0) == pytest.approx(f.py_func(x, 0.4, 2.0), rel=1e-13)
    cl.check_grads(f, (x, 0.4, 2.0), order=2)
