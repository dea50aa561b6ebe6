"""`heapq` on lists that the function makes."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

RNG = np.random.default_rng(0)
EDGES = RNG.integers(0, 8, size=(30, 2))
X = RNG.uniform(0.1, 1.0, size=30)


def shortest(edges: cl.i64[:, :], x: cl.f64[:]) -> float:
    beside = [[] for _ in range(8)]
    for (a, b), w in zip(edges, x, strict=True):
        beside[a].append((b, w))
        beside[b].append((a, w))
    found = [1e9] * 8
    found[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, a = heapq.heappop(heap)
        if d > found[a]:
            continue
        for b, w in beside[a]:
            if d + w < found[b]:
                found[b] = d + w
                heapq.heappush(heap, (d + w, b))
    return sum(found)


def in_order(edges: cl.i64[:, :], x: cl.f64[:]) -> float:
    heap = [v for v in x]
    heapq.heapify(heap)
    total, k = 0.0, 0
    while heap:
        total *= 0.5
        total += heapq.heappop(heap)
        k += 1
    return total * k


def largest(edges: cl.i64[:, :], x: cl.f64[:]) -> float:
    heap = []
    total = 0.0
    for i, v in enumerate(x):
        heappush(heap, v * v)
        if len(heap) > 4:
            least = heappop(heap)
            total += least * i
    return total + sum(i * v for i, v in enumerate(heap))


def parts(edges: cl.i64[:, :], x: cl.f64[:]) -> float:
    squares = [v * v for v in x]
    few = heapq.nsmallest(3, x)
    return sum(few) - 2.0 * sum(heapq.nlargest(2, squares)) * len(heapq.nsmallest(0, x))


PROGRAMS = (shortest, in_order, largest, parts)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    compiled = cl.jit(program)
    assert np.isclose(compiled(EDGES, X), program(EDGES, X))
    assert cl.check_grads(compiled, (EDGES, X)) is None  # type: ignore[func-returns-value]


def left(numbers: cl.i64[:], count: int) -> list[int]:
    heap = [n for n in numbers]
    heapq.heapify(heap)
    for i in range(count):
        n = heapq.heappop(heap)
        heapq.heappop(heap)
        heapq.heappush(heap, n * 7 % 20 + i)
    return heap


@pytest.mark.parametrize("size", [1, 2, 3, 10, 33])
def test_elements_are_where_python_has_them(size: int) -> None:
    """With equal ones among them."""
    compiled = cl.jit(left)
    for _ in range(5):
        numbers = RNG.integers(0, 20, size)
        for count in (0, size // 2):
            assert compiled(numbers, count).tolist() == left(numbers, count)


def drained(x: float) -> float:
    heap = [x]
    heapq.heappop(heap)
    return heapq.heappop(heap)


def test_nothing_is_taken_from_an_empty_heap() -> None:
    with pytest.raises(IndexError):
        drained(1.0)
    with pytest.raises(IndexError):
        cl.jit(drained)(1.0)
