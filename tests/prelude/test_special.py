"""Special functions: values and derivatives against mpmath, tails included."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc

import chadllvm as cl
from chadllvm.prelude import incomplete, special

mpf = mp.mpf


def near(found: Any, right: Any, digits: float) -> bool:
    least = mpf(10) ** -300 + mpf(10) ** (5 - mp.mp.dps)
    return bool(abs(mpf(found) - right) <= digits * abs(right) + least)


def assert_as_mpmath(
    ours: Callable[..., Any],
    exact: Callable[..., Any],
    places: Any,
    value: float,
    slope: float,
) -> None:
    """Values, and slopes by all arguments, as far as mpmath has digits of them."""
    arity = len(places[0])
    slopes = cl.grad(ours, argnums=tuple(range(arity)))
    with mp.workdps(60):
        for place in places:
            exactly = [mpf(x) for x in place]
            assert near(ours(*place), exact(*exactly), value), place
            for k, found in enumerate(slopes(*place)):
                unit = tuple(int(j == k) for j in range(arity))
                right = mp.diff(exact, tuple(exactly), unit)
                assert near(found, right, slope), (place, k, found, right)


def log_normal(x: Any) -> Any:
    tail = mp.erfc(abs(x) / mp.sqrt(2)) / 2
    return mp.log1p(-tail) if x > 0 else mp.log(tail)


def test_normal_probabilities() -> None:
    places = [(x,) for x in (-300.0, -38.0, -12.1, -11.9, -5.0, -0.1, 0.3, 5.0, 30.0)]
    assert_as_mpmath(special.log_ndtr, log_normal, places, 1e-13, 1e-12)


def test_normal_quantiles() -> None:
    p = np.array([1e-300, 1e-20, 1e-3, 0.07, 0.075, 0.3, 0.5, 0.7, 0.9, 1.0 - 1e-10])
    np.testing.assert_allclose(special.ndtri(p), sc.ndtri(p), rtol=1e-15, atol=1e-16)
    y = np.array([-0.999999, -0.5, -1e-5, -1e-20, 1e-300, 0.2, 0.9, 1.0 - 1e-14])
    places = [(float(v),) for v in y[1:6]]
    assert_as_mpmath(special.erfinv, mp.erfinv, places, 1e-15, 1e-14)
    np.testing.assert_allclose(special.erfinv(y), sc.erfinv(y), rtol=1e-15)
    assert special.ndtri(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]
    assert np.all(np.isnan(special.ndtri(np.array([-0.1, 1.1, np.nan]))))
    second = cl.grad(cl.grad(special.ndtri))(0.3)
    x = special.ndtri(0.3)
    assert second == pytest.approx(x * 2.0 * np.pi * np.exp(x * x), rel=1e-13)


def test_beta_function() -> None:
    places = [
        *((0.1, 0.2), (1.0, 3.0), (5.0, 12.0), (9.9, 1e5), (10.0, 10.0), (12.0, 1e8)),
        *((1e3, 1e3), (1e6, 2.0), (1e-5, 1e7), (3.0, 0.01), (200.0, 0.5)),
    ]
    exact = lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)  # noqa: E731
    assert_as_mpmath(special.betaln, exact, places, 1e-14, 1e-12)
    assert special.multigammaln(4.5, 3) == pytest.approx(sc.multigammaln(4.5, 3))


RATIOS = (1e-6, 0.1, 0.9, 1.0, 1.1, 2.0)


@pytest.mark.parametrize("a", [0.1, 0.5, 1.0, 3.0, 9.9, 10.0, 50.0, 1000.0])
def test_incomplete_gamma(a: float) -> None:
    places = [(a, (a if a >= 1.0 else 3.0) * r) for r in RATIOS]
    lower = lambda a, x: mp.gammainc(a, 0, x, regularized=True)  # noqa: E731
    upper = lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)  # noqa: E731
    assert_as_mpmath(incomplete.gammainc, lower, places, 2e-12, 1e-9)
    x = np.array([x for _, x in places])
    right = [float(upper(mpf(a), mpf(v))) for v in x]
    np.testing.assert_allclose(incomplete.gammaincc(a, x), right, rtol=3e-12)


def test_incomplete_gamma_at_the_ends() -> None:
    ends = np.array([0.0, 1.0, np.inf])
    a, x = ends[:, None], ends
    np.testing.assert_allclose(incomplete.gammainc(a, x), sc.gammainc(a, x), 1e-15)
    np.testing.assert_allclose(incomplete.gammaincc(a, x), sc.gammaincc(a, x), 1e-15)


BETA = list(
    itertools.product([0.5, 1.0, 5.0, 12.0], [0.5, 2.0, 20.0], [1e-6, 0.3, 0.9])
)


@pytest.mark.parametrize("a", [0.5, 1.0, 5.0, 12.0])
def test_incomplete_beta(a: float) -> None:
    places = [place for place in BETA if place[0] == a]

    def exact(a: Any, b: Any, x: Any) -> Any:
        return mp.betainc(a, b, 0, x, regularized=True)

    assert_as_mpmath(incomplete.betainc, exact, places, 1e-13, 1e-8)


def test_incomplete_beta_of_large_parameters() -> None:
    places = itertools.product(
        [0.01, 300.0, 1e4], [0.02, 20.0, 1e4], [1e-10, 0.3, 0.999]
    )
    a, b, x = np.array([*places]).T
    found, right = incomplete.betainc(a, b, x), sc.betainc(a, b, x)
    np.testing.assert_allclose(found, right, rtol=2e-12, atol=1e-300)


@pytest.mark.parametrize("p", [1e-300, 1e-10, 0.3, 0.7, 1.0 - 1e-10])
def test_inverses(p: float) -> None:
    for a in (0.01, 0.5, 1.0, 3.0, 100.0, 1e4):
        found = cl.jit(incomplete.gamma_quantile)(p, 1.0 - p, a)
        assert found == pytest.approx(sc.gammaincinv(a, p), rel=1e-11, abs=1e-300)
        for b in (1.0, 7.0, 500.0):
            x, y = cl.jit(incomplete.beta_quantile)(p, 1.0 - p, a, b)
            right = sc.betaincinv(a, b, p)
            if np.isnan(right):  # SciPy gives up there.
                right = x
                assert incomplete.betainc(a, b, x) == pytest.approx(p, rel=1e-9)
            assert x == pytest.approx(right, rel=1e-8, abs=1e-300)
            assert x + y == pytest.approx(1.0, abs=3e-16)


def test_sums_of_exponentials() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4)) * 300.0
    for ours, right in (
        (special.logsumexp(x), sc.logsumexp(x)),
        (special.logsumexp(x, axis=0), sc.logsumexp(x, axis=0)),
        (
            special.logsumexp(x, axis=1, keepdims=True),
            sc.logsumexp(x, axis=1, keepdims=True),
        ),
        (special.logsumexp(x, b=x * x), sc.logsumexp(x, b=x * x)),
        (special.softmax(x), sc.softmax(x)),
        (special.softmax(x, axis=1), sc.softmax(x, axis=1)),
        (special.log_softmax(x, axis=0), sc.log_softmax(x, axis=0)),
    ):
        np.testing.assert_allclose(ours, right, rtol=1e-13, atol=1e-300)
        assert np.shape(ours) == np.shape(right)
    assert special.logsumexp(np.array([-np.inf, -np.inf])) == -np.inf
    assert special.logsumexp(np.array([np.inf, 1.0])) == np.inf
    v = np.array([1.0, 700.0, 701.0])
    np.testing.assert_allclose(cl.grad(special.logsumexp)(v), sc.softmax(v), rtol=1e-13)
    hessian = np.diag(sc.softmax(v)) - np.outer(sc.softmax(v), sc.softmax(v))
    np.testing.assert_allclose(cl.hessian(special.logsumexp)(v), hessian, atol=1e-15)


@pytest.mark.sweep
def test_scipys_names() -> None:
    @cl.jit
    def f(x: cl.f64[:]) -> float:
        terms = sc.entr(x) + sc.log_ndtr(x) + sc.erfinv(x) + sc.ndtri(x)
        terms += sc.betaln(x, 2.0) + sc.gammainc(2.0, x) + sc.betainc(2.0, x, 0.3)
        return np.sum(terms + sc.i0e(x)) + sc.logsumexp(x) + np.sum(sc.softmax(x) ** 2)

    x = np.array([0.2, 0.5, 0.9])
    assert f(x) == pytest.approx(f.py_func(x), rel=1e-13)
    cl.check_grads(f, (x,), order=2)
