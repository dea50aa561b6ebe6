"""Local functions that are only called see what variables around them are then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.3, 0.7, 1.1, 0.4, 0.9])

Program = Callable[[np.ndarray], float]


def assigned_behind(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    total = 0.0
    for x in v:
        total += scaled(x)
        scale *= 1.5
    return total


def updated_behind(v: cl.f64[:]) -> float:
    parent = np.arange(len(v))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    total = 0.0
    for k in range(1, len(v)):
        parent[k] = root(k // 2)
        total += v[root(k)] * k
    return total


def updates(v: cl.f64[:]) -> float:
    out = np.zeros(len(v))

    def put(i, x=2.0):
        out[i] += x

    for i in range(len(v)):
        put(i, v[i] ** 2)
        put(x=v[0], i=i)
    put(1)
    return np.sum(out * v)


def updates_with_a_result(v: cl.f64[:]) -> float:
    out, count = np.zeros(len(v)), np.zeros(1)

    def put(i):
        out[i] = v[i] * (1.0 + count[0])
        count[0] += 1.0
        return out[i] * 2.0

    total = put(0)
    total += put(2) * total
    return total + np.sum(out) * count[0]


def remembers(v: cl.f64[:]) -> float:
    memo = np.full(len(v) + 1, -1.0)

    def fib(k):
        if k < 2:
            return v[k]
        if memo[k] < 0.0:
            memo[k] = fib(k - 1) + fib(k - 2) * v[k]
        return memo[k]

    return fib(len(v) - 1) + memo[2]


def visits(v: cl.f64[:]) -> float:
    visited, order = np.zeros(len(v), dtype=bool), np.zeros(len(v))

    def visit(i, depth):
        visited[i] = True
        order[i] = depth * v[i]
        for j in (2 * i + 1, 2 * i + 2):
            if j < len(v) and not visited[j]:
                visit(j, depth + 1)

    visit(0, 1)
    return np.sum(order)


def calls_another(v: cl.f64[:]) -> float:
    rate = 0.5

    def inner(t):
        return rate * t

    def outer(t):
        return inner(t) + rate

    total = outer(v[0])
    rate = v[1]
    return total * outer(v[2])


def defined_before(v: cl.f64[:]) -> float:
    def slope(t, y):
        calls[0] += 1.0
        return -y * v[0] + t

    calls, y = np.zeros(1), 1.0
    for k in range(4):
        y += 0.1 * slope(0.1 * k, y)
    return y + calls[0]


def in_each_step(v: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(v)):
        add = lambda t: t * v[i] + total  # noqa: B023, E731
        total = add(2.0)
        total = add(1.0)
    return total


def of_its_own(v: cl.f64[:]) -> float:
    """A name of the function's own is another variable."""
    t = v[0]

    def square(x):
        t = x * x
        return t + 1.0

    y = square(v[1])
    t = 3.0
    return y * t + square(t)


def in_a_comprehension(v: cl.f64[:]) -> float:
    scale = 1.0

    def scaled(t):
        return t * scale

    scale = v[1]
    return sum(scaled(t) for t in v) + max([scaled(v[k]) for k in range(3)])


def passed_on(v: cl.f64[:]) -> float:
    """A function that is a value as well, of variables that do not change."""
    scale = v[0]
    scaled = lambda t: t * scale  # noqa: E731
    return sum(map(scaled, v)) + scaled(2.0)


ALL = [
    assigned_behind,
    updated_behind,
    updates,
    updates_with_a_result,
    remembers,
    visits,
    calls_another,
    defined_before,
    in_each_step,
    of_its_own,
    in_a_comprehension,
    passed_on,
]


@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_means_what_python_means(program: Program) -> None:
    compiled = cl.jit(program)
    assert compiled(V) == pytest.approx(program(V), rel=1e-14)
    cl.check_grads(compiled, (V,))


def shadowed(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    scale = 2.0
    return sum(scaled(1.0) for scale in v)


def passed(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    scale = 2.0
    return sum(map(scaled, v))


def in_another_value(v: cl.f64[:]) -> float:
    scale = 1.0
    scaled = lambda t: t * scale  # noqa: E731
    twice = lambda t: scaled(scaled(t))  # noqa: E731
    scale = 2.0
    return sum(map(twice, v))


@pytest.mark.parametrize("program", [shadowed, passed, in_another_value])
def test_what_is_not_only_called_is_refused(program: Program) -> None:
    with pytest.raises(cl.CompileError, match="CL1103"):
        cl.jit(program)(V)


def outer_variable(v: cl.f64[:]) -> float:
    total = 0.0

    def add(t):
        nonlocal total
        total += t
        return total

    return add(v[0])


def test_nonlocal_is_refused() -> None:
    with pytest.raises(cl.CompileError, match="CL0211"):
        cl.jit(outer_variable)(V)
