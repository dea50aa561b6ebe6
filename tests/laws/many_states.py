"""Programs of loops with many states that share the arrays which their steps make.

All take three arrays of n numbers, and their values are work of n.
"""

from __future__ import annotations

from collections.abc import Callable

import chadllvm as cl


def seven_rotated(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """A history of the last seven arrays, some made and some given."""
    p, q, r, t, u, v, w = a, b, c, a, b, c, a
    s = 0.0
    for i in range(len(a) - 2):
        if c[i] > 0.5:
            p, q, r, t, u, v, w = q, r, t, u, v, w, b[i : i + 2] * c[i]
        elif c[i] < -0.5:
            p, w = w, p
        s += p[0] * q[1] + r[0] * t[1] + u[0] * v[1] + w[0] * w[1]
    return s


def five_renewed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """Each state is made anew, or takes the array of another one."""
    p, q, r, t, u = a, b, c, a, b
    s = 0.0
    for i in range(len(a) - 2):
        if c[i] > 0.8:
            p = q if b[i] > 0.0 else b[i : i + 2] * c[i]
        elif c[i] > 0.4:
            q, r = r, a[i : i + 2] * b[i]
        elif c[i] > 0.0:
            t = p if b[i] > 0.0 else c[i : i + 2] + a[i]
        elif c[i] > -0.5:
            u, t = t, b[i : i + 2] * a[i]
        s += p[0] * q[1] + r[0] * t[1] + u[0] * u[1]
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (seven_rotated, five_renewed)
