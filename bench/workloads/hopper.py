"""Runge and Kutta's method for four states with a branch: two masses that bounce.

The lower mass meets the ground, which pushes while it is below; the upper one hangs on
it by a spring and a damper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def forces(p: cl.f64[:], x: float, v: float, y: float, w: float) -> tuple[float, float]:
    """The accelerations of the lower and of the upper mass."""
    pull = p[0] * (y - x - 1.0) + p[1] * (w - v)
    if x < 0.0:
        return pull - 9.81 - p[2] * x - p[3] * v, -pull - 9.81
    return pull - 9.81, -pull - 9.81


@cl.jit
def hopper(p: cl.f64[:], start: cl.f64[:], steps: int) -> float:
    """The mean square of the upper mass's height over five seconds."""
    x, v, y, w = start[0], start[1], start[2], start[3]
    h = 5.0 / steps
    total = 0.0
    for _ in range(steps):
        a1, b1 = forces(p, x, v, y, w)
        v2, w2 = v + 0.5 * h * a1, w + 0.5 * h * b1
        a2, b2 = forces(p, x + 0.5 * h * v, v2, y + 0.5 * h * w, w2)
        v3, w3 = v + 0.5 * h * a2, w + 0.5 * h * b2
        a3, b3 = forces(p, x + 0.5 * h * v2, v3, y + 0.5 * h * w2, w3)
        v4, w4 = v + h * a3, w + h * b3
        a4, b4 = forces(p, x + h * v3, v4, y + h * w3, w4)
        x += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        y += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4)
        v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        w += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
        total += y * y
    return total / steps


def problem(steps: int) -> tuple[Any, ...]:
    """Masses dropped from two and three metres."""
    return np.array([60.0, 4.0, 900.0, 15.0]), np.array([2.0, 0.0, 3.0, 0.5]), steps


WORKLOAD = Workload(
    hopper,
    problem,
    sizes=((1_000,), (10_000,), (100_000,)),
    small=(200,),
    argnums=(0, 1),
    lengths=(),
)
