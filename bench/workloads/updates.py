"""Loops of updates in place against hand-written C: arrays, and tables filled in order.

Each program is measured beside its C kernel on the same numbers, after a comparison of
values and gradients. The C kernels of tables have no tape: they read the final table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import chadllvm as cl
from bench.kernels import Case, Targets, compare
from bench.reference.load import build
from bench.results import Figure
from bench.settings import Settings

TARGETS = Targets(value_to_c=1.5, gradient_to_value=4.0)


@cl.jit
def recurrence(x: cl.f64[:]) -> float:
    """A linear recurrence of two terms with varying coefficients."""
    a = np.ones(len(x))
    for i in range(2, len(x)):
        a[i] = 0.5 * a[i - 1] + x[i] * a[i - 2]
    return a[-1] + np.sum(a)


@cl.jit
def scattered(x: cl.f64[:], at: cl.i64[:], start: cl.f64[:]) -> float:
    """Updates at places that are read from an array."""
    a = start.copy()
    for i in range(len(x)):
        k = at[i]
        a[k] = 0.9 * a[k] + x[i] * a[k] / (1.0 + a[k] * a[k])
    return np.sum(a)


@cl.jit
def edit_distance(x: cl.f64[:], y: cl.f64[:], gap: float) -> float:
    """The edit distance of two sequences of numbers."""
    t = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(len(x) + 1):
        t[i, 0] = gap * i
    for j in range(1, len(y) + 1):
        t[0, j] = gap * j
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            change = t[i - 1, j - 1] + abs(x[i - 1] - y[j - 1])
            t[i, j] = min(t[i - 1, j] + gap, t[i, j - 1] + gap, change)
    return t[len(x), len(y)]


@cl.jit
def common_score(x: cl.f64[:], y: cl.f64[:]) -> float:
    """The best common subsequence, scored by closeness."""
    t = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            far = x[i - 1] - y[j - 1]
            if far * far < 1.0:
                t[i, j] = t[i - 1, j - 1] + (1.0 - far * far)
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])
    return t[len(x), len(y)]


@cl.jit
def knapsack(worth: cl.f64[:], weight: cl.i64[:], capacity: int) -> float:
    """The most worth of things that together weigh no more than the capacity."""
    best = np.zeros(capacity + 1)
    for k in range(len(worth)):
        for c in range(capacity, weight[k] - 1, -1):
            best[c] = max(best[c], best[c - weight[k]] + worth[k])
    return best[capacity]


@cl.jit
def matrix_chain(d: cl.f64[:]) -> float:
    """The least work of a product of matrices of these sizes, by the best order."""
    n = len(d) - 1
    t = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            t[i, j] = 1e300
            for k in range(i, j):
                work = t[i, k] + t[k + 1, j] + d[i] * d[k + 1] * d[j + 1]
                if work < t[i, j]:
                    t[i, j] = work
    return t[0, n - 1]


def _cases(steps: int) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.3, 0.7, steps)
    yield Case(recurrence, (x,), (0,), (0,))
    at = rng.integers(0, steps, steps)
    start = rng.normal(size=steps)
    yield Case(scattered, (x, at, start), (0, 2), (0, 2))
    side = math.isqrt(steps)
    x, y = rng.normal(size=(2, side))
    yield Case(edit_distance, (x, y, 0.7), (0, 1), (0, 1))
    yield Case(common_score, (x, y), (0, 1), (0, 1))
    things = max(1, steps // 10_000)
    weight = rng.integers(1, 100, things)
    yield Case(knapsack, (rng.uniform(size=things), weight, 10_000), (0,), (0,))
    sizes = rng.uniform(1.0, 3.0, 1 + round((6.0 * steps) ** (1.0 / 3.0)))
    yield Case(matrix_chain, (sizes,), (0,), (0,))


def measure(settings: Settings) -> Iterator[Figure]:
    """Times and ratios of each program for a million steps, and its tape."""
    libraries = build(settings.build_folder, "updates")
    for case in _cases(10_000 if settings.quick else 1_000_000):
        yield from compare(case, libraries, TARGETS, settings.rounds(15))
