"""What a call of a compiled function costs when the function does nearly nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import chadllvm as cl
from bench.measure import interleaved
from bench.results import Figure
from bench.settings import Settings

TARGET_SCALAR = 1.0
TARGET_ARRAYS = 2.5


@cl.jit
def square(x: float) -> float:
    """One multiplication."""
    return x * x


@cl.jit
def firsts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """Three reads."""
    return a[0] + b[0] + c[0]


def _plain(x: float) -> float:
    return x * x


def measure(settings: Settings) -> Iterator[Figure]:
    """Microseconds a call, with a plain Python function for comparison."""
    arrays = [np.ones(8) for _ in range(3)]
    square_grad = cl.grad(square)
    firsts_grad = cl.value_and_grad(firsts, argnums=(0, 1, 2))
    runs: dict[str, Callable[[], object]] = {
        "plain Python, one scalar": lambda: _plain(1.5),
        "one scalar": lambda: square(1.5),
        "gradient, one scalar": lambda: square_grad(1.5),
        "three arrays": lambda: firsts(*arrays),
        "value and gradient, three arrays": lambda: firsts_grad(*arrays),
    }
    targets = {"one scalar": TARGET_SCALAR, "three arrays": TARGET_ARRAYS}
    calls = 100 if settings.quick else 10_000
    for name, time in interleaved(runs, settings.rounds(21), calls).items():
        yield Figure(name, time * 1e6, "us", targets.get(name))
