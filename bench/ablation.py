"""`python -m bench ablation [names]`: what each pass of the optimiser is worth.

Each optional pass is left out in turn. A factor is the time without the pass over the
time with it, both taken in turns; where it finds nothing to do, or the loops that come
out are the same, nothing is measured. The exit status is 1 if a workload could not be
measured.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import chadllvm as cl
from bench.measure import sampled
from bench.page import fill
from bench.process import Tell, in_new_process
from bench.table import Table, printer, ratio_text
from bench.workload import workloads
from chadllvm.pipeline import OPTIONAL

ROUNDS = 9
BUDGET = 0.5
SAME = "·"


@dataclass(frozen=True)
class Factors:
    """The time without a pass over that with it; None where nothing changes."""

    value: float | None
    gradient: float | None


# For each workload, by the names of the passes.
Ablation = dict[str, dict[str, Factors]]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `ablation` among the commands of `python -m bench`."""
    ablation = commands.add_parser("ablation", help="what each pass is worth")
    ablation.add_argument("names", nargs="*", metavar="name", default=[])
    ablation.add_argument(
        "--passes", nargs="+", choices=sorted(OPTIONAL), default=sorted(OPTIONAL)
    )
    ablation.add_argument("--quick", action="store_true", help="small sizes")
    default = Path("build") / "bench" / "ablation.json"
    ablation.add_argument("--output", type=Path, default=default, help="file to write")
    ablation.add_argument(
        "--page", type=Path, help="also put the tables into this page"
    )
    ablation.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    unknown = [name for name in options.names if name not in workloads()]
    if unknown:
        raise SystemExit(
            f"there is no workload {unknown[0]!r}; there are {[*workloads()]}"
        )
    console = printer()
    names = options.names or list(workloads())
    found, failures = _measured(names, options, console)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(_plain(found), indent=1) + "\n")
    for table in tables(found):
        console.print(table.rich())
    for failure in failures:
        console.print(failure, markup=False)
    if options.page is not None:
        put_into(found, options.page)
    return 1 if failures else 0


def put_into(found: Ablation, page: Path) -> None:
    """Fill the part of the page that shows the factors."""
    text = [f"### {table.title}\n\n{table.markdown()}" for table in tables(found)]
    fill(page, "ablation", "\n\n".join(text))


def tables(found: Ablation) -> tuple[Table, Table]:
    """The factors of the values, and of the values with their gradients."""
    return (
        _table("Without the pass, the value", found, "value"),
        _table("Without the pass, the value with its gradient", found, "gradient"),
    )


def factors(
    name: str, passes: Sequence[str], quick: bool, tell: Tell
) -> dict[str, Factors]:
    """What each pass is worth for a workload, at the second of its sizes."""
    workload = workloads()[name]
    arguments = workload.problem(*(workload.small if quick else workload.sizes[1]))
    whole = _Variant(workload, frozenset(), arguments)
    effective = whole.effective(arguments)
    found = {}
    for k, left_out in enumerate(passes):
        if left_out not in effective:
            found[left_out] = Factors(None, None)
            continue
        tell(f"{k + 1} of {len(passes)}: {left_out}")
        without = _Variant(workload, frozenset({left_out}), arguments)
        found[left_out] = Factors(
            _factor(whole.value, without.value, arguments),
            _factor(whole.gradient, without.gradient, arguments),
        )
    return found


class _Variant:
    """A workload's program and its gradient, without some passes."""

    def __init__(
        self, workload: Any, disabled: frozenset[str], arguments: tuple[Any, ...]
    ) -> None:
        self.options = cl.CompileOptions(disabled=disabled)
        self.value = cl.jit(workload.program.py_func, options=self.options)
        self.gradient = cl.value_and_grad(self.value, argnums=workload.argnums)
        self.value(*arguments)
        self.gradient(*arguments)

    def effective(self, arguments: tuple[Any, ...]) -> set[str]:
        """The passes that find something to do in either."""
        plans = [f.planned_for(arguments) for f in (self.value, self.gradient)]
        return {name for plan in plans for name in plan.compile(self.options).effective}


def _factor(whole: Any, without: Any, arguments: tuple[Any, ...]) -> float | None:
    if whole.show("loops") == without.show("loops"):
        return None
    _compare(whole(*arguments), without(*arguments))
    runs = {
        "with": lambda: whole(*arguments),
        "without": lambda: without(*arguments),
    }
    times = sampled(runs, BUDGET, ROUNDS)
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

            wanted = name, options.passes, options.quick
            try:
                found[name] = in_new_process(factors, *wanted, tell=tell)
            except RuntimeError as error:
                failures.append(f"{name} failed: {error}")
            progress.advance(task)
    return found, failures


def _table(title: str, found: Ablation, kind: str) -> Table:
    passes = sorted({name for by_pass in found.values() for name in by_pass})
    rows = []
    for name in passes:
        numbers = [getattr(by_pass[name], kind) for by_pass in found.values()]
        cells = [SAME if n is None else ratio_text(n) for n in numbers]
        rows.append((name, *cells, ratio_text(_mean(numbers))))
    return Table(title, ("pass", *found, "mean"), tuple(rows), words=1)


def _mean(numbers: Sequence[float | None]) -> float:
    """The geometric mean; where nothing changes, the factor is one."""
    logs = [math.log(number or 1.0) for number in numbers]
    return math.exp(sum(logs) / len(logs))


def _plain(found: Ablation) -> dict[str, Any]:
    return {
        name: {left_out: asdict(f) for left_out, f in by_pass.items()}
        for name, by_pass in found.items()
    }
