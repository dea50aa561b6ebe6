"""Objectives over records: SciPy's optimisers with our derivatives."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate, ndimage, optimize

import chadllvm as cl
from chadllvm.interop.scipy import low_level_callable, objective

NUMBER = "double (double, void *)"
POINT = "double (int, double *, void *)"
WINDOW = "int (double *, npy_intp, double *, void *)"


class Curve(NamedTuple):
    height: float
    rates: cl.f64[:]


X = np.linspace(0.0, 2.0, 40)
TRUE = Curve(2.0, np.array([0.7, -0.2]))


@cl.jit
def fitted(curve: Curve, x: cl.f64[:]) -> cl.f64[:]:
    return curve.height * np.exp(-curve.rates[0] * x - curve.rates[1] * x * x)


@cl.jit
def residuals(curve: Curve, x: cl.f64[:], y: cl.f64[:]) -> cl.f64[:]:
    return fitted(curve, x) - y


@cl.jit
def loss(curve: Curve, x: cl.f64[:], y: cl.f64[:]) -> float:
    return np.sum(residuals(curve, x, y) ** 2)


Y = fitted(TRUE, X)
START = Curve(1.0, np.zeros(2))


@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg", "trust-exact"])
def test_minimize(method: str) -> None:
    fit = objective(loss, START)
    more = {"trust-ncg": {"hessp": fit.hessp}, "trust-exact": {"hess": fit.hess}}
    found = optimize.minimize(
        fit, fit.x0, (X, Y), method, jac=True, **more.get(method, {})
    )
    curve = fit.unravel(found.x)
    assert isinstance(curve, Curve)
    assert curve.height == pytest.approx(2.0, abs=1e-3)
    assert np.allclose(curve.rates, TRUE.rates, atol=3e-3)


def test_least_squares_and_root() -> None:
    fit = objective(residuals, START)
    found = optimize.least_squares(fit.residuals, fit.x0, fit.jacobian, args=(X, Y))
    assert np.allclose(fit.unravel(found.x).rates, TRUE.rates, atol=1e-7)


class Point(NamedTuple):
    x: float
    y: float


def test_root() -> None:
    def equations(point: Point, size: float):  # type: ignore[no-untyped-def]
        x, y = point
        return np.array([x * x + y * y - size, x - y])

    fit = objective(equations, Point(1.0, 0.5))
    found = optimize.root(fit.residuals, fit.x0, (2.0,), jac=fit.jacobian)
    assert np.allclose(fit.unravel(found.x), (1.0, 1.0))


def test_what_is_no_record_of_floats_is_told() -> None:
    with pytest.raises(TypeError, match="no float"):
        objective(loss, Curve(1, np.zeros(2)))  # type: ignore[arg-type]


def gauss(x: float, k: float) -> float:
    return np.exp(-k * x * x)


def of_three(x: float, y: float, z: float) -> float:
    return x * y + z


def of_vector(x: cl.f64[:]) -> float:
    return x[0] * x[1] + x[2]


def spread(window: cl.f64[:]) -> float:
    return np.max(window) - np.min(window)


def beyond(window: cl.f64[:]) -> float:
    return window[9]


def test_quad() -> None:
    found = integrate.quad(low_level_callable(partial(gauss, k=2.0)), 0.0, 1.0)
    assert found == integrate.quad(lambda x: np.exp(-2.0 * x * x), 0.0, 1.0)


def test_quad_of_a_gradient() -> None:
    slope = low_level_callable(partial(cl.grad(gauss), k=2.0))
    found, _ = integrate.quad(slope, 0.0, 1.0)
    assert found == pytest.approx(np.exp(-2.0) - 1.0, rel=1e-12)


@pytest.mark.parametrize("function", [of_three, of_vector])
def test_nquad(function: Any) -> None:
    call = low_level_callable(function, POINT)
    found, _ = integrate.nquad(call, [[0.0, 1.0]] * 3)
    assert found == pytest.approx(0.75, rel=1e-12)


def test_a_filter_and_its_failure() -> None:
    image = np.random.default_rng(1).normal(size=(5, 6))
    found = ndimage.generic_filter(image, low_level_callable(spread, WINDOW), 3)
    assert np.array_equal(found, ndimage.generic_filter(image, np.ptp, 3))
    with pytest.raises(RuntimeError, match="filter function"):
        ndimage.generic_filter(image, low_level_callable(beyond, WINDOW), 3)


@pytest.mark.parametrize(
    ("function", "signature", "kind", "message"),
    [
        (of_three, NUMBER, TypeError, "this one takes 3; bind others"),
        (of_vector, NUMBER, TypeError, "parameter x is f64"),
        (gauss, "double (int)", ValueError, "SciPy has 'double"),
        (lambda x: x > 0.0, NUMBER, TypeError, "what returns a float"),
    ],
)
def test_other_signatures(
    function: Any, signature: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        low_level_callable(function, signature)
