"""Calls of recursive functions on several threads: same bits, same errors, no leaks."""

from __future__ import annotations

import math
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.lower import tasks
from tests.on_threads import check_as_without, check_same_bits, parts

pytestmark = pytest.mark.optimised  # Bits are compared that the same code gives.


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even short calls ask for help."""
    monkeypatch.setattr(tasks, "PATIENCE", 0)
    yield
    cl.set_num_threads(None)


@cl.jit(cache=False)
def fibonacci(n: int, x: float) -> float:
    if n < 2:
        return math.sin(x)
    return fibonacci(n - 1, x * 0.9) + x * fibonacci(n - 2, x + 0.1)


@cl.jit(cache=False)
def energy(x: cl.f64[:], low: int, high: int) -> float:
    if high - low == 1:
        return math.sin(x[low]) * x[low]
    middle = (low + high) // 2
    return math.tanh(energy(x, low, middle)) + energy(x, middle, high) * 0.5


@cl.jit(cache=False)
def blocks(x: cl.f64[:], w: cl.f64[:], low: int, high: int) -> float:
    """Loops in the leaves; all leaves add to one cell."""
    if high - low <= 50:
        total = 0.0
        for i in range(low, high):
            total += math.exp(w[i % 7] * x[i]) * w[6]
        return total
    third = (high - low) // 3
    left = blocks(x, w, low, low + third)
    right = blocks(x, w, low + third, low + 2 * third)
    return left * 0.3 - right + blocks(x, w, low + 2 * third, high) * left


@cl.jit(cache=False)
def adapt(p: cl.f64[:], low: float, high: float, whole: float, error: float) -> float:
    """Few calls on one side, many on the other."""
    middle = 0.5 * (low + high)
    left = (middle - low) * math.sin(p[1] / (0.5 * (low + middle) + p[0]))
    right = (high - middle) * math.sin(p[1] / (0.5 * (middle + high) + p[0]))
    if abs(left + right - whole) < error:
        return left + right
    below = adapt(p, low, middle, left, 0.5 * error)
    return below + adapt(p, middle, high, right, 0.5 * error)


@cl.jit(cache=False)
def ends(p: cl.f64[:], low: float, high: float, error: float) -> float:
    """Three calls, of which the last goes deep, or in its middle."""
    if (high - low) * math.exp(p[1] * high) < error * (p[0] + abs(high - 2.0)):
        return (high - low) * math.sin(p[1] / (p[0] + abs(0.5 * (low + high) - 2.0)))
    third = (high - low) / 3.0
    one = ends(p, low, low + third, error) * p[1]
    two = ends(p, low + third, high - third, error)
    return one + two * math.cos(ends(p, high - third, high, error))


@cl.jit(cache=False)
def wave(p: cl.f64[:], error: float) -> float:
    """All calls add to the derivatives of two numbers, which are in no array."""
    return adapt(p, 0.0, 1.0, 0.5 * p[0], error) * adapt(p, 1.0, 2.0, p[1], error)


@cl.jit(cache=False)
def trees(x: float, n: int) -> float:
    """Pairs in a loop, and calls whose results others need."""
    if n == 0:
        return x
    total = 0.0
    for k in range(n):
        total += trees(x * 0.9, k) * trees(x + 0.1, n - 1 - k)
    return math.sin(total + trees(math.cos(trees(x, n // 2)), n // 3))


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    left: Tree
    right: Tree


Tree = Leaf | Node


@cl.jit
def grow(x: cl.f64[:], low: int, high: int) -> Tree:
    if high - low == 1:
        return Leaf(x[low])
    middle = low + (high - low) // 3 + 1
    middle = middle if middle < high else high - 1
    return Node(grow(x, low, middle), grow(x, middle, high))


@cl.jit
def fold(tree: Tree, scale: float) -> float:
    match tree:
        case Leaf(value):
            return value * scale
        case Node(left, right):
            return math.tanh(fold(left, scale * 0.9)) - fold(right, scale)


@cl.jit(cache=False)
def folded(x: cl.f64[:]) -> float:
    return fold(grow(x, 0, len(x)), 1.3)


@cl.jit(cache=False)
def depth(tree: Tree) -> int:
    match tree:
        case Leaf():
            return 0
        case Node(left, right):
            return 1 + max(depth(left), depth(right))


@cl.jit(cache=False)
def woven(x: cl.f64[:], low: int, high: int) -> Tree:
    """Several nodes of a call, and some of them twice in a tree."""
    if high - low < 3:
        return Node(Leaf(x[low]), Leaf(x[high - 1]))
    middle = (low + high) // 2
    first, second = woven(x, low, middle), woven(x, middle, high)
    return Node(Node(first, second), Node(second, Leaf(x[middle])))


@cl.jit(cache=False)
def twice(x: cl.f64[:], n: int) -> float:
    """Two recursions make nodes of one heap, and so does the function itself."""
    wide, thin = woven(x, 0, n), grow(x, 0, n)
    tree = Node(Node(wide, thin), wide)
    return fold(tree, 1.1) + fold(thin, 0.7) * depth(tree)


@cl.jit(cache=False)
def leaves(x: cl.f64[:], low: int, high: int) -> float:
    """Some calls keep nothing, so that a row is read where there may be none."""
    if high - low == 1:
        return 1.5
    middle = (low + high) // 2
    below, above = leaves(x, low, middle), leaves(x, middle, high)
    return below * x[low] + above * math.sin(x[middle])


@cl.jit(cache=False)
def both(x: cl.f64[:], n: int, scale: float) -> float:
    """Several recursions in one function."""
    first = energy(x, 0, n) * scale
    return first + blocks(x, x[:7] * scale, 0, n) * fibonacci(9, first)


X = np.random.default_rng(0).normal(size=5000)
PROGRAMS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (fibonacci, (15, 0.7), (1,)),
    (energy, (X[:2000], 0, 2000), (0,)),
    (energy, (X[:37], 0, 37), (0,)),
    (blocks, (X, X[:7] * 0.1, 0, 2000), (0, 1)),
    (adapt, (np.array([0.01, 1.3]), 0.0, 1.0, 0.5, 1e-6), (0, 1, 2)),
    (ends, (np.array([1e-7, 1.3]), 0.0, 2.0, 0.2), (0,)),
    (ends, (np.array([1e-7, 1.3]), 1.0, 3.0, 0.2), (0,)),
    (wave, (np.array([0.01, 1.3]), 1e-6), (0,)),
    (trees, (0.4, 8), (0,)),
    (folded, (X[:1000],), (0,)),
    (twice, (X[:200], 200), (0,)),
    (leaves, (X[:1500], 0, 1500), (0,)),
    (both, (X[:600], 600, 0.3), (0, 2)),
]


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_same_bits(program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check_same_bits(program, args, wrt)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_as_without_tasks(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    check_as_without("tasks", program, args, wrt)


def test_others_take_part() -> None:
    """They get some of the work, unless others have all cores all the time."""
    cl.set_num_threads(2)
    for function in (fibonacci, cl.grad(fibonacci, argnums=1)):
        function(5, 0.7)
        assert any(second_share(function) > 0.05 for _ in range(20))


@pytest.mark.parametrize(
    ("program", "args", "wrt"),
    [case for case in PROGRAMS if case[0] not in (trees, folded, twice)],
)
def test_gradients_are_divided(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    """Each recursion, and its reverse."""
    recursions = {both: 3, wave: 2}.get(program, 1)
    value, gradient = (
        function.show("llvm", *args).count("call i32 @chad_divide(")
        for function in (program, cl.value_and_grad(program, argnums=wrt))
    )
    assert (value, gradient) == (recursions, 2 * recursions)


def test_nodes_are_made_by_all() -> None:
    for function, args, recursions in ((folded, (X,), 2), (twice, (X, 9), 5)):
        calls = function.show("llvm", *args).count("call i32 @chad_divide(")
        assert calls == recursions


def test_others_stay_away() -> None:
    """Where no thread may help, calls have no patience for which they would ask one."""
    alone = cl.jit(fibonacci.py_func, parallel=False)
    for function in (alone, cl.grad(alone, argnums=1)):
        text = function.show("llvm", 5, 0.7)
        found = re.findall(r"call i32 @chad_divide\(.*, i64 (-?\d+)\)", text)
        assert set(found) == {"-1"}


def second_share(function: Any) -> float:
    """How long the second thread has run in a call, over how long the first has."""
    before = seconds_by_thread()
    function(29, 0.7)
    after = seconds_by_thread()
    used = sorted(after[t] - before.get(t, 0.0) for t in after)
    return used[-2] / used[-1]


def seconds_by_thread() -> dict[str, float]:
    """How long each thread of this process has run."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/schedstat") as file:
            found[thread] = int(file.read().split()[0]) * 1e-9
    return found


@cl.jit(cache=False)
def checked(x: cl.f64[:], low: int, high: int, bad: cl.i64[:]) -> float:
    if high - low == 1:
        for place in bad:
            if low == place:
                raise ValueError(f"bad {low}")
        return math.sin(x[low])
    middle = (low + high) // 2
    return checked(x, low, middle, bad) * checked(x, middle, high, bad)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_in_order(threads: int) -> None:
    gradient = cl.grad(checked)
    cl.set_num_threads(threads)
    good = gradient(X, 0, 4000, np.array([-1]))
    for first in (0, 7, 1999, 2000, 3999):
        bad = np.array([3999, first, 3000 if first < 3000 else 3999])
        for call in (checked, gradient):
            with pytest.raises(ValueError, match=f"^bad {first}\\b"):
                call(X, 0, 4000, bad)
    assert parts(gradient(X, 0, 4000, np.array([-1]))) == parts(good)


@cl.jit(cache=False)
def picked(x: cl.f64[:], at: cl.i64[:], low: int, high: int) -> Tree:
    if high - low == 1:
        return Leaf(x[at[low]])
    middle = (low + high) // 2
    return Node(picked(x, at, low, middle), picked(x, at, middle, high))


@cl.jit(cache=False)
def of_picked(x: cl.f64[:], at: cl.i64[:]) -> float:
    return fold(picked(x, at, 0, len(at)), 1.0)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_errors_where_nodes_are_made(threads: int) -> None:
    cl.set_num_threads(threads)
    at = np.arange(4000)
    good = of_picked(X, at)
    for first in (0, 1999, 2000, 3999):
        bad = at.copy()
        bad[3999], bad[first] = 6000, 5000 + first
        message = f"index {bad[first]} is out of range for size 5000"
        with pytest.raises(IndexError, match=message):
            of_picked(X, bad)
    assert of_picked(X, at) == good


@cl.jit(cache=False)
def endless(x: float, n: int) -> float:
    if n == 300:
        return endless(x, n - 1) * x
    return endless(x, n + 1) + endless(x, n + 2)


@cl.jit(cache=False)
def for_ever(x: float, n: int) -> float:
    if n == 60:
        return x
    return for_ever(x, n + 1) + for_ever(x * x, n + 1)


def test_too_deep() -> None:
    cl.set_num_threads(3)
    with pytest.raises(RecursionError):
        endless(0.5, 0)


def test_ctrl_c_stops_all() -> None:
    cl.set_num_threads(3)
    assert for_ever(1.0, 58) == 4.0
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        for_ever(1.0, 0)
    assert time.perf_counter() - start < 2.0
    timer.join()
    assert for_ever(1.0, 58) == 4.0
