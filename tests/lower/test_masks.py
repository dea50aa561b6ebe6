"""Loops that end themselves, run side by side until the last of them is done."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backend.test_interrupt import interrupted_after

import chadllvm as cl
from chadllvm.support.options import CompileOptions

pytestmark = pytest.mark.optimised

SIZES = (0, 1, 7, 8, 15, 16, 17, 37)
ALONE = CompileOptions(disabled=frozenset(["lanes"]))
SERIAL = CompileOptions(parallel=False)


@cl.jit
def cube_root(x: float) -> float:
    y, step = 1.0, 1.0
    while abs(step) > 1e-13 * abs(y):
        step = (y - x / (y * y)) / 3.0
        y -= step
    return y


def roots(x: cl.f64[:]) -> cl.f64[:]:
    """Few steps or many; a NaN takes one, zero none that ends well."""
    return np.array([cube_root(v) for v in x])


@cl.jit
def anomaly(mean: float, e: float) -> float:
    x = mean
    for _ in range(50):
        rest = x - e * math.sin(x) - mean
        if abs(rest) < 1e-13:
            return x
        x -= rest / (1.0 - e * math.cos(x))
    return math.nan


def orbits(x: cl.f64[:]) -> cl.f64[:]:
    """A way out in the middle of a step."""
    return np.array([anomaly(abs(v), 0.5) for v in x])


@cl.jit
def damped(x: float, c: cl.f64[:]) -> float:
    y, k = x, 0
    while k < 20 and abs(y) > 1e-3:
        p = 0.0
        for j in range(len(c)):
            p = p * y + c[j]
        z = abs(p)
        while z > 1.0:
            z = math.log(math.sqrt(z) + math.exp(-z))
            if z > 3.0:
                for j in range(len(c)):
                    z = math.sin(z) + c[j] * c[j]
        y = y * 0.5 + 0.01 * z
        k += 1
    return y + k


def nested(x: cl.f64[:]) -> float:
    """Loops in loops, and a branch that few lanes take."""
    c = np.array([0.3, -0.2, 0.7])
    total = 0.0
    for v in x:
        total += damped(v, c)
    return total


@cl.jit
def halvings(x: cl.f32) -> int:
    steps, big = 0, True
    while x > np.float32(1.0):
        x = x / np.float32(3.0)
        steps += 2 if big else 1
        big = x > np.float32(100.0)
    return steps


def narrow(x: cl.f32[:]) -> cl.i64[:]:
    """f32, integers and bools."""
    return np.array([halvings(v) for v in x])


@cl.jit
def steady(x: float) -> float:
    y, t = x, 0.0
    while t < 1.0:
        y += 0.1 * math.sin(y + 0.05 * math.sin(y))
        t += 0.1
    return y


def in_step(x: cl.f64[:]) -> cl.f64[:]:
    """All lanes take as many steps, so that no mask is needed."""
    return np.array([steady(v) for v in x])


def filled(x: cl.f64[:]) -> cl.f64[:]:
    """An array that is filled, as it is written most often."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        y, step = 1.0, 1.0
        while abs(step) > 1e-12 * abs(y):
            step = (y - abs(x[i]) / y) / 2.0
            y -= step
        out[i] = y
    return out


def warm(x: cl.f64[:]) -> cl.f64[:]:
    """The same, but each begins where the one before has ended."""
    out, y = np.zeros(len(x)), 1.0
    for i in range(len(x)):
        step = 1.0
        while abs(step) > 1e-12 * abs(y):
            step = (y - abs(x[i]) / y) / 2.0
            y -= step
        out[i] = y
    return out


def followed(x: cl.f64[:]) -> cl.f64[:]:
    """Each reads what the one before has written."""
    out = np.ones(len(x) + 1)
    for i in range(len(x)):
        y = out[i] + abs(x[i])
        while y > 1.0:
            y = math.sqrt(y) / 1.5
        out[i + 1] = y
    return out


def walked(x: cl.f64[:]) -> cl.f64[:]:
    """Places that differ: what is read, and what is written and asked in a step."""
    table = np.linspace(0.5, 1.5, 40)
    out = np.zeros(len(x))
    for i in range(len(x)):
        y, k = abs(x[i]), 0
        while k < 60 and y > table[k // 2]:
            angle = math.sin(math.exp(-0.1 * y) + math.cos(table[k // 2 + 3]))
            y = y * math.tanh(1.5 + math.sin(angle))
            out[i] = y
            k += 1 if y > 2.0 else 2
    return out


@cl.jit
def digits(n: int, bits: cl.boolean[:], weights: cl.f32[:]) -> cl.f32:
    total = np.float32(0.0)
    while n > 0:
        total = np.tanh(weights[n % 10] + np.sin(np.float32(0.1) * np.exp(-total)))
        total = np.log(np.float32(2.0) + np.sin(total) * np.cos(total))
        if bits[n % 7]:
            total = np.exp(total)
        n = n // (2 + n % 3)
    return total


def rounds(x: cl.f64[:]) -> cl.f32[:]:
    """Integers that are divided by what may be no divisor elsewhere."""
    bits = np.array([k % 2 == 0 for k in range(7)])
    weights = np.array([np.float32(k * 0.25) for k in range(10)])
    return np.array([digits(int(abs(v)), bits, weights) for v in x])


FUNCTIONS = (roots, orbits, nested, narrow, in_step, filled, walked, rounds)


def arguments(function: Callable[..., Any], n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-2, 4, n)
    return x.astype(np.float32) if function is narrow else x


def in_lanes(function: Any, *args: Any) -> bool:
    return bool(re.search(r"# .*\d lanes", str(function.show("loops", *args))))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_lane_takes_its_own_steps(function: Callable[..., Any]) -> None:
    compiled = cl.jit(function)
    alone, serial = cl.jit(function, options=ALONE), cl.jit(function, options=SERIAL)
    assert in_lanes(compiled, arguments(function, 8))
    assert not in_lanes(alone, arguments(function, 8))
    for n in SIZES:
        x = arguments(function, n)
        found = compiled(x)
        tolerance = 1e-6 if function is rounds else 1e-11
        np.testing.assert_allclose(found, alone(x), rtol=tolerance)
        np.testing.assert_allclose(found, function(x), rtol=tolerance)
        np.testing.assert_array_equal(found, compiled(x))
        np.testing.assert_array_equal(found, serial(x))


@pytest.mark.parametrize("function", [warm, followed])
def test_what_needs_the_one_before_waits_for_it(function: Callable[..., Any]) -> None:
    compiled, x = cl.jit(function), arguments(function, 21)
    assert not in_lanes(compiled, x)
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)


def test_divisions_have_the_same_bits() -> None:
    """No call, nothing contracted: a lane computes what one step after the other does,
    also if it takes no step, a thousand, or ends with what is not finite."""
    x = np.array([1.0, 1e300, 1e-300, math.nan, 8.0, math.inf, -27.0, 1e9, -math.inf])
    found, wanted = (cl.jit(roots, options=o)(np.tile(x, 4)) for o in (SERIAL, ALONE))
    np.testing.assert_array_equal(found, wanted)
    assert len({1.0, 2.0, -3.0} & set(np.round(found, 12))) == 3


def approached(x: cl.f64[:]) -> cl.f64[:]:
    """The reverse makes as many steps as the loop that was left."""
    y = x.copy()
    for i, v in enumerate(x):
        u = 1.0 + abs(v)
        for _ in range(50):
            if abs(u * u - abs(v)) < 1e-9:
                break
            u = 0.5 * (u + abs(v) / u)
        y[i] = u
    return y


@pytest.mark.parametrize("function", [orbits, filled, approached])
def test_gradients_stay_right(function: Callable[..., Any]) -> None:
    x, inner = arguments(function, 21), cl.jit(function)

    def total(x: cl.f64[:]) -> float:
        return sum(inner(x))

    gradient = cl.grad(cl.jit(total))
    assert in_lanes(gradient, x)
    found = gradient(x)
    wanted = cl.grad(cl.jit(total, optimize=0))(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def looked_up(x: cl.f64[:], table: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        y, k = v, 0
        while y > 1.0:
            y = math.sqrt(y) * table[k]
            k += 1
        total += y
    return total


def test_the_first_error_is_raised() -> None:
    """Lanes that are done look up nothing, and fail by nothing."""
    compiled = cl.jit(looked_up)
    x = np.array([9.0, 0.5, 2.0, 7.0, 1e9, 0.1, 3.0, 5.0, 1e3] * 3)
    table = np.full(8, 0.9)
    assert compiled(x, table) == pytest.approx(looked_up(x, table), rel=1e-12)
    x[20] = 1e200
    with pytest.raises(IndexError, match="index 8 is out of range for size 8"):
        compiled(x, table)


def bounded(x: cl.f64[:], least: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        while y > least[i]:
            y = y * 0.5 / (1.0 + y * y)
        if y < 0.1:
            raise ValueError(f"y = {y:.3f}")
        total += y * y
    return total


def test_one_lane_that_does_not_end_does_not_hide_an_error() -> None:
    compiled, x, least = cl.jit(bounded), np.full(16, 0.9), np.full(16, 0.3)
    assert in_lanes(compiled, x, least)
    x[2], least[2], least[5] = 0.15, 0.12, -1.0
    with pytest.raises(ValueError, match=r"y = 0\.07"):
        compiled(x, least)


def endless(x: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        while v > 0.0:
            v = math.sqrt(v) / (0.5 + v)
        total += v
    return total


def test_one_lane_that_does_not_end_is_interrupted() -> None:
    compiled, x = cl.jit(endless), np.full(19, -1.0)
    assert in_lanes(compiled, x)
    assert compiled(x) == -19.0
    x[5] = 1.0
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        compiled(x)
