"""Recursions whose calls come last give what they gave, as loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

pytestmark = pytest.mark.optimised


def accumulated(x: cl.f64[:]) -> float:
    def go(i: int, s: float) -> float:
        if i == len(x):
            return s
        return go(i + 1, s + x[i] * x[i])

    return go(0, 0.0)


def added(x: cl.f64[:]) -> float:
    def go(i: int) -> float:
        if i == len(x):
            return 0.0
        return x[i] * x[i] + go(i + 1)

    return go(0)


def divisor(x: cl.f64[:]) -> float:
    def of(a: int, b: int) -> int:
        return a if b == 0 else of(b, a % b)

    return x[0] * of(84, 36) + of(17, 5)


def several_calls(x: cl.f64[:]) -> float:
    def steps(n: int, k: int) -> int:
        if n == 1:
            return k
        if n % 2 == 0:
            return steps(n // 2, k + 1)
        return steps(3 * n + 1, k + 1)

    return x[0] * steps(27, 0)


def long_test(x: cl.f64[:]) -> float:
    def root(y: float, n: int) -> float:
        if n == 0 or abs(y * y - 2.0 - x[0]) < 1e-12:
            return y
        return root(0.5 * (y + (2.0 + x[0]) / y), n - 1)

    return root(1.0, 50)


def several_ends(x: cl.f64[:]) -> float:
    def find(i: int) -> int:
        if i == len(x):
            return -1
        if x[i] > 0.9:
            return i
        return find(i + 1)

    return x[find(0)] * find(0)


def added_on_some_ways(x: cl.f64[:]) -> float:
    def go(i: int, s: float) -> float:
        if i == len(x):
            return s * s
        if x[i] > 0.0:
            return x[i] + go(i + 1, s * 0.5)
        return go(i + 1, s + x[i])

    return go(0, 1.0)


def multiplied(x: cl.f64[:]) -> float:
    def power(base: float, n: int) -> float:
        if n == 0:
            return 1.0
        if n % 2 == 1:
            return base * power(base, n - 1)
        return power(base * base, n // 2)

    return sum(power(v, 11) for v in x)


def counted(x: cl.f64[:]) -> float:
    def digits(n: int) -> int:
        return 0 if n == 0 else 1 + digits(n // 10)

    return x[0] * digits(12345)


def two_results(x: cl.f64[:]) -> float:
    def go(i: int, a: float, b: float) -> tuple[float, float]:
        if i == len(x):
            return a, b
        return go(i + 1, b, a + 0.5 * x[i])

    u, v = go(0, 1.0, 2.0)
    return u * v


def halved(x: cl.f64[:]) -> float:
    def place(low: float, high: float, n: int) -> float:
        middle = 0.5 * (low + high)
        if n == 0:
            return middle
        if middle**3 > 2.0 + x[0]:
            return place(low, middle, n - 1)
        return place(middle, high, n - 1)

    return place(0.0, 4.0, 40)


def each_other(x: cl.f64[:]) -> float:
    def even(n: int, s: float) -> float:
        return s if n == 0 else odd(n - 1, s + x[n])

    def odd(n: int, s: float) -> float:
        return -s if n == 0 else even(n - 1, s * 0.5)

    return even(len(x) - 1, 1.0)


LOOPS = (
    accumulated,
    added,
    divisor,
    several_calls,
    long_test,
    several_ends,
    added_on_some_ways,
    multiplied,
    counted,
    two_results,
    halved,
    each_other,
)


def used_twice(x: cl.f64[:]) -> float:
    def go(i: int) -> float:
        if i == len(x):
            return 0.25
        r = go(i + 1)
        return math.sin(r) + x[i] * r

    return go(0)


def fails_behind_its_call(x: cl.f64[:]) -> float:
    """The last element would be looked at first."""

    def go(i: int) -> float:
        if i == len(x):
            return 0.25
        return go(i + 1) + x[i]

    return go(0)


def called_twice(x: cl.f64[:]) -> float:
    def go(i: int) -> float:
        return x[i] if i < 2 else go(i - 1) + go(i - 2)

    return go(9)


def sometimes_multiplied(x: cl.f64[:]) -> float:
    def go(i: int) -> float:
        if i == len(x):
            return 1.0
        return x[i] + go(i + 1) if i % 2 == 0 else (2.0 + x[i]) * go(i + 1)

    return go(0)


def exchanged_results(x: cl.f64[:]) -> float:
    def go(ends: bool, a: float, b: float) -> tuple[float, float]:
        if ends:
            return a, b
        u, v = go(True, a, b)
        return v, u

    u, v = go(False, x[0], 2.0)
    return u * u + v


RECURSIONS = (
    exchanged_results,
    used_twice,
    fails_behind_its_call,
    called_twice,
    sometimes_multiplied,
)

X = np.sin(np.arange(1.0, 30.0))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", [*LOOPS, *RECURSIONS])
def test_values_and_derivatives(function: Callable[..., Any]) -> None:
    compiled, plain = cl.jit(function), cl.jit(function, optimize=0)
    assert compiled(X) == pytest.approx(function(X), rel=1e-11)
    slopes, exact = cl.grad(compiled)(X), cl.grad(plain)(X)
    np.testing.assert_allclose(slopes, exact, rtol=1e-9, atol=1e-12)
    is_loop = "recurse" not in compiled.show("simplified", X)
    assert is_loop is (function in LOOPS)


def test_additions_in_order() -> None:
    """The last numbers are added first."""
    strict = cl.jit(added, strict=True)
    assert "recurse" in strict.show("simplified", X)
    assert strict(X) == added(X)
    assert "recurse" not in cl.jit(accumulated, strict=True).show("simplified", X)


def test_a_negative_zero() -> None:
    def total(n: int) -> float:
        def go(k: int) -> float:
            return -0.0 if k == 0 else -0.0 + go(k - 1)

        return go(n)

    assert math.copysign(1.0, cl.jit(total)(3)) == -1.0


def test_calls_without_an_end() -> None:
    def endless(x: float) -> float:
        def up(y: float) -> float:
            return up(y + 1.0) if y > -1.0 else y

        return up(x)

    compiled = cl.jit(endless)
    with pytest.raises(RecursionError, match="too many nested calls"):
        compiled(1.0)
    assert compiled(-2.0) == -2.0
