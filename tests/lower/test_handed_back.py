"""Arrays that recursive calls update and hand back are updated where they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from frontend.generated import define

import chadllvm as cl
from tests.laws import updated_by_calls
from tests.lower.random_updates import Writer
from tests.sweep import part

V = np.array([0.3, 0.7, 1.1, 0.4, 0.9])


def quicksorted(v: cl.f64[:]) -> float:
    def sort(x, low, high):
        if low < high:
            pivot, i = x[high], low
            for j in range(low, high):
                if x[j] < pivot:
                    x[i], x[j] = x[j], x[i]
                    i += 1
            x[i], x[high] = x[high], x[i]
            sort(x, low, i - 1)
            sort(x, i + 1, high)

    x = v.copy()
    sort(x, 0, len(x) - 1)
    return sum(x[k] * k for k in range(len(x)))


def merged(v: cl.f64[:]) -> float:
    """Two arrays are updated, one of them a buffer."""

    def sort(x, buffer, low, high):
        if high - low > 1:
            middle = (low + high) // 2
            sort(x, buffer, low, middle)
            sort(x, buffer, middle, high)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or x[i] <= x[j]):
                    buffer[k] = x[i]
                    i += 1
                else:
                    buffer[k] = x[j]
                    j += 1
            for k in range(low, high):
                x[k] = buffer[k]

    x, buffer = v.copy(), np.zeros(len(v))
    sort(x, buffer, 0, len(x))
    return sum(x[k] * k for k in range(len(x))) + buffer[0]


def filled(v: cl.f64[:]) -> float:
    board = np.zeros((4, 4))

    def fill(i, j, x):
        if 0 <= i < 4 and 0 <= j < 4 and board[i, j] == 0.0 and x > 0.01:
            board[i, j] = x
            fill(i + 1, j, x * v[0])
            fill(i - 1, j, x * v[1])
            fill(i, j + 1, x * v[2])
            fill(i, j - 1, x * 0.5)

    fill(1, 1, 1.0)
    return np.sum(board * board)


def used_later(v: cl.f64[:]) -> float:
    """The array that calls update is another one, whose old elements are read."""

    def scaled(x, i):
        if i < len(x):
            x[i] *= 2.0
            scaled(x, i + 1)

    x = v.copy()
    before = x.copy()
    scaled(x, 1)
    return np.sum(x * before)


def exchanged(v: cl.f64[:]) -> float:
    def step(x, y, i):
        if i < len(x):
            x[i] += y[i] * v[i]
            step(y, x, i + 1)
            y[i] += 1.0

    x, y = v.copy(), v * 2.0
    step(x, y, 0)
    return np.sum(x * x) + np.sum(y * v)


ALL = [quicksorted, merged, filled, used_later, exchanged]


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_they_mean_what_they_mean_in_python(
    function: Callable[[np.ndarray], float],
) -> None:
    compiled = cl.jit(function)
    assert compiled(V) == pytest.approx(function(V), rel=1e-14)
    cl.check_grads(compiled, (V,), order=2)


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_nothing_is_copied(function: Callable[[np.ndarray], float]) -> None:
    compiled = cl.jit(function)
    assert compiled.report(V).copies == ()
    assert cl.grad(compiled).report(V).copies == ()


@pytest.mark.parametrize(
    "function", updated_by_calls.PROGRAMS, ids=lambda f: f.__name__
)
def test_nor_is_it_by_derivatives(function: Callable[..., float]) -> None:
    report = cl.grad(cl.jit(function)).report(V, V + 0.1, V + 0.2)
    assert report.copies == () and report.cells == ()


def either_way(v: cl.f64[:]) -> float:
    """Which array is handed back for which depends on the call: they are copied."""

    def step(x, y, i):
        if i >= len(x):
            return x, y
        x[i] += y[i]
        return step(y, x, i + 1)

    x, y = step(v * 1.0, v * 3.0, 0)
    return np.sum(x) - 2.0 * np.sum(y * v)


def test_what_depends_on_the_call_is_copied() -> None:
    compiled = cl.jit(either_way)
    assert compiled(V) == pytest.approx(either_way(V), rel=1e-14)
    cl.check_grads(compiled, (V,))
    assert compiled.report(V).copies != ()


@pytest.mark.parametrize("seed", range(part(60, 12)))
def test_random_recursions(seed: int) -> None:
    check(seed)


def check(seed: int) -> bool:
    """Whether a random program is compiled; then it and its gradient are right."""
    function = define(Writer(seed).text(), f"<updates {seed}>")
    compiled = cl.jit(function)
    plain = cl.jit(function, options=cl.CompileOptions(optimize=0))
    try:
        value = compiled(V)
    except cl.CompileError as error:
        assert "CL08" in str(error)
        return False
    assert value == pytest.approx(function(V), rel=1e-10)
    gradient = cl.grad(compiled)(V)
    assert gradient == pytest.approx(cl.grad(plain)(V), rel=1e-9, abs=1e-9)
    for direction in np.eye(len(V)):
        (slope,) = (cl.jvp(compiled, (V,), (direction,))[1],)
        assert gradient @ direction == pytest.approx(slope, rel=1e-9, abs=1e-9)
    return True
