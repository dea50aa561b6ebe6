"""Calls that return arrays, and that are given arrays to add to, on several threads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.lower import tasks
from tests.on_threads import check_as_without, check_same_bits

pytestmark = pytest.mark.optimised  # Bits are compared that the same code gives.


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even short calls ask for help."""
    monkeypatch.setattr(tasks, "PATIENCE", 0)
    yield
    cl.set_num_threads(None)


@cl.jit(cache=False)
def merged(x: cl.f64[:]) -> cl.f64[:]:
    n = len(x)
    if n < 2:
        return x
    a = merged(x[: n // 2])
    b = merged(x[n // 2 :])
    out = np.zeros(n)
    i = 0
    j = 0
    for k in range(n):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


@cl.jit(cache=False)
def ranked(x: cl.f64[:]) -> float:
    y = merged(x)
    return sum(y[i] * math.sin(0.01 * i) for i in range(len(y)))


@cl.jit(cache=False)
def transformed(re: cl.f64[:], im: cl.f64[:]) -> tuple[cl.f64[:], cl.f64[:]]:
    """Fourier's; two arrays are returned."""
    n = len(re)
    if n == 1:
        return re, im
    er, ei = transformed(re[0::2], im[0::2])
    pr, pi = transformed(re[1::2], im[1::2])
    outr = np.zeros(n)
    outi = np.zeros(n)
    h = n // 2
    for k in range(h):
        c = math.cos(2.0 * math.pi * k / n)
        s = math.sin(2.0 * math.pi * k / n)
        tr = c * pr[k] + s * pi[k]
        ti = c * pi[k] - s * pr[k]
        outr[k] = er[k] + tr
        outi[k] = ei[k] + ti
        outr[k + h] = er[k] - tr
        outi[k + h] = ei[k] - ti
    return outr, outi


@cl.jit(cache=False)
def power(re: cl.f64[:], im: cl.f64[:]) -> float:
    r, i = transformed(re, im)
    return sum((r[k] ** 2 + i[k] ** 2) * math.exp(-0.01 * k) for k in range(len(r)))


@cl.jit(cache=False)
def multiplied(a: cl.f64[:], b: cl.f64[:]) -> cl.f64[:]:
    """Karatsuba's product of polynomials; what is between its calls can fail."""
    n = len(a)
    out = np.zeros(2 * n)
    if n <= 8:
        for i in range(n):
            for j in range(n):
                out[i + j] += a[i] * b[j]
        return out
    h = n // 2
    low = multiplied(a[:h], b[:h])
    high = multiplied(a[h:], b[h:])
    mid = multiplied(a[:h] + a[h:], b[:h] + b[h:])
    for i in range(2 * h):
        out[i] += low[i]
        out[i + 2 * h] += high[i]
        out[i + h] += mid[i] - low[i] - high[i]
    return out


@cl.jit(cache=False)
def product(a: cl.f64[:], b: cl.f64[:]) -> float:
    return sum(c * c for c in multiplied(a, b))


@cl.jit(cache=False)
def quick(x: cl.f64[:], w: cl.f64[:]) -> cl.f64[:]:
    """Sizes that depend on the numbers; all calls add to one more array."""
    n = len(x)
    if n < 2:
        return x * w[n]
    below = 0
    for i in range(1, n):
        if x[i] < x[0]:
            below += 1
    low = np.zeros(below)
    high = np.zeros(n - 1 - below)
    at = 0
    for i in range(1, n):
        if x[i] < x[0]:
            low[at] = x[i] * w[2]
            at += 1
        else:
            high[i - 1 - at] = x[i]
    a = quick(low, w)
    b = quick(high, w)
    return np.concatenate((a, x[:1] * w[3], b))


@cl.jit(cache=False)
def weighted(x: cl.f64[:], w: cl.f64[:]) -> float:
    y = quick(x, w)
    return sum(math.sin(y[i] + i) for i in range(len(y)))


@cl.jit(cache=False)
def squares(m: cl.f64[:, :], depth: int) -> cl.f64[:, :]:
    """Both calls have one array in common, so that their reverses stay in order."""
    if depth == 0:
        return np.tanh(m)
    half = m * 0.5
    a = squares(half, depth - 1)
    b = squares(half, depth - 1)
    return a * m + b


@cl.jit(cache=False)
def squared(m: cl.f64[:, :]) -> float:
    return np.sum(squares(m, 7))


@cl.jit(cache=False)
def summed(x: cl.f64[:]) -> cl.f64[:]:
    """Running sums: few elements on one side, many on the other."""
    n = len(x)
    if n == 1:
        return x
    first = n // 9 + 1
    a = summed(x[:first])
    b = summed(x[first:])
    return np.concatenate((a, b + a[first - 1]))


@cl.jit(cache=False)
def last(x: cl.f64[:]) -> float:
    y = summed(x)
    return np.sum(np.sin(y)) + y[len(y) - 1]


@cl.jit(cache=False)
def matrices(m: cl.f64[:, :], depth: int) -> tuple[cl.f64[:, :], float]:
    """What is made between the calls may be too large for any memory."""
    if depth == 0:
        return m, np.sum(m)
    a, s = matrices(m * 0.7, depth - 1)
    b, t = matrices(np.sin(m) + 0.1, depth - 1)
    return a @ b.T @ m * 0.1, s * t * 0.1 + a[0, 1]


@cl.jit(cache=False)
def mixed(m: cl.f64[:, :]) -> float:
    product, factor = matrices(m, 6)
    return np.sum(product) + factor


RANDOM = np.random.default_rng(5)
X, Y = RANDOM.normal(size=(2, 1200))
W = np.array([1.0, 0.9, 0.8, 1.1])
M = RANDOM.normal(size=(3, 4))
PROGRAMS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (ranked, (X,), (0,)),
    (ranked, (X[:5],), (0,)),
    (power, (X[:1024], Y[:1024]), (0, 1)),
    (product, (X[:256], Y[:256]), (0, 1)),
    (weighted, (X, W), (0, 1)),
    (squared, (M,), (0,)),
    (mixed, (M,), (0,)),
    (last, (X,), (0,)),
]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS)
def test_same_bits(program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check_same_bits(program, args, wrt)


@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS[2:5])
def test_as_without_tasks(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    check_as_without("tasks", program, args, wrt)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize(("program", "args", "wrt"), PROGRAMS[1:])
def test_gradients_are_divided(
    program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    """Each recursion, and its reverse, if its calls add to different arrays."""
    value, gradient = (
        function.show("llvm", *args).count("call i32 @chad_divide(")
        for function in (program, cl.value_and_grad(program, argnums=wrt))
    )
    assert (value, gradient) == (1, 0 if program is squared else 2)


def test_arrays_are_right() -> None:
    cl.set_num_threads(3)
    np.testing.assert_array_equal(merged(X), np.sort(X))
    np.testing.assert_allclose(
        transformed(X[:512], Y[:512]),
        (lambda y: (y.real, y.imag))(np.fft.fft(X[:512] + 1j * Y[:512])),
        atol=1e-11,
    )
    np.testing.assert_allclose(
        multiplied(X[:64], Y[:64])[:127], np.convolve(X[:64], Y[:64]), atol=1e-12
    )
    np.testing.assert_allclose(summed(X), np.cumsum(X), atol=1e-11)


@cl.jit(cache=False)
def checked(x: cl.f64[:], bad: cl.i64[:]) -> cl.f64[:]:
    n = len(x)
    if n == 1:
        for place in bad:
            if x[0] == place:
                raise ValueError(f"bad {place}")
        return x * x
    a = checked(x[: n // 2], bad)
    b = checked(x[n // 2 :], bad)
    return np.concatenate((a, b))


@cl.jit(cache=False)
def checked_sum(x: cl.f64[:], bad: cl.i64[:]) -> float:
    return np.sum(checked(x, bad))


def in_use() -> int:
    return int(runtime().lib.chad_memory_used(runtime().pool[-1][0]))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_in_order(threads: int) -> None:
    x, none = np.arange(3000.0), np.array([-1])
    gradient = cl.grad(checked_sum)
    cl.set_num_threads(threads)
    for first in (0, 7, 1499, 1500, 2999):
        bad = np.array([2999, first, max(first, 2000)])
        for call in (checked_sum, gradient):
            with pytest.raises(ValueError, match=f"^bad {first}\\b"):
                call(x, bad)
            assert in_use() == 0
    np.testing.assert_array_equal(gradient(x, none), 2 * x)
    np.testing.assert_array_equal(checked(x, none), x * x)


def peak(function: Any, *args: Any) -> int:
    """The most memory that a call uses."""
    function(*args)
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    function(*args)
    return int(lib.chad_memory_peak(context))


def test_memory_is_that_of_one_thread() -> None:
    """What others return is copied and given back, so that it does not pile up."""
    x = RANDOM.normal(size=50_000)
    for function in (ranked, cl.grad(ranked)):
        cl.set_num_threads(1)
        alone = peak(function, x)
        cl.set_num_threads(4)
        assert peak(function, x) < 1.5 * alone + 2_000_000
        assert in_use() == 0
