"""What takes turns at rows is counted as it is run: step by step and row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group
from chadllvm.driver import scaling
from chadllvm.ir.loops import (
    PTR,
    ROW_DONE,
    ROW_TURN,
    Alloc,
    ArrayParam,
    CallRuntime,
    For,
    Let,
    Load,
    LoopFunction,
    Reg,
    Return,
    ScalarResult,
    Spread,
    Stmt,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64, Array
from chadllvm.lower.chunks import spread, turns
from chadllvm.lower.count import count_operations

pytestmark = pytest.mark.optimised

# The root of all inputs.
_INPUTS = 1

CORES = (1, 2, 3, 5, 64)


def idle(count: Reg) -> Stmt:
    """A loop of so many steps, each of which counts one."""
    k, t = Reg("k", I64), Reg("t", I64)
    return For(k, Lit(0), count, (Let(t, "iadd", (k, Lit(1))),))


def steps_in_turn(chunks: int, each: int, rows: int, sites: int) -> LoopFunction:
    """Chunks of `each` steps, which go through the rows of all sites one by one.

    A step has one number for what it does at the beginning, and then for each site
    what it does at the rows and behind them.
    """
    data, n = Reg("data", PTR), Reg("n", I64)
    chunk, step = Reg("chunk", I64), Reg("step", I64)
    low, high, at = (Reg(name, I64) for name in ("low", "high", "at"))
    width = 1 + sites * (rows + 1)
    first = Reg("first", I64)
    body: list[Stmt] = [
        Let(at, "imul", (step, Lit(width))),
        Load(first, data, at, _INPUTS),
        idle(first),
    ]
    allocs: list[Stmt] = []
    for site in range(sites):
        numbers, row = Reg("rows", PTR), Reg("row", I64)
        allocs.append(Alloc(numbers, 0, Lit(rows), I64, 0, zero=True))
        base, place, much = (Reg(name, I64) for name in ("base", "place", "much"))
        inner: tuple[Stmt, ...] = (
            CallRuntime(None, ROW_TURN, (numbers, row, step)),
            Let(base, "iadd", (at, Lit(1 + site * (rows + 1)))),
            Let(place, "iadd", (base, row)),
            Load(much, data, place, _INPUTS),
            idle(much),
            CallRuntime(None, ROW_DONE, (numbers, row, step)),
        )
        after, behind = Reg("after", I64), Reg("behind", I64)
        body += [
            For(row, Lit(0), Lit(rows), inner),
            Let(after, "iadd", (at, Lit(1 + site * (rows + 1) + rows))),
            Load(behind, data, after, _INPUTS),
            idle(behind),
        ]
    whole = Spread(
        chunk,
        Lit(chunks),
        Lit(1),
        (
            Let(low, "imul", (chunk, Lit(each))),
            Let(high, "iadd", (low, Lit(each))),
            For(step, low, high, tuple(body)),
        ),
        (),
        (),
    )
    params = (ArrayParam(data, (n,), I64),)
    whole_body = (*allocs, whole, Return((n,)))
    return LoopFunction("main", params, (ScalarResult(I64),), whole_body, 1, (0, 1))


def simulated(data: Sequence[int], shape: tuple[int, int, int, int], cores: int) -> int:
    """When the last chunk is done, by going through all that happens."""
    chunks, each, rows, sites = shape
    left = [[0] * rows for _ in range(sites)]
    ended: list[int] = []
    numbers = iter(data)
    for chunk in range(chunks):
        time = max(ended[: chunk - cores + 1], default=0) if chunk >= cores else 0
        time += 3  # what the body of a chunk has
        for _ in range(each):
            time += 4 + next(numbers)
            for site in range(sites):
                for row in range(rows):
                    held = 6 + next(numbers)
                    time = left[site][row] = max(time, left[site][row]) + held
                # Two lines and a loop, and the loop over the rows of the next site.
                time += 3 + (site + 1 < sites) + next(numbers)
        ended.append(time)
    return max(ended)


def counted(function: LoopFunction, cores: Sequence[int], data: Any) -> list[int]:
    """The work, and the time on so many cores."""
    check_loops(function)
    counting = count_operations(function, cores)
    check_loops(counting)
    result = Group((I64,) * (2 + len(cores)))
    native = NativeFunction(counting, "main", ["data"], [Array(I64, 1)], result)
    _, work, *saved = native(data)
    return [work, *(work - some for some in saved)]


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (7, 1, 4, 1), (9, 2, 3, 1), (6, 1, 5, 2), (11, 3, 2, 2)]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_time_is_that_of_a_simulation(
    shape: tuple[int, int, int, int], seed: int
) -> None:
    chunks, each, rows, sites = shape
    count = chunks * each * (1 + sites * (rows + 1))
    data = np.random.default_rng(seed).integers(0, 60, count)
    work, *times = counted(steps_in_turn(*shape), CORES, data)
    outside = work - simulated(data, shape, 1)  # what stands around the loop
    assert outside == sites * (rows + 1) + 2
    for cores, time in zip(CORES, times, strict=True):
        expected = simulated(data, shape, cores) + outside
        # Chunks of different size are never taken to be less than equal ones.
        share = -(-chunks // cores) * (work - outside) // chunks + outside
        assert time == max(expected, share)


def test_equal_steps_are_a_pipeline() -> None:
    """A row's work behind each other, at least, however many cores there are."""
    chunks, rows = 40, 10
    data = np.full(chunks * (rows + 2), 94)
    work, time = counted(steps_in_turn(chunks, 1, rows, 1), (1 << 40,), data)
    row = 94 + 6
    alone = 3 + 4 + 94 + rows * row + 3 + 94
    assert time - (work - chunks * alone) == alone + (chunks - 1) * row


def layers(w: cl.f64[:, :], v: cl.f64[:], xs: cl.f64[:, :]) -> float:
    """Steps in lanes."""
    total = 0.0
    for x in xs:
        out = 0.0
        for r in range(len(v)):
            out += v[r] * math.tanh(sum(w[r, j] * x[j] for j in range(len(x))))
        total += out * out
    return total


@pytest.mark.parametrize("points", [213, 256])
def test_lanes_are_counted_together(
    points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one core all takes as long as the work, on many longer than a chunk."""
    monkeypatch.setattr(spread, "GRAIN", 160)
    monkeypatch.setattr(turns, "ROW", 8.0)
    monkeypatch.setattr(turns, "FEWEST_ROWS", 2)
    options = cl.CompileOptions(cache=False)
    gradient = cl.grad(cl.jit(options=options)(layers), argnums=(0, 1))
    w, v, xs = np.full((30, 21), 0.01), np.ones(30), np.ones((points, 21))
    loops = gradient.show("loops", w, v, xs)
    assert "chad_row_turn" in loops
    assert " lanes\n" in loops
    assert "chunk2" not in loops  # A chunk is steps, and not blocks of them.
    found = gradient.report(w, v, xs).scaling[0]
    # Each lane reads each weight, and adds to its derivative.
    assert found.work > 2 * w.size * points
    monkeypatch.setattr(scaling, "CORES", 1)
    assert gradient.report(w, v, xs).scaling[0].time == found.work
    chunks = math.ceil(points / 8)  # no fewer steps than lanes
    assert found.work / chunks < found.span < found.work / 4
