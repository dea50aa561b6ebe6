# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""The distribution function of the skew normal distribution, and its quantiles.

With Owen's T(z, a) it is Φ(z) - 2 T(z, a). Both are integrals along an arc,

    T(z, a) = 1 / 2π ∫ exp(-z² / 2 cos² θ) dθ   from 0 to atan a
    Φ(-|z|) = the same from 0 to π / 2, twice

so that what is small is an integral over a rest of the arc, and loses no digits.

D. B. Owen, Tables for computing bivariate normal probabilities. Annals of Mathematical
Statistics 27 (1956).
"""

from __future__ import annotations

import math

from chadllvm.api.custom import custom_jvp
from chadllvm.api.tangents import jvp
from chadllvm.prelude.quadrature import integral, quantile
from chadllvm.prelude.special import LOG_2, LOG_2PI, log_ndtr

_LOG_PI = math.log(math.pi)


def _log_arc(z, slope, high):
    """log ∫ exp(-z² / 2 cos² θ) dθ from atan(slope) to an angle."""
    s = 0.5 * z * z
    if s > 0.0:  # What is beyond is 18 digits less.
        high = min(high, math.atan(math.sqrt(slope * slope + 42.0 / s)))

    def weight(angle):
        tangent = math.tan(angle)
        return math.exp(-s * (tangent * tangent - slope * slope))

    arc = integral(weight, math.atan(slope), high)
    return math.log(arc) - s * (1.0 + slope * slope)


def _scaled_normal(z, s):
    """Φ(-z) exp(s) for z ≥ 0."""
    return math.exp(log_ndtr(-z) + s)


def _scaled_owen(z, a, s):
    """T(z, a) exp(s) for z, a ≥ 0, by the T of a slope of at most 1."""
    if a <= 1.0:
        return math.exp(_log_arc(z, 0.0, math.atan(a)) + s) / (2.0 * math.pi)
    y = a * z
    outer = _scaled_normal(y, s)
    inner = math.exp(_log_arc(y, 0.0, math.atan(1.0 / a)) + s) / (2.0 * math.pi)
    half = 0.5 * (_scaled_normal(z, s) + outer)
    return half - math.exp(log_ndtr(-z)) * outer - inner


def _log_rest(z, a):
    """log (Φ(-|z|) - 2 T(z, a)) for a ≥ 0."""
    if z * z * (1.0 + a * a) < 2.0:
        return math.log(
            _scaled_normal(abs(z), 0.0) - 2.0 * _scaled_owen(abs(z), a, 0.0)
        )
    return _log_arc(z, a, 0.5 * math.pi) - _LOG_PI


def _log_with(z, a):
    """log (Φ(-|z|) + 2 T(z, a)) for a ≥ 0."""
    s, y = 0.5 * z * z, abs(z)
    return math.log(_scaled_normal(y, s) + 2.0 * _scaled_owen(y, a, s)) - s


def log_skewed(z, a):
    """The logarithm of the probability of less than z."""
    if z <= 0.0:
        return _log_rest(z, a) if a > 0.0 else _log_with(z, -a)
    above = _log_with(z, a) if a > 0.0 else _log_rest(z, -a)
    return math.log1p(-math.exp(above))


def _log_density(z, a):
    return LOG_2 - 0.5 * z * z - 0.5 * LOG_2PI + log_ndtr(a * z)


@custom_jvp
def skew_quantile(p, q, a):
    """The quantile: all that floats can tell from 0 and 1 is within 40."""
    if not (p >= 0.0 and q >= 0.0):
        return math.nan
    if p == 0.0 or q == 0.0:
        return -math.inf if p == 0.0 else math.inf
    return quantile(
        lambda z: log_skewed(z, a),
        lambda z: log_skewed(-z, -a),
        lambda z: _log_density(z, a),
        p,
        q,
        -40.0,
        40.0,
    )


@skew_quantile.defjvp
def _skew_rule(primals, tangents):
    (p, q, a), (p_t, _, a_t) = primals, tangents
    z = skew_quantile(p, q, a)
    _, by_a = jvp(lambda a: math.exp(log_skewed(z, a)), (a,), (a_t,))
    return z, (p_t - by_a) / math.exp(_log_density(z, a))
