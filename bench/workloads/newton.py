"""A loop that stops by itself, in a loop: Newton's iteration against hand-written C.

The gradient is that of the iteration as it is written, in C as well; to differentiate
the equation instead would be another program.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def eccentric_anomaly(mean: float, e: float) -> float:
    """The solution x of Kepler's equation, x - e sin(x) = mean."""
    x = mean
    step = 1.0
    while abs(step) > 1e-12:
        step = (x - e * math.sin(x) - mean) / (1.0 - e * math.cos(x))
        x -= step
    return x


@cl.jit
def orbits(mean: cl.f64[:], e: cl.f64[:]) -> float:
    """The sum of the cosines of many orbits' eccentric anomalies."""
    total = 0.0
    for i in range(len(mean)):
        total += math.cos(eccentric_anomaly(mean[i], e[i]))
    return total


def problem(count: int) -> tuple[Any, ...]:
    """Equations at random."""
    rng = np.random.default_rng(0)
    return rng.uniform(0.1, 3.0, count), rng.uniform(0.1, 0.7, count)


WORKLOAD = Workload(
    orbits,
    problem,
    sizes=((1_000,), (10_000,), (100_000,)),
    small=(50,),
    argnums=(0, 1),
    lengths=(0, 1),
    kernel="newton",
)
