"""Large arrays to which steps add here and there: logs instead of copies of them.

The grain is made so small that loops of a few steps have several chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from containers import leaves

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.lower.chunks import logs, spread

pytestmark = pytest.mark.optimised

# The grain is no option, so nothing may come from the cache.
THREADED = cl.CompileOptions(cache=False)
SERIAL = replace(THREADED, parallel=False)
WHOLE = replace(THREADED, disabled=frozenset({"parallel"}))

THREADS = (1, 2, 3, 8)
MANY, ROWS, FEW = 9000, 3000, 700


@pytest.fixture
def small_grain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(spread, "GRAIN", 2000)
    monkeypatch.setattr(logs, "_ADDITION", 0.0)
    yield
    runtime().lib.chad_set_threads(0)


def looked_up(table: cl.f64[:], places: cl.i64[:]) -> float:
    return sum(math.exp(math.sin(table[p])) for p in places)


def single(table: cl.f32[:], places: cl.i64[:]) -> cl.f32:
    total = cl.f32(0.0)
    for p in places:
        total += np.exp(np.sin(table[p]))
    return total


def histogram(x: cl.f64[:], places: cl.i64[:], size: int) -> cl.f64[:]:
    out = np.zeros(size)
    for i in range(len(x)):
        out[places[i]] += math.exp(x[i]) * math.sin(x[i])
    return out


def messages(x: cl.f64[:, :], edges: cl.i64[:, :], w: cl.f64[:]) -> float:
    """Both ends of an edge, a table of two dimensions, a copy, and a sum."""
    total = 0.0
    for e in range(len(edges)):
        a, b = x[edges[e, 0]], x[edges[e, 1]]
        d0, d1 = a[0] - b[0], a[1] - b[1]
        r = math.sqrt(d0 * d0 + d1 * d1 + 1e-3)
        s = w[edges[e, 0] % 7] * math.exp(-r)
        if e % 3:
            total += s * math.cos(r) * math.sin(d0)
        else:
            total += math.log(1.0 + s * s) * math.tanh(d1)
    return total


def rows(x: cl.f64[:], starts: cl.i64[:], columns: cl.i64[:]) -> float:
    """As many terms in each row as it likes."""
    total = 0.0
    for i in range(len(starts) - 1):
        part = 0.0
        for j in range(starts[i], starts[i + 1]):
            part += math.tanh(math.exp(-x[columns[j]] * x[columns[j]]))
        total += math.sin(part)
    return total


RANDOM = np.random.default_rng(0)
TABLE = RANDOM.normal(size=MANY)
PLACES = RANDOM.integers(-MANY, MANY, size=FEW)
EDGES = RANDOM.integers(ROWS, size=(FEW, 2))
STARTS = np.concatenate([[0], np.cumsum(RANDOM.integers(8, size=FEW // 4))])
COLUMNS = RANDOM.integers(MANY, size=STARTS[-1])
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "looked_up": (looked_up, (TABLE, PLACES)),
    "single": (single, (TABLE.astype(np.float32), PLACES)),
    "messages": (
        messages,
        (RANDOM.normal(size=(ROWS, 2)), EDGES, RANDOM.normal(size=7)),
    ),
    "rows": (rows, (TABLE, STARTS, COLUMNS)),
    # All go to a few places of one part.
    "crowded": (looked_up, (TABLE, PLACES % 5)),
}


def has_logs(function: Any, *args: Any) -> bool:
    return "chad_log_sort" in function.show("loops", *args)


def check_bits(
    derived: Callable[[Any], Any], function: Any, args: tuple[Any, ...]
) -> None:
    """The same bits on all numbers of threads, and nearly those of the whole loop."""
    threads, serial, whole = (
        derived(cl.jit(options=o)(function)) for o in (THREADED, SERIAL, WHOLE)
    )
    assert has_logs(threads, *args)
    assert not has_logs(whole, *args)
    expected = [*leaves(serial(*args))]
    tolerance = 1e-4 if function is single else 1e-12
    for a, b in zip(expected, leaves(whole(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    for count in THREADS:
        runtime().lib.chad_set_threads(count)
        for _ in range(3):
            for a, b in zip(leaves(threads(*args)), expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.sweep(share=2)
@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("name", CASES)
def test_the_same_bits_for_any_number_of_threads(name: str) -> None:
    check_bits(cl.value_and_grad, *CASES[name])


@pytest.mark.usefixtures("small_grain")
def test_values_have_logs() -> None:
    check_bits(lambda f: f, histogram, (TABLE[:FEW], PLACES, MANY))


@pytest.mark.usefixtures("small_grain")
def test_second_derivatives_have_logs() -> None:
    table, places = CASES["looked_up"][1]
    check_bits(cl.hvp, looked_up, (table, places, np.cos(table)))


@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("name", ["looked_up", "rows"])
def test_a_log_that_is_full(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chunk waits for its turn, again and again."""
    monkeypatch.setattr(logs, "_MORE", 0.0)
    monkeypatch.setattr(logs, "_AT_LEAST", 3)
    check_bits(cl.value_and_grad, *CASES[name])


def triangle(x: cl.f64[:], places: cl.i64[:], n: int, m: int, size: int) -> cl.f64[:]:
    """Behind the first m steps there are no additions: half of m - i is below zero."""
    out = np.zeros(size)
    for i in range(n):
        t = math.exp(math.sin(0.001 * i))
        for _ in range(600):
            t = math.sin(t) + math.exp(-t)
        for a in range(m - i):
            for b in range(m - i):
                out[places[a + b]] += math.exp(math.sin(x[a] * t))
    return out


@pytest.mark.parametrize(("n", "m"), [(413, 204), (400, 150)])
def test_fewer_additions_are_estimated_than_none(n: int, m: int) -> None:
    """Who has no room in a log waits for the chunks before, too."""
    places = np.full(2 * m, 5)
    args = TABLE[:m], places, n, m, 100_000
    whole, threads = (cl.jit(options=o)(triangle) for o in (WHOLE, THREADED))
    expected = whole(*args)
    assert has_logs(threads, *args)
    try:
        for count in THREADS:
            runtime().lib.chad_set_threads(count)
            np.testing.assert_array_equal(threads(*args), expected)
    finally:
        runtime().lib.chad_set_threads(0)


@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("room", [64, 2])
def test_the_first_error_in_program_order(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_AT_LEAST", room)
    monkeypatch.setattr(logs, "_MORE", 1.25 if room > 2 else 0.0)
    gradient = cl.grad(cl.jit(options=THREADED)(looked_up))
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        places = PLACES.copy()
        for first in (FEW - 1, FEW // 2, 3):
            places[first] = 10 * MANY + first
            with pytest.raises(IndexError, match=str(10 * MANY + first)):
                gradient(TABLE, places)
        gradient(TABLE, PLACES)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_logs_are_no_larger_than_two_copies_for_each_thread(threads: int) -> None:
    """The cell has 1 MB. On one thread there is nothing else."""
    lib = runtime().lib
    runtime().pool.clear()  # The next context has kept nothing of calls before.
    lib.chad_set_threads(threads)
    table = np.zeros(1 << 17)
    places = np.arange(1 << 19) * 7919 % len(table)
    gradient = cl.grad(cl.jit(looked_up))
    assert has_logs(gradient)
    gradient(table, places)
    context = runtime().pool[-1][0]
    lib.chad_memory_reset_peak(context)
    gradient(table, places)
    peak = lib.chad_memory_peak(context)
    lib.chad_set_threads(0)
    lanes = 2 * threads if threads > 1 else 0
    assert peak <= (1 + lanes) * table.nbytes + 100_000


def test_cheap_steps_have_no_logs() -> None:
    """They are done before they are written down."""

    @cl.jit(options=THREADED)
    def total(table: cl.f64[:], places: cl.i64[:]) -> float:
        return sum(table[p] * table[p] for p in places)

    assert not has_logs(cl.grad(total))
