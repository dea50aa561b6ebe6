"""Arithmetic computed a strip ahead is what it was, whatever branches choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from bench.workloads.hopper import hopper, problem
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.stages import STEPS, stages
from chadllvm.support.options import CompileOptions
from tests.random_stages import check
from tests.sweep import part

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = stages(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("stages.cases"), run, golden)


def pushed(p: cl.f64[:], k: cl.i64[:], start: float, steps: int) -> float:
    """A choice of floats, of integers and of what to read, and one that adds."""
    x, v, total = start, 0.0, 0.0
    h = 3.0 / (steps + 10)
    for i in range(steps):
        a = -x
        late = 1.0
        n = 1
        if x < 0.0:
            a = a - p[2] * x - p[k[0]] * v * v
            late = x
            n = 3
        y = x + h * v
        w = v + h * (a * n + p[0] * y * y)
        b = -y * n
        if w > 0.25:
            b = b - p[1] * y * w / (2.0 + y * y) + late
        q, u = x + 0.5 * h * w, v + 0.5 * h * b
        d = -q * n + u * u * p[0]
        if q < 0.0:
            d = d - p[2] * q - p[k[0]] * u * u / (1.0 + q * q)
        r, m = x + h * u, v + h * d
        e = m * r * r + math.sqrt(2.0 + m * m)
        z = x + 0.5 * h * (v + w) + h * h * e
        c = b + math.sqrt(1.0 + z * z) * p[0] - a * late
        if z * w > 0.5:
            c = c * late + p[1]
        x = z
        v += 0.5 * h * (a + b) + h * h * c
        if i % 3 == 0:
            total += x * late
        total += x * v * n
    return total


def single(p: cl.f32[:], start: cl.f32, steps: int) -> cl.f32:
    """The same kind of loop in f32."""
    x, v = start, start
    for _ in range(steps):
        a = -x * p[0] + v * v * p[1]
        if x < 0.0:
            a = a - p[2] * x - v * x * p[1]
        y = x + v / 64
        w = v + a / 64
        b = -y * p[0] + w * w * p[1]
        if y < 0.0:
            b = b - p[2] * y - w * y * p[1]
        z, u = x + w / 64, v + b / 64
        c = -z * p[0] + u * u * p[1]
        if z < 0.0:
            c = c - p[2] * z - u * z * p[1]
        r, m = x + u / 64, v + c / 64
        d = -r * p[0] + m * m * p[1] + m * r * r
        x += (v + w + u * m) / 256
        v += (a + b + c + d * r) / 256
    return x * v


def both(program: Any, argnums: tuple[int, ...]) -> tuple[Any, Any]:
    fast = cl.value_and_grad(cl.jit(program), argnums=argnums)
    return fast, cl.value_and_grad(cl.jit(program, optimize=0), argnums=argnums)


PUSHED = both(pushed, (0, 2))
SINGLE = both(single, (0, 1))
HOPPER = cl.value_and_grad(hopper, argnums=(0, 1))


def same(pair: tuple[Any, Any], args: tuple[Any, ...], rtol: float) -> None:
    value, slopes = pair[0](*args)
    expected, wanted = pair[1](*args)
    np.testing.assert_allclose(value, expected, rtol=rtol)
    for slope, right in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, right, rtol=10 * rtol, atol=10 * rtol)


@pytest.mark.parametrize("size", [0, 1, STEPS - 1, STEPS, 2 * STEPS + 5])
@pytest.mark.parametrize("start", [1.0, -0.7])
def test_every_length(size: int, start: float) -> None:
    args = np.array([0.3, 0.2, 1.1, 0.4]), np.array([3]), start, size
    same(PUSHED, args, 1e-11)


@pytest.mark.parametrize("size", [1, STEPS + 3])
def test_single_precision(size: int) -> None:
    args = np.array([0.3, 0.2, 2.0], np.float32), np.float32(-0.5), size
    same(SINGLE, args, 1e-4)


def test_what_no_step_reads_is_not_read() -> None:
    """The masses do not reach the ground: stiffness and damping need not be there."""
    short = np.array([60.0, 4.0])
    start = np.array([200.0, 0.0, 201.0, 0.5])
    value, slopes = HOPPER(short, start, 600)
    long, wanted = HOPPER(np.array([60.0, 4.0, 900.0, 15.0]), start, 600)
    assert value == long
    np.testing.assert_array_equal(slopes[0], wanted[0][:2])
    np.testing.assert_array_equal(slopes[1], wanted[1])


def test_the_pass_is_run() -> None:
    """The programs of these tests are cut, and each without the pass is not."""
    HOPPER(*problem(10))
    PUSHED[0](np.ones(4), np.array([3]), 1.0, 3)
    for fast in (HOPPER, PUSHED[0]):
        assert "strip" in str(fast.show("loops"))
    without = cl.jit(pushed, options=CompileOptions(disabled=frozenset(["stages"])))
    slope = cl.value_and_grad(without, argnums=(0, 2))
    slope(np.ones(4), np.array([3]), 1.0, 3)
    assert "strip" not in str(slope.show("loops"))


def parts(x: cl.f64[:], k: cl.i64[:]) -> float:
    """A loop that is split where a number that was read says, in one that is long."""
    total = 0.0
    for i in range(len(x)):
        y, z, it = x[i], x[i], 0
        while it < 60 and y > 0.1:
            it += 1
            for q in range(5):
                y = y * 0.44 + 0.893 * math.exp(-abs(y * z))
                if q < k[i]:
                    z = z * 0.759 + 0.657 * math.atan(math.sqrt(1.0 + abs(x[1])))
                else:
                    y = y * 0.464 + 0.821 * math.cos(y)
            y = y * 0.5
        total += y + z
    return total


@pytest.mark.parametrize("size", [2, 20])
def test_what_is_in_front_of_the_strips_is_theirs(size: int) -> None:
    same(both(parts, (0,)), (np.linspace(0.1, 2.0, size), np.arange(size)), 1e-11)


@pytest.mark.sweep
def test_random_programs() -> None:
    """`random_stages` runs more of them; those that are cut have choices, too."""
    found = [check(seed) for seed in range(part(24, 6))]
    cut, choices = map(sum, zip(*found, strict=True))
    assert cut >= len(found) and choices >= len(found) // 2


def limited(a: cl.f64[:], k: cl.i64[:], most: float) -> float:
    """Checks of what is read, and of the state, between arithmetic that is early."""
    x, total = 0.0, 0.0
    for i in range(len(k)):
        y = a[k[i]]
        z = math.sqrt(1.0 + y * y) / (2.0 + y * y) + y * y / (3.0 + y)
        w = z / (1.0 + z * z) + math.sqrt(2.0 + z) / (1.0 + y * z)
        assert x < most, "too much"
        x = 0.5 * x + w * z
        total += x * w
    return total


def test_checks_of_the_state_are_made_in_order() -> None:
    fast, a = cl.jit(limited), np.linspace(0.1, 2.0, 9)
    k = np.arange(300) % 9
    few = k[:20]
    assert fast(a, k, 100.0) == pytest.approx(limited(a, k, 100.0), rel=1e-12)
    for limit in (0.05, 0.1, 0.2):
        with pytest.raises(AssertionError, match="too much"):
            limited(a, few, limit)
        with pytest.raises(AssertionError, match="too much"):
            fast(a, few, limit)
    k[200] = 9
    with pytest.raises(IndexError, match="index 9"):
        fast(a, k, 100.0)


def filled(x: cl.f64[:], scale: float) -> float:
    """Calls that need no step before, beside some that do."""
    t = np.zeros(len(x) + 2)
    s = 1.0
    for i in range(len(x)):
        s = 0.5 * s * math.exp(-abs(x[i])) + 0.1
        t[i + 2] = math.log1p(math.exp(t[i + 1] - t[i])) * s + math.sin(scale * x[i])
    return t[len(x)] + t[len(x) + 1] * s


compiled_filled = cl.value_and_grad(cl.jit(filled), argnums=(0, 1))
plain_filled = cl.value_and_grad(cl.jit(filled, optimize=0), argnums=(0, 1))


@pytest.mark.parametrize("size", [1, STEPS - 1, STEPS, 2 * STEPS + 1])
def test_calls_at_every_length(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size)
    value, slopes = compiled_filled(x, 0.7)
    expected, wanted = plain_filled(x, 0.7)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for slope, right in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-12)
    assert "strip" in str(compiled_filled.show("loops"))
