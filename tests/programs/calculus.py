"""Programs with the functions of calculus, as `math`, NumPy and SciPy name them."""

import math

import numpy as np
from scipy import special
from scipy.special import expit, gammaln

import chadllvm as cl
from programs.case import case


@case(0.37, 1.6)
@cl.jit
def powers_and_logarithms(x: float, y: float) -> float:
    a = math.exp2(x) + math.expm1(y) * math.cbrt(y) - np.exp2(-y)
    b = math.log2(y) + math.log10(y) + math.log1p(x) + np.log1p(y) * math.log(y, 3)
    return a * b + np.cbrt(x) + np.expm1(x) - math.log(x, y) + np.float_power(y, x)


@case(0.37, -0.6)
@cl.jit
def angles(x: float, y: float) -> float:
    a = math.tan(x) + math.asin(x) * math.acos(y) + math.atan(3.0 * y)
    b = np.arcsin(y) - np.arccos(x) + np.arctan(x) + np.tan(y)
    return a * b + math.atan2(x, y) + np.arctan2(y, x) * math.degrees(x)


@case(0.37, 1.6)
@cl.jit
def hyperbolas(x: float, y: float) -> float:
    a = math.sinh(x) * math.cosh(y) - math.asinh(y) + math.acosh(y) * math.atanh(x)
    return a + np.sinh(y) - np.cosh(x) + np.arcsinh(x) * np.arccosh(y) + np.arctanh(x)


@case(3.7, -1.45)
@cl.jit
def pieces(x: float, y: float) -> float:
    a = x * math.floor(x) + y * math.ceil(y) + math.trunc(x * y) + round(x * 1.1)
    b = np.floor(y) * x + np.ceil(x) + np.trunc(y) * y + np.rint(x) - np.round(y)
    c = math.fmod(x, y) * x + math.remainder(x, 1.3) * y + np.fmod(y, x) + np.sign(y)
    return a * b + c * math.copysign(x, y) + np.copysign(y, -x) + np.heaviside(x, 0.5)


@case(7, -4)
@cl.jit
def whole_numbers(n: int, m: int) -> float:
    a = math.gcd(n, m, 6) + math.lcm(n, m) + math.factorial(n)
    b = round(1.0 * m) + math.floor(n) + np.sign(m) * n + np.fmod(n, m) + np.fmod(m, n)
    return 1.0 * a + b + math.gcd(n * 12, 18) + math.sqrt(n)


@case(2.75)
@case(-2.25)
@cl.jit
def fraction_and_integer(x: float) -> float:
    fraction, integer = math.modf(x)
    return fraction * fraction + integer * x


@case(0.8, float("nan"))
@case(0.8, 1.3)
@cl.jit
def not_a_number(x: float, missing: float) -> float:
    y = np.fmax(x, 0.5) * np.fmin(x, 3.0)
    if math.isnan(missing) or np.isinf(x):
        return y
    return y * missing if math.isfinite(missing) else x


@case(1.2, -0.5, 2.0)
@cl.jit
def length(x: float, y: float, z: float) -> float:
    return math.hypot(x, y, z) * np.hypot(x, z) + math.hypot(y) + math.hypot()


@case(0.9, 4.6)
@cl.jit
def gammas(x: float, y: float) -> float:
    a = math.gamma(x) * math.lgamma(y) + special.gamma(y) + gammaln(x)
    b = special.digamma(y) - special.psi(x) + special.polygamma(2, x)
    return a * b + special.polygamma(0, y) + math.lgamma(-x) + special.gammaln(x + y)


@case(0.4, 1.7)
@cl.jit
def error_functions(x: float, y: float) -> float:
    return (
        math.erf(x) * math.erfc(y) + special.erf(y) - special.erfc(x) * special.ndtr(y)
    )


@case(0.4, -1.7)
@case(0.4, 30.0)
@cl.jit
def odds(x: float, y: float) -> float:
    a = expit(y) * special.logit(x) + special.log_expit(y) - special.log_expit(-y)
    b = np.logaddexp(x, y) + np.logaddexp2(y, x)
    return a * b + special.xlogy(y, x) + special.xlog1py(x, x * x) + special.exp10(x)


@case(0.31)
@case(0.0)
@cl.jit
def cardinal_sine(x: float) -> float:
    return np.sinc(x) + x * np.sinc(2.0 * x - 1.0)


@case(np.array([0.2, -1.4, 2.2, 0.7]), np.array([1.0, 0.0, 1.0, 1.0]), 0.3, -0.2)
@cl.jit
def logistic_regression(
    x: cl.f64[:], y: cl.f64[:], slope: float, shift: float
) -> float:
    total = 0.0
    for i in range(len(x)):
        score = slope * x[i] + shift
        total += y[i] * special.log_expit(score) + (1.0 - y[i]) * special.log_expit(
            -score
        )
    return total


@case(np.array([0.4, 1.9, 3.3]), 2.2, 0.7)
@cl.jit
def gamma_likelihood(x: cl.f64[:], shape: float, rate: float) -> float:
    constant = shape * math.log(rate) - math.lgamma(shape)
    return sum(constant + special.xlogy(shape - 1.0, v) - rate * v for v in x)


@case(np.array([0.4, 0.1, 0.8]), 2.2, 0.7)
@cl.jit
def beta_likelihood(x: cl.f64[:], a: float, b: float) -> float:
    constant = gammaln(a + b) - gammaln(a) - gammaln(b)
    first = sum(special.xlogy(a - 1.0, v) for v in x)
    return first + sum(special.xlog1py(b - 1.0, -v) + constant for v in x)


@case(np.array([3.0, 0.0, 7.0]), 2.5, 0.4)
@cl.jit
def counts_likelihood(counts: cl.f64[:], size: float, p: float) -> float:
    """The negative binomial distribution."""
    total = 0.0
    for k in counts:
        choose = math.lgamma(k + size) - math.lgamma(size) - math.lgamma(k + 1.0)
        total += choose + size * math.log(p) + special.xlog1py(k, -p)
    return total


@case(100.0, 95.0, 0.2, 0.03, 0.5)
@cl.jit
def option_price(
    spot: float, strike: float, sigma: float, rate: float, t: float
) -> float:
    """Black and Scholes."""
    width = sigma * math.sqrt(t)
    d = (math.log(spot / strike) + (rate + 0.5 * sigma * sigma) * t) / width
    return spot * special.ndtr(d) - strike * math.exp(-rate * t) * special.ndtr(
        d - width
    )


@case(52.5, 13.4, 48.9, 2.35)
@cl.jit
def great_circle(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """The distance on a sphere of radius 1, by the haversine formula."""
    a, b = math.radians(lat1), np.deg2rad(lat2)
    along = math.sin(0.5 * (b - a))
    across = math.sin(0.5 * math.radians(lon2 - lon1))
    h = along * along + math.cos(a) * math.cos(b) * across * across
    return 2.0 * math.asin(math.sqrt(h))


@case(np.array([[0.3, -1.0], [0.8, 0.2]]), np.array([0.5, -0.4, 0.1]))
@cl.jit
def forward_algorithm(transition: cl.f64[:, :], emitted: cl.f64[:]) -> float:
    """Logarithms of the probabilities of a chain of two states."""
    a, b = 0.0, -1.0
    for e in emitted:
        new_a = np.logaddexp(a + transition[0, 0], b + transition[1, 0]) + e
        b = np.logaddexp(a + transition[0, 1], b + transition[1, 1]) - e
        a = new_a
    return np.logaddexp(a, b)


@case(np.array([0.7, 0.0, 0.3]))
@cl.jit
def entropy(p: cl.f64[:]) -> float:
    return -sum(special.xlogy(v, v + 0.1) for v in p)
