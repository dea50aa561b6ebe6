# mypy: allow-untyped-defs, allow-untyped-calls
"""Integrals and roots of functions of one number."""

from __future__ import annotations

import math

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 8


def integral(f, low, high):
    """∫ f between two numbers, by Gauss and Legendre with 8 times 16 nodes."""
    half = 0.5 * (high - low) / _PANELS
    total = 0.0
    for panel in range(_PANELS):
        middle = low + (2 * panel + 1) * half
        for k in range(16):
            total = total + _WEIGHTS[k] * f(middle + half * _NODES[k])
    return total * half


def quantile(log_below, log_above, log_density, p, q, low, high):
    """The x between two numbers that is exceeded with probability q = 1 - p.

    Newton's method for the logarithm of the smaller probability, within a bracket.
    """
    x = 0.5 * (low + high)
    for _ in range(300):
        if p < q:
            side = log_below(x)
            excess = side - math.log(p)
        else:
            side = log_above(x)
            excess = math.log(q) - side
        if excess > 0.0:
            high = x
        else:
            low = x
        moved = x - excess * math.exp(side - log_density(x))
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(moved - x) <= 2e-16 * abs(moved):
            return moved
        x = moved
    return x
