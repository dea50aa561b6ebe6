# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Complete elliptic integrals, the exponential integral, the zeta function of Hurwitz.

Formulas: NIST Digital Library of Mathematical Functions (dlmf.nist.gov), by number.
"""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.custom import custom_jvp
from chadllvm.api.vectorized import vectorize
from chadllvm.support.overloads import overload

EULER = 0.57721566490153286061


# ---- elliptic integrals ----------------------------------------------------------


def _first_kind(q):
    """K for 1 - m = q, by the arithmetic-geometric mean: 19.8.5."""
    if q < 0.0:
        return math.nan
    if q == 0.0:
        return math.inf
    a, b = 1.0, math.sqrt(q)
    for _ in range(9):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 0.5 * math.pi / a


def _second_kind(m):
    """E(m), by the same: 19.8.6."""
    if m > 1.0:
        return math.nan
    if m == 1.0:
        return 1.0
    a, b = 1.0, math.sqrt(1.0 - m)
    total, weight = 0.5 * m, 0.5
    for _ in range(9):
        c = 0.5 * (a - b)
        a, b = 0.5 * (a + b), math.sqrt(a * b)
        weight = 2.0 * weight
        total = total + weight * c * c
    return 0.5 * math.pi / a * (1.0 - total)


@custom_jvp
def complete_first(m, q):
    """K(m), where q is 1 - m."""
    return _first_kind(q)


@complete_first.defjvp
def _first_rule(primals, tangents):
    (m, q), (m_t, _) = primals, tangents
    return complete_first(m, q), 0.5 * _mixed(m, q) * m_t


def _mixed(m, q):
    """2 dK/dm = (E/q - K) / m (19.4.1); near 0, where that cancels, its series."""
    if abs(m) < 0.1:
        total, term, k = 0.0, 0.5 * math.pi, 1
        while k < 20:
            factor = (2 * k - 1) / (2 * k)
            term = term * factor * factor
            total = total + 2 * k * term * m ** (k - 1)
            k += 1
        return total
    return (complete_second(m, q) / q - complete_first(m, q)) / m


@custom_jvp
def complete_second(m, q):
    """E(m), where q is 1 - m."""
    return _second_kind(m)


@complete_second.defjvp
def _second_rule(primals, tangents):
    """dE/dm = (E - K) / 2m (19.4.2); as (q 2dK/dm - K) / 2 it does not cancel."""
    (m, q), (m_t, _) = primals, tangents
    slope = 0.5 * (q * _mixed(m, q) - complete_first(m, q))
    return complete_second(m, q), slope * m_t


@overload("scipy.special.ellipk")
@vectorize
def ellipk(m):
    """∫ (1 - m sin²)^-½ from 0 to π/2; inf at 1, NaN above."""
    return complete_first(1.0 * m, 1.0 - m)


@overload("scipy.special.ellipkm1")
@vectorize
def ellipkm1(p):
    """K(1 - p), also for p near 0."""
    return complete_first(1.0 - p, 1.0 * p)


@overload("scipy.special.ellipe")
@vectorize
def ellipe(m):
    """∫ (1 - m sin²)^½ from 0 to π/2; NaN above 1."""
    return complete_second(1.0 * m, 1.0 - m)


# ---- exponential integrals -------------------------------------------------------


def _ei_series(x):
    """γ + log |x| + Σ x^k / (k k!): 6.6.2."""
    total, term, k = 0.0, 1.0, 1
    while k < 200:
        term = term * x / k
        part = term / k
        total = total + part
        if abs(part) < 1e-17 * abs(total):
            break
        k += 1
    return EULER + math.log(abs(x)) + total


def _e1_scaled(x):
    """e^x E₁(x) for x ≥ 1: the continued fraction 6.9.1, from behind."""
    value = 0.0
    steps = 20 + int(160.0 / x)
    for j in range(steps):
        k = steps - j
        value = k / (1.0 + k / (x + value))
    return 1.0 / (x + value)


def _ei(x):
    if x == 0.0:
        return -math.inf
    if x < -1.0:
        return -math.exp(x) * _e1_scaled(-x)
    if x <= 40.0:
        return _ei_series(x)
    if x > 716.0:
        return math.inf
    total, term = 1.0, 1.0
    for k in range(1, 40):
        term = term * k / x
        total = total + term
    return math.exp(x) / x * total


@custom_jvp
def exponential_integral(x):
    """Ei(x)"""
    return _ei(x)


@exponential_integral.defjvp
def _ei_rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    return exponential_integral(x), math.exp(x) / x * x_t


@overload("scipy.special.expi")
@vectorize
def expi(x):
    """The principal value of ∫ e^t / t from -∞ to x; -inf at 0."""
    return exponential_integral(1.0 * x)


@overload("scipy.special.exp1")
@vectorize
def exp1(x):
    """∫ e^-t / t from x > 0 to ∞; NaN below 0."""
    if x < 0.0:
        return math.nan
    return -exponential_integral(-x)


# ---- the zeta function -----------------------------------------------------------


# B(2k) / (2k)! for k from 1 on.
_BERNOULLI = np.array(
    [
        8.3333333333333333e-2,
        -1.3888888888888889e-3,
        3.3068783068783069e-5,
        -8.2671957671957672e-7,
        2.0876756987868099e-8,
        -5.2841901386874932e-10,
        1.3382536530684679e-11,
        -3.3896802963225829e-13,
        8.5860620562778446e-15,
        -2.1748686985580619e-16,
        5.5090028283602295e-18,
        -1.3954464685812523e-19,
    ]
)


@overload("scipy.special.zeta")
@vectorize
def zeta(x, q=1.0):
    """Σ (k + q)^-x over k ≥ 0, for x > 1 and q > 0: the sum of Euler and Maclaurin
    (25.11.5); inf at x = 1 and q = 0, NaN elsewhere."""
    if x == 1.0 or (q == 0.0 and x > 1.0):
        return math.inf
    if not (x > 1.0 and q > 0.0):
        return math.nan
    if math.isinf(x):
        return q**-x + (q + 1.0) ** -x
    total = 0.0
    for k in range(12):
        total = total + (k + q) ** -x
    far = q + 12.0
    total = total + far ** (1.0 - x) / (x - 1.0) + 0.5 * far**-x
    term = x * far ** (-x - 1.0)
    total = total + term * _BERNOULLI[0]
    for k in range(2, 13):
        term = term * (x + (2 * k - 3)) * (x + (2 * k - 2)) / (far * far)
        total = total + term * _BERNOULLI[k - 1]
    return total
