"""Compilations that are told: `log_compiles`, and a line on the terminal meanwhile.

    WARNING chadllvm: compiled gradient of energy(x: f64[:], k: f64) by x in 0.41 s

A terminal is told after two seconds that something is being compiled, and for how long
already; the line goes when that ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_asked: ContextVar[bool] = ContextVar("chadllvm_log_compiles", default=False)

# Seconds until a terminal is told, and between two lines for it.
_PATIENCE, _PAUSE = 2.0, 0.5


@contextmanager
def log_compiles(enabled: bool = True) -> Iterator[None]:
    """Compilations in this context are told to the logger `chadllvm`, as warnings.

    Each has a line with the function, the types of its arguments, what is derived, and
    the seconds that it took, or that its code was in the cache. A function that is
    compiled again and again is given other types, static arguments, or is defined anew.
    Outside of it the same is told as `logging.DEBUG`, if logging is in use.

    Args:
        enabled: False makes no warnings, inside another `log_compiles` too.

    The context is that of `contextvars`: other threads are not concerned, unless they
    are run in a copy of it.
    """
    token = _asked.set(enabled)
    try:
        yield
    finally:
        _asked.reset(token)


class Told:
    """A compilation: what it is called when it is known, and how it ended."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.is_made, self.is_found = True, False

    def log(self, seconds: float) -> None:
        """Tell that it is there."""
        is_asked = _asked.get()
        if not is_asked and "logging" not in sys.modules:
            return  # Nobody has said where to.
        import logging

        level = logging.WARNING if is_asked else logging.DEBUG
        how = "found" if self.is_found else "compiled"
        where = " in the cache" if self.is_found else ""
        message = "%s %s%s in %.2f s"
        logging.getLogger("chadllvm").log(
            level, message, how, self.title, where, seconds
        )


@contextmanager
def told(title: str) -> Iterator[Told]:
    """What is done here is a compilation."""
    begun, made = time.perf_counter(), Told(title)
    with _shown_on_terminal(lambda: made.title):
        yield made
    if made.is_made:
        made.log(time.perf_counter() - begun)


@contextmanager
def _shown_on_terminal(title: Callable[[], str]) -> Iterator[None]:
    stream = sys.stderr
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or stream is None or stream.closed or not stream.isatty():
        yield
        return
    ended, begun = threading.Event(), time.perf_counter()

    def show() -> None:
        if ended.wait(_PATIENCE):
            return
        while True:
            seconds = time.perf_counter() - begun
            stream.write(f"\r\x1b[Kcompiling {title()} … {seconds:.1f} s")
            stream.flush()
            if ended.wait(_PAUSE):
                stream.write("\r\x1b[K")
                stream.flush()
                return

    thread = threading.Thread(target=show, name="chadllvm progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
