"""`python -m bench paper [topics]`: every claim of the paper beside what was measured.

Prints a table (claim, place in the paper, measured, verdict) and writes the same as
`claims.md` and `claims.json`, and each curve as a picture with its points as JSON. The
exit status is 1 if a claim does not hold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.paper.claim import Claim, Curve, Report
from bench.paper.plot import write_plot

# In the paper's order.
TOPICS = (
    "environments", "monads", "theorem", "arrays", "folds", "functions",
    "runtime", "optimize0", "second_order", "forward", "agreement",
)  # fmt: skip

COLUMNS = ("claim", "place", "measured", "verdict")


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `paper` among the commands of `python -m bench`."""
    paper = commands.add_parser("paper", help="check the claims of the paper")
    paper.add_argument("names", nargs="*", metavar="topic", help=", ".join(TOPICS))
    paper.add_argument("--quick", action="store_true", help="small sizes, few programs")
    default = Path("build") / "paper"
    paper.add_argument("--output", type=Path, default=default, help="folder to write")
    paper.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    unknown = [name for name in options.names if name not in TOPICS]
    if unknown:
        raise SystemExit(f"there is no topic {unknown[0]!r}; there are {TOPICS}")
    console = Console()
    reports = _measured(options.names or TOPICS, options.quick, console)
    claims = [claim for report in reports.values() for claim in report.claims]
    console.print(_table(claims))
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output, reports)
    held = sum(claim.holds for claim in claims)
    console.print(f"{held} of {len(claims)} claims hold; written to {options.output}")
    return 0 if held == len(claims) else 1


def _measured(names: Sequence[str], quick: bool, console: Console) -> dict[str, Report]:
    """The reports of the topics, each made in a process of its own, on all cores."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, transient=True) as progress,
        ProcessPoolExecutor(mp_context=get_context("spawn")) as pool,
    ):
        task = progress.add_task("the first topics", total=len(names))
        # The last topics take longest.
        order = reversed(names)
        pending = {name: pool.submit(report_of, name, quick) for name in order}
        for done in as_completed(pending.values()):
            left = [name for name, future in pending.items() if not future.done()]
            progress.update(task, advance=1, description=" ".join(left))
            done.result()
        return {name: pending[name].result() for name in names}


def report_of(name: str, quick: bool) -> Report:
    """What a topic has to say; that it cannot be measured, if it fails."""
    try:
        report: Report = import_module(f"bench.paper.{name}").report(quick)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return Report([Claim(f"the topic {name} can be measured", "", why, False)])
    return report


def _table(claims: Sequence[Claim]) -> Table:
    table = Table(show_lines=True)
    for column in COLUMNS:
        table.add_column(column)
    for claim in claims:
        verdict = "[green]holds" if claim.holds else "[red]does not hold"
        row = map(escape, (claim.says, claim.place, claim.measured))
        table.add_row(*row, verdict)
    return table


def write(folder: Path, reports: dict[str, Report]) -> None:
    claims = [claim for report in reports.values() for claim in report.claims]
    (folder / "claims.md").write_text(_markdown(claims))
    rows = {name: [asdict(c) for c in r.claims] for name, r in reports.items()}
    (folder / "claims.json").write_text(json.dumps(rows, indent=2) + "\n")
    for report in reports.values():
        for curve in report.curves:
            _write_curve(folder, curve)


def _write_curve(folder: Path, curve: Curve) -> None:
    points = json.dumps(asdict(curve), indent=2)
    (folder / f"{curve.name}.json").write_text(points + "\n")
    write_plot(curve, folder / f"{curve.name}.svg")


def _markdown(claims: Sequence[Claim]) -> str:
    lines = [_row(COLUMNS), _row(["---"] * len(COLUMNS))]
    for claim in claims:
        verdict = "holds" if claim.holds else "**does not hold**"
        lines.append(_row((claim.says, claim.place, claim.measured, verdict)))
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
