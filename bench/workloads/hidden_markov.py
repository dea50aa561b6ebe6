"""The likelihood of a hidden Markov model, in logarithms throughout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def log_sum_exp(x: cl.f64[:]) -> float:
    """The logarithm of the sum of the exponentials."""
    top = np.max(x)
    return top + math.log(np.sum(np.exp(x - top)))


@cl.jit
def hidden_markov(
    start: cl.f64[:], moves: cl.f64[:, :], emission: cl.f64[:, :], seen: cl.i64[:]
) -> float:
    """The log-likelihood of what was seen.

    `start[j]`, `moves[j, i]` from i to j, `emission[symbol, j]`: logarithms of odds.
    """
    a = start + emission[seen[0]]
    for t in range(1, len(seen)):
        reached = np.array([log_sum_exp(a + row) for row in moves])
        a = reached + emission[seen[t]]
    return log_sum_exp(a)


def problem(steps: int, states: int) -> tuple[Any, ...]:
    """Odds and symbols at random; there are sixteen symbols."""
    rng = np.random.default_rng([steps, states])
    start = np.log(rng.dirichlet(np.ones(states)))
    moves = np.log(rng.dirichlet(np.ones(states), states)).T.copy()
    emission = np.log(rng.dirichlet(np.ones(16), states)).T.copy()
    return start, moves, emission, rng.integers(0, 16, steps)


WORKLOAD = Workload(
    hidden_markov,
    problem,
    sizes=((1_000, 8), (1_000, 32), (10_000, 32)),
    small=(20, 3),
    argnums=(0, 1, 2),
    lengths=(0, 3),
)
