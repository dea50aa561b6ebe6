"""`python -m bench threads [names]`: how much faster several threads are than one.

All numbers of threads take turns in one process, as do small programs with threads and
without. Times are those of a clock on the wall, so what else the machine does counts:
the least of the rounds is taken. The results are compared, bit for bit. How much faster
two threads could be at best is seen beside: the same program on one thread runs in two
processes at once, which share nothing but the machine.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import chadllvm as cl
from bench.page import fill
from bench.table import Table, duration, printer, ratio_text
from bench.workload import Size, Workload, workloads

THREADS = (1, 2, 4, 8, 16)
ROUNDS = 25

# What takes one thread some ten milliseconds.
SIZES: dict[str, Size] = {
    "gmm": (50_000, 25, 10),
    "kmeans": (40_000, 100, 32),
    "bundle_adjustment": (500_000,),
    "monte_carlo": (30_000, 256),
    "heat": (1_024, 100),
    "running_sum": (5_000_000,),
    "halves": (400_000,),
    "trees": (500_000,),
}

# What takes longer is no small program; a sample of one has many calls.
SMALL_SECONDS = 20e-6
SAMPLE_SECONDS = 2e-3


@cl.jit
def running_sum(x: cl.f64[:]) -> float:
    """The squares of how far a walk is from where it began, after each of its steps."""
    return np.sum(np.cumsum(x) ** 2)


def walk(steps: int) -> tuple[Any, ...]:
    """Steps of a standard normal distribution."""
    return (np.random.default_rng(steps).normal(size=steps),)


RUNNING_SUM = Workload(
    running_sum, walk, sizes=(), small=(100,), argnums=(0,), lengths=(0,)
)


@cl.jit
def halves(x: cl.f64[:], low: int, high: int) -> float:
    """A sum over both halves of an array, which are divided in turn."""
    if high - low == 1:
        return math.sin(x[low]) * x[low]
    middle = (low + high) // 2
    return math.tanh(halves(x, low, middle)) + 0.5 * halves(x, middle, high)


def whole(size: int) -> tuple[Any, ...]:
    """An array and its bounds."""
    return np.linspace(0.0, 1.0, size), 0, size


HALVES = Workload(halves, whole, sizes=(), small=(100,), argnums=(0,), lengths=(0,))


@dataclass(frozen=True)
class Speed:
    """The seconds of a program by the number of threads, and of two programs on one
    thread each at once."""

    name: str
    what: str
    seconds: Mapping[int, float]
    pair: float


@dataclass(frozen=True)
class Small:
    """The seconds of a small program without threads, and with them."""

    name: str
    what: str
    serial: float
    threads: float


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `threads` among the commands of `python -m bench`."""
    threads = commands.add_parser("threads", help="several threads beside one")
    threads.add_argument("names", nargs="*", metavar="name", default=[])
    threads.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    threads.add_argument("--page", type=Path, help="also put the tables into this page")
    threads.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    unknown = [name for name in options.names if name not in programs()]
    if unknown:
        raise SystemExit(
            f"there is no workload {unknown[0]!r}; there are {[*programs()]}"
        )
    console, rounds = printer(), 3 if options.quick else ROUNDS
    large = [name for name in options.names or SIZES if name in SIZES]
    speeds = [s for name in large for s in _speeds(name, options.quick, rounds)]
    names = options.names or programs()
    small = [s for name in names for s in _small(name, rounds)]
    _show((speed_table(speeds), small_table(small)), console)
    if options.page is not None:
        put_into(speeds, small, options.page)
    return 0


def put_into(speeds: Sequence[Speed], small: Sequence[Small], page: Path) -> None:
    """Fill the parts of the page about threads."""
    fill(page, "threads", f"{_load()}\n\n{speed_table(speeds).markdown()}")
    fill(page, "small", small_table(small).markdown())


def programs() -> Mapping[str, Workload]:
    """What can be measured."""
    return {**workloads(), "running_sum": RUNNING_SUM, "halves": HALVES}


def _load() -> str:
    """What else the machine did, in a sentence."""
    load, cores = os.getloadavg()[0], os.cpu_count()
    return (
        f"In the last minute of this, {load:.1f} threads of all programs wanted "
        f"the {cores} cores of the machine."
    )


def _show(tables: Sequence[Table], console: Console) -> None:
    for table in tables:
        console.print(table.rich())


def _both(workload: Workload, options: cl.CompileOptions) -> Iterator[tuple[str, Any]]:
    """The program, and its value with the gradient."""
    value = cl.jit(workload.program.py_func, options=options)  # type: ignore[attr-defined]
    yield "value", value
    yield "gradient", cl.value_and_grad(value, argnums=workload.argnums)


def _speeds(name: str, quick: bool, rounds: int) -> Iterator[Speed]:
    for what, function, arguments in _large(name, quick):
        runs = {t: partial(_on, t, function, arguments) for t in THREADS}
        _compare([call() for call in runs.values()])
        with _twin(name, what, quick) as twin:
            found = _least({**runs, 0: partial(_at_once, runs[1], twin)}, rounds)
        yield Speed(name, what, found, found[0])
    cl.set_num_threads(None)


def _large(name: str, quick: bool) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Each program and what it is called with."""
    workload = programs()[name]
    arguments = workload.problem(*(workload.small if quick else SIZES[name]))
    for what, function in _both(workload, cl.CompileOptions()):
        yield what, function, arguments


@contextmanager
def _twin(name: str, what: str, quick: bool) -> Iterator[Connection]:
    """Another process that runs a program on one thread whenever it is told to."""
    context = multiprocessing.get_context("spawn")
    mine, others = context.Pipe()
    process = context.Process(target=_serve, args=(others, name, what, quick))
    process.start()
    others.close()
    mine.recv()
    try:
        yield mine
    finally:
        mine.send(False)
        process.join()
        mine.close()


def _serve(connection: Connection, name: str, what: str, quick: bool) -> None:
    """What the twin does: it runs the program, and says so, until told not to."""
    cl.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parts = {w: (f, a) for w, f, a in _large(name, quick)}
    function, arguments = parts[what]
    while True:
        function(*arguments)
        connection.send(True)
        if not connection.recv():
            return


def _at_once(call: Callable[[], object], twin: Connection) -> None:
    """Run on one core while the twin does on the last."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    twin.send(True)
    call()
    twin.recv()
    os.sched_setaffinity(0, cores)


def _on(threads: int, function: Any, arguments: tuple[Any, ...]) -> Any:
    cl.set_num_threads(threads)
    return function(*arguments)


def _small(name: str, rounds: int) -> Iterator[Small]:
    workload = programs()[name]
    arguments = workload.problem(*workload.small)
    options = cl.CompileOptions()
    pairs = (_both(workload, replace(options, parallel=p)) for p in (False, True))
    for (what, serial), (_, threads) in zip(*pairs, strict=True):
        _compare([serial(*arguments), threads(*arguments)])
        once = _least({0: partial(serial, *arguments)}, 5)[0]
        if once <= SMALL_SECONDS:
            calls = max(1, round(SAMPLE_SECONDS / once))
            runs = {k: partial(f, *arguments) for k, f in enumerate((serial, threads))}
            found = _least(runs, 4 * rounds, calls)
            yield Small(name, what, found[0], found[1])


def _least(
    runs: Mapping[int, Callable[[], object]], rounds: int, calls: int = 1
) -> dict[int, float]:
    """The least seconds of each run, all taken in turns."""
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for key, call in runs.items():
            start = time.perf_counter()
            for _ in range(calls):
                call()
            least[key] = min(least[key], (time.perf_counter() - start) / calls)
    return least


def _compare(results: Sequence[Any]) -> None:
    """All are the same bits."""
    if isinstance(results[0], tuple):
        for parts in zip(*results, strict=True):
            _compare(parts)
        return
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def speed_table(speeds: Sequence[Speed]) -> Table:
    """How much faster two threads are than one, and may be; how long more take."""
    more = THREADS[2:]
    heads = ("workload", "what", "one thread", "two: faster by", "two programs")
    rows = []
    for s in speeds:
        one, two = s.seconds[1], s.seconds[2]
        faster = (ratio_text(one / two), ratio_text(2.0 * one / s.pair))
        beside = (ratio_text(s.seconds[t] / two) for t in more)
        rows.append((s.name, s.what, duration(one), *faster, *beside))
    return Table("Threads", (*heads, *(f"{t} beside two" for t in more)), tuple(rows))


def small_table(small: Sequence[Small]) -> Table:
    """What it costs small programs that they could use threads."""
    heads = ("workload", "what", "without threads", "with threads")
    rows = (
        (s.name, s.what, duration(s.serial), ratio_text(s.threads / s.serial))
        for s in small
    )
    return Table("Small programs", heads, tuple(rows))
