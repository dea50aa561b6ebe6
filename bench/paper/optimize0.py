"""The permanent mode: the gradient's cost on the runtime's generic structures (§5–§7).

Machine code of `optimize=0` counts what it executes: statements of the loop language,
and the steps of the C runtime (accumulation array, bags). So the cost law is measured
where the paper states it, on D[·] as it stands, with no optimisation in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import chadllvm as cl
from bench.count import Counted
from bench.paper.claim import Claim, Curve, Report, Series
from chadllvm.support.options import CompileOptions

SIZES = (10, 100, 1_000, 10_000, 100_000)
QUICK_SIZES = (10, 100, 1_000)

# How far the ratio may rise above that of the second size. At the smallest, what a call
# costs without input is still a part of the value's cost.
FLAT = 1.1


def map_reduce(a: cl.f64[:]) -> float:
    squares = [math.sin(v) * v for v in a]
    return sum(v * v for v in squares)


def nested_loops(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(len(a)):
        for j in range(k):
            total = total + a[i] * math.cos(a[i] + j)
    return total


def gather(a: cl.f64[:], places: cl.i64[:]) -> float:
    return sum(a[places[i]] * a[i] for i in range(len(places)))


def recurrence(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = 3.5 * y * (1.0 - y) + 0.001 * math.sin(x)
    return y


def branches(a: cl.f64[:]) -> float:
    total = 0.0
    for v in a:
        if v > 0.5:
            total = total + math.exp(v)
        elif v > 0.0:
            total = total * v
        else:
            total = total - v * v
    return total


def matrix_vector(m: cl.f64[:, :], x: cl.f64[:]) -> float:
    y = [sum(m[i, j] * x[j] for j in range(len(x))) for i in range(m.shape[0])]
    return sum(v * v for v in y)


def carried_array(a: cl.f64[:], k: int) -> float:
    for _ in range(k):
        a = [v * 0.5 + 0.1 for v in a]
    return sum(a)


def rows_never_read(m: cl.f64[:, :]) -> float:
    """Of each row one element is read: what names a row must cost nothing."""
    total = 0.0
    for i in range(m.shape[0]):
        row = m[i]
        total = total + row[0] * row[0]
    return total


def swapped_arrays(a: cl.f64[:], b: cl.f64[:]) -> float:
    """Each step reads one element of states that are arrays, and hands them on."""
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * b[i] * b[i]
        a, b = b, a
    return total


def smallest(a: cl.f64[:]) -> float:
    """Only the winner's cotangent is not zero."""
    return min(math.exp(v) + v * v for v in a) + max(a)


@dataclass(frozen=True)
class Workload:
    """A function, how to make its arguments of size n, and what it is derived by."""

    function: Callable[..., Any]
    args: Callable[[int], tuple[Any, ...]]
    wrt: tuple[int, ...] = (0,)


def _vector(n: int) -> np.ndarray:
    return np.random.default_rng(n).uniform(-1.0, 1.0, n)


def _square(n: int) -> tuple[np.ndarray, np.ndarray]:
    side = math.isqrt(n)
    return _vector(side * side).reshape(side, side), _vector(side)


WORKLOADS = (
    Workload(map_reduce, lambda n: (_vector(n),)),
    Workload(nested_loops, lambda n: (_vector(n), 5)),
    Workload(gather, lambda n: (_vector(n), np.arange(n)[::-1].copy())),
    Workload(recurrence, lambda n: (0.4, n)),
    Workload(branches, lambda n: (_vector(n),)),
    Workload(matrix_vector, _square, (0, 1)),
    Workload(carried_array, lambda n: (_vector(n), 5)),
    Workload(swapped_arrays, lambda n: (_vector(n), _vector(n + 1)), (0, 1)),
    Workload(smallest, lambda n: (_vector(n),)),
    Workload(rows_never_read, lambda n: (_vector(n * 3).reshape(n, 3),)),
)


def cost_ratio(
    workload: Workload, sizes: Sequence[int], options: CompileOptions
) -> list[float]:
    """Operations of value and gradient over those of the value, for each size."""
    value = Counted(workload.function, None, options)
    both = Counted(workload.function, workload.wrt, options)
    pairs = []
    for n in sizes:
        args = workload.args(n)
        pairs.append((both(*args)[1], value(*args)[1]))
    return [gradient / alone for gradient, alone in pairs]


def report(quick: bool) -> Report:
    """The ratio of each workload over the size of its input."""
    sizes = QUICK_SIZES if quick else SIZES
    options = CompileOptions(optimize=0)
    found = {w.function.__name__: cost_ratio(w, sizes, options) for w in WORKLOADS}
    claims = [_flat(name, ratios, sizes) for name, ratios in found.items()]
    lines = tuple(
        Series(name, tuple(zip(map(float, sizes), ratios, strict=True)))
        for name, ratios in found.items()
    )
    curve = Curve(
        "optimize0",
        "Cost of value and gradient over cost of the value, as the paper writes it",
        "§5–§7, Theorem",
        "size of the input",
        "executed operations, gradient over value",
        lines,
    )
    return Report(claims, (curve,))


def _flat(name: str, ratios: Sequence[float], sizes: Sequence[int]) -> Claim:
    shown = ", ".join(f"{r:.2f}" for r in ratios)
    return Claim(
        f"{name}: on the generic structures the gradient costs a constant times the "
        "value, whatever the size",
        "§5–§7, Theorem",
        f"{shown} for n = {sizes[0]} … {sizes[-1]}",
        max(ratios[1:]) <= FLAT * ratios[1],
    )
