"""Arrays that loops fill: the reverse reads them, and keeps no copies of elements."""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime

# Without what repeats a call, and without `lasting`: all other code is the same.
WITH = cl.CompileOptions(disabled=frozenset({"finite", "parallel"}))
WITHOUT = cl.CompileOptions(disabled=WITH.disabled | {"lasting"})


def cholesky(a: cl.f64[:, :]) -> float:
    """The logarithm of the determinant of a factor, found column by column."""
    n = len(a)
    factor = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= factor[j, k] ** 2
        factor[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= factor[i, k] * factor[j, k]
            factor[i, j] = t / factor[j, j]
    return sum(math.log(factor[i, i]) for i in range(n))


def lu(a: cl.f64[:, :]) -> float:
    """In place: reads of the step's row and column last, others do not."""
    b = a.copy()
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            b[i, k] /= b[k, k]
            for j in range(k + 1, len(b)):
                b[i, j] -= b[i, k] * b[k, j]
    return sum(math.log(abs(b[i, i])) for i in range(len(b)))


def table(a: cl.f64[:, :]) -> float:
    """Each element of its three neighbours before."""
    n = len(a)
    t = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            best = math.sin(t[i - 1, j]) + math.cos(t[i, j - 1])
            t[i, j] = a[i - 1, j - 1] * best + t[i - 1, j - 1] * t[i, j - 1]
    return t[n, n]


def backwards(a: cl.f64[:, :]) -> float:
    """The solution of a triangular system, from the last row on."""
    n = len(a)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = 1.0
        for k in range(i + 1, n):
            s -= a[i, k] * x[k] * x[k]
        x[i] = s / a[i, i]
    return np.sum(x * x)


def overtaken(a: cl.f64[:, :]) -> float:
    """The writes of an inner loop come after what the outer one has read."""
    n = len(a)
    x = np.zeros(2 * n)
    total = 0.0
    for i in range(n):
        total += x[i] * x[i] + x[n] * x[i + 1]
        for k in range(n):
            x[i + k] = a[i, k] + 0.5 * x[i + k]
    return total


def seldom(a: cl.f64[:, :]) -> float:
    """What is written in a branch may not be there."""
    n = len(a)
    x = np.ones(n + 1)
    total = 0.0
    for i in range(n):
        y = math.sin(a[i, 0]) * x[i]
        total += y * y
        if a[i, 1] > 0.1:
            x[i + 1] = y
    return total


def problem(n: int) -> np.ndarray:
    x = np.random.default_rng(n).normal(size=(n, n))
    return np.asarray(x @ x.T / n + 2.0 * np.eye(n))


@pytest.mark.parametrize("f", [cholesky, lu, table, backwards, overtaken, seldom])
def test_the_gradients_are_the_same(f: Callable[..., float]) -> None:
    a = problem(7)
    value, gradient = cl.value_and_grad(cl.jit(f, options=WITH))(a)
    expected = cl.value_and_grad(cl.jit(f, options=WITHOUT))(a)
    np.testing.assert_allclose(value, f(a), rtol=1e-12)
    assert value == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])


@pytest.mark.parametrize("f", [cholesky, backwards])
def test_nothing_is_kept_of_what_is_filled(f: Callable[..., float]) -> None:
    """The memory of a gradient is a few matrices; of copies it would be cubic."""
    gradient = cl.grad(cl.jit(f))
    a = problem(48)
    gradient(a)
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    gradient(a)
    assert lib.chad_memory_peak(context) < 8 * a.nbytes


def loops(seed: int) -> str:
    """A program whose loops read and write an array at random linear positions."""
    rng = random.Random(seed)
    lines = ["def f(x: cl.f64[:], n: int) -> float:", "    a, t = np.ones(60), 0.3"]

    def at(indices: str) -> str:
        form = rng.choice(["{}", "{} + 1", "{} + 2", "n + 1 - {}", "2 * {}", "{} + {}"])
        return form.format(*rng.choices(indices, k=2))

    def steps(indent: int, indices: str) -> None:
        space = indent * "    "
        lines.append(f"{space}t += a[{at(indices)}] * a[{at(indices)}]")
        for _ in range(rng.randint(1, 2)):
            write = f"a[{at(indices)}] = math.sin(a[{at(indices)}]) * x[i % 4]"
            kind = rng.randint(0, 3)
            if kind == 0:
                lines.append(f"{space}if t > 0.4:\n{space}    {write}")
            elif kind == 1 and indent == 2:
                first = rng.choice(["0", "i", "i + 1"])
                lines.append(f"{space}for j in range({first}, n):")
                steps(3, indices + "j")
            else:
                lines.append(space + write)

    start = rng.choice(["range(n)", "range(n - 1, -1, -1)", "range(1, n)"])
    lines.append(f"    for i in {start}:")
    steps(2, "i")
    lines.append("    return t + np.sum(a * a)")
    return "\n".join(lines)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, name = loops(seed), f"<loops {seed}>"
    lines = text.splitlines(True)
    monkeypatch.setitem(linecache.cache, name, (len(text), None, lines, name))
    names: dict[str, Any] = {"cl": cl, "np": np, "math": math}
    exec(compile(text, name, "exec"), names)
    f = names["f"]
    x = np.random.default_rng(seed).normal(size=4)
    found = cl.value_and_grad(cl.jit(f, options=WITH))(x, 9)
    expected = cl.value_and_grad(cl.jit(f, options=WITHOUT))(x, 9)
    np.testing.assert_array_equal(found[1], expected[1])
