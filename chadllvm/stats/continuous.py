# mypy: ignore-errors
# ruff: noqa: N801, N805
"""Distributions of real numbers, by SciPy's names and parameters."""

from __future__ import annotations

import math

from chadllvm.api.custom import custom_jvp
from chadllvm.api.tangents import jvp
from chadllvm.prelude.bessel import log_i0e
from chadllvm.prelude.incomplete import (
    beta_quantile,
    beta_weight,
    gamma_quantile,
    gamma_weight,
    log_betainc,
    log_gammainc,
)
from chadllvm.prelude.special import (
    LOG_2,
    LOG_2PI,
    SQRT_HALF,
    betaln,
    log1mexp,
    log_logistic,
    log_ndtr,
    normal_quantile,
    times_log,
)
from chadllvm.stats.circular import circular_quantile, log_circular
from chadllvm.stats.family import Family
from chadllvm.stats.skewed import log_skewed, skew_quantile

LOG_PI = math.log(math.pi)


class norm(Family, scipy=True):
    """Normal: exp(-z²/2) / √(2π)."""

    def log_density(z):
        return -0.5 * z * z - 0.5 * LOG_2PI

    def log_below(z):
        return log_ndtr(z)

    def log_above(z):
        return log_ndtr(-z)

    def quantile(p, q):
        return normal_quantile(0.5 * (p - q), min(p, q))


class halfnorm(Family, scipy=True):
    """Half-normal: the size of a normal number."""

    low = 0.0

    def log_density(z):
        return LOG_2 - 0.5 * z * z - 0.5 * LOG_2PI

    def log_below(z):
        if z > 1.0:
            return math.log1p(-math.erfc(z * SQRT_HALF))
        return math.log(math.erf(z * SQRT_HALF))

    def log_above(z):
        return LOG_2 + log_ndtr(-z)

    def quantile(p, q):
        return normal_quantile(0.5 * p, 0.5 * q)


class lognorm(Family, scipy=True):
    """Log-normal: the exponential of a normal number with deviation s."""

    low = 0.0
    valid = "s > 0.0"

    def log_density(z, s):
        if z == 0.0:
            return -math.inf
        y = math.log(z) / s
        return -0.5 * y * y - 0.5 * LOG_2PI - math.log(s) - math.log(z)

    def log_below(z, s):
        return log_ndtr(math.log(z) / s)

    def log_above(z, s):
        return log_ndtr(-math.log(z) / s)

    def quantile(p, q, s):
        return math.exp(s * normal_quantile(0.5 * (p - q), min(p, q)))


class skewnorm(Family, scipy=True):
    """Skew normal: 2 φ(z) Φ(a z)."""

    def log_density(z, a):
        return LOG_2 - 0.5 * z * z - 0.5 * LOG_2PI + log_ndtr(a * z)

    def log_below(z, a):
        return log_skewed(z, a)

    def log_above(z, a):
        return log_skewed(-z, -a)

    def quantile(p, q, a):
        return skew_quantile(p, q, a)


# ---- heavy tails -----------------------------------------------------------------


class cauchy(Family, scipy=True):
    """Cauchy: 1 / (π (1 + z²))."""

    def log_density(z):
        return -LOG_PI - math.log1p(z * z)

    def log_below(z):
        return math.log(math.atan2(1.0, -z)) - LOG_PI

    def log_above(z):
        return math.log(math.atan2(1.0, z)) - LOG_PI

    def quantile(p, q):
        return -1.0 / math.tan(math.pi * p) if p < q else 1.0 / math.tan(math.pi * q)


class halfcauchy(Family, scipy=True):
    """Half-Cauchy: the size of a Cauchy number."""

    low = 0.0

    def log_density(z):
        return LOG_2 - LOG_PI - math.log1p(z * z)

    def log_below(z):
        return LOG_2 - LOG_PI + math.log(math.atan(z))

    def log_above(z):
        return LOG_2 - LOG_PI + math.log(math.atan2(1.0, z))

    def quantile(p, q):
        if p < q:
            return math.tan(0.5 * math.pi * p)
        return 1.0 / math.tan(0.5 * math.pi * q)


def log_student(z, df):
    """The logarithm of Student's density."""
    total = -0.5 * math.log(df) - betaln(0.5, 0.5 * df)
    return total - 0.5 * (df + 1.0) * math.log1p(z * z / df)


def log_student_tails(z, df):
    """The logarithms of the probabilities of less, and of more, than |z| in size."""
    x = df / (df + z * z)
    y = z * z / (df + z * z)
    if y == 0.0:
        return -math.inf, 0.0
    above, below = log_betainc(0.5 * df, 0.5, x, y)
    return below, above


def log_student_above(z, df):
    """The logarithm of the probability of more than z."""
    _, above = log_student_tails(z, df)
    return above - LOG_2 if z > 0.0 else math.log1p(-0.5 * math.exp(above))


def student_probability(z, df):
    return math.exp(log_student_above(-z, df))


@custom_jvp
def student_quantile(p, q, df):
    """The quantile of Student's distribution."""
    if not (p >= 0.0 and q >= 0.0):
        return math.nan
    if p == q:
        return 0.0
    tail = min(p, q)
    x, y = beta_quantile(2.0 * tail, abs(p - q), 0.5 * df, 0.5)
    size = math.sqrt(df * y / x)
    return -size if p < q else size


@student_quantile.defjvp
def _student_rule(primals, tangents):
    (p, q, df), (p_t, _, df_t) = primals, tangents
    z = student_quantile(p, q, df)
    _, by_df = jvp(lambda df: student_probability(z, df), (df,), (df_t,))
    return z, (p_t - by_df) / math.exp(log_student(z, df))


class t(Family, scipy=True):
    """Student's t with df degrees of freedom."""

    valid = "df > 0.0"

    def log_density(z, df):
        return log_student(z, df)

    def log_below(z, df):
        return log_student_above(-z, df)

    def log_above(z, df):
        return log_student_above(z, df)

    def quantile(p, q, df):
        return student_quantile(p, q, df)


class halft(Family):
    """Half-t: the size of a number of Student's t."""

    low = 0.0
    valid = "df > 0.0"

    def log_density(z, df):
        return LOG_2 + log_student(z, df)

    def log_below(z, df):
        below, _ = log_student_tails(z, df)
        return below

    def log_above(z, df):
        _, above = log_student_tails(z, df)
        return above

    def quantile(p, q, df):
        return student_quantile(0.5 + 0.5 * p, 0.5 * q, df)


class pareto(Family, scipy=True):
    """Pareto: b / z^(b + 1) from 1 on."""

    low = 1.0
    valid = "b > 0.0"

    def log_density(z, b):
        return math.log(b) - (b + 1.0) * math.log(z)

    def log_below(z, b):
        return log1mexp(-b * math.log(z))

    def log_above(z, b):
        return -b * math.log(z)

    def quantile(p, q, b):
        return math.exp(-(math.log(q) if q < 0.5 else math.log1p(-p)) / b)


# ---- exponential tails -----------------------------------------------------------


class laplace(Family, scipy=True):
    """Laplace: exp(-|z|) / 2."""

    def log_density(z):
        return -abs(z) - LOG_2

    def log_below(z):
        return z - LOG_2 if z < 0.0 else math.log1p(-0.5 * math.exp(-z))

    def log_above(z):
        return -z - LOG_2 if z > 0.0 else math.log1p(-0.5 * math.exp(z))

    def quantile(p, q):
        return math.log(2.0 * p) if p < q else -math.log(2.0 * q)


class logistic(Family, scipy=True):
    """Logistic: exp(-z) / (1 + exp(-z))²."""

    def log_density(z):
        return -abs(z) - 2.0 * math.log1p(math.exp(-abs(z)))

    def log_below(z):
        return log_logistic(z)

    def log_above(z):
        return log_logistic(-z)

    def quantile(p, q):
        return math.log(p) - math.log(q)


class expon(Family, scipy=True):
    """Exponential: exp(-z)."""

    low = 0.0

    def log_density(z):
        return -z

    def log_below(z):
        return log1mexp(-z)

    def log_above(z):
        return -z

    def quantile(p, q):
        return -math.log(q) if q < 0.5 else -math.log1p(-p)


class gumbel_r(Family, scipy=True):
    """Gumbel, of maxima: exp(-z - exp(-z))."""

    def log_density(z):
        return -z - math.exp(-z)

    def log_below(z):
        return -math.exp(-z)

    def log_above(z):
        return log1mexp(-math.exp(-z))

    def quantile(p, q):
        return -math.log(-math.log(p) if p < 0.5 else -math.log1p(-q))


class weibull_min(Family, scipy=True):
    """Weibull: c z^(c - 1) exp(-z^c)."""

    low = 0.0
    valid = "c > 0.0"

    def log_density(z, c):
        return math.log(c) + times_log(c - 1.0, z) - z**c

    def log_below(z, c):
        return log1mexp(-(z**c))

    def log_above(z, c):
        return -(z**c)

    def quantile(p, q, c):
        return (-math.log(q) if q < 0.5 else -math.log1p(-p)) ** (1.0 / c)


# ---- gamma and beta --------------------------------------------------------------


class gamma(Family, scipy=True):
    """Gamma: z^(a - 1) exp(-z) / Γ(a)."""

    low = 0.0
    valid = "a > 0.0"

    def log_density(z, a):
        if z == 0.0:
            return times_log(a - 1.0, z) - math.lgamma(a)
        return gamma_weight(a, z) + math.log(a) - math.log(z)

    def log_below(z, a):
        below, _ = log_gammainc(a, z)
        return below

    def log_above(z, a):
        _, above = log_gammainc(a, z)
        return above

    def quantile(p, q, a):
        return gamma_quantile(p, q, a)


class invgamma(Family, scipy=True):
    """Inverse gamma: z^(-a - 1) exp(-1 / z) / Γ(a)."""

    low = 0.0
    valid = "a > 0.0"

    def log_density(z, a):
        if z == 0.0:
            return -math.inf
        return gamma_weight(a, 1.0 / z) + math.log(a) - math.log(z)

    def log_below(z, a):
        _, above = log_gammainc(a, 1.0 / z)
        return above

    def log_above(z, a):
        below, _ = log_gammainc(a, 1.0 / z)
        return below

    def quantile(p, q, a):
        return 1.0 / gamma_quantile(q, p, a)


class beta(Family, scipy=True):
    """Beta: z^(a - 1) (1 - z)^(b - 1) / B(a, b)."""

    low = 0.0
    high = 1.0
    valid = "a > 0.0 and b > 0.0"

    def log_density(z, a, b):
        if z == 0.0 or z == 1.0:
            edge = times_log(a - 1.0, z) + times_log(b - 1.0, 1.0 - z)
            return edge - betaln(a, b)
        return beta_weight(a, b, z, 1.0 - z) - math.log(z) - math.log1p(-z)

    def log_below(z, a, b):
        below, _ = log_betainc(a, b, z, 1.0 - z)
        return below

    def log_above(z, a, b):
        _, above = log_betainc(a, b, z, 1.0 - z)
        return above

    def quantile(p, q, a, b):
        x, _ = beta_quantile(p, q, a, b)
        return x


# ---- on the circle ---------------------------------------------------------------


class vonmises(Family, scipy=True):
    """Von Mises: exp(κ cos z) / (2π I₀(κ)); the distribution is that from -π to π."""

    valid = "kappa >= 0.0"

    def log_density(z, kappa):
        return kappa * (math.cos(z) - 1.0) - LOG_2PI - log_i0e(kappa)

    def log_below(z, kappa):
        return log_circular(z, kappa)

    def log_above(z, kappa):
        return log_circular(-z, kappa)

    def quantile(p, q, kappa):
        return circular_quantile(p, q, kappa)
