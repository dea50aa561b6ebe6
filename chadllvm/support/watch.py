"""`debug_nans`: whether calls in this context look out for who makes a NaN.

Code for calls asks `is_watched` only while there is a watch anywhere in the process, so
that calls cost nothing more otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_watched: ContextVar[bool] = ContextVar("chadllvm_debug_nans", default=False)

# The watches that are open in any thread; empty, it is false.
OPEN: list[object] = []


@contextmanager
def debug_nans(enabled: bool = True) -> Iterator[None]:
    """Calls of compiled functions in this context name the first NaN that is made.

    A call then runs a second compilation, made at its first use, that checks every
    operation in program order, in derivatives too. NaNs among the arguments are not
    made by anyone; infinities are no NaNs.

    Args:
        enabled: False leaves calls as they are, inside another `debug_nans` too.

    The context is that of `contextvars`: other threads are not concerned, unless they
    are run in a copy of it.

    Raises:
        FloatingPointError: from a call, with the operation, its operands, the line,
            and whether it is in the reverse or the tangents of the function.
    """
    token, watch = _watched.set(enabled), object()
    OPEN.append(watch)
    try:
        yield
    finally:
        OPEN.remove(watch)
        _watched.reset(token)


def is_watched() -> bool:
    """Whether the current context looks out for NaNs."""
    return _watched.get()
