"""Loops that do not need each other on several threads: same bits, errors, no leaks."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.lower import tasks
from chadllvm.lower.chunks import spread
from tests.on_threads import check_as_without, check_same_bits, parts

pytestmark = pytest.mark.optimised  # Bits are compared that the same code gives.


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even short loops ask for help."""
    monkeypatch.setattr(tasks, "PATIENCE", 0)
    monkeypatch.setattr(spread, "GRAIN", 1000)
    yield
    cl.set_num_threads(None)


@cl.jit(cache=False)
def euler(x: float, k: float, steps: int) -> float:
    y = x
    for _ in range(steps):
        y = y + 1e-3 * (math.sin(k * y) - 0.1 * y)
    return y


@cl.jit(cache=False)
def solves(x: cl.f64[:], steps: int) -> float:
    """The same function twice; both add to the derivative of one number."""
    return euler(x[0], x[1], steps) * euler(x[2], x[1], steps) + x[0]


@cl.jit(cache=False)
def whiles(x: float, y: float, least: float) -> float:
    """Nobody knows how long they take; the gradient keeps what grows."""
    a = x
    while abs(a) > least:
        a = a - 1e-3 * math.sin(a)
    b = y
    while abs(b) > least:
        b = b - 1e-3 * math.atan(b)
    return a + b * x


@cl.jit(cache=False)
def filters(x: cl.f64[:], w: float) -> float:
    """Three recurrences over one array, and two numbers between them."""
    s, t, u = 0.0, 0.0, 1.0
    for v in x:
        s = math.tanh(w * s + v)
    doubled = 2.0 * w
    for v in x:
        t = math.sin(doubled * t - v)
    first = s * w
    for v in x:
        u = u * math.cos(v) + w
    return first * t * u


@cl.jit(cache=False)
def filled(x: cl.f64[:], w: cl.f64[:]) -> cl.f64[:]:
    """Arrays that two loops fill; an index is checked between them."""
    n = len(x)
    a, b = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        a[i] = math.tanh(w[0] * a[i - 1] + x[i])
    for i in range(1, n):
        b[i] = math.sin(w[1] * b[i - 1] - x[i])
    return a * b


@cl.jit(cache=False)
def both_filled(x: cl.f64[:], w: cl.f64[:]) -> float:
    return np.sum(filled(x, w) ** 2)


@cl.jit(cache=False)
def states(x: cl.f64[:], steps: int) -> float:
    """What loops hand on from step to step are arrays."""
    a, b = x * 1.0, x * 2.0
    for _ in range(steps):
        a = np.sin(a) + 0.1 * np.roll(a, 1)
    k = 0
    while k < steps:
        b = np.cos(b) - 0.1 * np.roll(b, -1)
        k += 1
    return np.sum(a * b)


@cl.jit(cache=False)
def chain(x: float, steps: int) -> float:
    """The second needs the first, and the third both."""
    a = euler(x, 1.0, steps)
    b = euler(a, 2.0, steps)
    return euler(a * b, 0.5, steps)


@cl.jit(cache=False)
def updated(x: cl.f64[:], steps: int) -> float:
    """Both loops change one array: they have to follow each other."""
    a = x.copy()
    for k in range(steps):
        a[k % 3] = math.sin(a[(k + 1) % 3])
    for k in range(steps):
        a[k % 3] = math.cos(a[(k + 2) % 3])
    return a[0] * a[1] + a[2]


@cl.jit(cache=False)
def nested(x: cl.f64[:], w: cl.f64[:], steps: int) -> float:
    """Two recurrences at each step of a loop, which go on with what they had."""
    a, b, total = w[0], w[1], 0.0
    for _ in range(steps):
        for v in x:
            a = math.sin(w[0] * a + v)
        for v in x:
            b = math.tanh(w[1] * b - v)
        total += a * b
    return total


@cl.jit(cache=False)
def coupled(x: cl.f64[:], w: cl.f64[:], steps: int) -> float:
    """At each step both begin with what they had together."""
    c = 0.5
    for _ in range(steps):
        a, b = c, w[1]
        for v in x:
            a = math.sin(w[0] * a + v)
        for v in x:
            b = math.tanh(w[0] * b - v)
        c = a * b
    return c


@cl.jit(cache=False)
def rows(x: cl.f64[:], w: cl.f64[:], steps: int) -> float:
    """Arrays that change at each step, by two loops with nothing in common."""
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        for i in range(1, len(a)):
            a[i] = math.sin(w[0] * a[i - 1] + a[i])
        for i in range(1, len(b)):
            b[i] = math.tanh(w[1] * b[i - 1] + b[i])
    return np.sum(a * b)


@cl.jit(cache=False)
def growing(x: cl.f64[:], w: cl.f64[:], steps: int) -> float:
    """There is little to do at the first steps, and more at the last."""
    a, b = w[0], w[1]
    for k in range(steps):
        for i in range(k * k):
            a = math.sin(w[0] * a + x[i])
        for i in range(k * k):
            b = math.tanh(w[1] * b - x[i])
        a, b = 0.5 * (a + b), a - b
    return a * b


@cl.jit(cache=False)
def sides(x: cl.f64[:], w: cl.f64[:], both: bool) -> float:
    """Two recurrences in a branch."""
    if both:
        a, b = 0.0, 0.0
        for v in x:
            a = math.sin(w[0] * a + v)
        for v in x:
            b = math.tanh(w[1] * b - v)
        return a * b
    return w[0]


@cl.jit(cache=False)
def now_and_then(x: cl.f64[:], w: cl.f64[:], steps: int) -> float:
    """Two recurrences in a branch in a loop; the other side goes on with both."""
    a, b = 0.0, 0.0
    for t in range(steps):
        if t % 3 != 1:
            for v in x:
                a = math.sin(w[0] * a + v)
            for v in x:
                b = math.tanh(w[1] * b - v)
        else:
            a = a * w[0] + b
    return a * b


@cl.jit(cache=False)
def inner_whiles(x: float, y: float, steps: int) -> float:
    """Nobody knows whether these take long at each step; their reverses do."""
    a, b = x, y
    for _ in range(steps):
        while abs(a) > 0.1:
            a = a - 0.1 * math.sin(a)
        while abs(b) > 0.2:
            b = b - 0.1 * math.atan(b)
        a, b = a + x, b + y
    return a * b


X = np.random.default_rng(0).normal(size=2000)
W = np.array([0.4, 0.6])
PROGRAMS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (solves, (X[:3], 3000), (0,)),
    (whiles, (0.7, 1.5, 0.2), (0, 1)),
    (filters, (X, 0.4), (0, 1)),
    (both_filled, (X, W), (0, 1)),
    (states, (X[:50], 40), (0,)),
    (chain, (0.5, 2000), (0,)),
    (updated, (X[:3], 999), (0,)),
    (nested, (X, W, 5), (0, 1)),
    (coupled, (X, W, 5), (0, 1)),
    (rows, (X, W, 4), (0, 1)),
    (growing, (X, W, 40), (0, 1)),
    (sides, (X, W, True), (0, 1)),
    (sides, (X, W, False), (0, 1)),
    (now_and_then, (X, W, 6), (0, 1)),
    (inner_whiles, (0.7, 1.5, 9), (0, 1)),
]
IN_ORDER = (chain, updated)


def has_strands(function: Any, args: tuple[Any, ...]) -> bool:
    return ":strands." in function.show("llvm", *args)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_same_bits(program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check_same_bits(program, args, wrt)
    gradient = cl.value_and_grad(program, argnums=wrt)
    assert has_strands(gradient, args) == (program not in IN_ORDER)
    assert has_strands(program, args) == (program not in (*IN_ORDER, inner_whiles))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_as_without_strands(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    check_as_without("strands", program, args, wrt)
    assert math.isclose(program(*args), program.py_func(*args), rel_tol=1e-9)


def test_private_cells() -> None:
    """A cell is copied where that is little beside the work, and else added to."""
    gradient = cl.grad(both_filled, argnums=1)
    cl.set_num_threads(2)
    few, many = X[:5], np.full(100_000, 0.1)
    for x, w in ((few, many), (X, W)):
        alone = cl.jit(both_filled.py_func, parallel=False, cache=False)
        assert parts(gradient(x, w)) == parts(cl.grad(alone, argnums=1)(x, w))


@cl.jit(cache=False)
def checked(x: cl.f64[:], first: int, second: int) -> float:
    a, b = 0.0, 0.0
    for k in range(len(x)):
        if k == first:
            raise ValueError(f"first at {k}")
        a = math.sin(a + x[k])
    for k in range(len(x)):
        if k == second:
            raise KeyError(f"second at {k}")
        b = math.cos(b - x[k])
    return a * b


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_in_order(threads: int) -> None:
    gradient = cl.grad(checked)
    cl.set_num_threads(threads)
    good = gradient(X, -1, -1)
    assert has_strands(checked, (X, -1, -1))
    for call in (checked, gradient):
        for first, second in ((1990, 0), (0, 1990), (1999, 1999)):
            with pytest.raises(ValueError, match=f"^first at {first}\\b"):
                call(X, first, second)
        with pytest.raises(KeyError, match="second at 3"):
            call(X, -1, 3)
    assert parts(gradient(X, -1, -1)) == parts(good)


@cl.jit(cache=False)
def checked_inside(x: cl.f64[:], steps: int, first: int, second: int) -> float:
    a, b = 0.0, 0.0
    for t in range(steps):
        for k in range(len(x)):
            if t * len(x) + k == first:
                raise ValueError(f"first at {t}, {k}")
            a = math.sin(a + x[k])
        for k in range(len(x)):
            if t * len(x) + k == second:
                raise KeyError(f"second at {t}, {k}")
            b = math.cos(b - x[k])
        a = a * b
    return a


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_of_all_steps(threads: int) -> None:
    n = len(X)
    gradient = cl.grad(checked_inside)
    cl.set_num_threads(threads)
    assert has_strands(checked_inside, (X, 3, -1, -1))
    for call in (checked_inside, gradient):
        with pytest.raises(ValueError, match="first at 1, 1990"):
            call(X, 3, n + 1990, n)
        with pytest.raises(KeyError, match="second at 0, 1999"):
            call(X, 3, n, 1999)
        with pytest.raises(KeyError, match="second at 2, 3"):
            call(X, 3, -1, 2 * n + 3)


def test_others_take_part_at_each_step() -> None:
    cl.set_num_threads(2)
    for function in (nested, cl.grad(nested)):
        function(X, W, 3)
        long = np.resize(X, 200_000)
        assert any(second_share(function, long, W, 4) > 0.3 for _ in range(20))


@cl.jit(cache=False)
def judged(x: cl.f64[:], most: float, steps: int) -> float:
    """What is checked needs two loops; what comes behind it needs none of them."""
    a, b, c = x[0], x[1], 0.0
    for _ in range(steps):
        a = math.sin(a) + 0.1
    for _ in range(steps):
        b = math.cos(b) + 0.1
    if a * b > most:
        raise ValueError("too large")
    if x[2] < 0.0:
        raise KeyError("negative")
    for k in range(steps):
        c = math.sin(c) + x[k % 7]
    return a * b * c


def test_errors_behind_what_needs_several() -> None:
    short, long = np.full(3, -0.5), np.full(7, 0.5)
    assert has_strands(judged, (long, 9.0, 2000))
    for call in (judged, cl.grad(judged)):
        for x in (short, -short, long):
            with pytest.raises(ValueError, match="too large"):
                call(x, -9.0, 2000)
        with pytest.raises(KeyError, match="negative"):
            call(short, 9.0, 2000)
        with pytest.raises(IndexError, match="index 3"):
            call(-short, 9.0, 2000)


def test_others_take_part() -> None:
    """They get about a half, unless others have all cores all the time."""
    cl.set_num_threads(2)
    for function in (solves, cl.grad(solves)):
        function(X[:3], 3)
        assert any(second_share(function, X[:3], 400_000) > 0.3 for _ in range(20))


def second_share(function: Any, *args: Any) -> float:
    """How long the second thread has run in a call, over how long the first has.

    The kernel counts at its ticks: a call between two of them takes no time.
    """
    before = seconds_by_thread()
    function(*args)
    after = seconds_by_thread()
    used = sorted(after[t] - before.get(t, 0.0) for t in after)
    return used[-2] / used[-1] if used[-1] else 0.0


def seconds_by_thread() -> dict[str, float]:
    """How long each thread of this process has run."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/schedstat") as file:
            found[thread] = int(file.read().split()[0]) * 1e-9
    return found


def test_memory_is_given_back() -> None:
    """What strands keep is gone when the call is, whoever has made it."""
    cl.set_num_threads(3)
    gradient = cl.grad(whiles, argnums=(0, 1))
    lib = runtime().lib
    for _ in range(20):
        gradient(0.7, 1.5, 0.2)
        assert lib.chad_memory_used(runtime().pool[-1][0]) == 0


@cl.jit(cache=False)
def for_ever(x: float) -> float:
    a, b = x, x
    while a > 0.0:
        a = a * 0.5 + 0.1
    while b > 0.0:
        b = b * 0.25 + 0.1
    return a * b


def test_ctrl_c_stops_all() -> None:
    cl.set_num_threads(3)
    assert for_ever(-1.0) == 1.0
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        for_ever(1.0)
    assert time.perf_counter() - start < 2.0
    timer.join()
    assert for_ever(-1.0) == 1.0
