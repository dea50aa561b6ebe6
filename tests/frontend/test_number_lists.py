"""Lists of numbers, as annotations say them: `list[float]`, `list[int]`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.5, -1.25, 2.0, 0.75])


def begun(v: cl.f64[:]) -> float:
    rows: list[float] = []
    count = 0
    for x in v:
        row: list[float] = []
        for y in v:
            row.append(x * y)
        rows.append(sum(row))
        count += len(row)
    return sum(rows) * count


def shown(v: cl.f64[:]) -> float:
    places: list[int] = [1, 3]
    numbers: list[float] = [1, 2]
    signs: list[bool] = [x > 0.0 for x in v]
    numbers.append(v[0])
    return v[places[1]] * sum(numbers) * sum(signs)


def in_calls(v: cl.f64[:]) -> float:
    def doubled(xs: list[float]) -> list[float]:
        return [2.0 * x for x in xs] + [1.0]

    return sum(doubled([v[0], v[1]])) * len(doubled([1, 2]))


def joined(xs: list[float]) -> float:
    return sum(x * x for x in xs + xs) + len(xs * 2)


def chosen(xs: list[float], places: list[int]) -> float:
    ys = xs.copy()
    ys.append(xs[0])
    ys[0] = 3.0
    return ys[places[0]] * xs[places[-1]] + sum(ys)


def of_tuples(p: tuple[float, ...], q: tuple) -> float:  # type: ignore[type-arg]
    def longer(r: tuple[float, ...]) -> tuple[float, ...]:
        return (*r, 2.0)

    places: tuple[int, ...] = (0, 1)
    found: list = []  # type: ignore[type-arg]
    for x in longer(p):
        found.append(x * q[1])
    return sum(found) * q[0] * len(places)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (begun, (V,)),
        (shown, (V,)),
        (in_calls, (V,)),
        (joined, ([1.5, -2.0],)),
        (joined, ([],)),
        (chosen, ([1.5, 2.0, 3.0], [2, 0, 1])),
        (of_tuples, ((1.5, 2.0), (0.5, 3.0))),
        (of_tuples, ((1.5, 2.0, -1.0), (0.5, 3.0, V))),
    ],
)
def test_as_in_python(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compiled = cl.jit(function)
    assert compiled(*args) == pytest.approx(function(*args), rel=1e-12)
    cl.check_grads(compiled, args)


def test_arguments() -> None:
    compiled = cl.jit(joined)
    assert compiled([1, 2]) == 14.0 and compiled(np.array([1.0, 2.0])) == 14.0
    assert cl.grad(compiled)([1.0, 2.0]).tolist() == [4.0, 8.0]
    assert pickle.loads(pickle.dumps(compiled))([1.0, 3.0]) == 24.0
    for wrong in ((1.0, 2.0), np.ones((2, 2)), 1.0):
        with pytest.raises(TypeError, match=r"expected list\[float\]"):
            compiled(wrong)
    with pytest.raises(TypeError):
        cl.jit(chosen)([1.0], [1.5])
    with pytest.raises(TypeError, match=r"expected tuple\[float, \.\.\.\]"):
        cl.jit(of_tuples)((1.0, V), (1.0, 2.0))


def test_a_list_of_the_caller_is_not_changed() -> None:
    def longer(xs: list[float]) -> float:
        xs.append(1.0)
        return sum(xs)

    with pytest.raises(cl.CompileError, match="CL0803"):
        cl.jit(longer)([1.0])
