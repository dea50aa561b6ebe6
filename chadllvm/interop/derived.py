"""The functions that a tool asks for beside a function: its pullback and pushforward.

Both are programs around the function, and so are compiled and differentiated like any
other: what they give may be asked for its own pullback, to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chadllvm.api.compiled import Compiled
from chadllvm.api.reverse import vjp
from chadllvm.api.tangents import jvp
from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written
from chadllvm.prelude.flat import ravel

Function = Callable[..., Any]


def compiled(function: Function) -> Function:
    """The function, compiled if it is not yet."""
    return function if isinstance(function, Compiled) else jit(function)


@cache
def pullback(function: Function, arguments: int, results: int) -> Function:
    """`pulled(x0, …, c0, …)`: the cotangents of the arguments, for those of results.

    `results` is 0 for a function that returns one value, else the size of its tuple.
    The cotangent of a single argument is no tuple.
    """
    xs, cs = _names("x", arguments), _names("c", max(results, 1))
    ct = f"({', '.join(cs)},)" if results else cs[0]
    last = "[0]" if arguments == 1 else ""
    body = f"_, pull = vjp(function, {', '.join(xs)})\n    return pull({ct}){last}"
    return _written("pulled", [*xs, *cs], body, {"function": function, "vjp": vjp})


@cache
def pushforward(function: Function, arguments: int) -> Function:
    """`pushed(x0, …, t0, …)`: the tangent of the result, for those of the arguments."""
    xs, ts = _names("x", arguments), _names("t", arguments)
    body = (
        f"_, tangent = jvp(function, ({', '.join(xs)},), ({', '.join(ts)},))\n"
        "    return tangent"
    )
    return _written("pushed", [*xs, *ts], body, {"function": function, "jvp": jvp})


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{k}" for k in range(count)]


def _written(
    name: str, parameters: list[str], body: str, names: dict[str, Any]
) -> Function:
    file = f"<{name} {id(names)}>"
    made = written(f"{name}({', '.join(parameters)})", body, names, __name__, file)
    return jit(made)


def of_vector(
    function: Function, start: Any
) -> tuple[np.ndarray[Any, Any], Callable[[Any], Any], Function]:
    """The numbers of a record, what makes such a record of a vector of numbers, and the
    function as one of that vector and its other arguments.

    Raises:
        TypeError: if something in the record is neither a float nor float64 array.
    """
    x0, unravel = ravel(start)
    names = {"function": compiled(function), "unravel": unravel}
    code = getattr(function, "py_func", function).__code__
    rest = code.co_varnames[1 : code.co_argcount]
    given = "".join(f", {name}" for name in rest)
    body = f"return function(unravel(v){given})"
    file = f"<flat {id(names)}>"
    return x0, unravel, jit(written(f"flat(v{given})", body, names, __name__, file))


def as_argument(array: np.ndarray[Any, Any]) -> Any:
    """What a compiled function takes for an array of another tool: numbers for 0-d."""
    if array.dtype not in (np.float64, np.float32):
        raise TypeError(f"expected arrays of float64 or float32, not of {array.dtype}")
    return array[()] if array.ndim == 0 else np.ascontiguousarray(array)


def results_of(value: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """The results of a function as arrays."""
    values = value if isinstance(value, tuple) else (value,)
    return tuple(np.asarray(each) for each in values)
