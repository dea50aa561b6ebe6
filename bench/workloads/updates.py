"""Loops of updates in place against hand-written C: arrays, and tables filled in order.

Each program is measured beside its C kernel on the same numbers, after a comparison of
values and gradients. The C kernels of tables have no tape: they read the final table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
import numpy as np

import chadllvm as cl
from bench.measure import interleaved
from bench.reference.load import build, declarations
from bench.report import Figure, Settings

TARGET_VALUE_TO_C = 1.5
TARGET_GRADIENT_TO_VALUE = 4.0


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
def soft_least(a: float, b: float, c: float, gamma: float) -> float:
    """A smooth minimum of three."""
    low = min(a, b, c)
    total = (
        math.exp((low - a) / gamma)
        + math.exp((low - b) / gamma)
        + math.exp((low - c) / gamma)
    )
    return low - gamma * math.log(total)


@cl.jit
def soft_warp(x: cl.f64[:], y: cl.f64[:], gamma: float) -> float:
    """Dynamic time warping with a soft minimum."""
    t = np.full((len(x) + 1, len(y) + 1), 1e10)
    t[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            soft = soft_least(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1], gamma)
            t[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return t[len(x), len(y)]


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


@dataclass(frozen=True)
class Case:
    """A program, the arguments to run it with, and those to differentiate by.

    `lengths`: the arrays in front of whose C parameter their length is passed.
    """

    program: Callable[..., float]
    arguments: tuple[Any, ...]
    argnums: tuple[int, ...]
    lengths: tuple[int, ...]


def _cases(steps: int) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.3, 0.7, steps)
    yield Case(recurrence, (x,), (0,), (0,))
    at = rng.integers(0, steps, steps)
    start = rng.normal(size=steps)
    yield Case(scattered, (x, at, start), (0, 2), (0, 2))
    side = math.isqrt(steps)
    x, y = rng.normal(size=(2, side))
    yield Case(soft_warp, (x, y, 0.5), (0, 1), (0, 1))
    yield Case(edit_distance, (x, y, 0.7), (0, 1), (0, 1))
    yield Case(common_score, (x, y), (0, 1), (0, 1))
    things = max(1, steps // 10_000)
    weight = rng.integers(1, 100, things)
    yield Case(knapsack, (rng.uniform(size=things), weight, 10_000), (0,), (0,))


class Kernel:
    """The C functions of one build, bound to the arguments of a case."""

    def __init__(self, path: Path, case: Case) -> None:
        ffi = cffi.FFI()
        kernel, self.build = path.stem.removeprefix("lib").split("-", 1)
        ffi.cdef(declarations(kernel))
        # The functions do not keep the library alive.
        self._library = library = ffi.dlopen(str(path))
        name = case.program.__name__
        self._value_of = getattr(library, f"{name}_value")
        self._gradient_of = getattr(library, f"{name}_gradient")
        self.gradient = [np.zeros_like(case.arguments[k]) for k in case.argnums]
        self._out = ffi.new("double *")
        self._outputs = [ffi.from_buffer("double[]", g) for g in self.gradient]
        self._inputs: list[Any] = []
        for k, argument in enumerate(case.arguments):
            if k in case.lengths:
                self._inputs.append(len(argument))
            if isinstance(argument, np.ndarray):
                kind = "double[]" if argument.dtype == np.float64 else "int64_t[]"
                argument = ffi.from_buffer(kind, argument)
            self._inputs.append(argument)

    def value(self) -> float:
        """The value. Raises: MemoryError."""
        return self._checked(self._value_of(*self._inputs, self._out))

    def value_and_gradient(self) -> float:
        """The value; leaves the derivatives in `gradient`. Raises: MemoryError."""
        status = self._gradient_of(*self._inputs, self._out, *self._outputs)
        return self._checked(status)

    def _checked(self, status: int) -> float:
        if status != 0:
            raise MemoryError("the reference kernel found no memory")
        return float(self._out[0])


def measure(settings: Settings) -> Iterator[Figure]:
    """Times and ratios of each program for a million steps, and its tape."""
    libraries = build(settings.build_folder, "updates")
    for case in _cases(10_000 if settings.quick else 1_000_000):
        gradient = cl.value_and_grad(case.program, argnums=case.argnums)
        kernels = [Kernel(path, case) for path in libraries]
        for kernel in kernels:
            check(case, gradient, kernel)
        runs = _runs(case, gradient, kernels)
        yield from _figures(case, interleaved(runs, settings.rounds(15)))
        yield _tape(case, gradient)


def check(case: Case, gradient: Callable[..., Any], kernel: Kernel) -> None:
    """Our value and gradient are those of the C kernel."""
    expected = kernel.value_and_gradient()
    value, found = gradient(*case.arguments)
    np.testing.assert_allclose(kernel.value(), expected, rtol=1e-12)
    np.testing.assert_allclose(case.program(*case.arguments), expected, rtol=1e-9)
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    for ours, theirs in zip(found, kernel.gradient, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def _runs(
    case: Case, gradient: Callable[..., Any], kernels: list[Kernel]
) -> dict[str, Callable[[], object]]:
    runs: dict[str, Callable[[], object]] = {
        "value": lambda: case.program(*case.arguments),
        "gradient": lambda: gradient(*case.arguments),
    }
    for kernel in kernels:
        runs[f"C value {kernel.build}"] = kernel.value
        runs[f"C gradient {kernel.build}"] = kernel.value_and_gradient
    return runs


def _figures(case: Case, times: dict[str, float]) -> Iterator[Figure]:
    name = case.program.__name__
    c_value = min(t for key, t in times.items() if key.startswith("C value"))
    c_gradient = min(t for key, t in times.items() if key.startswith("C gradient"))
    value, gradient = times["value"], times["gradient"]
    yield Figure(f"{name} C value", c_value * 1e3, "ms")
    yield Figure(f"{name} C value and gradient", c_gradient * 1e3, "ms")
    yield Figure(f"{name} value to C", value / c_value, "x", TARGET_VALUE_TO_C)
    yield Figure(f"{name} gradient to C", gradient / c_gradient, "x")
    yield Figure(
        f"{name} gradient/value", gradient / value, "x", TARGET_GRADIENT_TO_VALUE
    )


def _tape(case: Case, gradient: Any) -> Figure:
    """The bytes that a step stores for the reverse, at most; arrays are told inside."""
    loops = gradient.report(*case.arguments).loops
    sums = [sum(s.bytes or 0 for s in loop.stored if s.tape) for loop in loops]
    return Figure(f"{case.program.__name__} tape", max(sums), "bytes a step")
