"""The C runtime's structures (§5, §7, §8.1): what their operations cost.

Steps are the runtime's own count. Nanoseconds are there for information: those of one
call from Python include some hundred for the call itself; those of a collect do not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.paper import depth
from bench.paper.claim import Claim, Curve, Report, Series
from bench.paper.laboratory import Laboratory, laboratory
from chadllvm.paper.accumulation import RuntimeMonad, accumulation
from chadllvm.paper.cost import run_monadic
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.sparse import Sparse
from tests.term_strategies import TermWriter, experiment

SIZES, QUICK_SIZES = (10**3, 10**4, 10**5, 10**6), (10**2, 10**3, 10**4)
DEPTH, QUICK_DEPTH = 10**7, 10**5
PROGRAMS, QUICK_PROGRAMS = 3_000, 200

# Opening, adding and closing are a step each; a cell is moved less than twice.
STEPS_PER_CELL = 5


def report(quick: bool) -> Report:
    """All claims."""
    sizes = QUICK_SIZES if quick else SIZES
    deepest = QUICK_DEPTH if quick else DEPTH
    programs = QUICK_PROGRAMS if quick else PROGRAMS
    cells, cells_curve = _cells(sizes)
    collects, collect_curve = _collect(sizes)
    return Report(
        (*cells, _sums(programs), _agreement(programs), *collects, _passing_on(),
         _sharing(), *depth.claims(deepest)),
        (cells_curve, collect_curve),
    )  # fmt: skip


# The accumulation array.


@dataclass(frozen=True)
class Filled:
    """So many cells, all open at once: steps and seconds for each, and moves in all."""

    count: int
    steps: float
    seconds: float
    moves: int


def _fill(count: int) -> Filled:
    """Open cells, add to each of them in random order, close them."""
    order = list(range(count))
    Random(count).shuffle(order)
    with laboratory() as lab:
        lib, context = lab.lib, lab.context
        cells = lib.chad_cells_new(context, lab.arena)
        start = time.perf_counter()
        for _ in range(count):
            lib.chad_cells_open_real(context, cells)
        for cell in order:
            lib.chad_cells_add_real(cells, cell, 1.0)
        for cell in reversed(range(count)):
            lib.chad_cells_close_real(cells, cell)
        seconds = time.perf_counter() - start
        steps = lib.chad_cells_steps(cells)
        moves = lib.chad_cells_moves(cells)
    return Filled(count, steps / count, seconds / count, moves)


def _cells(sizes: Sequence[int]) -> tuple[list[Claim], Curve]:
    found = [_fill(count) for count in sizes]
    worst = max(f.steps for f in found)
    most_moves = max(f.moves / f.count for f in found)
    per_call = found[-1].seconds / 3 * 1e9
    claims = [
        Claim(
            "one, and opening and closing a scope, take constant time (amortised), "
            "however many cells there are",
            "§5, Table 2",
            f"at most {worst:.2f} steps for opening, adding to and closing a cell, up "
            f"to {sizes[-1]:,} cells; {per_call:.0f} ns a call from Python",
            worst <= STEPS_PER_CELL,
        ),
        Claim(
            "growing by doubling moves at most 2n cells",
            "§5, footnote",
            f"{most_moves:.2f} n",
            most_moves <= 2,
        ),
    ]
    points = tuple((f.count, f.steps) for f in found)
    curve = Curve(
        "cells",
        "The C accumulation array: steps for each cell",
        "§5",
        "cells open at once",
        "steps for each",
        (Series("open, one, close", points),),
    )
    return claims, curve


def _sums(programs: int) -> Claim:
    """Random sparse cotangents of one value, added in C."""
    linear = Sparse()
    wrong = 0
    for seed in range(programs):
        writer = TermWriter(Random(seed))
        ty = writer.type(5)
        value = writer.value(ty)
        a, b = writer.cotangent(value, ty), writer.cotangent(value, ty)
        with accumulation() as cells:
            cells.open(a)
            steps = cells.add(0, b) - 1
            total = cells.close(0)
        overlap = linear.size(a, ty) + linear.size(b, ty) - linear.size(total, ty)
        wrong += steps != overlap or total != linear.plus(b, a, ty, free)
    return Claim(
        "adding sparse cotangents costs the nodes that both have",
        "§4.3, Fig. 7",
        f"size(a) + size(b) - size(a + b) steps for {programs - wrong:,} of "
        f"{programs:,} random pairs, added by the C runtime",
        wrong == 0,
    )


def _agreement(programs: int) -> Claim:
    """The monad over the C array against the one over a list of Python."""
    same = 0
    for seed in range(programs):
        e = experiment(seed)
        outcomes = [
            run_monadic(monad, e.term, e.scope, e.values, e.cotangent, e.before)
            for monad in (ArrayMonad(Sparse()), RuntimeMonad(Sparse()))
        ]
        same += outcomes[0] == outcomes[1]
    return Claim(
        "the environment monad works over any array with these costs",
        "§5",
        f"over the C accumulation array: the same cotangents in the same number of "
        f"steps for {same:,} of {programs:,} random programs",
        same == programs,
    )


# Bags.


def _mixed_bag(lab: Laboratory, count: int) -> tuple[Any, int]:
    """Single contributions, and some arrays; what building it costs by §8.1."""
    rng, plus, bag, arrays = Random(count), lab.plus(), lab.ffi.NULL, 0
    one = lab.lib.chad_bag_one
    for k in range(count):
        if k % 1000 == 0:
            dims = lab.ffi.new("int64_t[]", [100])
            array = lab.lib.chad_array_new(lab.context, lab.arena, 1, dims)
            lab.ffi.memmove(array.data, b"\0" * 800, 800)
            arrays += array.size
            bag = plus(bag, lab.of_array(array))
        bag = plus(bag, one(lab.context, lab.arena, rng.randrange(count), 1.0))
    return bag, lab.steps() + arrays


def _collect(sizes: Sequence[int]) -> tuple[list[Claim], Curve]:
    points, building_points, times, is_paid = [], [], [], True
    for count in sizes:
        with laboratory() as lab:
            bag, building = _mixed_bag(lab, max(count, 100))
            steps, seconds = lab.collect(lab.array(bag, max(count, 100)))
        is_paid &= steps - count <= building
        points.append((float(count), steps))
        building_points.append((float(count), building))
        times.append(seconds / steps * 1e9)
    claims = [
        Claim(
            "collecting a bag costs at most what building it did",
            "§7",
            f"{points[-1][1] - sizes[-1]:,.0f} steps (and {sizes[-1]:,} zeros) after "
            f"{building_points[-1][1]:,.0f}; {times[-1]:.1f} ns a step",
            is_paid,
        ),
        _inflated(sizes[-1]),
    ]
    curve = Curve(
        "collect",
        "collect in the C runtime",
        "§7",
        "contributions",
        "steps",
        (
            Series("collect", tuple(points)),
            Series("building the bag", tuple(building_points)),
        ),
    )
    return claims, curve


def _inflated(count: int) -> Claim:
    """n contributions as n BOne, and as one BArray, which the sum may take over."""
    with laboratory() as lab:
        plus, bag = lab.plus(), lab.ffi.NULL
        for k in range(count):
            bag = plus(bag, lab.lib.chad_bag_one(lab.context, lab.arena, k, 1.0))
        _, singly = lab.collect(lab.array(bag, count))
    with laboratory() as lab:
        dense = lab.array(lab.ffi.NULL, count)
        lab.collect(dense)
        before = lab.steps()
        bag = lab.of_array(dense)
        made = lab.steps() - before
        cost = lab.lib.chad_bag_cost(bag)
        steps, together = lab.collect(lab.array(bag, count))
    return Claim(
        "BArray is made in constant time, at the inflated cost of its collect",
        "§8.1",
        f"{count:,} elements: made in {made} step, cost {cost:,}, collected in "
        f"{steps:,}: {together / count * 1e9:.1f} ns an element against "
        f"{singly / count * 1e9:.1f} as so many BOne",
        made == 1 and cost == 1 + count and steps <= cost,
    )


def _passing_on(times: int = 1000, size: int = 10**12) -> Claim:
    """An array's cotangent goes from cell to cell, and nobody looks at it."""
    with laboratory() as lab:
        lib, context = lab.lib, lab.context
        cells = lib.chad_cells_new(context, lab.arena)
        dims = lab.ffi.new("int64_t[]", [size])
        lib.chad_cells_open_array(context, cells, 1, dims)
        lib.chad_cells_add_element(context, cells, 0, 7, 1.0)
        for _ in range(times):
            array = lib.chad_cells_close_array(context, cells, 0)
            lib.chad_cells_open_array(context, cells, 1, dims)
            lib.chad_cells_add_array(context, cells, 0, 0, array)
        steps = lib.chad_cells_steps(cells) / times
    return Claim(
        "the cotangent of an array that nobody looks at costs nothing of its size",
        "§7",
        f"{steps:.1f} steps to close a cell of {size:,} elements, open another, and "
        f"add it there",
        steps <= 8,
    )


def _sharing(times: int = 60, size: int = 100) -> Claim:
    """An array is added to a bag twice, the array of that bag twice, and so on."""
    with laboratory() as lab:
        plus = lab.plus()
        bag = lab.lib.chad_bag_one(lab.context, lab.arena, 0, 1.0)
        for _ in range(times):
            array = lab.array(bag, size)
            first = lab.of_array(array)
            bag = plus(first, lab.of_array(array))
        array = lab.array(bag, size)
        lab.collect(array)
        steps, value = lab.steps(), array.data[0]
    return Claim(
        "where a cotangent is used twice after all, no work is doubled (ours)",
        "§7",
        f"{times} doublings of an array of {size}: {steps:,} steps, not 2^{times}",
        steps <= 6 * times * size and value == 2.0**times,
    )
