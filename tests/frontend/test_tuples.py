"""Tuples made of tuples: slices, sums, repetition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl


class Point(NamedTuple):
    x: float
    y: float
    z: float


def shapes(a: cl.f64[:, :, :]) -> Any:
    rows = np.reshape(a, (-1, *a.shape[2:]))
    more = np.reshape(a, a.shape[:1] + (1,) * 2 + a.shape[1:])
    return rows, np.zeros(a.shape[:-1]), more.shape, np.ones(2 * (2,)).shape


def parts(p: tuple[float, int, cl.f64[:]], q: Point) -> Any:
    return p[1:], p[::-1], p[-1:], p[5:], q[:2], p[:2] + q[1:], (p * 2)[3:5], 0 * p


def lists(n: int) -> Any:
    items = ([1.0], [2.0, 3.0], n)
    first, second = items[:2]
    first.append(4.0)
    return first, second, (items + (5,))[1:]


ARGS = [
    (shapes, (np.arange(24.0).reshape(2, 3, 4),)),
    (parts, ((1.5, 2, np.arange(2.0)), Point(1.0, 2.0, 3.0))),
    (lists, (3,)),
]


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [type(value), *(each for part in value for each in flat(part))]
    return [np.shape(value), *np.ravel(value).tolist()]


@pytest.mark.parametrize(("function", "args"), ARGS, ids=lambda v: getattr(v, "__name__", ""))
def test_as_in_python(function: Any, args: tuple[Any, ...]) -> None:
    if function is shapes:
        (a,) = args
        expected: Any = (a.reshape(-1, 4), np.zeros((2, 3)), (2, 1, 1, 3, 4), (2, 2))
    else:
        expected = function(*args)
    assert flat(cl.jit(function)(*args)) == flat(expected)


def test_slopes_of_parts() -> None:
    def f(p: tuple[float, float, float]) -> float:
        a, b = p[1:]
        return (p + p)[3] * a + b * b

    assert cl.grad(f)((2.0, 3.0, 4.0)) == (3.0, 2.0, 8.0)


@pytest.mark.parametrize("bounds", ["n:", ":n", "::n", "::0", "1.0:", ":True"])
def test_bounds_are_constants(bounds: str) -> None:
    names: dict[str, Any] = {}
    text = f"def f(p: tuple[float, float], n: int):\n    return p[{bounds}]\n"
    function = cl.jit(_defined(text, names))
    with pytest.raises(cl.CompileError, match="CL0507"):
        function((1.0, 2.0), 1)


def _defined(text: str, names: dict[str, Any]) -> Any:
    import linecache

    linecache.cache["<tuples>"] = (len(text), None, text.splitlines(True), "<tuples>")
    exec(compile(text, "<tuples>", "exec"), names)
    return names["f"]
