"""What calls of a recursion keep: as little as is read, of any type, and rightly."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    weight: float
    left: Tree
    right: Tree


Tree = Leaf | Node


@cl.jit
def grow(x: cl.f64[:], low: int, high: int) -> Tree:
    if high - low == 1:
        return Leaf(x[low])
    middle = (low + high) // 2
    return Node(1.0 / (high - low), grow(x, low, middle), grow(x, middle, high))


@cl.jit
def fold(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value
        case Node(weight, left, right):
            return weight * math.tanh(fold(left)) + (1.0 - weight) * fold(right)


@cl.jit
def folded(x: cl.f64[:]) -> float:
    return fold(grow(x, 0, len(x)))


@cl.jit
def halved(x: cl.f64[:]) -> float:
    """Calls keep arrays of their own sizes, and single numbers, on one side each."""
    n = len(x)
    if n < 3:
        return math.sin(x[0]) * x[n - 1]
    scaled = 0.9 * x
    left = halved(scaled[: n // 2])
    return math.cos(left) * halved(scaled[n // 2 :]) + left * x[1]


@cl.jit
def winding(x: cl.f64[:]) -> float:
    """The flag is one of several, calls are in loops, and some are not needed."""

    def step(k: int, y: float, single: cl.f32) -> float:
        is_even = k % 2 == 0
        if k < 1:
            return y * float(single)
        total = 0.0
        for j in range(k % 3):
            if is_even or j > 0:
                total += step(k - 1 - j, y * x[j], single * single)
        return total if is_even else math.sin(total) + y

    return step(len(x), x[0], np.float32(0.5))


@pytest.mark.parametrize("function", [folded, halved, winding])
def test_gradients_are_those_without_rows(function: Callable[..., float]) -> None:
    plain = cl.jit(function.py_func, optimize=0)  # type: ignore[attr-defined]
    for size in (1, 2, 7, 30) if function is not winding else (3, 6, 9):
        x = np.random.default_rng(size).uniform(0.5, 1.5, size)
        value, gradient = cl.value_and_grad(function)(x)
        expected, slope = cl.value_and_grad(plain)(x)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-14)


def test_calls_at_leaves_keep_next_to_nothing() -> None:
    """A node has 4 words, its ledger 2; grow keeps 3 of it and 1 of a leaf, fold 4, for
    the weight is in the node; the gradient has 1. Beside that is little: pages that
    nobody wrote to take no memory, and what buffers have too much does not count.

    On one thread, for each task that another thread takes begins buffers of its own, so
    that memory depends on what else the machine does.
    """
    gradient = cl.value_and_grad(folded)
    x = np.linspace(-1.0, 1.0, 20_000)
    cl.set_num_threads(1)
    try:
        gradient(x)
        context, lib = runtime().pool[-1][0], runtime().lib
        lib.chad_memory_reset_peak(context)
        before = lib.chad_memory_used(context)
        gradient(x)
    finally:
        cl.set_num_threads(None)
    grown = 1.0 if sys.platform == "linux" else 1.25
    words = grown * (4 + 3 + 1 + 4) + 2 + 1
    assert lib.chad_memory_peak(context) - before < 8 * words * len(x) + 100_000
