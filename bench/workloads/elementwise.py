"""Expressions over whole arrays of a million elements: against NumPy, and against C.

The programs are run by NumPy as they are, undecorated. A value is measured in turns
with NumPy's, and with its gradient; both beside loops written by hand in C, after a
comparison of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import chadllvm as cl
from bench.kernels import Case, Kernel, check
from bench.measure import interleaved
from bench.reference.load import build
from bench.results import Figure
from bench.settings import Settings

TARGET_VALUE_TO_NUMPY = 1.0
TARGET_GRADIENT_TO_VALUE = 3.0


@cl.jit
def polynomial(x: cl.f64[:], y: cl.f64[:], a: float) -> float:
    """A few multiplications and additions for each element."""
    r = a * x + y
    return np.sum(r * (1.0 + r * (0.5 + x * (0.25 - 0.125 * y))))


@cl.jit
def logistic_loss(score: cl.f64[:], label: cl.f64[:]) -> float:
    """The logistic loss of labels -1 and 1 with a penalty."""
    return np.mean(np.log1p(np.exp(-label * score)) + 0.01 * score**2)


@cl.jit
def standardised(x: cl.f64[:, :], mean: cl.f64[:], scale: cl.f64[:]) -> float:
    """The length of each row after its columns are shifted and scaled."""
    z = (x - mean) / scale
    return np.sum(np.sqrt(np.sum(z * z, axis=1) + 1.0))


@cl.jit
def similarity(x: cl.f64[:], y: cl.f64[:]) -> float:
    """A Gaussian kernel of all pairs."""
    return np.sum(np.exp(-0.5 * (x[:, None] - y[None, :]) ** 2))


def _cases(size: int) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    side = math.isqrt(size)
    x, y = rng.normal(size=(2, size))
    yield Case(polynomial, (x, y, 0.5), (0,), (0,))
    yield Case(logistic_loss, (x, np.sign(y)), (0,), (0,))
    matrix = rng.normal(size=(side, side))
    mean, scale = rng.normal(size=side), rng.uniform(1.0, 2.0, side)
    yield Case(standardised, (matrix, mean, scale), (1, 2), (0,))
    yield Case(similarity, (mean, scale), (0, 1), (0, 1))


def measure(settings: Settings) -> Iterator[Figure]:
    """Times and ratios of each program."""
    libraries = build(settings.build_folder, "elementwise")
    for case in _cases(10_000 if settings.quick else 1_000_000):
        kernels = [Kernel(path, case) for path in libraries]
        gradient = case.gradient()
        for kernel in kernels:
            check(case, gradient, kernel)
        yield from _figures(case, kernels, settings.rounds(15))


def _figures(case: Case, kernels: list[Kernel], rounds: int) -> Iterator[Figure]:
    name, arguments = case.name, case.arguments
    gradient = case.gradient()
    value, plain = "value", case.program.py_func
    runs = {value: lambda: case.program(*arguments)}
    # In turns with nothing else: what NumPy allocates disturbs what runs after it.
    ours = interleaved({**runs, "gradient": lambda: gradient(*arguments)}, rounds)
    numpy = interleaved({**runs, "NumPy": lambda: plain(*arguments)}, rounds)
    c_value = interleaved({k.build: k.value for k in kernels}, rounds)
    c_both = interleaved({k.build: k.value_and_gradient for k in kernels}, rounds)
    yield Figure(f"{name} value", ours[value] * 1e3, "ms")
    ratio = numpy[value] / numpy["NumPy"]
    yield Figure(f"{name} value to NumPy", ratio, "x", TARGET_VALUE_TO_NUMPY)
    ratio = ours["gradient"] / ours[value]
    yield Figure(f"{name} gradient/value", ratio, "x", TARGET_GRADIENT_TO_VALUE)
    yield Figure(f"{name} value to C", ours[value] / min(c_value.values()), "x")
    ratio = ours["gradient"] / min(c_both.values())
    yield Figure(f"{name} gradient to C", ratio, "x")
