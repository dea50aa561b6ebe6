"""The heat equation in two dimensions, by the state at the start."""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def heat(start: cl.f64[:, :], target: cl.f64[:, :], rate: float, steps: int) -> float:
    """How far a plate whose border keeps its heat is from a target in the end."""
    u = start.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += rate * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum((u - target) ** 2)


def problem(side: int, steps: int) -> tuple[Any, ...]:
    """A square plate with a random state, and a smooth target."""
    rng = np.random.default_rng([side, steps])
    wave = np.sin(np.linspace(0.0, 3.0, side))
    return rng.normal(size=(side, side)), np.outer(wave, wave), 0.2, steps


WORKLOAD = Workload(
    heat,
    problem,
    sizes=((64, 100), (256, 100), (1024, 100)),
    small=(8, 10),
    argnums=(0,),
    lengths=(0,),
)
