"""Polynomial least squares: the squared residuals of a fit, by its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def polynomial_fit(c: cl.f64[:], x: cl.f64[:], y: cl.f64[:]) -> float:
    """The sum of the squared residuals of a polynomial with these coefficients."""
    total = 0.0
    for i in range(len(x)):
        value = 0.0
        for k in range(len(c) - 1, -1, -1):
            value = value * x[i] + c[k]
        total += (value - y[i]) ** 2
    return total


def problem(n: int, terms: int) -> tuple[Any, ...]:
    """A wave with noise at random places of [-1, 1]."""
    rng = np.random.default_rng([n, terms])
    x = rng.uniform(-1.0, 1.0, n)
    y = np.sin(3.0 * x) + 0.1 * rng.normal(size=n)
    return rng.normal(size=terms), x, y


WORKLOAD = Workload(
    polynomial_fit,
    problem,
    sizes=((1_000, 6), (10_000, 12), (1_000_000, 12)),
    small=(100, 4),
    argnums=(0,),
    lengths=(0, 1),
)
