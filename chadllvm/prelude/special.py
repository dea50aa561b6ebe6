# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Special functions that are made of others: the normal distribution's, sums of
exponentials, beta functions.

Formulas: NIST Digital Library of Mathematical Functions (dlmf.nist.gov), by number.
"""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.custom import custom_jvp
from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import vectorize
from chadllvm.support.library import stop_gradient
from chadllvm.support.overloads import overload

LOG_2PI = math.log(2.0 * math.pi)
SQRT_2PI = math.sqrt(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
LOG_2 = math.log(2.0)


# ---- logarithms ------------------------------------------------------------------


def times_log(x, y):
    """x log y; 0 where x is 0, also for y = 0."""
    return 0.0 if x == 0 else x * math.log(y)


def times_log1p(x, y):
    """x log(1 + y); 0 where x is 0, also for y = -1."""
    return 0.0 if x == 0 else x * math.log1p(y)


def log1mexp(x):
    """log(1 - exp(x)); -inf from 0 on, which rounding may come to."""
    if x >= 0.0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > -LOG_2 else math.log1p(-math.exp(x))


def log_logistic(x):
    """-log(1 + exp(-x))"""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


# ---- sums of exponentials --------------------------------------------------------


@overload("scipy.special.logsumexp")
@jit(static_argnames=("axis", "keepdims"))
def logsumexp(a, axis=None, b=None, keepdims=False):
    """log Σ b exp(a) along an axis, or of all; no overflow: the largest is taken out.

    Where all are -inf it is -inf. The logarithm of a negative sum is NaN.
    """
    top = stop_gradient(np.max(a, axis=axis, keepdims=True))
    top = np.where(np.isfinite(top), top, 0.0)
    scaled = np.exp(a - top)
    if b is not None:
        scaled = scaled * b
    total = np.log(np.sum(scaled, axis=axis, keepdims=True)) + top
    if keepdims:
        return total
    return np.max(total, axis=axis)


@overload("scipy.special.softmax")
@jit(static_argnames=("axis",))
def softmax(x, axis=None):
    """exp(x) / Σ exp(x) along an axis, or of all."""
    scaled = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return scaled / np.sum(scaled, axis=axis, keepdims=True)


@overload("scipy.special.log_softmax")
@jit(static_argnames=("axis",))
def log_softmax(x, axis=None):
    """The logarithm of `softmax`, also where that is too small for a float."""
    shifted = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@overload("scipy.special.entr")
@vectorize
def entr(x):
    """-x log x; 0 at 0, -inf below it."""
    if x > 0.0:
        return -x * math.log(x)
    return 0.0 * x if x == 0.0 else -math.inf + 0.0 * x


# ---- the normal distribution -----------------------------------------------------


def _tail(x):
    """log Φ(x) + x²/2 + log √(2π) far on the left: the series of DLMF 7.12.1."""
    y = 1.0 / (x * x)
    total, term = 0.0, 1.0
    for k in range(16):
        total = total + term
        term = term * (-y * (2 * k + 1))
    return math.log(total) - math.log(-x)


@overload("scipy.special.log_ndtr")
@vectorize
def log_ndtr(x):
    """log Φ(x), the logarithm of the normal distribution function."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x * SQRT_HALF))
    if x > -12.0:
        return math.log(0.5 * math.erfc(-x * SQRT_HALF))
    return -0.5 * x * x - 0.5 * LOG_2PI + _tail(x)


def _central(q):
    """The quantile at 0.5 + q for |q| ≤ 0.425."""
    r = 0.180625 - q * q
    top = 2509.0809287301226727 * r + 33430.575583588128105
    top = ((top * r + 67265.770927008700853) * r + 45921.953931549871457) * r
    top = ((top + 13731.693765509461125) * r + 1971.5909503065514427) * r
    top = (top + 133.14166789178437745) * r + 3.3871328727963666080
    low = 5226.4952788528545610 * r + 28729.085735721942674
    low = ((low * r + 39307.895800092710610) * r + 21213.794301586595867) * r
    low = ((low + 5394.1960214247511077) * r + 687.18700749205790830) * r
    low = (low + 42.313330701600911252) * r + 1.0
    return q * top / low


def _outer(tail):
    """The size of the quantile where so little is beyond it."""
    r = math.sqrt(-math.log(tail))
    if r <= 5.0:
        r = r - 1.6
        top = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
        top = ((top * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258) * r
        top = ((top + 3.64784832476320460504) * r + 5.76949722146069140550) * r
        top = (top + 4.63033784615654529590) * r + 1.42343711074968357734
        low = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
        low = (
            (low * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1
        ) * r
        low = ((low + 6.89767334985100004550e-1) * r + 1.67638483018380384940) * r
        low = (low + 2.05319162663775882187) * r + 1.0
        return top / low
    r = r - 5.0
    top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
    top = ((top * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r
    top = ((top + 2.96560571828504891230e-1) * r + 1.78482653991729133580) * r
    top = (top + 5.46378491116411436990) * r + 6.65790464350110377720
    low = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
    low = ((low * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r
    low = ((low + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
    low = (low + 5.99832206555887937690e-1) * r + 1.0
    return top / low


@custom_jvp
def normal_quantile(q, tail):
    """The normal quantile at 0.5 + q, where `tail` is 0.5 - |q|.

    M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988): 16 digits.
    """
    if abs(q) <= 0.425:
        return _central(q)
    if tail > 0.0:
        return math.copysign(_outer(tail), q)
    return math.copysign(math.inf, q) if tail == 0.0 else math.nan


@normal_quantile.defjvp
def _normal_rule(primals, tangents):
    (q, tail), (q_t, _) = primals, tangents
    y = normal_quantile(q, tail)
    return y, SQRT_2PI * math.exp(0.5 * y * y) * q_t


@overload("scipy.special.ndtri")
@vectorize
def ndtri(p):
    """The normal quantile: the x with Φ(x) = p; NaN outside of [0, 1]."""
    return normal_quantile(p - 0.5, min(p, 1.0 - p))


@overload("scipy.special.erfinv")
@vectorize
def erfinv(y):
    """The x with erf(x) = y; NaN outside of [-1, 1]."""
    return SQRT_HALF * normal_quantile(0.5 * y, 0.5 * (1.0 - abs(y)))


# ---- beta functions --------------------------------------------------------------


def stirling(x):
    """log Γ(x) less (x - 1/2) log x - x + log √(2π), for x ≥ 10: DLMF 5.11.1."""
    y = 1.0 / (x * x)
    total = -691.0 / 360360.0 + y * (1.0 / 156.0 - y * (3617.0 / 122400.0))
    total = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0 + y * total))
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * total)) / x


@overload("scipy.special.betaln")
@vectorize
def betaln(a, b):
    """log B(a, b) = log Γ(a) + log Γ(b) - log Γ(a + b), also where that cancels."""
    low, high = (a, b) if a < b else (b, a)
    if high < 10.0:
        return math.lgamma(low) + (math.lgamma(high) - math.lgamma(low + high))
    rest = stirling(high) - stirling(low + high)
    share = math.log1p(-low / (low + high))
    if low < 10.0:
        rest = rest + math.lgamma(low) + low - low * math.log(low + high)
        return rest + (high - 0.5) * share
    rest = rest + stirling(low) + 0.5 * (LOG_2PI - math.log(high))
    return rest + (low - 0.5) * math.log(low / (low + high)) + high * share


@overload("scipy.special.multigammaln")
@jit
def multigammaln(a, d):
    """log of the multivariate gamma function Γ_d(a), for a > (d - 1) / 2."""
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        total = total + math.lgamma(a - 0.5 * j)
    return total
