"""What the steps of a loop define is there behind it if there was a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl

X = np.array([0.25, 0.5, 1.0, 2.0, 4.0])


def last(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x[i] * 2.0
    return y + i


def read_on_a_condition(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x[i]
    return y if n > 0 else -1.0


def read_twice(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x * i
    total = 0.0
    if n == 2:
        total += np.sum(y)
    return total + y[0]


def left(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x * i
        if y[0] > 0.2:
            break
    else:
        return -y[1]
    return y[1]


def at_a_test(x: cl.f64[:], n: int) -> float:
    while n > 0:
        n -= 2
        y = x[n]
    return y


def named_again(x: cl.f64[:], n: int) -> float:
    for i in range(3):
        y = x[i]
    for i in range(n):
        y = x[i] * y
    return y + i


ALL = [last, read_on_a_condition, read_twice, left, at_a_test, named_again]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_values(function: Callable[..., float], n: int) -> None:
    assert cl.jit(function)(X, n) == function(X, n)


@pytest.mark.parametrize("function", [last, read_twice, left, at_a_test])
def test_no_step(function: Callable[..., float]) -> None:
    compiled = cl.jit(function)
    with pytest.raises(UnboundLocalError, match="cannot access local variable"):
        function(X, 0)
    with pytest.raises(UnboundLocalError, match="cannot access local variable"):
        compiled(X, 0)
    with pytest.raises(UnboundLocalError, match="cannot access local variable"):
        cl.grad(compiled)(X, 0)


def test_what_is_not_read_is_not_checked() -> None:
    assert cl.jit(read_on_a_condition)(X, 0) == -1.0
    assert cl.jit(named_again)(X, 0) == named_again(X, 0)


def captured(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x[i]
    return (lambda t: t * y)(x[0])


def joined(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x[i]
    if x[0] > 1.0:
        y = 0.0
    return y


def defined_again(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        y = x[i]
    for i in range(n - 1):
        y = x[i] * 2.0
    return y


def skipped(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        if x[i] > 1.0:
            continue
        y = x[i]
    return y


def broken(x: cl.f64[:], n: int) -> float:
    for i in range(n):
        if x[i] > 1.0:
            break
        y = x[i]
    return y


@pytest.mark.parametrize("function", [captured, joined, defined_again, skipped, broken])
def test_what_may_have_no_value_in_other_ways(function: Callable[..., float]) -> None:
    with pytest.raises(
        cl.CompileError, match="`y` is not defined if the loop"
    ) as found:
        cl.jit(function)(X, 2)
    assert "CL0309" in str(found.value)
