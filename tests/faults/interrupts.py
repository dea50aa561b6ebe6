"""SIGINT at random moments of many calls.

Half of the calls are short, so that the signal strikes in what surrounds native code,
and half long enough to be stopped in there. The call after each is right, and what
interrupted calls have held is given back.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from tests.faults import Fault

# More than this may not stay behind of results of 0.4 MB each.
MOST_LEFT = 64 << 20


@cl.jit
def chain(a: cl.f64[:], n: int):
    total = 0.0
    b = a * 1.0
    for i in range(n):
        k = i % len(b)
        b[k] = np.sin(b[k]) + 0.5 * total
        total = total * 0.5 + b[k]
    return total, b


@cl.jit
def summed(a: cl.f64[:], n: int) -> float:
    total, b = chain(a, n)
    return total + np.sum(b)


A = np.linspace(0.0, 1.0, 50_000)
CALLS: list[tuple[Callable[..., Any], int]] = [
    *((chain, n) for n in (1_000, 3_000_000)),
    *((cl.value_and_grad(summed), n) for n in (1_000, 1_000_000)),
]


class _Striker(threading.Thread):
    """Sends this process a SIGINT some seconds after it is asked to.

    Nothing here takes a lock: an interrupt in the main thread could leave it taken.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds = 0.0
        self.asked = self.sent = self.handled = 0
        self.is_over = False

    def __enter__(self) -> _Striker:
        self._before = signal.signal(signal.SIGINT, self._handle)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over = True
        signal.signal(signal.SIGINT, self._before)

    def _handle(self, *_: object) -> None:
        self.handled += 1
        raise KeyboardInterrupt

    def run(self) -> None:
        while not self.is_over:
            if self.sent < self.asked:
                time.sleep(self.seconds)
                self.sent += 1
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.0005)

    def strikes(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked += 1

    def rest(self) -> None:
        """Wait for the signal, which raises here if it has not before."""
        while self.handled < self.asked:
            time.sleep(0.001)


def interrupted(calls: int, seed: int) -> str:
    """Make so many calls, each with a signal at some moment; what became of them.

    Raises:
        Fault: if a call is wrong, or memory is left behind.
    """
    with _Striker() as striker:
        return _interrupted(striker, calls, random.Random(seed))


def _interrupted(striker: _Striker, calls: int, moments: random.Random) -> str:
    known = [_timed(function, n) for function, n in CALLS]
    before, stopped = _resident(), 0
    for k in range(calls):
        (function, n), (right, seconds) = CALLS[k % len(CALLS)], known[k % len(CALLS)]
        found = _struck(
            striker, lambda f=function, n=n: f(A, n), moments.uniform(0, seconds)
        )
        stopped += found is None
        if found is not None and not _same(found, right):
            raise Fault(f"call {k} is wrong")
        if found is None and k % 16 < len(CALLS) and not _same(function(A, n), right):
            raise Fault(f"the call after {k}, which was interrupted, is wrong")
    gc.collect()
    _nothing_is_left(before)
    return f"{stopped} of {calls} calls were stopped"


def _timed(function: Callable[..., Any], n: int) -> tuple[Any, float]:
    function(A, n)
    start = time.perf_counter()
    right = function(A, n)
    return right, 1.2 * (time.perf_counter() - start)


def _struck(striker: _Striker, call: Callable[[], Any], seconds: float) -> Any:
    """The result of a call that a signal comes to; None if it stops it."""
    found = None
    try:
        striker.strikes(seconds)
        found = call()
        striker.rest()
    except KeyboardInterrupt:
        pass
    return found


def _same(found: Any, right: Any) -> bool:
    pairs = zip(found, right, strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def _resident() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        return 0


def _nothing_is_left(before: int) -> None:
    rt = runtime()
    used = sum(int(rt.lib.chad_memory_used(state[0])) for state in rt.pool)
    if used:
        raise Fault(f"{used} bytes are left in use")
    more = _resident() - before
    if more > MOST_LEFT:
        raise Fault(f"the process has {more >> 20} MB more than before")
