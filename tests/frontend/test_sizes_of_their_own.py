"""Lists that begin with one array, and get others made of it, of other sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

X = np.random.default_rng(0).normal(size=16)


def binomials(x: cl.f64[:]) -> float:
    rows = [[1]]
    for _ in range(len(x)):
        row = rows[-1]
        rows.append([1] + [row[j] + row[j + 1] for j in range(len(row) - 1)] + [1])
    return sum(v * n for v, n in zip(x, rows[-1]))  # noqa: B905


def levels(x: cl.f64[:]) -> float:
    found = [[0]]
    while len(found[-1]) < 8:
        below = []
        for k in found[-1]:
            below.append(2 * k + 1)
            below.append(2 * k + 2)
        found.append(below)
    return sum(x[k] * len(level) for level in found for k in level)


def pyramid(x: cl.f64[:]) -> float:
    found = [x]
    while len(found[-1]) > 1:
        a = found[-1]
        found.append(0.5 * (a[::2] + a[1::2]) * a[0])
    return float(found[-1][0]) + len(found)


def divided(x: cl.f64[:]) -> float:
    table = [[v * v * v for v in x[:6]]]
    for k in range(1, 6):
        last = table[-1]
        places = range(len(last) - 1)
        table.append([(last[i + 1] - last[i]) / (x[i + k] - x[i]) for i in places])
    return sum(row[0] for row in table)


def longer(x: cl.f64[:]) -> float:
    found = [[x[0]]]
    for k in range(5):
        more = [x[k]]
        for v in found[-1]:
            more.append(v * x[k + 1])
        found.append(more)
    return sum(found[-1]) * len(found[-1])


def as_long(x: cl.f64[:]) -> float:
    found = [[x[0], x[1]]]
    for k in range(5):
        low, high = found[-1]
        found.append([high, low * 0.5 + x[k]])
    table = np.array(found)
    return float(np.sum(table[:, 0] * table[:, 1]))


def as_before(x: cl.f64[:]) -> float:
    found = [x]
    for _ in range(5):
        more = []
        for v in found[-1]:
            more.append(np.sin(v))
        found.append(np.array(more) + found[0])
    return float(np.sum(np.array(found)))


PROGRAMS = (binomials, levels, pyramid, divided, longer, as_long, as_before)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    compiled = cl.jit(program)
    assert np.isclose(compiled(X), program(X))
    slow = cl.jit(program, options=cl.CompileOptions(optimize=0))
    assert np.allclose(cl.grad(slow)(X), cl.grad(compiled)(X))
    checked = cl.check_grads(compiled, (X,), rtol=1e-5)  # type: ignore[func-returns-value]
    assert checked is None


def all_states(x: cl.f64[:], n: int):
    found = [x]
    for _ in range(n):
        found.append(np.sin(found[-1]) * 2.0)
    return found


def test_lists_of_one_size_are_arrays() -> None:
    """A table, as long as no size is another number than that of an array in it."""
    assert cl.jit(all_states)(X, 3).shape == (4, 16)
