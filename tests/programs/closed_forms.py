"""Programs whose gradients are known in closed form; see `test_closed_forms.py`.

A formula takes the program's arguments and gives the gradients by the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.special import digamma, expit, softmax

import chadllvm as cl
from programs.case import CASES, Case, case

RANDOM = np.random.default_rng(31)
Formula = Callable[..., tuple[Any, ...]]
CLOSED_FORMS: list[tuple[Case, Formula]] = []


def draw(*shape: int) -> np.ndarray:
    return RANDOM.normal(0.0, 0.8, shape)


def gradient(formula: Formula) -> Callable[[Any], Any]:
    """Decorator: the gradients in all cases of the function."""

    def enter(function: Any) -> Any:
        cases = [case for case in CASES if case.function is function]
        CLOSED_FORMS.extend((case, formula) for case in cases)
        return function

    return enter


# ---- likelihoods


@gradient(lambda z, label: (softmax(z) - np.eye(len(z))[label],))
@case(draw(5), 3)
@case(np.array([1000.0, -1000.0, 999.0]), 1)
@cl.jit
def softmax_cross_entropy(z: cl.f64[:], label: int) -> float:
    shifted = z - np.max(z)
    return np.log(np.sum(np.exp(shifted))) - shifted[label]


def logistic_gradient(w: Any, x: Any, y: Any) -> Any:
    error = expit(x @ w) - y
    return x.T @ error, np.outer(error, w)


@gradient(logistic_gradient)
@case(draw(3), draw(7, 3), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0]))
@cl.jit
def logistic_regression(w: cl.f64[:], x: cl.f64[:, :], y: cl.f64[:]) -> float:
    score = x @ w
    return np.sum(np.logaddexp(0.0, score) - y * score)


def poisson_gradient(w: Any, x: Any, counts: Any) -> Any:
    return (x.T @ (counts - np.exp(x @ w)),)


@gradient(poisson_gradient)
@case(draw(3), draw(6, 3), np.array([0, 2, 1, 5, 0, 3]))
@cl.jit
def poisson_regression(w: cl.f64[:], x: cl.f64[:, :], counts: cl.i64[:]) -> float:
    total = 0.0
    for row, count in zip(x, counts, strict=True):
        log_rate = row @ w
        total += count * log_rate - math.exp(log_rate) - math.lgamma(count + 1.0)
    return total


def gaussian_gradient(mean: Any, covariance: Any, x: Any) -> Any:
    precision = np.linalg.inv(covariance)
    z = precision @ (x - mean)
    whole = 0.5 * (np.outer(z, z) - precision)
    # One triangle is read, which stands for both.
    return z, np.tril(whole) + np.tril(whole, -1)


ROOT = draw(4, 4)


@gradient(gaussian_gradient)
@case(draw(4), ROOT @ ROOT.T + np.eye(4), draw(4))
@cl.jit
def gaussian(mean: cl.f64[:], covariance: cl.f64[:, :], x: cl.f64[:]) -> float:
    root = np.linalg.cholesky(covariance)
    z = scipy.linalg.solve_triangular(root, x - mean, lower=True)
    log_determinant = 2.0 * np.sum(np.log(np.diag(root)))
    return -0.5 * (z @ z + log_determinant + len(x) * math.log(2.0 * math.pi))


def gamma_gradient(shape: Any, rate: Any, x: Any) -> Any:
    by_shape = np.sum(np.log(rate * x) - digamma(shape))
    return by_shape, np.sum(shape / rate - x), (shape - 1.0) / x - rate


@gradient(gamma_gradient)
@case(2.5, 0.7, np.array([0.3, 1.2, 4.0]))
@cl.jit
def gamma(shape: float, rate: float, x: cl.f64[:]) -> float:
    constant = shape * math.log(rate) - math.lgamma(shape)
    return sum(constant + (shape - 1.0) * math.log(v) - rate * v for v in x)


@gradient(lambda p, counts: (counts / p - (10 - counts) / (1.0 - p),))
@case(np.array([0.2, 0.9, 0.5]), np.array([3, 10, 0]))
@cl.jit
def binomial(p: cl.f64[:], counts: cl.i64[:]) -> float:
    return sum(
        k * math.log(q) + (10 - k) * math.log1p(-q)
        for q, k in zip(p, counts, strict=True)
    )


# ---- linear algebra


@gradient(lambda a, x: ((a + a.T) @ x, np.outer(x, x))[::-1])
@case(draw(4, 4), draw(4))
@cl.jit
def quadratic_form(a: cl.f64[:, :], x: cl.f64[:]) -> float:
    return x @ a @ x


def least_squares_gradient(x: Any, y: Any) -> Any:
    """At the minimum, what depends on the coefficients does not count."""
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    error = y - x @ beta
    return -2.0 * np.outer(error, beta), 2.0 * error


@gradient(least_squares_gradient)
@case(draw(7, 3), draw(7))
@cl.jit
def least_squares(x: cl.f64[:, :], y: cl.f64[:]) -> float:
    beta = np.linalg.solve(x.T @ x, x.T @ y)
    return np.sum((y - x @ beta) ** 2)


@gradient(lambda a: (np.linalg.det(a) * np.linalg.inv(a).T,))
@case(draw(4, 4))
@cl.jit
def determinant_by_minors(a: cl.f64[:, :]) -> float:
    """A determinant of rank 4 by pairs of rows."""
    total = 0.0
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    signs = (1, -1, 1, 1, -1, 1)
    for (i, j), (p, q), sign in zip(pairs, reversed(pairs), signs, strict=True):
        upper = a[0, i] * a[1, j] - a[0, j] * a[1, i]
        lower = a[2, p] * a[3, q] - a[2, q] * a[3, p]
        total += sign * upper * lower
    return total


@gradient(lambda a, b: (-(np.linalg.inv(a) @ b @ np.linalg.inv(a)).T,))
@case(draw(3, 3) + 2.0 * np.eye(3), draw(3, 3))
@cl.jit
def trace_of_a_quotient(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    return np.trace(np.linalg.solve(a, b))


def principal_gradient(w: Any, x: Any) -> Any:
    rest = x - x @ w @ w.T
    return (-2.0 * (x.T @ rest @ w + rest.T @ x @ w),)


@gradient(principal_gradient)
@case(draw(4, 2), draw(6, 4))
@cl.jit
def principal_components(w: cl.f64[:, :], x: cl.f64[:, :]) -> float:
    """What is lost by the projection x W Wᵀ."""
    return np.sum((x - x @ w @ w.T) ** 2)


# ---- sums, products, running results


@gradient(lambda x: (softmax(x),))
@case(draw(6))
@case(np.array([-800.0, -801.0]))
@case(np.array([-math.inf, 1.0, 2.0]))
@cl.jit
def log_sum_exp(x: cl.f64[:]) -> float:
    top = max(x)
    return top + math.log(sum(math.exp(v - top) for v in x))


def products_gradient(x: Any, w: Any) -> Any:
    """Without division: a factor may be zero."""
    n = len(x)
    return (
        [
            sum(w[k] * np.prod(np.delete(x[: k + 1], i)) for k in range(i, n))
            for i in range(n)
        ],
        np.cumprod(x),
    )


@gradient(products_gradient)
@case(draw(5), draw(5))
@case(np.array([2.0, 0.0, 3.0, 0.0]), draw(4))
@cl.jit
def cumulative_products(x: cl.f64[:], w: cl.f64[:]) -> float:
    return np.sum(w * np.cumprod(x))


def average_gradient(x: Any, w: Any, width: Any) -> Any:
    return np.convolve(w, np.ones(width)) / width, np.convolve(
        x, np.ones(width) / width, "valid"
    )


@gradient(average_gradient)
@case(draw(9), draw(7), 3)
@cl.jit
def moving_average(x: cl.f64[:], w: cl.f64[:], width: int) -> float:
    sums = np.concatenate((np.zeros(1), np.cumsum(x)))
    return w @ ((sums[width:] - sums[:-width]) / width)


def bridge_gradient(steps: Any, w: Any) -> Any:
    n = len(steps)
    after = np.cumsum(w[::-1])[::-1]
    return (after - np.sum(w * np.arange(1, n + 1)) / n,)


@gradient(bridge_gradient)
@case(draw(6), draw(6))
@cl.jit
def brownian_bridge(steps: cl.f64[:], w: cl.f64[:]) -> float:
    """A functional of the path that returns to zero."""
    n = len(steps)
    end = np.sum(steps)
    at, total = 0.0, 0.0
    for k in range(n):
        at += steps[k]
        total += w[k] * (at - (k + 1) / n * end)
    return total


def horner_gradient(c: Any, x: Any) -> Any:
    powers = x ** np.arange(len(c))
    return powers, sum(k * c[k] * x ** (k - 1) for k in range(1, len(c)))


@gradient(horner_gradient)
@case(draw(6), 0.7)
@case(draw(4), 0.0)
@cl.jit
def horner(c: cl.f64[:], x: float) -> float:
    value = 0.0
    for a in reversed(c):
        value = value * x + a
    return value


@gradient(lambda x: (x / math.hypot(*x),))
@case(draw(5))
@case(np.array([3e200, 4e200]), is_smooth=False)
@cl.jit
def scaled_norm(x: cl.f64[:]) -> float:
    """The Euclidean norm without overflow."""
    top = np.max(np.abs(x))
    return top * math.sqrt(np.sum((x / top) ** 2))


# ---- functions of points, curves, equations


def rosenbrock_gradient(x: Any) -> Any:
    result = np.zeros_like(x)
    result[:-1] = -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2.0 * (1.0 - x[:-1])
    result[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
    return (result,)


@gradient(rosenbrock_gradient)
@case(draw(6))
@cl.jit
def rosenbrock(x: cl.f64[:]) -> float:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def kepler_gradient(anomaly: Any, eccentricity: Any, steps: Any) -> Any:
    e = kepler.py_func(anomaly, eccentricity, steps)
    slope = 1.0 - eccentricity * math.cos(e)
    return 1.0 / slope, math.sin(e) / slope


@gradient(kepler_gradient)
@case(0.8, 0.3, 12)
@case(3.0, 0.9, 20)
@cl.jit
def kepler(anomaly: float, eccentricity: float, steps: int) -> float:
    """E of E - e sin E = M, by Newton's method."""
    e = anomaly
    for _ in range(steps):
        error = e - eccentricity * math.sin(e) - anomaly
        e -= error / (1.0 - eccentricity * math.cos(e))
    return e


def interpolation_gradient(heights: Any, x: Any, places: Any) -> Any:
    weights = [np.interp(x, places, unit) for unit in np.eye(len(places))]
    cell = np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)
    slopes = np.diff(heights) / np.diff(places)
    inside = (x >= places[0]) & (x < places[-1])
    return np.sum(weights, axis=1), np.where(inside, slopes[cell], 0.0)


@gradient(interpolation_gradient)
@case(
    draw(5), np.array([-1.0, 0.1, 0.7, 2.4, 9.0]), np.array([0.0, 0.5, 1.0, 2.0, 3.0])
)
@cl.jit
def interpolation(heights: cl.f64[:], x: cl.f64[:], places: cl.f64[:]) -> float:
    return np.sum(np.interp(x, places, heights))


def spline_gradient(c: Any, t: Any) -> Any:
    basis = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    slope = 3 * ((1 - t) ** 2 * (c[1] - c[0]) + t**2 * (c[3] - c[2]))
    return basis, slope + 6 * t * (1 - t) * (c[2] - c[1])


@gradient(spline_gradient)
@case(draw(4), 0.3)
@cl.jit
def bezier(c: cl.f64[:], t: float) -> float:
    """De Casteljau's algorithm, in place."""
    points = c.copy()
    for level in range(len(c) - 1, 0, -1):
        for i in range(level):
            points[i] = (1.0 - t) * points[i] + t * points[i + 1]
    return points[0]


def trapezoid_gradient(y: Any, x: Any) -> Any:
    steps = np.diff(x)
    weights = np.convolve(steps, [0.5, 0.5])
    middle = 0.5 * (y[1:] + y[:-1])
    return weights, -np.diff(middle, prepend=0.0, append=0.0)


@gradient(trapezoid_gradient)
@case(draw(6), np.cumsum(np.abs(draw(6))))
@cl.jit
def trapezoid_rule(y: cl.f64[:], x: cl.f64[:]) -> float:
    return np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(x))


# ---- choices: branches that are not taken, `np.where`, order


@gradient(lambda x: (np.where(x > 0.0, 1.0 / np.where(x > 0.0, x, 1.0), 1.0),))
@case(np.array([2.0, 0.0, -1.0, 1e-300]), is_smooth=False)
@cl.jit
def safe_logarithm(x: cl.f64[:]) -> float:
    return np.sum(np.where(x > 0.0, np.log(x), x))


@gradient(lambda x: (np.where(x > 0.0, 0.5 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0),))
@case(np.array([4.0, 0.0, -1.0]), is_smooth=False)
@cl.jit
def safe_root(x: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        if v > 0.0:
            total += math.sqrt(v)
    return total


def sinc_gradient(x: Any) -> Any:
    if x == 0.0:
        return (0.0,)
    return ((x * math.cos(x) - math.sin(x)) / x**2,)


@gradient(sinc_gradient)
@case(0.0, is_smooth=False)
@case(1.3)
@cl.jit
def sinc(x: float) -> float:
    return 1.0 if x == 0.0 else math.sin(x) / x


@gradient(lambda x: (np.where(np.isnan(x), 0.0, 2.0 * x),))
@case(np.array([1.0, math.nan, -3.0]))
@cl.jit
def without_missing(x: cl.f64[:]) -> float:
    present = x[~np.isnan(x)]
    return present @ present


@gradient(lambda p: (np.where(p > 0.0, -np.log(np.where(p > 0, p, 1.0)) - 1.0, 0.0),))
@case(np.array([0.5, 0.25, 0.25, 0.0]), is_smooth=False)
@cl.jit
def entropy(p: cl.f64[:]) -> float:
    return sum(-v * math.log(v) if v > 0.0 else 0.0 for v in p)


def huber_gradient(x: Any, width: Any) -> Any:
    return np.clip(x, -width, width), np.sum(np.maximum(np.abs(x) - width, 0.0))


@gradient(huber_gradient)
@case(np.array([0.3, -2.0, 5.0, 0.0]), 1.5)
@cl.jit
def huber(x: cl.f64[:], width: float) -> float:
    size = np.abs(x)
    inside = 0.5 * x * x
    return np.sum(np.where(size <= width, inside, width * (size - 0.5 * width)))


def median_gradient(x: Any) -> Any:
    result, order = np.zeros(len(x)), np.argsort(x, kind="stable")
    result[order[[(len(x) - 1) // 2, len(x) // 2]]] += 0.5
    if len(x) % 2:
        result[order[len(x) // 2]] = 1.0
    return (result,)


@gradient(median_gradient)
@case(draw(7))
@case(draw(6))
@cl.jit
def median(x: cl.f64[:]) -> float:
    ordered, n = np.sort(x), len(x)
    return 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])
