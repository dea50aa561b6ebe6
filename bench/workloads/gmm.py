"""The log-posterior of a Gaussian mixture with full covariances, by its parameters."""

from __future__ import annotations

from itertools import product
from typing import Any

from bench.mixtures import random_problem
from bench.workload import Workload
from examples.gmm_model import log_posterior


def problem(n: int, k: int, d: int) -> tuple[Any, ...]:
    """Points, components and dimensions: see `random_problem`."""
    return random_problem(n, k, d).arguments


WORKLOAD = Workload(
    log_posterior,
    problem,
    sizes=(
        (1_000, 5, 2),
        (1_000, 25, 10),
        (10_000, 25, 10),
        (1_000, 25, 20),
        (1_000, 25, 32),
        (1_000, 100, 64),
    ),
    grid=tuple(product((1_000, 10_000), (5, 25, 100), (2, 10, 20, 32, 64))),
    small=(20, 3, 4),
    argnums=(0, 1, 2, 3),
    lengths=(0, 4),
    kernel="gmm",
)
