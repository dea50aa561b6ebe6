"""`vectorize`: a function of numbers, applied to arrays element by element."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

from chadllvm.api.transforms import jit

P = ParamSpec("P")
R = TypeVar("R")


class Vectorized(Generic[P, R]):
    """A function of numbers that takes arrays, too: they are broadcast as in NumPy."""

    def __init__(self, function: Callable[P, R]) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"expected a Python function, not {function!r}")
        self.scalar_function = function
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for these numbers and arrays; compiled for their types."""
        return self._compiled(*args, **kwargs)

    def __reduce__(self) -> str:
        """A pickle is a reference to it, as one of a function is."""
        return str(self.scalar_function.__qualname__)

    def _reached_parts(self) -> tuple[object, ...]:
        """What it means, for `driver/reach.py`."""
        return (self.scalar_function,)

    @cached_property
    def py_func(self) -> FunctionType:
        """What is compiled and differentiated where it is not called in a program."""
        return _caller(self)

    @cached_property
    def _compiled(self) -> Any:
        return jit(self.py_func)


def vectorize(function: Callable[P, R]) -> Vectorized[P, R]:
    """Decorator: a function of numbers that broadcasts over arrays, as a ufunc does.

        @cl.vectorize
        def huber(x, delta=1.0):
            return 0.5 * x * x if abs(x) < delta else delta * (abs(x) - 0.5 * delta)

    Programs call it with numbers or arrays of any shapes that fit; the result is a
    number if all arguments are. It is differentiated like any other function, and may
    branch and loop. Called from Python, it is compiled for the types of the arguments.

    Args:
        function: takes numbers and returns a number. It may have defaults.

    Raises:
        TypeError: if it is no Python function.
    """
    return Vectorized(function)


def _caller(function: Vectorized[..., Any]) -> FunctionType:
    """A Python function that calls this one, with a text of its own."""
    scalar = function.scalar_function
    given = inspect.signature(scalar).parameters.values()
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in given]
    call = f"return function({', '.join(p.name for p in given)})"
    names = {"function": function}
    file = f"<vectorize {scalar.__module__}.{scalar.__qualname__} {id(function)}>"
    name = scalar.__name__ if scalar.__name__.isidentifier() else "scalar"  # A lambda.
    head = f"{name}({', '.join(map(str, bare))})"
    made = written(head, call, names, scalar.__module__, file)
    made.__defaults__, made.__kwdefaults__ = scalar.__defaults__, scalar.__kwdefaults__
    return made


def written(
    head: str, body: str, names: dict[str, Any], module: str, file: str
) -> FunctionType:
    """The function `def head: body`, whose text the compiler finds under `file`."""
    text = f"def {head}:\n    {body}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {**names, "__name__": module}
    exec(compile(text, file, "exec"), space)
    made = space[head.partition("(")[0]]
    assert isinstance(made, FunctionType)
    return made
