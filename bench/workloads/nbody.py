"""Bodies that pull each other, by the leapfrog method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def accelerations(x: cl.f64[:, :], mass: cl.f64[:]) -> cl.f64[:, :]:
    """The pull of all bodies on each of them, bounded where they are near."""
    n = len(x)
    a = np.zeros((n, 3))
    for i in range(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            weight = mass[j] / (square * math.sqrt(square))
            ax += weight * dx
            ay += weight * dy
            az += weight * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
    return a


@cl.jit
def nbody(x: cl.f64[:, :], v: cl.f64[:, :], mass: cl.f64[:], steps: int) -> float:
    """The squares of places and speeds after a tenth of a unit of time."""
    h = 0.1 / steps
    a = accelerations(x, mass)
    for _ in range(steps):
        v = v + 0.5 * h * a
        x = x + h * v
        a = accelerations(x, mass)
        v = v + 0.5 * h * a
    return np.sum(x * x) + np.sum(v * v)


def problem(bodies: int, steps: int) -> tuple[Any, ...]:
    """Bodies of different masses in a ball."""
    rng = np.random.default_rng([bodies, steps])
    x, v = rng.normal(size=(bodies, 3)), 0.1 * rng.normal(size=(bodies, 3))
    return x, v, rng.uniform(0.5, 1.5, bodies), steps


WORKLOAD = Workload(
    nbody,
    problem,
    sizes=((10, 1_000), (100, 100), (500, 20)),
    small=(5, 8),
    argnums=(0, 1, 2),
    lengths=(0,),
)
