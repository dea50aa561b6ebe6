"""A deeper stack for what nests deeper than Python's recursion limit allows.

The compiler recurses on nesting: an `elif` is a branch within a branch, so that a chain
of some hundred of them needs more calls than Python has by default. What needs more is
run once more by a thread with a stack that is surely large enough for as many calls as
it then may make. The limit is the interpreter's: it is put back afterwards, and no
higher than what the stack of any other thread can bear.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

# The limit on a deep stack.
LIMIT = 12_000
_STACK = 512 << 20

# The limit and the size of stacks to come belong to the process.
_LOCK = threading.RLock()


def run_deep(run: Callable[[], T]) -> T:
    """What a function returns; it may be run again, from its beginning.

    Raises:
        RecursionError: if it recurses without an end, or nearly so.
    """
    try:
        return run()
    except RecursionError:
        if sys.getrecursionlimit() >= LIMIT:
            raise
    return _in_thread(run)


def _in_thread(run: Callable[[], T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []
    context = copy_context()

    def work() -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(LIMIT)
        try:
            results.append(context.run(run))
        except BaseException as error:
            errors.append(error)
        finally:
            sys.setrecursionlimit(limit)

    with _LOCK:
        _start(work).join()
    if errors:
        raise errors[0]
    return results[0]


def _start(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name="chadllvm", daemon=True)
    before = threading.stack_size(_STACK)
    try:
        thread.start()
    except RuntimeError as error:  # There is no room for such a stack.
        raise RecursionError from error
    finally:
        threading.stack_size(before)
    return thread
