"""The price of an option on the mean of a path, with a barrier, by simulated paths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def monte_carlo(
    spot: float,
    volatility: float,
    rate: float,
    strike: float,
    barrier: float,
    normals: cl.f64[:, :],
) -> float:
    """What the mean above the strike is worth, on paths that stay below the barrier.

    The gradient is that of the payments of these paths, each as it is.
    """
    paths, steps = normals.shape
    drift = (rate - 0.5 * volatility * volatility) / steps
    spread = volatility * math.sqrt(1.0 / steps)
    total = 0.0
    for path in range(paths):
        price, mean, alive = spot, 0.0, True
        for step in range(steps):
            price *= math.exp(drift + spread * normals[path, step])
            mean += price / steps
            if price > barrier:
                alive = False
        if alive and mean > strike:
            total += mean - strike
    return math.exp(-rate) * total / paths


def problem(paths: int, steps: int) -> tuple[Any, ...]:
    """A year of an option at the money."""
    normals = np.random.default_rng([paths, steps]).normal(size=(paths, steps))
    return 100.0, 0.25, 0.03, 100.0, 150.0, normals


WORKLOAD = Workload(
    monte_carlo,
    problem,
    sizes=((1_000, 64), (10_000, 256), (100_000, 64)),
    small=(30, 12),
    argnums=(0, 1, 2, 3),
    lengths=(5,),
)
