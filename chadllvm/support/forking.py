"""Locks of what compiles; a fork waits until nobody is compiling.

A child that is forked has one thread, and every lock as it was: one that another thread
held is held for ever, be it ours, Python's or LLVM's, and what LLVM was at is half
done. So whoever compiles is `Busy`, and does it under a `Lock` of this module if others
may not: not while somebody forks, and who forks waits until all others are done, though
not for ever.
"""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar
from types import TracebackType

# Code of the user's that runs while a function is compiled may wait for who forks.
PATIENCE = 30.0

# How many locks are held around here; a thread for deep recursion is still the same.
_DEPTH: ContextVar[int] = ContextVar("locks", default=0)


class _Gate:
    """Who compiles; the condition is held by who forks, from before to after.

    While somebody waits to fork nobody begins to compile: a thread that compiles one
    function after the other would keep the fork waiting.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._inside = 0
        self._forks = 0

    def enter(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: not self._forks, PATIENCE)
            self._inside += 1

    def leave(self) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def close(self) -> None:
        """Before a fork: nobody else is compiling from now on."""
        own = int(_DEPTH.get() > 0)
        self._condition.acquire()
        self._forks += 1
        self._condition.wait_for(lambda: self._inside <= own, PATIENCE)

    def open(self) -> None:
        self._forks -= 1
        self._condition.notify_all()
        self._condition.release()

    def forked(self) -> None:
        """In the child: the other threads are gone."""
        self._inside = int(_DEPTH.get() > 0)
        self._forks = 0
        self._condition = threading.Condition(threading.Lock())


_GATE = _Gate()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_GATE.close, after_in_parent=_GATE.open, after_in_child=_GATE.forked
    )


class Busy:
    """A context in which a thread compiles, or imports what compiles."""

    def __enter__(self) -> None:
        depth = _DEPTH.get()
        if not depth:
            _GATE.enter()
        _DEPTH.set(depth + 1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        depth = _DEPTH.get() - 1
        _DEPTH.set(depth)
        if not depth:
            _GATE.leave()


class Lock(Busy):
    """A lock that its thread may take again, for what may compile."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        super().__enter__()
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
        super().__exit__(kind, error, trace)
