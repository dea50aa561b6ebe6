"""Functions whose loops are worth several threads, and some that fail in the middle."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.backend.runtime import runtime

SIZE = 60_000


@cl.jit
def potential(x: cl.f64[:], scale: float) -> float:
    return sum(math.exp(-scale * v * v) + math.cos(v) for v in x)


@cl.jit
def squares(x: cl.f64[:]) -> cl.f64[:]:
    return np.array([math.sin(v) * v for v in x])


@cl.jit
def histogram(x: cl.f64[:], places: cl.i64[:]) -> cl.f64[:]:
    out = np.zeros(50)
    for i in range(len(x)):
        out[places[i]] += math.exp(x[i])
    return out


@cl.jit
def gathered(x: cl.f64[:], places: cl.i64[:]) -> float:
    return sum(math.exp(x[p]) for p in places)


@cl.jit
def integral(a: float, b: float, depth: int) -> float:
    if depth == 0:
        return (b - a) * math.exp(0.5 * (a + b))
    middle = 0.5 * (a + b)
    return integral(a, middle, depth - 1) + integral(middle, b, depth - 1)


@cl.jit
def product(x: cl.f64[:], bad: int, low: int, high: int) -> float:
    if high - low == 1:
        if low >= bad:
            raise ValueError(f"bad {low}")
        return 1.0 + 1e-3 * math.sin(x[low])
    middle = (low + high) // 2
    return product(x, bad, low, middle) * product(x, bad, middle, high)


@cl.jit
def small(x: float) -> float:
    return math.sin(x) * x


@dataclass(frozen=True)
class Case:
    """A function, its arguments, and whether the call fails."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    fails: bool = False


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=SIZE)
    places = rng.integers(50, size=SIZE)
    wrong = places.copy()
    wrong[[SIZE // 2, SIZE - 5]] = 10 * SIZE, -10 * SIZE
    return [
        Case(potential, (x, 0.5)),
        Case(cl.value_and_grad(potential, argnums=(0, 1)), (x, 0.5)),
        Case(squares, (x,)),
        Case(histogram, (x, places)),
        Case(histogram, (x, wrong), fails=True),
        Case(cl.grad(gathered), (x, places)),
        Case(cl.value_and_grad(gathered), (x, wrong), fails=True),
        Case(cl.value_and_grad(integral, argnums=(0, 1)), (0.0, 1.0, 8)),
        Case(cl.value_and_grad(product), (x, SIZE, 0, 5000)),
        Case(cl.value_and_grad(product), (x, 3500, 0, 5000), fails=True),
        Case(cl.grad(small), (0.3,)),
    ]


def outcome(case: Case) -> Any:
    """The result, or what the failure says."""
    try:
        result = case.function(*case.args)
    except (IndexError, ValueError) as error:
        return str(error)
    return result


def leaves(result: Any) -> list[Any]:
    """All that is in nested tuples."""
    if isinstance(result, tuple):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def are_same(left: Any, right: Any) -> bool:
    """Whether two outcomes are the same bits."""
    pairs = zip(leaves(left), leaves(right), strict=True)
    return all(np.array_equal(a, b) and type(a) is type(b) for a, b in pairs)


def region(chunks: int, together: int = 1) -> set[int]:
    """The threads that a parallel region of the runtime runs on.

    Whatever the compiler makes of the functions above, this uses OpenMP. So many of the
    first chunks wait for each other.
    """
    rt = runtime()
    threads: set[int] = set()
    begun = threading.Barrier(together)

    @rt.ffi.callback("int32_t(chad_context_t *, void *, int64_t)")
    def run(_context: Any, _environment: Any, chunk: int) -> int:
        threads.add(threading.get_ident())
        if chunk < together:
            begun.wait()
        return 0

    context, null = rt.new_state()[0], rt.ffi.NULL
    assert rt.lib.chad_parallel(context, run, null, null, chunks, chunks, 1) == 0
    return threads


Answer = tuple[float, float, str]


def answer(seed: int) -> Answer:
    """What a worker of any kind computes: a value, the sum of a gradient, an error."""
    x = np.random.default_rng(seed).normal(size=SIZE)
    value, gradient = cl.value_and_grad(potential)(x, 0.5)
    region(10)
    try:
        gathered(x, np.array([1, 2, -SIZE - seed - 1]))
    except IndexError as error:
        return value, float(np.sum(gradient)), str(error)
    raise AssertionError("an index out of range")


def answers(seeds: range) -> list[Answer]:
    return [answer(seed) for seed in seeds]
