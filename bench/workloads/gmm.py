"""The Gaussian mixture against hand-written C: k = 25, d = 10 and 32, growing n.

Every figure is taken on the same numbers as the C kernels, and the gradient is compared
with theirs first. Flatness is the gradient/value ratio's largest over its smallest as n
grows: a cost that is a constant times the value's keeps it near 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import chadllvm as cl
from bench.measure import interleaved
from bench.mixtures import random_problem
from bench.reference.load import Kernel, Problem, build, load
from bench.report import Figure, Settings
from examples.gmm_model import log_posterior

COMPONENTS = 25
TARGET_VALUE_TO_C = 1.5
TARGET_GRADIENT_TO_C = 2.5
TARGET_GRADIENT_TO_VALUE = 4.0
TARGET_FLATNESS = 1.2

value_and_grad = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3))


def measure(settings: Settings) -> Iterator[Figure]:
    """Times and ratios for each size."""
    libraries = build(settings.build_folder)
    sizes = (50, 100) if settings.quick else (1000, 2000, 4000)
    for d in (10, 32):
        ratios = []
        for n in sizes:
            problem = random_problem(n, COMPONENTS, d)
            kernels = load(libraries, problem)
            _check(problem, kernels[0])
            times = interleaved(_runs(problem, kernels), settings.rounds(15))
            ratios.append(times["gradient"] / times["value"])
            yield from _figures(f"d={d} n={n}", times)
        flatness = max(ratios) / min(ratios)
        name = f"d={d} gradient/value, largest/smallest over n"
        yield Figure(name, flatness, "x", TARGET_FLATNESS)


def _check(problem: Problem, kernel: Kernel) -> None:
    """Our value and gradient are those of the C kernel."""
    expected = kernel.value_and_gradient()
    value, gradient = value_and_grad(*problem.arguments)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    np.testing.assert_allclose(log_posterior(*problem.arguments), expected, rtol=1e-10)
    for found, wanted in zip(gradient, kernel.gradient, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def _runs(problem: Problem, kernels: list[Kernel]) -> dict[str, Callable[[], object]]:
    runs: dict[str, Callable[[], object]] = {
        "value": lambda: log_posterior(*problem.arguments),
        "gradient": lambda: value_and_grad(*problem.arguments),
    }
    for kernel in kernels:
        runs[f"C value {kernel.name}"] = kernel.value
        runs[f"C gradient {kernel.name}"] = kernel.value_and_gradient
    return runs


def _figures(size: str, times: dict[str, float]) -> Iterator[Figure]:
    c_value = min(t for name, t in times.items() if name.startswith("C value"))
    c_gradient = min(t for name, t in times.items() if name.startswith("C gradient"))
    value, gradient = times["value"], times["gradient"]
    yield Figure(f"{size} C value", c_value * 1e3, "ms")
    yield Figure(f"{size} C value and gradient", c_gradient * 1e3, "ms")
    yield Figure(f"{size} C gradient/value", c_gradient / c_value, "x")
    yield Figure(f"{size} value", value * 1e3, "ms")
    yield Figure(f"{size} value and gradient", gradient * 1e3, "ms")
    yield Figure(f"{size} value to C", value / c_value, "x", TARGET_VALUE_TO_C)
    yield Figure(
        f"{size} gradient to C", gradient / c_gradient, "x", TARGET_GRADIENT_TO_C
    )
    yield Figure(
        f"{size} gradient/value", gradient / value, "x", TARGET_GRADIENT_TO_VALUE
    )
