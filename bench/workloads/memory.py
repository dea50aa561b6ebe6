"""What memory is left behind by many calls, and what a long loop needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import chadllvm as cl
from bench.measure import reset_resident_peak, resident, resident_peak
from bench.mixtures import random_problem
from bench.results import Figure
from bench.settings import Settings
from examples.gmm_model import log_posterior

MIB = 2**20
TARGET_GROWTH = 1.0
TARGET_LOOP = 1.0


@cl.jit
def logistic_map(x: float, rate: float, steps: int) -> float:
    """`steps` steps of the logistic map from x."""
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def measure(settings: Settings) -> Iterator[Figure]:
    """Growth over many calls, and the peak of a loop that carries one scalar."""
    calls = 500 if settings.quick else 10_000
    steps = 10_000 if settings.quick else 10_000_000
    arguments = random_problem(20, 3, 4).arguments
    gradient = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3))
    for name, run in (
        ("values", lambda: log_posterior(*arguments)),
        ("values and gradients", lambda: gradient(*arguments)),
    ):
        growth = _growth(run, calls)
        yield Figure(f"growth over {calls} {name}", growth, "MiB", TARGET_GROWTH)
    peak = _peak(lambda: logistic_map(0.3, 3.7, steps))
    yield Figure(f"value-only loop of {steps} steps", peak, "MiB", TARGET_LOOP)


def _growth(run: Callable[[], object], calls: int) -> float:
    """MiB that this many calls leave behind, after a tenth as many to warm up."""
    for _ in range(calls // 10):
        run()
    before = resident()
    for _ in range(calls):
        run()
    return (resident() - before) / MIB


def _peak(run: Callable[[], object]) -> float:
    """MiB above what is held now that a call needs, after one to warm up."""
    run()
    reset_resident_peak()
    before = resident_peak()
    run()
    return (resident_peak() - before) / MIB
