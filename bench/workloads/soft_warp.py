"""Dynamic time warping with a soft minimum: a table filled in order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def soft_least(a: float, b: float, c: float, gamma: float) -> float:
    """A smooth minimum of three."""
    low = min(a, b, c)
    total = (
        math.exp((low - a) / gamma)
        + math.exp((low - b) / gamma)
        + math.exp((low - c) / gamma)
    )
    return low - gamma * math.log(total)


@cl.jit
def soft_warp(x: cl.f64[:], y: cl.f64[:], gamma: float) -> float:
    """Dynamic time warping with a soft minimum."""
    t = np.full((len(x) + 1, len(y) + 1), 1e10)
    t[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            soft = soft_least(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1], gamma)
            t[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return t[len(x), len(y)]


def problem(n: int, m: int) -> tuple[Any, ...]:
    """Two sequences of normal numbers."""
    rng = np.random.default_rng([n, m])
    return rng.normal(size=n), rng.normal(size=m), 0.5


WORKLOAD = Workload(
    soft_warp,
    problem,
    sizes=((100, 100), (300, 300), (1_000, 1_000)),
    small=(12, 9),
    argnums=(0, 1),
    lengths=(0, 1),
    kernel="updates",
)
