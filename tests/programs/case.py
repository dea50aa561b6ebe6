"""A program of the corpus with example arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from chadllvm.api import Function

F = TypeVar("F", bound=Function[..., Any])


@dataclass(frozen=True)
class Case:
    """A compiled function and the arguments to check it with."""

    function: Function[..., Any]
    args: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.function.py_func.__name__


CASES: list[Case] = []


def case(*args: Any) -> Callable[[F], F]:
    """Decorator: check the function with these arguments."""

    def enter(function: F) -> F:
        CASES.append(Case(function, args))
        return function

    return enter
