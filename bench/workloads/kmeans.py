"""The cost of k-means, by the centres: the squared distances to the nearest ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def kmeans(points: cl.f64[:, :], centres: cl.f64[:, :]) -> float:
    """The sum over all points of the squared distance to the nearest centre."""
    return sum(min(np.sum((p - c) ** 2) for c in centres) for p in points)


def problem(n: int, k: int, d: int) -> tuple[Any, ...]:
    """Points and centres of a standard normal distribution."""
    rng = np.random.default_rng([n, k, d])
    return rng.normal(size=(n, d)), rng.normal(size=(k, d))


WORKLOAD = Workload(
    kmeans,
    problem,
    sizes=((1_000, 25, 10), (10_000, 25, 10), (10_000, 100, 32)),
    small=(50, 20, 3),
    argnums=(1,),
    lengths=(0, 1),
)
