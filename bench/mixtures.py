"""Random mixture problems of a given size, the same for the same size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Parameters and data of one mixture, as the model and the C kernels take them."""

    alpha: Vector
    means: Vector
    q: Vector
    lower: Vector
    x: Vector
    gamma: float
    m: int

    @property
    def parameters(self) -> tuple[Vector, Vector, Vector, Vector]:
        return self.alpha, self.means, self.q, self.lower

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of `examples.gmm_model.log_posterior`."""
        return *self.parameters, self.x, self.gamma, self.m


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
