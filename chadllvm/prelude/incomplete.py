# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Incomplete gamma and beta functions, their logarithms, and their inverses.

Series on the one side and continued fractions on the other, with the power in front of
them taken about its top, so that large parameters cost no digits. Derivatives by all
parameters are those of the series. Formulas: DLMF chapter 8, by number.
"""

from __future__ import annotations

import math

from chadllvm.api.custom import custom_jvp
from chadllvm.api.tangents import jvp
from chadllvm.api.vectorized import vectorize
from chadllvm.prelude.special import LOG_2PI, betaln, log1mexp, stirling
from chadllvm.support.library import stop_gradient
from chadllvm.support.overloads import overload

_TINY = 1e-300
_MOST = 100_000  # terms

# Where a parameter is an integer a fraction ends, but not its derivative by that
# parameter: as many terms count as for a parameter that is so much larger.
_OTHER = 0.3


def _log_ratio(x, y, excess):
    """log(x / y), where `excess` is (x - y) / y."""
    return math.log1p(excess) if abs(excess) < 0.5 else math.log(x / y)


# ---- gamma -----------------------------------------------------------------------


def gamma_weight(a, x):
    """log(x^a e^-x / Γ(a + 1))"""
    if a < 10.0:
        return a * math.log(x) - x - math.lgamma(a + 1.0)
    excess = (x - a) / a
    top = a * (_log_ratio(x, a, excess) - excess)
    return top - 0.5 * (LOG_2PI + math.log(a)) - stirling(a)


def _gamma_series(a, x):
    """P(a, x) by x^a e^-x / Γ(a + 1): DLMF 8.11.4."""
    total, term, k = 1.0, 1.0, 1
    while term > 1e-18 * total and k < _MOST:
        term = term * x / (a + k)
        total = total + term
        k += 1
    return total


def _gamma_fraction(a, x):
    """Q(a, x) by the same and 1 / a: DLMF 8.9.2, as J. Lentz evaluates it."""
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    product = d
    a0, x0 = stop_gradient(a), stop_gradient(x)
    terms = max(_gamma_terms(a0, x0), _gamma_terms(a0 + _OTHER, x0))
    for k in range(1, terms):
        factor = -k * (k - a)
        b = b + 2.0
        d = 1.0 / (factor * d + b)
        c = b + factor / c
        product = product * (c * d)
    return product


def _gamma_terms(a, x):
    """As many terms of the fraction as change its value."""
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    change, k = 0.0, 1
    while abs(change - 1.0) > 1e-16 and k < _MOST:
        factor = -k * (k - a)
        b = b + 2.0
        d = 1.0 / (factor * d + b)
        c = b + factor / c
        change = c * d
        k += 1
    return k


def log_gammainc(a, x):
    """log P(a, x) and log Q(a, x), for a > 0 and finite x > 0."""
    if a == math.inf:
        return -math.inf, 0.0
    if x < max(1.0, a + 1.0):
        lower = gamma_weight(a, x) + math.log(_gamma_series(a, x))
        return lower, log1mexp(lower)
    upper = gamma_weight(a, x) + math.log(a * _gamma_fraction(a, x))
    return log1mexp(upper), upper


def _has_no_gammainc(a, x):
    """Where a or x is negative or NaN, or both are at the same end."""
    return not (a >= 0.0 and x >= 0.0) or (a == x and (x == 0.0 or x == math.inf))


@overload("scipy.special.gammainc")
@vectorize
def gammainc(a, x):
    """P(a, x), the regularised lower incomplete gamma function; NaN unless a, x ≥ 0."""
    if _has_no_gammainc(a, x):
        return math.nan
    if x == 0.0 or x == math.inf or a == 0.0:
        return 0.0 if x == 0.0 else 1.0
    lower, upper = log_gammainc(a, x)
    return math.exp(lower) if lower < upper else -math.expm1(upper)


@overload("scipy.special.gammaincc")
@vectorize
def gammaincc(a, x):
    """Q(a, x) = 1 - P(a, x)"""
    if _has_no_gammainc(a, x):
        return math.nan
    if x == 0.0 or x == math.inf or a == 0.0:
        return 1.0 if x == 0.0 else 0.0
    lower, upper = log_gammainc(a, x)
    return math.exp(upper) if upper < lower else -math.expm1(lower)


# ---- beta ------------------------------------------------------------------------


def beta_weight(a, b, x, y):
    """log(x^a y^b / B(a, b)), where x + y is 1."""
    if a < 10.0 or b < 10.0:
        return a * math.log(x) + b * math.log(y) - betaln(a, b)
    total = a + b
    excess = x * b - y * a
    top = a * _log_ratio(x * total, a, excess / a)
    top = top + b * _log_ratio(y * total, b, -excess / b)
    top = top + 0.5 * (math.log(a) + math.log(b / total) - LOG_2PI)
    return top + stirling(total) - stirling(a) - stirling(b)


def _beta_fraction(a, b, x):
    """I(a, b, x) by its weight and 1 / a: DLMF 8.17.22, for x below the mean."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    product = d
    a0, b0, x0 = stop_gradient(a), stop_gradient(b), stop_gradient(x)
    terms = max(_beta_terms(a0, b0, x0), _beta_terms(a0, b0 + _OTHER, x0))
    for m in range(1, terms):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        product = product * (c * d)
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        product = product * (c * d)
    return product


def _beta_terms(a, b, x):
    """As many pairs of terms of the fraction as change its value."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    change, m = 0.0, 1
    while abs(change - 1.0) > 1e-16 and m < _MOST:
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        change = c * d
        m += 1
    return m


def log_betainc(a, b, x, y):
    """log I(a, b, x) and log (1 - I), for positive a, b, x and y = 1 - x."""
    weight = beta_weight(a, b, x, y)
    if x * (a + b + 2.0) < a + 1.0:
        lower = weight + math.log(_beta_fraction(a, b, x) / a)
        return lower, log1mexp(lower)
    upper = weight + math.log(_beta_fraction(b, a, y) / b)
    return log1mexp(upper), upper


@overload("scipy.special.betainc")
@vectorize
def betainc(a, b, x):
    """I(a, b, x), the regularised incomplete beta function; NaN outside of [0, 1]."""
    if not (a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0):
        return math.nan
    if x == 0.0 or x == 1.0:
        return x
    lower, upper = log_betainc(a, b, x, 1.0 - x)
    return math.exp(lower) if lower < upper else -math.expm1(upper)


# ---- inverses --------------------------------------------------------------------


@custom_jvp
def gamma_quantile(p, q, a):
    """The x with P(a, x) = p, where q is 1 - p: Newton's method for log P in log x."""
    if not (p >= 0.0 and q >= 0.0 and a > 0.0):
        return math.nan
    if p == 0.0 or q == 0.0:
        return 0.0 if p == 0.0 else math.inf
    least = math.exp((math.log(p) + math.lgamma(a + 1.0)) / a)
    if least == 0.0:
        return 0.0
    s = 1.0 - 1.0 / (9.0 * a)
    x = max(a * s * s * s, least) if a > 1.0 else least
    for _ in range(200):
        lower, upper = log_gammainc(a, x)
        density = gamma_weight(a, x) + math.log(a)
        if p < 0.5:
            step = (math.log(p) - lower) * math.exp(lower - density)
        else:
            step = (upper - math.log(q)) * math.exp(upper - density)
        x = max(x * math.exp(min(step, 2.0)), least)
        if abs(step) < 1e-15:
            break
    return x


@gamma_quantile.defjvp
def _gamma_rule(primals, tangents):
    (p, q, a), (p_t, _, a_t) = primals, tangents
    x = gamma_quantile(p, q, a)
    _, by_a = jvp(lambda a: gammainc(a, x), (a,), (a_t,))
    return x, (p_t - by_a) * x / (math.exp(gamma_weight(a, x)) * a)


@custom_jvp
def beta_quantile(p, q, a, b):
    """The x with I(a, b, x) = p, where q is 1 - p, and 1 - x: both, for digits.

    Newton's method in the logarithm of the smaller one.
    """
    if not (p >= 0.0 and q >= 0.0 and a > 0.0 and b > 0.0):
        return math.nan, math.nan
    if p == 0.0 or q == 0.0:
        return (0.0, 1.0) if p == 0.0 else (1.0, 0.0)
    middle = a / (a + b)
    below, _ = log_betainc(a, b, middle, b / (a + b))
    if math.log(p) <= below:
        return _lower_quantile(p, a, b)
    y, x = _lower_quantile(q, b, a)
    return x, y


def _lower_quantile(p, a, b):
    """The same where the quantile is below the mean, and p is not much."""
    mean = a / (a + b)
    x = min(math.exp((math.log(p) + math.log(a) + betaln(a, b)) / a), mean)
    if x == 0.0:
        return 0.0, 1.0
    for _ in range(200):
        lower, _ = log_betainc(a, b, x, 1.0 - x)
        density = beta_weight(a, b, x, 1.0 - x) - math.log1p(-x)
        step = (math.log(p) - lower) * math.exp(lower - density)
        moved = x * math.exp(step)
        x = moved if moved < mean else 0.5 * (x + mean)
        if abs(step) < 1e-15:
            break
    return x, 1.0 - x


@beta_quantile.defjvp
def _beta_rule(primals, tangents):
    (p, q, a, b), (p_t, _, a_t, b_t) = primals, tangents
    x, y = beta_quantile(p, q, a, b)
    _, by = jvp(lambda a, b: betainc(a, b, x), (a, b), (a_t, b_t))
    x_t = (p_t - by) * x * y / math.exp(beta_weight(a, b, x, y))
    return (x, y), (x_t, -x_t)
