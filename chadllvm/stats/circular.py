# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""The distribution function of the von Mises distribution, and its quantiles.

    F(z) = 1/2 + z / 2π + 1/π Σ r(j) sin(j z) / j,   r(j) = I(j, κ) / I(0, κ)

The quotients of Bessel functions come from a recurrence that runs down, as in
G. W. Hill, Algorithm 518, ACM Transactions on Mathematical Software 3 (1977); they fall
as exp(-j² / 2κ), so that about √κ of them count. F has an absolute error of some 1e-16.
"""

from __future__ import annotations

import math

from chadllvm.api.custom import custom_jvp
from chadllvm.api.tangents import jvp
from chadllvm.prelude.bessel import log_i0e
from chadllvm.prelude.quadrature import quantile
from chadllvm.prelude.special import LOG_2PI


def _below(z, kappa):
    """The probability of less than z, from -π to π."""
    terms = 30 + int(10.0 * math.sqrt(kappa))
    ratio, total = 0.0, 0.0
    for step in range(terms):
        j = terms - step
        ratio = kappa / (2.0 * j + kappa * ratio)
        total = ratio * (math.sin(j * z) / j + total)
    return 0.5 + (0.5 * z + total) / math.pi


def log_circular(z, kappa):
    """The logarithm of the probability of less than z."""
    if z <= -math.pi or z >= math.pi:
        return -math.inf if z < 0.0 else 0.0
    below = _below(z, kappa)
    return -math.inf if below <= 0.0 else math.log(below)


def _log_density(z, kappa):
    return kappa * (math.cos(z) - 1.0) - LOG_2PI - log_i0e(kappa)


@custom_jvp
def circular_quantile(p, q, kappa):
    """The quantile, from -π to π."""
    if not (p >= 0.0 and q >= 0.0):
        return math.nan
    if p == 0.0 or q == 0.0:
        return -math.pi if p == 0.0 else math.pi
    return quantile(
        lambda z: log_circular(z, kappa),
        lambda z: log_circular(-z, kappa),
        lambda z: _log_density(z, kappa),
        p,
        q,
        -math.pi,
        math.pi,
    )


@circular_quantile.defjvp
def _circular_rule(primals, tangents):
    (p, q, kappa), (p_t, _, kappa_t) = primals, tangents
    z = circular_quantile(p, q, kappa)
    _, by_kappa = jvp(lambda kappa: _below(z, kappa), (kappa,), (kappa_t,))
    return z, (p_t - by_kappa) / math.exp(_log_density(z, kappa))
