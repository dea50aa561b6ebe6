"""Tracebacks that end at the user's line.

What a call of ours raises on purpose says itself where the mistake is; the frames of
the compiler below the user's line would only hide that. Those of a defect of ours are
kept, and so is everything if a frame in between is the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from chadllvm.support.diagnostic import CompileError, InternalError

P = ParamSpec("P")
R = TypeVar("R")

# The modules that check arguments and run compiled code: what they raise is meant.
_AT_CALLS = (
    *("api.compiled", "api.jacobian", "api.pullback", "api.reverse", "api.tangents"),
    *("api.transforms", "backend", "call", "driver.arguments", "driver.prints"),
    *("driver.shown", "driver.specialising", "driver.taking", "driver.values"),
    "support.frames",
)


def hide_frames(error: Exception) -> None:
    """Take our frames from an exception that is about to be raised again.

    After a bare `raise` the traceback begins with the frame of the caller: Python
    enters a frame where an exception is raised first, and not where it is raised again.
    """
    if isinstance(error, CompileError) or _is_meant(error):
        error.__traceback__ = None
        if error.__cause__ is not None:
            error.__cause__ = None


def _is_meant(error: Exception) -> bool:
    """Whether an exception was raised by checks of arguments, or by compiled code."""
    if isinstance(error, InternalError | AssertionError):
        return False
    at = error.__traceback__
    while at is not None:
        name = at.tb_frame.f_globals.get("__name__", "")
        if not f"{name}.".startswith(tuple(f"chadllvm.{m}." for m in _AT_CALLS)):
            return False
        at = at.tb_next
    return True


def without_frames(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: what the function raises on purpose ends at the line that calls it."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            hide_frames(error)
            raise

    return call
