"""Long functions are cut into sections, which do what the whole did."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.llvm import optimize, sections

X = np.linspace(0.1, 0.9, 7)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of modules that are compiled."""
    seen: list[str] = []
    effort_for = optimize.effort_for

    def noted(text: str) -> optimize.Effort:
        seen.append(text)
        return effort_for(text)

    monkeypatch.setattr(optimize, "effort_for", noted)
    return seen


@pytest.fixture
def texts(whole: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same, while sections are as short as can be."""
    monkeypatch.setattr(sections, "LONG", 60)
    monkeypatch.setattr(sections, "MOST", 40)
    monkeypatch.setattr(sections, "LEAST", 6)
    return whole


def count(texts: list[str]) -> int:
    """How many sections there are in the last module."""
    return len(re.findall(r"^define internal .*:section\.", texts[-1], re.M))


def arrays(x: cl.f64[:], n: int) -> tuple[cl.f64[:], float, bool, int]:
    """Arrays, numbers and slots that are made in one section and used in others."""
    y = np.sin(x) * 2.0
    most, place, rises = y[0], 0, True
    for i in range(len(y)):
        if y[i] > most:
            most, place = y[i], i
    z = y * most + x[::-1]
    for i in range(1, len(z)):
        rises = rises and z[i] > z[i - 1]
    while n > 0:
        z = z + y / n
        n -= 2
    total = np.sum(z * y)
    return z + total, total, rises, place + n


def nested(x: cl.f64[:], n: int) -> float:
    """A loop whose body is long itself, and which is left in the middle."""
    total, state = 0.0, x.copy()
    for k in range(n):
        y = np.exp(-state) * x
        z = np.cos(y) + state[0]
        for i in range(len(x)):
            total += z[i] * y[i] * k
        if total > 30.0:
            break
        state[k % len(x)] = total + np.sum(z)
        w = np.outer(z, y)
        total += np.max(w) - np.min(w)
    return total


def fails(x: cl.f64[:], n: int) -> float:
    y = np.tanh(x) + 1.0
    total = np.sum(y * y)
    for i in range(n):
        total += y[i] * x[i - 1]
    z = np.sqrt(y) * total
    return np.sum(z) + np.prod(y)


def falls(x: cl.f64[:], n: int) -> float:
    """With a function that calls itself, and a loop behind it."""

    def down(k: int) -> float:
        return 1.0 if k < 1 else x[k % len(x)] * down(k - 1) + down(k - 2)

    y = np.sin(x) + x * x
    before = np.sum(y * x)
    deep = down(n)
    z = np.cos(y * deep) + before
    return np.sum(z * y) + deep


@pytest.mark.parametrize("program", [arrays, nested, fails, falls])
def test_values_are_those_of_plain_python(
    program: Callable[..., Any], texts: list[str]
) -> None:
    found = cl.jit(program)(X, 5)
    assert count(texts) >= 2
    expected = program(X, 5)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("program", [nested, fails, falls])
def test_gradients_are_those_of_the_whole(
    program: Callable[..., Any], texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = cl.value_and_grad(program)(X, 5)
    assert count(texts) >= 3
    monkeypatch.setattr(sections, "LONG", 1_000_000)
    whole = cl.value_and_grad(cl.jit(program, cache=False))(X, 5)
    assert count(texts) == 0
    assert cut[0] == pytest.approx(whole[0], rel=1e-14)
    np.testing.assert_allclose(cut[1], whole[1], rtol=1e-13)


def test_a_check_that_fails_in_a_section_says_where(texts: list[str]) -> None:
    function = cl.jit(fails)
    with pytest.raises(IndexError, match=r"y\[i\]|x\[i - 1\]"):
        function(X, 9)
    assert count(texts) >= 2
    assert function(X, 5) == pytest.approx(fails(X, 5))


def test_a_failed_allocation_in_a_section(texts: list[str]) -> None:
    @cl.jit
    def large(x: cl.f64[:], n: int) -> float:
        y = np.sin(x) + np.cos(x) * x[0]
        z = np.zeros(n) + y[0]
        return np.sum(z) + np.sum(np.exp(y) * y)

    with pytest.raises(MemoryError):
        large(X, 1 << 50)
    assert count(texts) >= 2
    assert np.isfinite(large(X, 3))


@pytest.mark.parametrize("threads", [1, 2])
def test_loops_over_chunks_are_cut_too(texts: list[str], threads: int) -> None:
    def rows(a: cl.f64[:, :]) -> float:
        total = 0.0
        for i in range(len(a)):
            y = np.sin(a[i]) * a[i, 0]
            z = y + np.cos(a[i]) * np.sum(y)
            for j in range(1, len(z)):
                z[j] += 0.5 * z[j - 1]
            total += np.max(z) + np.sum(z * y)
        return total

    a = np.cos(np.arange(60_000.0)).reshape(600, 100)
    cl.set_num_threads(threads)
    try:
        found = cl.jit(rows)(a)
    finally:
        cl.set_num_threads(None)
    assert ":chunk." in texts[-1]
    assert count(texts) >= 2
    assert found == pytest.approx(rows(a), rel=1e-12)


def long_program(statements: int) -> Callable[..., Any]:
    lines = ["def long(x: cl.f64[:]) -> float:", "    t = 0.0"]
    for k in range(statements):
        lines += [
            "    for i in range(len(x)):",
            f"        t += x[i] * t / {k}.5 + x[i]",
        ]
    text = "\n".join([*lines, "    return t"])
    file = f"<{statements} loops>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names: dict[str, Any] = {"cl": cl}
    exec(compile(text, file, "exec"), names)
    return names["long"]


@pytest.mark.optimised
def test_no_function_of_a_long_module_is_long(whole: list[str]) -> None:
    """And so all of them are optimised."""
    long = long_program(120)
    value, gradient = cl.value_and_grad(cl.jit(long, cache=False))(X)
    lengths = [
        part.count("\n") for part in re.split(r"^define ", whole[-1], flags=re.M)
    ]
    assert sum(lengths) > sections.LONG > 2 * max(lengths)
    effort = optimize.effort_for(whole[-1])
    assert effort.loops and effort.passes == 2
    assert value == pytest.approx(long(X), rel=1e-12)
    step = np.eye(len(X))[2] * 1e-6
    slope = (long(X + step) - long(X - step)) / 2e-6
    assert gradient[2] == pytest.approx(slope, rel=1e-6)


def test_checked_memory_sees_the_whole(texts: list[str]) -> None:
    function = cl.jit(arrays, options=cl.CompileOptions(sanitize=True))
    np.testing.assert_allclose(function(X, 5)[0], arrays(X, 5)[0])
    assert count(texts) == 0
