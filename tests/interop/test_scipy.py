"""Objectives over records: SciPy's optimisers with our derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import optimize

import chadllvm as cl
from chadllvm.interop.scipy import objective


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
