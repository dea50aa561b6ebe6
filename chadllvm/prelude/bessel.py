# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Bessel functions: DLMF chapter 10 (dlmf.nist.gov), by number."""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.custom import custom_jvp
from chadllvm.api.vectorized import vectorize
from chadllvm.support.overloads import overload

# ---- I, the modified functions ---------------------------------------------------


def log_i0e(x):
    """log(I₀(x) e^-x) for x ≥ 0"""
    return math.log(_scaled(0.0, x))


def _scaled(v, x):
    """I_v(x) e^-x for x ≥ 0: the power series 10.25.2, or 10.40.1 far out."""
    if x < 40.0 or x < 2.0 * v * v:
        y, total, term, k = 0.25 * x * x, 1.0, 1.0, 1
        while k < 3 or abs(term) > 1e-19 * abs(total):
            term = term * y / (k * (v + k))
            total = total + term
            k += 1
        if x < 40.0 and abs(v) < 20.0:
            return (0.5 * x) ** v / math.gamma(v + 1.0) * total * math.exp(-x)
        scale = v * math.log(0.5 * x) - math.lgamma(v + 1.0) - x
        return math.exp(scale + math.log(total))
    total, term = 1.0, 1.0
    for k in range(1, 25):
        odd = 2.0 * k - 1.0
        term = term * (odd * odd - 4.0 * v * v) / (8.0 * k * x)
        total = total + term
    return total / math.sqrt(2.0 * math.pi * x)


def _near(x, sign):
    """I₁(x) / x near 0, or J₁(x) / x, where `sign` is -1."""
    y, total, term = sign * 0.25 * x * x, 0.5, 0.5
    for k in range(1, 12):
        term = term * y / (k * (k + 1))
        total = total + term
    return total


@custom_jvp
def scaled_0(x):
    """I₀(x) e^-|x|"""
    return _scaled(0.0, abs(x))


@custom_jvp
def scaled_1(x):
    """I₁(x) e^-|x|"""
    return math.copysign(_scaled(1.0, abs(x)), x)


@scaled_0.defjvp
def _scaled_0_rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    y = scaled_0(x)
    return y, (scaled_1(x) - math.copysign(1.0, x) * y) * x_t


@scaled_1.defjvp
def _scaled_1_rule(primals, tangents):
    """10.29.4"""
    (x,), (x_t,) = primals, tangents
    y = scaled_1(x)
    ratio = _near(x, 1.0) * math.exp(-abs(x)) if abs(x) < 1.0 else y / x
    return y, (scaled_0(x) - ratio - math.copysign(1.0, x) * y) * x_t


@overload("scipy.special.i0e")
@vectorize
def i0e(x):
    """I₀(x) e^-|x|"""
    return scaled_0(1.0 * x)


@overload("scipy.special.i1e")
@vectorize
def i1e(x):
    """I₁(x) e^-|x|"""
    return scaled_1(1.0 * x)


@custom_jvp
def modified_0(x):
    """I₀(x)"""
    return math.exp(abs(x)) * _scaled(0.0, abs(x))


@custom_jvp
def modified_1(x):
    """I₁(x)"""
    return math.copysign(math.exp(abs(x)) * _scaled(1.0, abs(x)), x)


@modified_0.defjvp
def _modified_0_rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    return modified_0(x), modified_1(x) * x_t


@modified_1.defjvp
def _modified_1_rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    y = modified_1(x)
    ratio = _near(x, 1.0) if abs(x) < 1.0 else y / x
    return y, (modified_0(x) - ratio) * x_t


@overload(np.i0)
@overload("scipy.special.i0")
@vectorize
def i0(x):
    """I₀(x)"""
    return modified_0(1.0 * x)


@overload("scipy.special.i1")
@vectorize
def i1(x):
    """I₁(x)"""
    return modified_1(1.0 * x)


@overload("scipy.special.ive")
@vectorize
def ive(v, z):
    """I_v(x) e^-|x|, for x ≥ 0; NaN below it."""
    return _scaled(1.0 * v, 1.0 * z) if z >= 0.0 else math.nan


@overload("scipy.special.iv")
@vectorize
def iv(v, z):
    """I_v(x) for x ≥ 0; NaN below it. It is differentiated by v as well."""
    return math.exp(z) * _scaled(1.0 * v, 1.0 * z) if z >= 0.0 else math.nan


# ---- J ---------------------------------------------------------------------------

# The sines at places of a quarter of a circle: by the trapezium rule the integral
# 10.9.1 of a periodic function is exact but for J of the order 4 · 24.
_SINES = np.sin(np.pi * (np.arange(24) + 0.5) / 48.0)


def _far(v, x):
    """The factors of cos and sin in 10.17.3, for orders 0 and 1."""
    p, q, term = 1.0, 0.0, 1.0
    for k in range(1, 25):
        odd = 2.0 * k - 1.0
        term = term * (4.0 * v * v - odd * odd) / (8.0 * k * x)
        if k % 4 == 1:
            q = q + term
        elif k % 4 == 2:
            p = p - term
        elif k % 4 == 3:
            q = q - term
        else:
            p = p + term
    return p, q


def _j(v, x):
    """J₀(x) or J₁(x) for x ≥ 0."""
    if x < 2.0:
        y, total, term = 0.25 * x * x, 1.0, 1.0
        for k in range(1, 16):
            term = -term * y / (k * (v + k))
            total = total + term
        return total if v == 0.0 else 0.5 * x * total
    if x < 25.0:
        total = 0.0
        for s in _SINES:
            total = total + (math.cos(x * s) if v == 0.0 else s * math.sin(x * s))
        return total / 24.0
    p, q = _far(v, x)
    plus, minus = math.sin(x) + math.cos(x), math.sin(x) - math.cos(x)
    scale = 1.0 / math.sqrt(math.pi * x)
    if v == 0.0:
        return scale * (p * plus - q * minus)
    return scale * (p * minus + q * plus)


@custom_jvp
def bessel_0(x):
    """J₀(x)"""
    return _j(0.0, abs(x)) if math.isfinite(x) else 0.0 / (1.0 + abs(x))


@custom_jvp
def bessel_1(x):
    """J₁(x)"""
    if not math.isfinite(x):
        return 0.0 / (1.0 + abs(x))
    return math.copysign(1.0, x) * _j(1.0, abs(x))


@bessel_0.defjvp
def _bessel_0_rule(primals, tangents):
    (x,), (x_t,) = primals, tangents
    return bessel_0(x), -bessel_1(x) * x_t


@bessel_1.defjvp
def _bessel_1_rule(primals, tangents):
    """10.6.2"""
    (x,), (x_t,) = primals, tangents
    y = bessel_1(x)
    ratio = _near(x, -1.0) if abs(x) < 1.0 else y / x
    return y, (bessel_0(x) - ratio) * x_t


@overload("scipy.special.j0")
@vectorize
def j0(x):
    """J₀(x); the error is absolute, 10⁻¹⁵."""
    return bessel_0(1.0 * x)


@overload("scipy.special.j1")
@vectorize
def j1(x):
    """J₁(x); the error is absolute, 10⁻¹⁵."""
    return bessel_1(1.0 * x)
