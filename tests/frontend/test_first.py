"""`next(...)` of a generator expression: the first element there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

X = np.array([-0.5, 1.5, -2.0, 3.0, 0.25])
M = np.random.default_rng(3).normal(size=(4, 5))


def number(x: cl.f64[:]) -> float:
    return next(v * v for v in x if v > 0)


def another(x: cl.f64[:]) -> float:
    return next((v * v for v in x if v > 10), x[0] * 3) + next((v for v in x), -1)


def place(x: cl.f64[:]) -> float:
    i = next((k for k in range(len(x)) if x[k] > 2), None)
    return x[i] * 2 if i is not None else 0.0


def pair(x: cl.f64[:]) -> float:
    i, v = next((k, v) for k, v in enumerate(x) if v > 2)
    pairs = [(v, 2 * v) for v in x]
    a, b = next(p for p in pairs if p[0] > 0)
    return i * v + a * b


def row(x: cl.f64[:]) -> float:
    m = np.outer(x, x)
    first = next((r for r in m if r[0] < 0.0), m[0])
    return float(first @ first) + next(r for r in m if r[1] > 0.0)[2]


def several_clauses(x: cl.f64[:]) -> float:
    return sum(
        next((a * b for a in x for b in x if a * b > k), 0.0) for k in (0.1, 2.1)
    )


def of_nothing(x: cl.f64[:]) -> float:
    return next((v for v in x[:0]), x[1])


def stops_in_time(x: cl.f64[:]) -> float:
    """Behind the first one a condition would fail."""
    places = [1, 3, 99]
    return next(x[k] for k in places if x[k] > 2.0)


FORMS = [number, another, place, pair, row, several_clauses, of_nothing, stops_in_time]


@pytest.mark.parametrize("optimize", [2, 0])
@pytest.mark.parametrize("form", FORMS)
def test_it_is_that_of_python(form: Callable[..., Any], optimize: int) -> None:
    compiled = cl.jit(form, options=cl.CompileOptions(optimize=optimize))
    assert np.isclose(compiled(X), form(X))
    assert cl.check_grads(compiled, (X,)) is None  # type: ignore[func-returns-value]


def test_there_is_none() -> None:
    @cl.jit
    def large(x: cl.f64[:]) -> float:
        return next(v for v in x if v > 10)

    for run in (large, cl.grad(large)):
        with pytest.raises(StopIteration):
            run(X)


@pytest.mark.parametrize(
    ("form", "code"),
    [
        (lambda x: next(x), "CL0610"),
        (lambda x: next((v for v in x), "none"), "CL0229"),
        (lambda x: next((v for v in x), x), "CL0409"),
    ],
)
def test_what_is_refused(form: Callable[..., Any], code: str) -> None:
    with pytest.raises(CompileError, match=code):
        cl.jit(form)(X)
