"""Times of programs at growing sizes, and the exponents that they grow with:

    PYTHONPATH=tests taskset -c 0 python -m tests.laws.exponents [how many]

The counts of `cost_sweep.py` say what is executed; this says that time follows them. A
time is the processor's, of one thread, the median of some samples of many calls each,
less that of a call with short arrays; the exponent is the slope of a line through the
logarithms of times and sizes, by least squares.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import chadllvm as cl
from tests.laws.cost_sweep import PROGRAMS, WRT, Program, arguments

SHORT = 8  # elements, where a call is all that takes time
# Above these, what the system does for fresh memory takes most of the time.
SIZES = (2_000, 4_000, 8_000, 16_000, 32_000)
SAMPLES = 9
SECONDS = 0.01  # at least, for a sample


@dataclass(frozen=True)
class Grown:
    """Seconds of a call of the value, and of the gradient with it, at each size."""

    name: str
    value: tuple[float, ...]
    gradient: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        return [g / v for g, v in zip(self.gradient, self.value, strict=True)]


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of log(time) over log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def chosen(count: int) -> list[Program]:
    """So many programs of the tables, from all parts of them."""
    places = np.linspace(0, len(PROGRAMS) - 1, count).astype(int)
    return [PROGRAMS[k] for k in places]


def seconds(call: Callable[..., Any], sizes: Sequence[int]) -> tuple[float, ...]:
    """The processor's time for a call at each size; samples of all sizes alternate."""
    given = [arguments(n) for n in (SHORT, *sizes)]
    for args in given:
        call(*args)
    counts = [_enough(call, args) for args in given]
    samples = [
        [_calls(call, args, n) / n for args, n in zip(given, counts, strict=True)]
        for _ in range(SAMPLES)
    ]
    short, *times = (median(of) for of in zip(*samples, strict=True))
    return tuple(taken - short for taken in times)


def _enough(call: Callable[..., Any], args: Sequence[Any]) -> int:
    """How many calls a sample has."""
    calls = 64
    while (taken := _calls(call, args, calls)) < SECONDS:
        calls = max(2 * calls, int(calls * SECONDS / max(taken, 1e-6)))
    return calls


def _calls(call: Callable[..., Any], args: Sequence[Any], count: int) -> float:
    for _ in range(32):  # The first ones may have to ask the system for memory.
        call(*args)
    start = time.thread_time()
    for _ in range(count):
        call(*args)
    return time.thread_time() - start


def grown(program: Program, sizes: Sequence[int] = SIZES) -> Grown:
    value = cl.jit(program)
    gradient = cl.value_and_grad(value, argnums=WRT)
    return Grown(program.__name__, seconds(value, sizes), seconds(gradient, sizes))


def table(found: Sequence[Grown], sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """Rows of Markdown: exponents, the value's time at the largest size, ratios."""
    yield "| program | value | gradient | time of the value | gradient / value |"
    yield "|---|---|---|---|---|"
    for one in found:
        exponents = [exponent(sizes, times) for times in (one.value, one.gradient)]
        ratios = f"{one.ratios[0]:.1f} … {one.ratios[-1]:.1f}"
        value, gradient = (f"{e:.2f}" for e in exponents)
        time = f"{one.value[-1] * 1e3:.3f} ms"
        yield f"| `{one.name}` | {value} | {gradient} | {time} | {ratios} |"


def main(count: int = 30) -> int:
    cl.set_num_threads(1)
    found = []
    for program in chosen(count):
        found.append(grown(program))
        print(program.__name__, file=sys.stderr, flush=True)
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
