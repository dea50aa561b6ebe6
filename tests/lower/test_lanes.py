"""Iterations that are run side by side do what they did one after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lanes import lanes
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = lanes(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("lanes.cases"), run, golden)


def chosen(c: cl.f64[:], x: cl.f64[:]) -> float:
    """A polynomial for each number, and branches that lanes take or not."""
    total = 0.0
    for i in range(len(x)):
        value, bounded = 0.0, True
        for k in range(len(c)):
            value = value * x[i] + c[k]
            if value > 2.0:
                bounded = False
        if bounded and value > 0.1:
            total += math.sqrt(value) * x[i]
        elif value < -0.5:
            total -= value**3
    return total


def walked(start: float, spread: float, steps: cl.f64[:, :]) -> float:
    """Each path carries a state, and the reverse needs all of it."""
    total = 0.0
    for i in range(steps.shape[0]):
        price, top = start, start
        for j in range(steps.shape[1]):
            price *= math.exp(spread * steps[i, j])
            top = max(top, price)
        total += top - price if top > 1.2 * price else math.log(price)
    return total / (1 + len(steps))


def nearest(points: cl.f64[:, :], centres: cl.f64[:, :], labels: cl.i64[:]) -> float:
    """What is nearest differs between the lanes, and so does what is added to it."""
    total = 0.0
    for i in range(len(points)):
        p = points[i]
        best, at = math.inf, 0
        for j in range(len(centres)):
            distance = np.sum((p - centres[j]) ** 2)
            if distance < best:
                best, at = distance, j
        for k in range(p.shape[0]):
            total += centres[at, k] * p[k] * labels[i] + best
    return total


def scaled(x: cl.f64[:, :], w: cl.f64[:, :]) -> cl.f64[:, :]:
    """Arrays of each iteration's own: some differ between lanes, some do not."""
    out = np.zeros((len(x), w.shape[0]))
    for i in range(len(x)):
        hidden = np.array(
            [math.tanh(sum(r[k] * x[i, k] for k in range(len(r)))) for r in w]
        )
        weights = np.array([j * 0.5 for j in range(w.shape[0])])
        for j in range(w.shape[0]):
            out[i, j] = hidden[j] * weights[j] + sum(h * h for h in hidden)
    return out


def energy(x: cl.f64[:, :], w: cl.f64[:, :]) -> float:
    return np.sum(scaled_jit(x, w) ** 2)


def narrow(x: cl.f32[:, :], c: cl.f32[:]) -> cl.f32:
    total = np.float32(0.0)
    for i in range(len(x)):
        value = np.float32(1.0)
        for k in range(len(c)):
            value = value * x[i, k] + c[k]
        total += value * value
    return total


scaled_jit = cl.jit(scaled)
SIZES = (0, 1, 7, 8, 16, 21, 48)


def arguments(name: str, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    match name:
        case "chosen":
            return rng.normal(size=4), rng.normal(size=n)
        case "walked":
            return 1.5, 0.3, rng.normal(size=(n, 5))
        case "nearest":
            centres = rng.normal(size=(4, 3))
            return rng.normal(size=(n, 3)), centres, rng.integers(-3, 4, n)
        case "energy":
            return rng.normal(size=(n, 3)), rng.normal(size=(4, 3))
        case _:
            x = rng.normal(size=(n, 4)).astype(np.float32)
            return x, rng.normal(size=4).astype(np.float32)


def differentiated(name: str, args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f")


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("function", [chosen, walked, nearest, energy, narrow])
def test_lanes(function: Callable[..., float]) -> None:
    name = function.__name__
    compiled = cl.jit(function)
    assert "lanes" in str(compiled.show("loops", *arguments(name, 8)))
    argnums = differentiated(name, arguments(name, 8))
    gradient = cl.value_and_grad(compiled, argnums=argnums)
    plain = cl.value_and_grad(cl.jit(function, optimize=0), argnums=argnums)
    tolerance = 1e-4 if name == "narrow" else 1e-10
    for n in SIZES:
        args = arguments(name, n)
        expected, wanted = plain(*args)
        value, slopes = gradient(*args)
        assert compiled(*args) == pytest.approx(expected, rel=tolerance, abs=tolerance)
        assert value == pytest.approx(expected, rel=tolerance, abs=tolerance)
        for slope, other in zip(slopes, wanted, strict=True):
            np.testing.assert_allclose(slope, other, rtol=tolerance, atol=tolerance)
        again = gradient(*args)
        assert again[0] == value
        assert all(map(np.array_equal, again[1], slopes))


def test_what_is_not_finite_stays_in_its_lane() -> None:
    c, x = np.array([0.5, -0.3, 0.2, 0.7]), np.linspace(-1.0, 1.0, 24)
    gradient = cl.grad(cl.jit(chosen), argnums=1)
    usual = gradient(c, x)
    for bad in (math.nan, math.inf):
        spoiled = x.copy()
        spoiled[5] = bad
        kept = np.delete(gradient(c, spoiled), 5)
        np.testing.assert_allclose(kept, np.delete(usual, 5), rtol=1e-13)


def test_derivatives_of_derivatives() -> None:
    args = arguments("chosen", 21)
    direction = np.cos(np.arange(4)), np.ones(21)
    found = cl.hvp(cl.jit(chosen), (0, 1))(*args, direction)
    wanted = cl.hvp(cl.jit(chosen, optimize=0), (0, 1))(*args, direction)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_rows() -> None:
    for n in SIZES:
        x, w = arguments("energy", n)
        np.testing.assert_allclose(scaled_jit(x, w), scaled(x, w), rtol=1e-12)


def picked(x: cl.f64[:, :], at: cl.i64[:], shift: cl.i64[:]) -> float:
    total = 0.0
    for i in range(len(at)):
        row, value = at[i], 1.0
        for k in range(3):
            value = value * x[row + shift[i], k] + x[row, k]
        total += value
    return total


def test_the_first_error_is_raised() -> None:
    x = np.random.default_rng(2).normal(size=(5, 3))
    compiled, gradient = cl.jit(picked), cl.value_and_grad(cl.jit(picked))
    assert "if they are left" in str(compiled.show("loops", x, *np.ones((2, 4), int)))
    rng = np.random.default_rng(3)
    for wrong in ({}, {20: (9, -9)}, {3: (0, -7)}, {9: (4, 1), 8: (5, 0), 12: (-6, 0)}):
        at, shift = rng.integers(0, 5, 37), np.zeros(37, np.int64)
        for place, (row, far) in wrong.items():
            at[place], shift[place] = row, far
        plain = cl.value_and_grad(cl.jit(picked, optimize=0))
        if not wrong:
            value, slopes = gradient(x, at, shift)
            expected, wanted = plain(x, at, shift)
            assert value == pytest.approx(expected, rel=1e-12)
            np.testing.assert_allclose(slopes, wanted, rtol=1e-12)
            continue
        with pytest.raises(IndexError) as expected_error:
            plain(x, at, shift)
        for function in (compiled, gradient):
            with pytest.raises(IndexError) as error:
                function(x, at, shift)
            assert str(error.value) == str(expected_error.value)


def weighed(x: cl.f64[:, :], w: cl.f64[:], first: int) -> float:
    """All lanes add to the same cotangents, of one weight after the other."""
    total = 0.0
    for i in range(len(x)):
        value = 1.0
        for j in range(x.shape[1]):
            value += w[first + j] * x[i, j]
        total += value * value
    return total


def weighed_single(x: cl.f32[:, :], w: cl.f32[:], first: int) -> cl.f32:
    total = np.float32(0.0)
    for i in range(len(x)):
        value = np.float32(1.0)
        for j in range(x.shape[1]):
            value += w[first + j] * x[i, j]
        total += value * value
    return total


@pytest.mark.parametrize("function", [weighed, weighed_single])
def test_sums_over_lanes(function: Callable[..., float]) -> None:
    """In steps of four, and what is left; sums of small integers are exact."""
    dtype = np.float64 if function is weighed else np.float32
    rng = np.random.default_rng(4)
    gradient = cl.value_and_grad(cl.jit(function), argnums=(0, 1))
    for length in (0, 1, 3, 4, 5, 8, 11, 16):
        x = rng.integers(-4, 5, (19, length)).astype(dtype)
        w = rng.integers(-4, 5, length + 3).astype(dtype)
        value, (x_ct, w_ct) = gradient(x, w, 2)
        values = 1.0 + x @ w[2 : length + 2]
        assert value == values @ values
        np.testing.assert_array_equal(x_ct, np.outer(2.0 * values, w[2 : length + 2]))
        np.testing.assert_array_equal(w_ct[2 : length + 2], 2.0 * values @ x)
        assert not w_ct[:2].any()
        assert not w_ct[length + 2 :].any()
    kind = "double" if function is weighed else "float"
    assert f"fadd reassoc contract <4 x {kind}>" in gradient.show("llvm")


def filtered(x: cl.f64[:], h: cl.f64[:]) -> float:
    """The lanes' steps reach what other lanes have just reached."""
    total = 0.0
    for i in range(len(x) - 2 * len(h)):
        value = 0.0
        for k in range(len(h)):
            value += x[i + 2 * k] * h[k] - x[i - k + len(h)]
        total += value * value
    return total


def thinned(x: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x) - 26):
        value = 0.0
        for k in range(14):
            value += x[i + 2 * k]
        total += value * value
    return total


def test_steps_that_meet_go_by_rows() -> None:
    """In both ways the gradient is exact: the numbers are small integers."""
    rng = np.random.default_rng(6)
    gradient = cl.value_and_grad(cl.jit(filtered), argnums=(0, 1))
    for length in (0, 1, 5, 12, 13, 20):
        x = rng.integers(-4, 5, 2 * length + 35).astype(float)
        h = rng.integers(-4, 5, length).astype(float)
        plain = cl.value_and_grad(cl.jit(filtered, optimize=0), argnums=(0, 1))
        value, slopes = gradient(x, h)
        expected, wanted = plain(x, h)
        assert value == expected
        for a, b in zip(slopes, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    text = str(gradient.show("loops"))
    assert text.count("by rows") == 1
    x = rng.integers(-4, 5, 40).astype(float)
    fixed = cl.grad(cl.jit(thinned))
    ones = np.arange(27) % 2 == 0
    sums = np.convolve(x, ones, "valid")
    np.testing.assert_array_equal(fixed(x), 2.0 * np.convolve(sums, ones))
    assert "by rows" in str(fixed.show("loops"))


def forward(x: cl.f64[:], h: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x) - len(h) + 1):
        value = 0.0
        for k in range(len(h)):
            value += x[i + k] * h[k]
        total += value * value
    return total


def backward(x: cl.f32[:], h: cl.f32[:]) -> cl.f32:
    total = cl.f32(0.0)
    for i in range(len(h) - 1, len(x)):
        value = cl.f32(0.0)
        for k in range(len(h)):
            value += x[i - k] * h[k]
        total += value * value
    return total


def both_ways(x: cl.f64[:], h: cl.f64[:]) -> float:
    """Two windows that meet, over the same elements."""
    total, n = 0.0, len(h)
    for i in range(n, len(x) - n):
        value = 0.0
        for k in range(n):
            value += (x[i + k] - x[i - k]) * h[k]
        total += value * value
    return total


@pytest.mark.parametrize("function", [forward, backward, both_ways])
def test_sums_that_slide_over_memory(function: Callable[..., float]) -> None:
    """Exact: the numbers are small integers. Not one element beside is touched."""
    gradient = cl.value_and_grad(cl.jit(function), argnums=(0, 1))
    plain = cl.value_and_grad(cl.jit(function, optimize=0), argnums=(0, 1))
    rng = np.random.default_rng(7)
    dtype = np.float32 if function is backward else np.float64
    for length in (0, 1, 2, 3, 4, 5, 8, 11, 16, 19, 40):
        for more in (0, 15, 16, 33):
            x = rng.integers(-3, 4, 2 * length + more).astype(dtype)
            h = rng.integers(-3, 4, length).astype(dtype)
            value, slopes = gradient(x, h)
            expected, wanted = plain(x, h)
            assert value == expected
            for a, b in zip(slopes, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
    assert "%window" in str(gradient.show("llvm"))
    assert "by rows" not in str(gradient.show("loops"))


def image(x: cl.f64[:, :], w: cl.f64[:, :]) -> float:
    total = 0.0
    for i in range(x.shape[0] - w.shape[0] + 1):
        for j in range(x.shape[1] - w.shape[1] + 1):
            value = 0.0
            for k in range(w.shape[0]):
                for m in range(w.shape[1]):
                    value += x[i + k, j + m] * w[k, m]
            total += value * value
    return total


def test_lanes_are_along_columns_if_there_are_enough() -> None:
    gradient = cl.value_and_grad(cl.jit(image), argnums=(0, 1))
    plain = cl.value_and_grad(cl.jit(image, optimize=0), argnums=(0, 1))
    rng = np.random.default_rng(8)
    for shape in ((40, 5), (5, 60), (21, 49), (21, 50), (2, 3)):
        x = rng.integers(-3, 4, shape).astype(float)
        w = rng.integers(-3, 4, (3, 2)).astype(float)
        value, slopes = gradient(x, w)
        expected, wanted = plain(x, w)
        assert value == expected
        for a, b in zip(slopes, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    text = str(gradient.show("loops"))
    assert re.search(r"for i\w* in .*:  # polls, \d+ lanes", text)
    assert re.search(r"for j\w* in .*:  # .*\d+ lanes", text)


def parted(x: cl.f64[:], first: int, count: int) -> float:
    """The loop is split at `first`; its parts are run in 16 and in 8 lanes."""
    total = 0.0
    for i in range(len(x)):
        p = 1.0 + math.exp(x[i])
        a = np.array([math.exp(x[i] * k) / p if i >= first else x[i] for k in range(6)])
        b = np.array(
            [math.exp(-x[i]) / p if i >= first else x[i] * k for k in range(6)]
        )
        value = 0.0
        for k in range(6):
            for j in range(k):
                value = value * 0.5 + a[j] * a[k] - b[j] * b[k] * a[k]
        total += value * x[i]
    return total


def parted_rows(x: cl.f64[:], first: int, count: int) -> float:
    """The same with arrays of any size."""
    total = 0.0
    for i in range(len(x)):
        a = np.array(
            [x[i - 1] * k if i >= first else x[i] * (k + 0.5) for k in range(count)]
        )
        value = 0.0
        for k in range(count):
            for j in range(k):
                value = value * 0.5 + a[j] * a[k]
        total += value * x[i]
    return total


@pytest.mark.parametrize("function", [parted, parted_rows])
def test_parts_of_a_loop_have_room_for_their_lanes(
    function: Callable[..., float],
) -> None:
    """They have the same buffers, for whichever has more lanes."""
    rng = np.random.default_rng(8)
    compiled = cl.jit(function)
    gradient = cl.value_and_grad(compiled)
    plain = cl.value_and_grad(cl.jit(function, optimize=0))
    for n, first, count in ((0, 0, 3), (33, 17, 1), (40, 20, 5), (100, 50, 6)):
        x = rng.normal(size=n)
        value, slope = gradient(x, first, count)
        expected, wanted = plain(x, first, count)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert compiled(x, first, count) == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(slope, wanted, rtol=1e-10, atol=1e-10)
    assert "16 lanes" in str(compiled.show("loops"))


def centred(x: cl.f64[:, :], m: cl.f64[:], g: cl.f64[:, :], z: cl.f64[:]) -> float:
    """What goes to `z` meets, what goes to `w` is added up for all lanes."""
    total = 0.0
    for i in range(x.shape[0]):
        w = x[i] - m
        for r in range(len(m)):
            t = 0.0
            for k in range(len(m)):
                t += g[r, k] * (w[k] + z[i + k])
            total += t * t
    return total


def test_what_all_lanes_have_is_added_to_in_lanes() -> None:
    """By rows each lane would need a buffer of its own, which nobody has made."""
    rng = np.random.default_rng(9)
    gradient = cl.value_and_grad(cl.jit(centred), argnums=(1, 3))
    plain = cl.value_and_grad(cl.jit(centred, optimize=0), argnums=(1, 3))
    for n, m in ((16, 12), (16, 13), (35, 16)):
        x, g = rng.integers(-4, 5, (n, m)), rng.integers(-4, 5, (m, m))
        mean, z = rng.integers(-4, 5, m), rng.integers(-4, 5, n + m)
        args = tuple(a.astype(float) for a in (x, mean, g, z))
        value, slopes = gradient(*args)
        expected, wanted = plain(*args)
        assert value == expected
        for a, b in zip(slopes, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    text = str(gradient.show("loops", *args))
    assert "16 lanes" in text
    assert "by rows" not in text


def clamped(
    g: cl.f64[:, :], z: cl.f64[:], y: cl.f64[:], last: cl.i64[:], at: cl.i64[:]
) -> float:
    """Each lane has a bound of its own for `k`."""
    total = 0.0
    for i in range(len(last)):
        value = 0.0
        for r in range(len(g)):
            t = 0.0
            for k in range(len(g)):
                t = t * 0.5 + g[r, k] * z[min(k, last[i])]
            value = value * 0.5 + t * y[at[i]]
        total += value
    return total


def test_lanes_go_through_clamped_loops_in_step() -> None:
    """So the first error is that of the first iteration."""
    compiled = cl.jit(clamped)
    g, z, y = np.ones((6, 6)), np.arange(4.0), np.arange(5.0)
    for first, second, error in ((3, 0, 77), (0, 3, 4), (9, 9, 4), (17, 16, 77)):
        last, at = np.zeros(32, np.int64), np.zeros(32, np.int64)
        last[first], at[second] = 5, 77
        for function in (compiled, cl.value_and_grad(compiled)):
            with pytest.raises(IndexError, match=f"index {error} is out of range"):
                function(g, z, y, last, at)
    assert " lanes" in str(compiled.show("loops"))


def distances(x: cl.f64[:, :]) -> float:
    """The gradient writes rows of three, which are far apart for lanes."""
    moved = np.zeros((len(x), 3))
    for i in range(len(x)):
        moved[i, 0], moved[i, 1], moved[i, 2] = x[i, 1], x[i, 2], x[i, 0]
    return float(np.sum(moved * moved))


def lengths(x: cl.f64[:, :]) -> float:
    total = 0.0
    for i in range(len(x)):
        square = 0.0
        for k in range(3):
            square += x[i, k] * x[i, k]
        total += 1.0 / (1.0 + square)
    return total


def test_short_rows_are_read_in_lanes_but_not_written() -> None:
    """To write numbers that are far apart takes as long as to compute them."""
    x = np.arange(60.0).reshape(20, 3)
    gradient = cl.value_and_grad(cl.jit(distances))
    value, slope = gradient(x)
    assert value == np.sum(x * x)
    np.testing.assert_array_equal(slope, 2.0 * x)
    assert str(gradient.show("loops", x)).count("16 lanes") == 1
    np.testing.assert_allclose(cl.jit(lengths)(x), lengths(x), rtol=1e-12)
    assert "16 lanes" in str(cl.jit(lengths).show("loops", x))


def field(x: cl.f64[:, :], w: cl.f64[:], y: cl.f64[:, :]) -> float:
    """Most of the time is spent on distances, not in the sum behind them."""
    total = 0.0
    for i in range(len(x)):
        near = 0.0
        for j in range(len(y)):
            d = x[i] - y[j]
            near += math.exp(-0.5 * np.sum(d * d))
        scaled = 0.0
        for k in range(len(w)):
            scaled += w[k] * x[i, k] * near
        total += scaled * near
    return total


def test_only_the_deepest_loops_have_to_be_short() -> None:
    rng = np.random.default_rng(5)
    args = rng.normal(size=(39, 20)), rng.normal(size=20), rng.normal(size=(40, 20))
    gradient = cl.value_and_grad(cl.jit(field), argnums=(0, 1, 2))
    text = str(gradient.show("loops", *args))
    assert " lanes:" in text
    assert set(re.findall(r"(\w+) <= 16\n", text)) == {"x_n1"}
    plain = cl.CompileOptions(disabled=frozenset({"lanes"}))
    alone = cl.value_and_grad(cl.jit(field, options=plain), argnums=(0, 1, 2))
    results = gradient(*args), alone(*args)
    for a, b in zip(*map(leaves, results), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@cl.jit
def repeated(a: cl.f64[:], rows: cl.f64[:, :], at: cl.i64[:], b: cl.f64[:, :]) -> float:
    """Each step reads all of one buffer, and writes another one."""
    for k in range(len(at)):
        made = np.array([math.log(np.sum(np.exp(a * row))) for row in rows])
        a = made + b[at[k]]
    return np.sum(a)


def test_the_next_state_is_made_in_lanes() -> None:
    rng = np.random.default_rng(7)
    for n in (1, 7, 8, 20, 41):
        args = (
            rng.random(n),
            rng.random((n, n)) - 0.5,
            np.arange(5) % 3,
            rng.random((3, n)),
        )
        assert repeated(*args) == pytest.approx(repeated.py_func(*args), rel=1e-13)
        cl.check_grads(repeated, args, modes="rev")
    assert ", 8 lanes" in str(repeated.show("loops", *args))
