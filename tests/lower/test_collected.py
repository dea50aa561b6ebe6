"""What loops that end themselves collect for the reverse, run side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backend.test_interrupt import interrupted_after
from lower.test_masks import endless
from test_memory import peak_of_call

import chadllvm as cl
from chadllvm.lower.varying import MOST
from chadllvm.support.options import CompileOptions

pytestmark = pytest.mark.optimised

SIZES = (0, 1, 7, 8, 15, 16, 17, 37)
ALONE = CompileOptions(disabled=frozenset(["lanes"]))
SERIAL = CompileOptions(parallel=False)


def orbits(mean: cl.f64[:], e: cl.f64[:]) -> float:
    """Several arrays grow together."""
    total = 0.0
    for i in range(len(mean)):
        x, step = mean[i], 1.0
        while abs(step) > 1e-12:
            step = (x - e[i] * math.sin(x) - mean[i]) / (1.0 - e[i] * math.cos(x))
            x -= step
        total += math.cos(x)
    return total


def counted(x: cl.f64[:], e: cl.f64[:]) -> float:
    """As many steps as are asked for, also none."""
    total = 0.0
    for i in range(len(x)):
        y, k = x[i], 0
        while k < 300.0 * e[i] - 40.0:
            y = 0.999 * y + 0.001 / (1.0 + y * y)
            k += 1
        total += y
    return total


def parameters(x: cl.f64[:], t: cl.f64[:]) -> float:
    """What all lanes read, by places that may not be there, and add to in reverse."""
    total = 0.0
    for v in x:
        y, change = v, 1.0
        while change > 1e-6:
            z = t[0] * math.exp(-t[1] * y) + 0.1 * t[2]
            change = abs(z - y)
            y = 0.5 * (y + z)
        total += y * y
    return total


def summed(x: cl.f64[:], e: cl.f64[:]) -> float:
    """Each step adds to the sum of all."""
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        while y > 0.25:
            z = math.exp(-e[i] * y)
            total += y * z
            y = 0.4 * (y + 0.1 * z)
    return total


def left_early(x: cl.f64[:], e: cl.f64[:]) -> float:
    """No more than so many steps: what is collected need not grow."""
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for k in range(40):
            z = math.exp(-e[i] * y)
            if abs(z - y) < 1e-4:
                break
            y = 0.5 * (y + z) + 0.0001 * k
        total += y * y
    return total


def twice(x: cl.f64[:], e: cl.f64[:]) -> cl.f64[:]:
    """Two such loops, the second of which chooses, for an array of results."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        y = x[i]
        while y > e[i]:
            y = 0.7 * y
        z = y + x[i]
        while z > 2.0 * e[i]:
            z = 0.25 * z * z if z < 2.0 else z - 0.3 * y
        out[i] = y * z
    return out


def interpolated(x: cl.f64[:], t: cl.f64[:]) -> float:
    """What is read, and added to in reverse, is anywhere in an array."""
    total = 0.0
    for i in range(len(x)):
        y, k = x[i], 0
        while y < 4.0 and k < 2 * i:
            y += t[k % 3] * math.exp(-y) + 0.1 * t[i % 2] * math.sin(y)
            k += 1 if y < 2.0 else 2
        total += y * y
    return total


def narrow(x: cl.f32[:], e: cl.f32[:]) -> cl.f32:
    total = np.float32(0.0)
    for i in range(len(x)):
        y = x[i]
        while y > e[i]:
            y = y / (np.float32(1.25) + e[i] * y)
        total += y * y
    return total


SHARED = (parameters, interpolated)
FUNCTIONS = (orbits, counted, *SHARED, summed, left_early, twice, narrow)


def arguments(function: Callable[..., Any], n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n)
    x, e = rng.uniform(0.3, 3.0, n), rng.uniform(0.1, 0.7, n)
    if function is narrow:
        return x.astype(np.float32), e.astype(np.float32)
    return x, np.array([1.1, 0.3, 0.4]) if function in SHARED else e


def differentiated(function: Callable[..., Any], **options: Any) -> Any:
    inner = cl.jit(function)
    if function is twice:

        def total(x: cl.f64[:], e: cl.f64[:]) -> float:
            return np.sum(inner(x, e) ** 2)

        return cl.value_and_grad(cl.jit(total, **options), argnums=(0, 1))
    return cl.value_and_grad(cl.jit(function, **options), argnums=(0, 1))


def reverse_in_lanes(loops: str) -> bool:
    """Whether a loop in lanes has one that ends itself, and one over its steps."""
    found = re.finditer(r"^( *)for .*\d lanes.*\n((?:\1 .*\n)*)", loops, re.MULTILINE)
    return any(re.search(r"for .* while [^#]*\n *for ", _heads(m[2])) for m in found)


def _heads(body: str) -> str:
    """The heads of the loops of a body."""
    return "".join(re.findall(r"^ *for .*\n", body, re.MULTILINE))


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function: Callable[..., Any]) -> None:
    compiled = differentiated(function)
    alone, serial = (differentiated(function, options=o) for o in (ALONE, SERIAL))
    plain = differentiated(function, optimize=0)
    assert reverse_in_lanes(str(compiled.show("loops", *arguments(function, 8))))
    assert " lanes" not in _heads(str(alone.show("loops", *arguments(function, 8))))
    tolerance = 1e-4 if function is narrow else 1e-9
    for n in SIZES:
        args = arguments(function, n)
        value, slopes = compiled(*args)
        for other in (alone, plain):
            expected, wanted = other(*args)
            assert value == pytest.approx(expected, rel=tolerance)
            for slope, want in zip(slopes, wanted, strict=True):
                np.testing.assert_allclose(slope, want, rtol=tolerance, atol=tolerance)
        again, same = serial(*args)
        assert again == value
        assert all(map(np.array_equal, same, slopes))


def test_directions_through_what_is_collected() -> None:
    x, e = arguments(summed, 37)
    direction = np.cos(x), np.ones(37)
    found = cl.hvp(cl.jit(summed), (0, 1))(x, e, direction)
    wanted = cl.hvp(cl.jit(summed, optimize=0), (0, 1))(x, e, direction)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def steps_of(x: cl.f64[:], steps: cl.i64[:]) -> float:
    total = 0.0
    for i in range(len(x)):
        y, k = x[i], 0
        while k < steps[i]:
            y = 0.999 * y + 0.001 / (1.0 + y * y)
            k += 1
        total += y * y
    return total


@pytest.mark.parametrize("most", [MOST // 16, MOST // 16 + 1, MOST // 8 + 1, MOST])
def test_lanes_are_left_if_one_of_them_collects_much(most: int) -> None:
    """What is done again is done once: neither sums nor gradients have it twice."""
    rng = np.random.default_rng(0)
    x, steps = rng.uniform(0.5, 1.5, 100), rng.integers(0, 9, 100)
    steps[[7, 40, 41, 98]] = most, 0, most, most
    found = cl.value_and_grad(cl.jit(steps_of, options=SERIAL))(x, steps)
    wanted = cl.value_and_grad(cl.jit(steps_of, options=ALONE))(x, steps)
    assert found[0] == pytest.approx(wanted[0], rel=1e-13)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)


def test_lanes_that_are_left_have_taken_little_memory() -> None:
    x, steps = np.full(64, 1.0), np.full(64, 3)
    steps[20] = 20 * MOST
    peaks = []
    for options in (SERIAL, ALONE):
        gradient = cl.grad(cl.jit(steps_of, options=options))
        gradient(x[:1], steps[:1])
        peak_of_call()
        gradient(x, steps)
        peaks.append(peak_of_call())
    together, alone = peaks
    assert alone > 20 * 8 * MOST
    assert together <= alone + 2 * 8 * MOST


def looked_up(x: cl.f64[:], table: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        y, change = v, 1.0
        while change > 1e-3:
            if y > 100.0:
                raise ValueError(f"y = {y:.1f}")
            z = 0.5 * y + table[3]
            change = abs(z - y)
            y = z
        if y > 20.0:
            raise OverflowError("too large")
        total += y
    return total


def test_the_first_error_is_raised() -> None:
    """Of the first iteration that fails, even if another one fails at an earlier step
    or statement; a lane that is done fails by nothing."""
    gradient = cl.value_and_grad(cl.jit(looked_up))
    x, table = np.linspace(1.0, 9.0, 40), np.full(4, 0.5)
    assert reverse_in_lanes(str(gradient.show("loops", x, table)))
    value, _ = gradient(x, table)
    assert value == pytest.approx(looked_up(x, table), rel=1e-12)
    cases: list[tuple[dict[int, float], np.ndarray]] = [
        ({9: 101.0}, table),
        ({9: 120.0, 3: 150.0}, table),
        ({}, table[:3]),
        ({}, np.full(4, 15.0)),
        ({0: 130.0}, table[:3]),
        ({2: 140.0}, np.full(4, 15.0)),
        ({2: 140.0}, np.full(4, 0.5)),
    ]
    for wrong, lookup in cases:
        spoilt = x.copy()
        for place, number in wrong.items():
            spoilt[place] = number
        with pytest.raises((IndexError, ValueError, OverflowError)) as expected:
            looked_up(spoilt, lookup)
        with pytest.raises(expected.type) as found:
            gradient(spoilt, lookup)
        if expected.type is not IndexError:
            assert str(found.value) == str(expected.value)


def test_one_lane_that_does_not_end_is_interrupted() -> None:
    gradient, x = cl.grad(cl.jit(endless)), np.full(19, -1.0)
    assert np.all(gradient(x) == 1.0)
    x[5] = 1.0
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        gradient(x)
