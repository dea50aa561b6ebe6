"""`python -m bench ablation [names]`: what each pass of the optimiser is worth.

Each optional pass is left out in turn, of the workloads and of the wide suite. A factor
is the time without the pass over the time with it, both taken in turns, or the peak of
the gradient's memory; where it finds nothing to do, or the loops that come out are the
same, nothing is measured. The file grows with each program that is measured. The exit
status is 1 if a program could not be measured, and with `--gate` if a pass is worth
too little.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import chadllvm as cl
from bench.measure import sampled
from bench.page import fill
from bench.peak import own_peak
from bench.process import Tell, in_new_process
from bench.subjects import Subject, chosen, subjects
from bench.table import Table, printer, ratio_text
from chadllvm.driver.passes import OPTIONAL
from chadllvm.ir.loops_pretty import pretty_loops

ROUNDS = 9
BUDGET = 0.5

# A pass is worth its lines if it is worth this factor in so many programs of so many
# families.
WORTH = 1.1
PROGRAMS = 3
GROUPS = 2

# How many programs are named in a row of the table.
NAMED = 3

# Differences of fewer bytes than a large page are no matter.
LEAST_MEMORY = 1 << 16

# What is left out where all passes are at once.
TOGETHER = "together"

# The passes without which a law fails, and the tests that say so.
LAWS: Mapping[str, str] = {
    "references": "tests/laws/test_chosen_arrays.py",
    "sink": "tests/test_updates.py",
    "slices": "tests/laws/test_chosen_arrays.py",
}


@dataclass(frozen=True)
class Factors:
    """What it takes without a pass over that with it; None where nothing changes.

    The times of the value and of the gradient, and the gradient's memory.
    """

    value: float | None = None
    gradient: float | None = None
    memory: float | None = None

    @property
    def most(self) -> float:
        """The largest one; one where nothing changes."""
        return max(self.value or 1.0, self.gradient or 1.0, self.memory or 1.0)


# For each program, by the names of the passes.
Ablation = dict[str, dict[str, Factors]]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `ablation` among the commands of `python -m bench`."""
    ablation = commands.add_parser("ablation", help="what each pass is worth")
    ablation.add_argument("names", nargs="*", metavar="name", default=[])
    ablation.add_argument(
        "--passes", nargs="+", choices=sorted(OPTIONAL), default=sorted(OPTIONAL)
    )
    ablation.add_argument(
        "--together", action="store_true", help="leave them out at once"
    )
    ablation.add_argument("--quick", action="store_true", help="small sizes")
    ablation.add_argument("--gate", action="store_true", help="fail for idle passes")
    default = Path("build") / "bench" / "ablation.json"
    ablation.add_argument("--output", type=Path, default=default, help="file to write")
    ablation.add_argument("--page", type=Path, help="also put the table into this page")
    ablation.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    console = printer()
    names = chosen(options.names)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    found, failures = _measured(names, options, console)
    console.print(table(found).rich())
    for failure in failures:
        console.print(failure, markup=False)
    if options.page is not None:
        put_into(found, options.page)
    few = [name for name in idle(found) if name not in LAWS] if options.gate else []
    for name in few:
        console.print(f"{name} is worth too little", markup=False)
    return 1 if failures or few else 0


def put_into(found: Ablation, page: Path) -> None:
    """Fill the part of the page that shows the factors."""
    fill(page, "ablation", table(found).markdown())


def idle(found: Ablation) -> Iterator[str]:
    """The passes that are worth too little in what was measured."""
    for name in _passes(found):
        worth = [p for p in found if found[p][name].most >= WORTH]
        families = {subjects()[p].family for p in worth}
        if len(worth) < PROGRAMS or len(families) < GROUPS:
            yield name


def table(found: Ablation) -> Table:
    """What each pass is worth: how many programs it changes, and by how much."""
    heads = (
        *("pass", "changes", "worth", "mean of values", "of gradients", "of memory"),
        "the most",
    )
    rows = []
    for name in _passes(found):
        factors = {p: by_pass[name] for p, by_pass in found.items()}
        changed = {p: f for p, f in factors.items() if f != Factors()}
        best = sorted(changed, key=lambda p: -changed[p].most)[:NAMED]
        rows.append(
            (
                name,
                f"{len(changed)} of {len(factors)}",
                str(sum(f.most >= WORTH for f in changed.values())),
                ratio_text(_mean([f.value for f in factors.values()])),
                ratio_text(_mean([f.gradient for f in factors.values()])),
                ratio_text(_mean([f.memory for f in factors.values()])),
                ", ".join(f"{p} {ratio_text(changed[p].most)}" for p in best),
            )
        )
    return Table("Without the pass", heads, tuple(rows), words=1)


def factors(
    name: str, passes: Sequence[str], together: bool, quick: bool, tell: Tell
) -> dict[str, Factors]:
    """What each pass is worth for a program, or all of them are together."""
    subject = subjects()[name]
    arguments = subject.arguments(quick)
    whole = _Variant(subject, frozenset(), arguments)
    groups = {TOGETHER: passes} if together else {name: [name] for name in passes}
    found = {}
    for k, (group, left_out) in enumerate(groups.items()):
        if whole.effective.isdisjoint(left_out):
            found[group] = Factors()
            continue
        tell(f"{k + 1} of {len(groups)}: {group}")
        without = _Variant(subject, frozenset(left_out), arguments)
        found[group] = whole.factors(without)
    return found


class _Variant:
    """A program and its gradient, without some passes."""

    def __init__(
        self, subject: Subject, disabled: frozenset[str], arguments: tuple[Any, ...]
    ) -> None:
        options = cl.CompileOptions(disabled=disabled)
        value = cl.jit(subject.program, options=options)
        gradient = cl.value_and_grad(value, argnums=subject.argnums)
        plans = [f.planned_for(arguments).compile(options) for f in (value, gradient)]
        self.calls = [partial(f, *arguments) for f in (value, gradient)]
        self.loops = [pretty_loops(plan.lowered) for plan in plans]
        self.effective = {name for plan in plans for name in plan.effective}

    def factors(self, without: _Variant) -> Factors:
        """What this saves where its loops are others."""
        times: list[float | None] = [None, None]
        for k, (loops, others) in enumerate(
            zip(self.loops, without.loops, strict=True)
        ):
            if loops != others:
                times[k] = _factor(self.calls[k], without.calls[k])
        memory = None
        if times[1] is not None:
            peaks = [max(own_peak(v.calls[1]), LEAST_MEMORY) for v in (self, without)]
            memory = peaks[1] / peaks[0]
        return Factors(*times, memory)


def _factor(whole: Callable[[], Any], without: Callable[[], Any]) -> float:
    _compare(whole(), without())
    times = sampled({"with": whole, "without": without}, BUDGET, ROUNDS)
    return times["without"].median / times["with"].median


def _compare(first: Any, second: Any) -> None:
    """The pass changes no result but for the order of sums."""
    if isinstance(first, tuple):
        for a, b in zip(first, second, strict=True):
            _compare(a, b)
        return
    most = 1e-8 * max(1.0, float(np.max(np.abs(first))))
    np.testing.assert_allclose(second, first, rtol=1e-8, atol=most)


def _measured(
    names: Sequence[str], options: argparse.Namespace, console: Console
) -> tuple[Ablation, list[str]]:
    found: Ablation = {}
    failures = []
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:

            def tell(what: str, name: str = name) -> None:
                progress.update(task, description=f"{name}: {what}")

            wanted = name, options.passes, options.together, options.quick
            try:
                found[name] = in_new_process(factors, *wanted, tell=tell)
                text = json.dumps(_plain(found), indent=1)
                options.output.write_text(f"{text}\n")
            except RuntimeError as error:
                failures.append(f"{name} failed: {error}")
            progress.advance(task)
    return found, failures


def _passes(found: Ablation) -> list[str]:
    return sorted({name for by_pass in found.values() for name in by_pass})


def _mean(numbers: Sequence[float | None]) -> float:
    """The geometric mean; where nothing changes, the factor is one."""
    logs = [math.log(number or 1.0) for number in numbers]
    return math.exp(sum(logs) / len(logs))


def _plain(found: Ablation) -> dict[str, Any]:
    return {
        name: {left_out: asdict(f) for left_out, f in by_pass.items()}
        for name, by_pass in found.items()
    }
