"""The work and the memory of programs that pass arrays around, and of derivatives:

    PYTHONPATH=tests python -m tests.laws.cost_sweep [name …]
    PYTHONPATH=tests python -m tests.laws.cost_sweep --corpus --random 300 --seed 0

compiles each program by default, with counters of executed operations (a cleared or
copied element is one), and runs it at three sizes. It reports how the work and the peak
of the runtime's memory grow, and by how much derivatives exceed the value: for the
tables of programs here, or for the corpus and for random programs (`sweeping/`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import chadllvm as cl
from bench.count import Counted
from chadllvm.backend.runtime import runtime
from chadllvm.llvm.optimize import Effort
from tests.laws import (
    chosen_arrays,
    exchanged_arrays,
    grown_lists,
    kept_arrays,
    listed_arrays,
    loops_without_steps,
    many_states,
    matrix_parts,
    moved_items,
    parts_arrays,
    passed_arrays,
    recursive_arrays,
    renewed_arrays,
    sizes_of_records,
    updated_by_calls,
)

Program = Callable[..., float]

PROGRAMS: tuple[Program, ...] = (
    *chosen_arrays.PROGRAMS,
    *passed_arrays.PROGRAMS,
    *kept_arrays.PROGRAMS,
    *listed_arrays.PROGRAMS,
    *many_states.PROGRAMS,
    *exchanged_arrays.PROGRAMS,
    *parts_arrays.PROGRAMS,
    *matrix_parts.PROGRAMS,
    *recursive_arrays.PROGRAMS,
    *loops_without_steps.PROGRAMS,
    *renewed_arrays.PROGRAMS,
    *updated_by_calls.PROGRAMS,
    *sizes_of_records.PROGRAMS,
    *moved_items.PROGRAMS,
    *grown_lists.PROGRAMS,
)

WRT = (0, 1, 2)
SIZES = (250, 1000, 4000)
SMALL = (100, 400, 1600)  # where updates are copies
# The most that derivatives may be of the value, and growths of that of the sizes.
MOST = {"gradient": 6.0, "jvp": 6.0, "hvp": 16.0, "grad of grad": 36.0}
MARGIN = 1.15

# Our own statements are counted, whatever LLVM makes of them.
_LITTLE = Effort(0, 0, loops=False, tidy=True)


@dataclass(frozen=True)
class Measured:
    """What a program or a derivative of it takes at each size."""

    what: str
    work: tuple[int, ...]
    peak: tuple[int, ...]

    @property
    def growth(self) -> float:
        return self.work[-1] / self.work[0]

    @property
    def memory_growth(self) -> float:
        """How the peak grows; a few kilobytes count for nothing."""
        return (self.peak[-1] + 4096) / (self.peak[0] + 4096)


def arguments(n: int, seed: int = 2) -> list[np.ndarray]:
    """Three arrays; longer ones begin as the shorter ones do, so that what a program
    asks of single elements has the same answer at each size."""
    rng = np.random.default_rng(seed)
    return [*rng.standard_normal((n, 3)).T.copy()]


def first_order(
    program: Program, sizes: tuple[int, ...], level: int = 2
) -> Iterator[Measured]:
    """The value and the gradient, at a level of optimisation."""
    options = cl.CompileOptions(optimize=level)
    for what, argnums in (("value", None), ("gradient", WRT)):
        run = Counted(program, argnums, options, effort=_LITTLE)
        yield _measured(what, run, sizes)


def measured(
    program: Program, sizes: tuple[int, ...] = SIZES, orders: bool = False
) -> Iterator[Measured]:
    """The value, the gradient and a jvp; with `orders` second derivatives as well."""
    counted = partial(Counted, options=cl.CompileOptions(), effort=_LITTLE)
    yield from first_order(program, sizes)
    jvp, hvp, slope = derivatives(program)
    yield _measured("jvp", counted(jvp, None), sizes)
    if orders:
        yield _measured("hvp", counted(hvp, None), sizes)
        yield _measured("grad of grad", counted(slope, WRT), sizes)


def derivatives(program: Program) -> tuple[Program, Program, Program]:
    """The slope in a direction, forwards; how it changes; and the slope in reverse."""
    inner = cl.jit(program)

    def jvp(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
        _, slope = cl.jvp(inner, (a, b, c), (b, c, a))
        return slope

    def hvp(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
        gradient = cl.grad(inner, argnums=(0, 1, 2))
        _, (x, y, z) = cl.jvp(gradient, (a, b, c), (b, c, a))
        return float(np.sum(x) + np.sum(y) + np.sum(z))

    def slope(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
        x, y, z = cl.grad(inner, argnums=(0, 1, 2))(a, b, c)
        return float(np.sum(x) + np.sum(y * b) + np.sum(z))

    return jvp, hvp, slope


def _measured(what: str, run: Counted, sizes: tuple[int, ...]) -> Measured:
    found = [_at(run, n) for n in sizes]
    return Measured(what, tuple(w for w, _ in found), tuple(p for _, p in found))


def _at(run: Counted, n: int) -> tuple[int, int]:
    """The operations and the bytes that a call takes."""
    args = arguments(n)
    run(*args)
    # The context that was used last is the one that is used next.
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    before = int(lib.chad_memory_used(context))
    _, work = run(*args)
    return work, int(lib.chad_memory_peak(context)) - before


def violations(found: list[Measured], sizes: tuple[int, ...]) -> Iterator[str]:
    """What breaks the law."""
    value, *derivatives = found
    most = MARGIN * sizes[-1] / sizes[0]
    for one in found:
        if one.growth > most:
            yield f"the work of the {one.what} grows {one.growth:.1f} times"
        if one.memory_growth > most:
            yield f"the memory of the {one.what} grows {one.memory_growth:.1f} times"
    for one in derivatives:
        ratio = max(d / v for d, v in zip(one.work, value.work, strict=True))
        if ratio > MOST[one.what]:
            yield f"the {one.what} is {ratio:.1f} times the value"


def broken(
    program: Program, found: list[Measured], sizes: tuple[int, ...]
) -> list[str]:
    """What breaks the law of what was found, and at sixteen times the sizes as well.

    A loop that has several chunks from some size on, which have copies of a cell, takes
    more from there on, by a constant.
    """
    if not list(violations(found, sizes)):
        return []
    larger = tuple(16 * n for n in sizes)
    orders = len(found) > len(MOST) - 1
    return list(violations(list(measured(program, larger, orders)), larger))


def main(arguments: list[str]) -> int:
    given = options(arguments)
    if given.corpus or given.random:
        from tests.laws.sweeping.command import run
        from tests.laws.sweeping.corpus import names

        seeds = range(given.seed, given.seed + given.random)
        keys = [*(names() if given.corpus else ()), *seeds]
        return run(keys, given.resume, given.jobs, given.minimise)
    return permanent(given.names) if given.permanent else tables(given.names)


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.laws.cost_sweep")
    parser.add_argument("names", nargs="*", help="programs of the tables; else all")
    parser.add_argument(
        "--permanent", action="store_true", help="the tables with optimize=0"
    )
    parser.add_argument("--corpus", action="store_true", help="the programs of tests/")
    parser.add_argument("--random", type=int, default=0, help="so many random programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    parser.add_argument("--resume", type=Path, help="a file of results, which grows")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument(
        "--minimise", type=float, default=0.0, help="seconds for what breaks the law"
    )
    return parser.parse_args(arguments)


def permanent(names: list[str]) -> int:
    """The permanent mode: 1 if a gradient takes more and more of its value."""
    linear, ratios, failed = 0, [0.0], 0
    chosen = [p for p in PROGRAMS if not names or p.__name__ in names]
    for program in chosen:
        value, gradient = first_order(program, SMALL, level=0)
        linear += value.growth < MARGIN * SMALL[-1] / SMALL[0]
        ratios.append(gradient.work[-1] / value.work[-1])
        if not is_flat(value, gradient):
            failed = 1
            print(f"{program.__name__}: value {value.work}, gradient {gradient.work}")
    print(
        f"{len(chosen)} programs, {linear} of which have a value that is linear there; "
        f"the gradient takes at most {max(ratios):.1f} times the value"
    )
    return failed


def is_flat(value: Measured, gradient: Measured) -> bool:
    """Whether the ratio to the value stays, from the second size on."""
    *_, before, last = (g / v for g, v in zip(gradient.work, value.work, strict=True))
    return last < MARGIN * before


def tables(names: list[str]) -> int:
    """Measure the programs of the tables; 1 if one breaks the law."""
    failed = 0
    for program in PROGRAMS:
        if names and program.__name__ not in names:
            continue
        found = list(measured(program, orders=True))
        value = found[0]
        ratios = (
            f"{one.what} {one.work[-1] / value.work[-1]:.1f}" for one in found[1:]
        )
        growth = ", ".join(f"{one.growth:.1f}" for one in found)
        print(f"{program.__name__}: {', '.join(ratios)}; growth {growth}")
        wrong = broken(program, found, SIZES)
        failed += bool(wrong)
        for text in wrong:
            print(f"    {text}")
    print(f"{failed} programs break the law")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
