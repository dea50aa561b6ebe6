"""Recursion: adaptive Simpson quadrature against hand-written C.

The gradient is that of the program as it is written: which intervals are halved is
what the values say, so the derivatives are those of the sum that comes out. The C
gradient keeps nothing between the calls; ours keeps what each call's reverse needs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def integrand(x: float, p: cl.f64[:]) -> float:
    """A wave that becomes ever faster towards x = -p[2]."""
    return math.exp(-p[0] * x) * math.sin(p[1] / (x + p[2]))


@cl.jit
def adapt(
    p: cl.f64[:],
    lo: float,
    hi: float,
    flo: float,
    fmid: float,
    fhi: float,
    whole: float,
    tolerance: float,
) -> float:
    """The integral over an interval, halved until Simpson's rule agrees with itself."""
    mid = 0.5 * (lo + hi)
    fl = integrand(0.5 * (lo + mid), p)
    fr = integrand(0.5 * (mid + hi), p)
    h = (hi - lo) / 12.0
    left = h * (flo + 4.0 * fl + fmid)
    right = h * (fmid + 4.0 * fr + fhi)
    change = left + right - whole
    if abs(change) <= 15.0 * tolerance:
        return left + right + change / 15.0
    below = adapt(p, lo, mid, flo, fl, fmid, left, 0.5 * tolerance)
    return below + adapt(p, mid, hi, fmid, fr, fhi, right, 0.5 * tolerance)


@cl.jit
def integral(p: cl.f64[:], tolerance: float) -> float:
    """The integral of the integrand over [0, 1]."""
    flo, fmid, fhi = integrand(0.0, p), integrand(0.5, p), integrand(1.0, p)
    whole = (flo + 4.0 * fmid + fhi) / 6.0
    return adapt(p, 0.0, 1.0, flo, fmid, fhi, whole, tolerance)


def problem(tolerance: float) -> tuple[Any, ...]:
    """At the least tolerance, about a hundred thousand calls."""
    return np.array([0.7, 1.3, 0.01]), tolerance


WORKLOAD = Workload(
    integral,
    problem,
    sizes=((1e-9,), (1e-12,), (4e-15,)),
    small=(1e-6,),
    argnums=(0,),
    lengths=(0,),
    kernel="quadrature",
    exempt=True,
    growth=0.5**4,
)
