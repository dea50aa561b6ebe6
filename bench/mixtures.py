"""Random mixture problems of a given size, the same for the same size."""

from __future__ import annotations

import numpy as np

from bench.reference.load import Problem


def random_problem(n: int, k: int, d: int) -> Problem:
    """Standard normal data, and parameters at which all components matter."""
    random = np.random.default_rng([n, k, d])
    return Problem(
        alpha=random.normal(size=k),
        means=random.normal(size=(k, d)),
        q=0.1 * random.normal(size=(k, d)),
        lower=0.1 * random.normal(size=(k, d * (d - 1) // 2)),
        x=random.normal(size=(n, d)),
        gamma=1.0,
        m=2,
    )
