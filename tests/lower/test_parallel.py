"""Loops in chunks: which ones, that they do the same, and their errors and memory.

The grain is made so small that loops of a few steps have several chunks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.chunks import parallel as parallel_module
from chadllvm.lower.chunks import spread
from chadllvm.lower.chunks.parallel import parallel
from chadllvm.lower.lower import lower_function

pytestmark = pytest.mark.optimised

# The grain is no option, so nothing may come from the cache.
THREADED = cl.CompileOptions(cache=False)
SERIAL = replace(THREADED, parallel=False)
WHOLE = replace(THREADED, disabled=frozenset({"parallel"}))

THREADS = (1, 2, 3, 8)


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = parallel(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("parallel.cases"), run, golden)


def chunked(function: Any) -> bool:
    return "spread chunk" in function.show("loops")


def sums(x: cl.f64[:], k: cl.i64[:], w: cl.f64[:, :]) -> float:
    """Additions to places that are not known to be different, and to rows."""
    total = 0.0
    for i in range(len(k)):
        row = w[i]
        part = 0.0
        for j in range(len(row)):
            part += math.sin(row[j]) * x[k[i]]
        total += part * part
    return total


def tables(x: cl.f64[:], n: int) -> float:
    """Updates in place: of a row each, and of rows that have places in common."""
    a = np.zeros((n, len(x)))
    for i in range(n):
        for j in range(len(x)):
            a[i, j] = x[j] * (i + 1) + math.exp(0.1 * x[j])
    for i in range(1, n):
        for j in range(len(x)):
            a[i - 1, j] += 0.5 * a[i, j]
    return np.sum(a * a)


def largest(x: cl.f64[:]) -> float:
    """The best one of numbers that are needed elsewhere, too."""
    total, best, least = 0.0, -math.inf, math.inf
    for i in range(len(x)):
        y = math.sin(x[i]) * x[i]
        total += y
        best = max(best, y)
        least = min(least, y)
    return total + best - least


def branches(x: cl.f64[:]) -> float:
    """A loop that stops inside of each step, and what only some steps do."""
    total = 0.0
    for i in range(len(x)):
        y, steps = x[i], 0
        while y < 5.0 and steps < 30:
            y = y * 1.5 + 0.1
            steps += 1
        total += math.log(y) if i % 3 else y * steps
    return total


def nearest(points: cl.f64[:, :], centres: cl.f64[:, :]) -> float:
    """Points side by side, in rows that each chunk has for itself."""
    return sum(min(np.sum((p - c) ** 2) for c in centres) for p in points)


def running(x: cl.f64[:], k: cl.i64[:]) -> float:
    """What steps look at on their way: sums, before and after each step, and maxima."""
    y, counts = np.cumsum(x * x), np.cumsum(k)
    best, before, total = -math.inf, 0.5, 0.0
    for i in range(len(x)):
        best = max(best, math.sin(y[i]))
        total += best * y[i] + before * counts[i]
        before += x[i] * best
    for i in range(len(x)):
        total += math.sin(before)
        before += x[k[i] % 5]
    return total + np.sum(np.cos(y))


def plate(x: cl.f64[:, :], steps: int) -> float:
    """Rows whose first and last element, and the first and last row, are others."""
    u = x.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.2 * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def relaxed(x: cl.f64[:, :], steps: int) -> float:
    """Loops over what is inside of a border, from one array into another."""
    u = x.copy()
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = (u[i - 1, j] + u[i + 1, j]) * u[i, j - 1] + u[i, j + 1]
        u = v
    return np.sum(u * u)


def triangles(w: cl.f64[:, :], x: cl.f64[:]) -> float:
    """Packed triangular matrices, a row each."""
    total = 0.0
    for row in w:
        for i in range(len(x)):
            below = sum(row[i * (i - 1) // 2 + j] * x[j] for j in range(i))
            total += below * below
    return total


def diffused(x: cl.f64[:], steps: int) -> float:
    """Steps of time, each of which has little to do for an element."""
    u = x.copy()
    for _ in range(steps):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.2 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = v
    return np.sum(u * u)


def spans(rows: cl.f64[:, :]) -> float:
    """Each step has buffers of its own."""
    total = 0.0
    for row in rows:
        order = np.sort(2.0 * row)
        total += order[0] * order[-1]
    return total


X, RANDOM = np.linspace(0.3, 2.0, 37), np.random.default_rng(0)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sums": (sums, (X, np.arange(90) * 7 % 37, np.sin(np.ones((90, 4)) * X[:4]))),
    "largest": (largest, (X,)),
    "tables": (tables, (X, 50)),
    "branches": (branches, (X,)),
    "nearest": (nearest, (RANDOM.normal(size=(900, 6)), RANDOM.normal(size=(5, 6)))),
    "triangles": (triangles, (np.sin(np.ones((40, 45)) * X[0] * 7), X[:10])),
    "running": (running, (X, np.arange(37) * 7 % 37)),
    "plate": (plate, (np.sin(np.multiply.outer(X, X)), 3)),
    "relaxed": (relaxed, (np.sin(np.multiply.outer(X, X[:30])), 3)),
    "spans": (spans, (np.sin(np.multiply.outer(X, X)),)),
    "diffused": (diffused, (np.sin(np.arange(517)), 4)),
}


@pytest.mark.sweep(share=3)
@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("derive", [False, True])
def test_the_same_bits_for_any_number_of_threads(name: str, derive: bool) -> None:
    function, args = CASES[name]
    found = {}
    for key, options in (("threads", THREADED), ("serial", SERIAL), ("whole", WHOLE)):
        compiled = cl.jit(options=options)(function)
        found[key] = cl.value_and_grad(compiled) if derive else compiled
    assert chunked(found["threads"]) or (name == "largest" and derive)
    assert not chunked(found["whole"])
    serial = [*leaves(found["serial"](*args))]
    whole = [*leaves(found["whole"](*args))]
    for a, b in zip(serial, whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        for _ in range(3):
            for a, b in zip(leaves(found["threads"](*args)), serial, strict=True):
                np.testing.assert_array_equal(a, b)


def test_rows_need_no_copies_wherever_places_in_them_are() -> None:
    text = cl.grad(cl.jit(options=THREADED)(triangles)).show("loops")
    assert "spread chunk" in text
    assert "copies" not in text


def test_rows_of_lanes_belong_to_chunks() -> None:
    text = cl.jit(options=THREADED)(nearest).show("loops")
    assert "16 lanes" in text
    before, _, inside = text.partition("spread chunk")
    assert "row = buffer" in inside
    assert "row = buffer" not in before


@cl.jit(options=THREADED)
def squashed(x: cl.f64[:, :], w: cl.f64[:, :]) -> cl.f64[:, :]:
    return np.tanh(x @ w)


def test_chunks_end_where_lanes_do() -> None:
    """Only the last chunk has rows that are not run side by side."""
    inside = squashed.show("loops").rpartition("spread chunk")[2]
    loop = re.search(r"for i\w* in (\w+) \.\. \w+:  # polls, 16 lanes", inside)
    assert loop is not None
    assert re.search(rf" {loop[1]} = imin\(\w+, x_n0\)", inside)
    rng = np.random.default_rng(0)
    w = rng.normal(size=(40, 30))
    for rows in (1, 15, 127, 128, 129, 500):
        x = rng.normal(size=(rows, 40))
        np.testing.assert_allclose(squashed(x, w), np.tanh(x @ w), atol=1e-13)


@pytest.mark.parametrize("derive", [False, True])
def test_all_parts_of_a_stencil_are_spread(derive: bool) -> None:
    """Rows of the border, those inside, and the border: each step has three loops.

    In reverse there is a part for each place where a neighbour comes in or goes out.
    There is a copy and a sum, and the cotangents of both.
    """
    compiled = cl.jit(options=THREADED)(plate)
    text = (cl.value_and_grad(compiled) if derive else compiled).show("loops")
    copies_and_sums = 4 if derive else 2
    parts = 3 + 6 if derive else 3
    assert text.count("spread chunk") == parts + copies_and_sums


def test_loops_inside_of_a_border_are_spread() -> None:
    """The copies, the loop over what is inside, and the sum."""
    assert cl.jit(options=THREADED)(relaxed).show("loops").count("spread chunk") == 4


def test_loops_that_do_little_are_spread_if_there_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The copy in front, those of each step, and the sum; those of a step are there as
    they were, too."""
    text = cl.jit(options=THREADED)(diffused).show("loops")
    assert text.count("spread chunk") == 4
    assert len(re.findall(r"\* -?2\.0", text)) == 2
    monkeypatch.setattr(parallel_module, "_FEW", 1)
    text = cl.jit(options=THREADED)(diffused).show("loops")
    assert text.count("spread chunk") == 2


def overlapping(x: cl.f64[:], width: int) -> cl.f64[:]:
    """Rows that have places in common, unless they are wide."""
    y = np.zeros(2000)
    for i in range(40):
        for j in range(1, len(x) - 1):
            y[i * width + j] = x[j] + i
    return y


@pytest.mark.usefixtures("small_grain")
def test_rows_that_overlap_are_written_in_order() -> None:
    compiled = cl.jit(options=THREADED)(overlapping)
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        for width in (0, 3, 35, 37):
            expected = overlapping(X, width)
            np.testing.assert_array_equal(compiled(X, width), expected)


def chosen_rows(x: cl.f64[:, :], k: cl.i64[:]) -> cl.f64[:, :]:
    """Several steps may copy to one row."""
    m = np.zeros((3, x.shape[1]))
    for i in range(len(x)):
        m[k[i]] = x[i]
    return m


@pytest.mark.usefixtures("small_grain")
def test_rows_that_several_steps_copy_are_written_in_order() -> None:
    compiled = cl.jit(options=THREADED)(chosen_rows)
    assert "spread chunk" not in compiled.show("loops")
    x, k = np.arange(4000.0).reshape(1000, 4), np.arange(1000) % 3
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        np.testing.assert_array_equal(compiled(x, k), x[[999, 997, 998]])


def touching(x: cl.f64[:], n: int) -> cl.f64[:]:
    """Rows with one place in common, which the later step has last."""
    y = np.zeros(n * len(x) + 1)
    for i in range(n):
        for j in range(len(x)):
            y[i * len(x) + j] = x[j] + i
        y[i * len(x) + len(x)] = 1000.0 + i
    return y


def recurrent(x: cl.f64[:], n: int) -> cl.f64[:]:
    """A step reads what the one before it has written."""
    y = np.zeros(n + 1)
    for i in range(n):
        y[i + 1] = y[i] * 0.5 + x[i % len(x)]
    return y


@pytest.mark.usefixtures("small_grain")
@pytest.mark.parametrize("function", [touching, recurrent])
def test_steps_that_meet_in_one_place_stay_in_order(function: Any) -> None:
    compiled = cl.jit(options=THREADED)(function)
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        found = compiled(X[:7], 900)
        np.testing.assert_array_equal(found, function(X[:7], 900))


def two_ends(c: cl.i64[:], x: cl.f64[:], width: int) -> cl.f64[:]:
    """Rows with places in common, where those with `k < width` and `0 < k` differ."""
    v = np.zeros(len(c) * len(x) + 2)
    for i in range(len(c)):
        k = max(c[i], 0)
        for j in range(k, len(x)):
            v[i * len(x) + 1] = width + i + j
        for _ in range(len(x)):
            for j in range(k):
                v[i * len(x)] = 1000.0 + i + j
    return v


@pytest.mark.usefixtures("small_grain")
def test_what_one_step_knows_another_may_not() -> None:
    """If `k < n` in one step and `0 < k` in another, `n` may be 1."""
    compiled = cl.jit(options=THREADED)(two_ends)
    assert "spread chunk" not in compiled.show("loops")
    c = np.arange(401) % 2
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        for x in (X[:1], X[:2], X[:3]):
            expected = two_ends(c, x, 3)
            np.testing.assert_array_equal(compiled(c, x, 3), expected)


@cl.jit(options=THREADED)
def failing(x: cl.f64[:], k: cl.i64[:]) -> float:
    return sum(math.sin(x[k[i]]) for i in range(len(k)))


@pytest.mark.usefixtures("small_grain")
def test_the_first_error_in_program_order() -> None:
    assert chunked(failing)
    for threads in THREADS:
        runtime().lib.chad_set_threads(threads)
        indices = np.zeros(500, np.int64)
        for first in (499, 250, 3):
            indices[first] = 1000 + first
            with pytest.raises(IndexError, match=str(1000 + first)):
                failing(X, indices)


@cl.jit
def counted(x: cl.f64[:], k: cl.i64[:]) -> float:
    return sum(math.sin(x[j]) for j in k)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_two_private_cells_for_each_thread(threads: int) -> None:
    """The cell of `x` has 256 KB; beside it and the copies there is next to nothing."""
    runtime().pool.clear()  # The next context has kept nothing of calls before.
    runtime().lib.chad_set_threads(threads)
    x, k = np.zeros(1 << 15), np.zeros(1 << 22, np.int64)
    cl.grad(counted)(x, k)
    context = runtime().pool[-1][0]
    runtime().lib.chad_memory_reset_peak(context)
    cl.grad(counted)(x, k)
    peak = runtime().lib.chad_memory_peak(context)
    runtime().lib.chad_set_threads(0)
    assert peak <= (2 * threads + 1) * x.nbytes + 100_000


def outputs(weights: cl.f64[:], points: cl.f64[:, :]) -> float:
    return sum(math.tanh(sum(weights * point)) for point in points)


def test_no_more_chunks_than_are_worth_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that each step adds all over to is merged less often than it could be."""
    weights, points = np.full(1 << 12, 1e-3), np.ones((1 << 10, 1 << 12))

    def work(options: cl.CompileOptions) -> int:
        gradient = cl.grad(cl.jit(outputs, options=options))
        return int(gradient.report(weights, points).scaling[0].work)

    whole, few = work(WHOLE), work(THREADED)
    monkeypatch.setattr(spread, "MERGE", 0)
    many = work(THREADED)
    assert 10 * len(weights) < few - whole < 0.6 * (many - whole)


def halvings(x: cl.f64[:]) -> float:
    total = 0.0
    for value in x:
        while value > 1.0:
            value *= 0.5
        total += value
    return total


def test_steps_until_something_is_found_are_taken_for_few() -> None:
    function = cl.jit(halvings, options=THREADED)
    few, many = (function.report(np.full(n, 9.0)).scaling[0] for n in (100, 100_000))
    assert few.span > 0.9 * few.work
    assert many.span < 0.2 * many.work
