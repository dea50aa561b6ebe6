"""What `cl` is to a program in plain Python: nothing is compiled but derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import chadllvm


def jit(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    return function if function is not None else lambda each: each


class Ruled:
    """A function with rules, which plain Python has no use for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        return rule

    def defvjp(self, forward: Any, backward: Any) -> None:
        pass


_NAMES = {name: getattr(chadllvm, name) for name in chadllvm.__all__}
_NAMES |= {"jit": jit, "custom_jvp": Ruled, "custom_vjp": Ruled}
_NAMES["vectorize"] = functools.partial(np.vectorize, otypes=[float])
PLAIN = SimpleNamespace(**_NAMES)
