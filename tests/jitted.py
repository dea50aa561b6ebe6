"""The least that a jitted function is to the frontend: an object with a `py_func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Jitted:
    """Calls run in Python; the frontend reads `py_func`."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self.py_func = py_func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.py_func(*args, **kwargs)
