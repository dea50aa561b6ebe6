"""`python -m bench compare A B`: what became slower from one run to another.

Times are compared as ratios to the C kernel of the same run, so that a machine that is
slower today is no regression; a ratio counts as larger if it is so by more than the
threshold and by more than the quartiles of all times in it allow. Bytes are compared as
they are, operations too, and compile times with a larger threshold, for they are few.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.results import Result, Results, Row, Time, load
from bench.table import Table, printer, ratio_text

THRESHOLD = 0.1
COMPILE_THRESHOLD = 0.3
# What is exact still differs by a chunk of memory, or by a few operations of a call.
EXACT_THRESHOLD = 0.02


@dataclass(frozen=True)
class Change:
    """A number in both runs. `margin`: the relative growth that means nothing."""

    workload: str
    size: str
    what: str
    before: float
    after: float
    margin: float

    @property
    def growth(self) -> float:
        """What it was multiplied by."""
        return self.after / self.before if self.before else float("inf")

    @property
    def is_regression(self) -> bool:
        return self.after > self.before * (1.0 + self.margin)

    @property
    def is_gain(self) -> bool:
        return self.before > self.after * (1.0 + self.margin)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `compare` among the commands of `python -m bench`."""
    compare = commands.add_parser("compare", help="what became slower between two runs")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument(
        "--threshold",
        type=float,
        default=THRESHOLD,
        help=f"relative growth of a time that counts (default {THRESHOLD})",
    )
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status is 1 if something became slower."""
    before, after = load(options.before), load(options.after)
    found = list(changes(before, after, options.threshold))
    console = printer()
    if not found:
        console.print("the runs have no workload in common at the same size")
        return 1
    worse = [change for change in found if change.is_regression]
    better = [change for change in found if change.is_gain]
    for title, some in (("Regressions", worse), ("Gains", better)):
        if some:
            console.print(change_table(title, some).rich())
    lost = list(missing(before, after))
    for name in lost:
        console.print(f"no longer measured: {name}", markup=False)
    console.print(f"{len(found)} numbers, {len(worse)} worse, {len(better)} better")
    return 1 if worse or lost else 0


def changes(before: Results, after: Results, threshold: float) -> Iterator[Change]:
    """Every number that both runs have."""
    earlier = {result.workload: result for result in before.results}
    for new in after.results:
        old = earlier.get(new.workload)
        if old is not None:
            yield from _of_result(old, new, threshold)


def missing(before: Results, after: Results) -> Iterator[str]:
    """The workloads that the later run tried and failed to measure."""
    for result in before.results:
        if result.workload in {failure.workload for failure in after.failures}:
            yield result.workload


def change_table(title: str, found: list[Change]) -> Table:
    """The changes, the greatest first."""
    rows = [
        (c.workload, c.size, c.what, _number(c.before), _number(c.after),
         ratio_text(c.growth), f"{100.0 * c.margin:.0f} %")
        for c in sorted(found, key=lambda c: abs(c.growth - 1.0), reverse=True)
    ]  # fmt: skip
    heads = ("workload", "size", "what", "before", "after", "factor", "margin")
    return Table(title, heads, tuple(rows), words=3)


def _of_result(old: Result, new: Result, threshold: float) -> Iterator[Change]:
    name, seconds = new.workload, (old.compile_seconds, new.compile_seconds)
    yield Change(name, "", "compile time", *seconds, COMPILE_THRESHOLD)
    rows = {row.label: row for row in old.rows}
    for row in new.rows:
        if row.label in rows:
            yield from _of_row(name, rows[row.label], row, threshold)


def _of_row(name: str, old: Row, new: Row, threshold: float) -> Iterator[Change]:
    times = (old.value, old.c_value, new.value, new.c_value)
    margin = threshold + _noise(*times)
    ratios = (old.value_to_c, new.value_to_c)
    yield Change(name, new.label, "value to C", *ratios, margin)
    times = (old.gradient, old.c_gradient, new.gradient, new.c_gradient)
    margin = threshold + _noise(*times)
    ratios = (old.gradient_to_c, new.gradient_to_c)
    yield Change(name, new.label, "gradient to C", *ratios, margin)
    for what, before, after in (
        ("memory", old.memory.ours, new.memory.ours),
        ("operations of the value", old.operations.value, new.operations.value),
        ("operations", old.operations.gradient, new.operations.gradient),
    ):
        yield Change(name, new.label, what, before, after, EXACT_THRESHOLD)


def _noise(*times: Time) -> float:
    """How far a ratio of ratios may be off: the spreads are independent."""
    return sum(time.spread**2 for time in times) ** 0.5


def _number(value: float) -> str:
    return f"{value:.4g}"
