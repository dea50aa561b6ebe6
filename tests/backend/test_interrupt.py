"""Long calls: Ctrl-C stops them; other threads and forked children go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from loop_programs import VECTOR, axpy, dot, native, spin

import chadllvm as cl
from chadllvm.ir.types import F64, I64

FOREVER = 1 << 60


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Sends this process the signal of Ctrl-C."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.mark.parametrize("nested", [False, True])
def test_interrupt(nested: bool) -> None:
    run = native(spin(nested), [I64, F64], F64)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        run(FOREVER, 2.0)
    assert time.perf_counter() - start < 1.2
    assert run(0, 2.0) == 1.5


def appending(x: float, n: int) -> float:
    kept = [x]
    for i in range(n):
        if i % 65536 == 0:
            kept.append(x * i)
        elif i % 3 == 0:
            kept.append(x)
            kept.pop()
    return sum(kept)


def filtering(x: cl.f64[:], n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += len(x[x > total])
    return total


def modular(n: int) -> int:
    return sum(pow(i, 2**62, 2**61 - 1) for i in range(n))


@pytest.mark.parametrize("level", [2, 0])
@pytest.mark.parametrize(
    ("function", "args"),
    [(appending, (1.0,)), (filtering, (np.ones(500),)), (modular, ())],
)
def test_interrupted_programs(function: Any, args: Any, level: int) -> None:
    run = cl.jit(function, optimize=level)
    run(*args, 3)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        run(*args, 1 << 40)
    assert time.perf_counter() - start < 1.2
    run(*args, 3)


def test_a_handler_may_raise_what_it_likes_or_nothing() -> None:
    run = native(spin(nested=False), [I64, F64], F64)
    product = native(dot(), [VECTOR, VECTOR], F64)
    seen: list[float] = []

    class StopError(Exception):
        pass

    def handle(*_: Any) -> None:
        # The handler runs during a call, and makes one itself.
        seen.append(product(np.ones(3), np.ones(3)))
        if len(seen) == 2:
            raise StopError

    old = signal.signal(signal.SIGINT, handle)
    try:
        with interrupted_after(0.2), interrupted_after(0.5), pytest.raises(StopError):
            run(FOREVER, 2.0)
    finally:
        signal.signal(signal.SIGINT, old)
    assert seen == [3.0, 3.0]


def test_a_call_in_another_thread_is_not_stopped() -> None:
    run = native(spin(nested=False), [I64, F64], F64)
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(run(200_000_000, 2.0)))
    thread.start()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.05):
        time.sleep(10)
    thread.join()
    assert len(found) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_calls_and_compiles() -> None:
    run = native(axpy(), [F64, VECTOR, VECTOR], VECTOR)
    a = np.arange(100.0)
    run(1.0, a, a)
    child = os.fork()
    if child == 0:
        again = native(dot(), [VECTOR, VECTOR], F64)
        good = (run(2.0, a, a) == 3 * a).all() and again(a, a) == a @ a
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
