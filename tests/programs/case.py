"""A program of the corpus with example arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np

from chadllvm.api.compiled import Function

F = TypeVar("F", bound=Function[..., Any])


# What takes derivatives in a program.
DERIVATIVES = frozenset(
    (
        *("grad", "value_and_grad", "jvp", "vjp", "linearize"),
        *("hvp", "jacfwd", "jacrev", "hessian"),
    )
)

# The files with programs that take derivatives themselves, or have rules of their own.
WITH_DERIVATIVES = ("customs", "derivatives", "optimisers", "simulations")

# The files with programs that call themselves.
WITH_RECURSION = ("recursion", "recursion_arrays")


@dataclass(frozen=True)
class Case:
    """A compiled function and the arguments to check it with.

    `is_smooth`: differences show the slopes there, the second ones as well.
    """

    function: Function[..., Any]
    args: tuple[Any, ...]
    is_smooth: bool = True

    @property
    def name(self) -> str:
        return self.function.py_func.__name__

    @property
    def has_derivatives(self) -> bool:
        """Whether the program may take derivatives itself."""
        names: set[str] = set()
        _add_names(names, self.function.py_func)
        return self._file in WITH_DERIVATIVES or not DERIVATIVES.isdisjoint(names)

    @property
    def is_recursive(self) -> bool:
        """Whether the program may call itself."""
        return self._file in WITH_RECURSION or _calls_itself(
            self.function.py_func.__code__
        )

    @property
    def _file(self) -> str:
        return self.function.py_func.__module__.removeprefix("programs.")

    def plain_value(self) -> Any:
        """What plain Python gives; NumPy warns of what `np.where` does not choose."""
        with np.errstate(all="ignore"):
            return self.function.py_func(*self.args)


def _add_names(names: set[str], function: FunctionType) -> None:
    """Add the names that a function uses, and those that what it calls uses."""
    new = _names(function.__code__) - names
    names |= new
    for called in (function.__globals__.get(name) for name in new):
        if isinstance(called, Function):
            _add_names(names, called.py_func)


def _calls_itself(code: CodeType) -> bool:
    """Whether a local function calls itself."""
    inside = [c for c in code.co_consts if isinstance(c, CodeType)]
    return code.co_name in code.co_freevars or any(map(_calls_itself, inside))


def _names(code: CodeType) -> set[str]:
    """The names that a function uses, with those of the functions in it."""
    inside = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*map(_names, inside))


CASES: list[Case] = []


def case(*args: Any, is_smooth: bool = True) -> Callable[[F], F]:
    """Decorator: check the function with these arguments."""

    def enter(function: F) -> F:
        CASES.append(Case(function, args, is_smooth))
        return function

    return enter


# Programs of f32, which are checked less closely.
SINGLE_CASES: list[Case] = []


def single_case(*args: Any) -> Callable[[F], F]:
    """The same for a program of f32."""

    def enter(function: F) -> F:
        SINGLE_CASES.append(Case(function, args))
        return function

    return enter


# Programs with recursive data, whose arguments are more than numbers and arrays.
RECURSIVE_CASES: list[Case] = []


def recursive_case(*args: Any) -> Callable[[F], F]:
    """The same for a program with recursive data."""

    def enter(function: F) -> F:
        RECURSIVE_CASES.append(Case(function, args))
        return function

    return enter
