# mypy: allow-untyped-defs, allow-untyped-calls
"""The modified Bessel function I₀, scaled: DLMF chapter 10, by number."""

from __future__ import annotations

import math

from chadllvm.overloads import overload
from chadllvm.prelude.special import LOG_2PI
from chadllvm.vectorized import vectorize


def log_i0e(x):
    """log(I₀(x) e^-x) for x ≥ 0: the power series 10.25.2, or 10.40.1 far out."""
    if x < 40.0:
        y, total, term, k = 0.25 * x * x, 1.0, 1.0, 1
        while term > 1e-18 * total:
            term = term * y / (k * k)
            total = total + term
            k += 1
        return math.log(total) - x
    total, term = 1.0, 1.0
    for k in range(1, 25):
        term = term * ((2 * k - 1) * (2 * k - 1) / (8 * k)) / x
        total = total + term
    return math.log(total) - 0.5 * (LOG_2PI + math.log(x))


@overload("scipy.special.i0e")
@vectorize
def i0e(x):
    """I₀(x) e^-|x|"""
    return math.exp(log_i0e(abs(x)))
