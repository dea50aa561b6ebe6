"""Clocks: one core, interleaved runs, medians, new processes; and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.results import Time

# What one sample takes at least: many calls of what is short.
SAMPLE_SECONDS = 1e-3
FEWEST_ROUNDS = 5


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep this process, and what it starts, on a core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and what it starts, on the last of its cores."""
    allowed = getattr(os, "sched_getaffinity", lambda _: {0})(0)
    with on_core(max(allowed)):
        yield


def seconds(run: Callable[[], object], calls: int = 1) -> float:
    """Seconds of this process that a call takes, over this many calls.

    What else runs on the core does not count; all runs keep to one core.
    """
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def sampled(
    runs: Mapping[str, Callable[[], object]], budget: float, rounds: int
) -> dict[str, Time]:
    """The seconds a call of each run, all taken in turns so that drift is shared.

    Args:
        budget: the seconds for all samples together; with `FEWEST_ROUNDS` it may take
            more. What takes half of it alone is measured once; what takes all of it
            is not even called before that.
        rounds: the most rounds to take.
    """
    first = {name: seconds(run) for name, run in runs.items()}
    once = {n: t if t > budget else seconds(runs[n]) for n, t in first.items()}
    quick = {name: run for name, run in runs.items() if once[name] < 0.5 * budget}
    calls = {n: max(1, round(SAMPLE_SECONDS / max(once[n], 1e-7))) for n in quick}
    each = sum(calls[name] * once[name] for name in quick)
    fewest = min(FEWEST_ROUNDS, rounds)
    count = max(fewest, min(rounds, round(budget / max(each, 1e-9))))
    samples: dict[str, list[float]] = {name: [] for name in quick}
    for _ in range(count):
        for name, run in quick.items():
            samples[name].append(seconds(run, calls[name]))
    return {name: summary(samples.get(name, [once[name]])) for name in runs}


def summary(samples: list[float]) -> Time:
    """The median of some samples and their quartiles."""
    if len(samples) == 1:
        return Time(samples[0], samples[0], samples[0], 1)
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Time(median, low, high, len(samples))


def interleaved(
    runs: Mapping[str, Callable[[], object]], rounds: int, calls: int = 1
) -> dict[str, float]:
    """Median seconds a call for each run, all taken in turn so that drift is shared."""
    for run in runs.values():
        run()
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            samples[name].append(seconds(run, calls))
    return {name: statistics.median(times) for name, times in samples.items()}


def fresh(
    program: str, *arguments: str, repeats: int = 3, variables: Mapping[str, str] = {}
) -> float:
    """The least of the seconds that a program prints, run by new interpreters.

    `variables` are added to their environment.
    """
    command = [sys.executable, "-c", program, *arguments]
    return min(_printed(command, variables) for _ in range(repeats))


def _printed(command: list[str], variables: Mapping[str, str]) -> float:
    """The number that a command prints."""
    environment = {**os.environ, **variables}
    result = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment
    )
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[-1])
    return float(result.stdout)


def _status(field: str) -> int:
    """A field of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == field:
            return int(rest.split()[0]) * 1024
    raise LookupError(f"/proc/self/status has no {field}")


def resident() -> int:
    """Bytes of memory this process holds now."""
    return _status("VmRSS")


def resident_peak() -> int:
    """The most bytes of memory this process has held at once."""
    return _status("VmHWM")


def reset_resident_peak() -> None:
    """Let `resident_peak` start again from what is held now."""
    Path("/proc/self/clear_refs").write_text("5")
