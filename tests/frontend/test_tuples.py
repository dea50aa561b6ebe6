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
    return first, second, (*items, 5)[1:]


def unpacked(p: tuple[float, float], x: float) -> Any:
    added = lambda a, b, c=1.0: a + 2.0 * b + 4.0 * c  # noqa: E731
    several = [*p, x, *(p + p)[1:3]]
    return added(*p), added(x, *p), max(*p, x), several[3], (*(), *p, x)


def compared(p: tuple[int, int], q: tuple[int, int], x: float) -> Any:
    same = p == q
    return same, p != q, p[:1] == q[:1], p == (*q, 1), (p, x) == (q, 1.0), () == ()


ARGS = [
    (shapes, (np.arange(24.0).reshape(2, 3, 4),)),
    (parts, ((1.5, 2, np.arange(2.0)), Point(1.0, 2.0, 3.0))),
    (lists, (3,)),
    (unpacked, ((1.5, 2.5), 2.0)),
    (compared, ((1, 2), (1, 3), 1.0)),
    (compared, ((1, 2), (1, 2), 1.0)),
]


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [type(value), *(each for part in value for each in flat(part))]
    return [np.shape(value), *np.ravel(value).tolist()]


@pytest.mark.parametrize(
    ("function", "args"), ARGS, ids=lambda v: getattr(v, "__name__", "")
)
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


def by_variable(p: tuple[float, float], n: int) -> Any:
    return p[n:]


def by_step(p: tuple[float, float]) -> Any:
    return p[::0]


def by_float(p: tuple[float, float]) -> Any:
    return p[1.0:]


@pytest.mark.parametrize("function", [by_variable, by_step, by_float])
def test_bounds_are_constants(function: Any) -> None:
    with pytest.raises(cl.CompileError, match="CL0507"):
        cl.jit(function)((1.0, 2.0), *[1] * (function is by_variable))


def test_numbers_of_copies_are_constants() -> None:
    with pytest.raises(cl.CompileError, match="CL0502"):
        cl.jit(lambda n: (1.0,) * n)(3)


# ---- indices that are known when the program runs ---------------------------------


def chosen(x: cl.f64[:], y: cl.f64[:, :], k: int) -> float:
    rows, numbers = (x, y[0], x * 2.0), (1, 2.5, 3)
    total = 0.0
    for i in range(len(rows)):
        total += rows[i][0] * numbers[i - 1]
    return total + np.sum(rows[k]) * numbers[-k]


@pytest.mark.parametrize("k", [-3, -1, 0, 2])
def test_an_index_may_be_any_integer(k: int) -> None:
    x, y = np.arange(1.0, 4.0), np.arange(2.0, 10.0).reshape(2, 4)
    function = cl.jit(chosen)
    if k == -3:
        with pytest.raises(IndexError, match=r"test_tuples\.py"):
            function(x, y, k)
        return
    assert function(x, y, k) == chosen(x, y, k)
    cl.check_grads(function, (x, y, k))
