"""`python -m bench run [names]` and `paper [topics]`, from the root of the repository.

`run` measures the named workloads (all of them by default) in one process on one core,
prints a table for each, and writes the figures as JSON. The exit status is 1 if a
workload could not be measured; a target that is not met is reported and is not an
error. `paper` checks the claims of the paper, see `bench/paper/command.py`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench.measure import one_core
from bench.paper.command import add_command
from bench.report import Failure, Figure, Settings, print_table, write_json

WORKLOADS = (
    "gmm",
    "elementwise",
    "updates",
    "newton",
    "quadrature",
    "trees",
    "second",
    "kmeans",
    "polynomial_fit",
    "hopper",
    "nbody",
    "heat",
    "hidden_markov",
    "lstm",
    "bundle_adjustment",
    "soft_warp",
    "monte_carlo",
    "call_overhead",
    "compile_time",
    "memory",
)


def main() -> int:
    """Run the command line; the exit status."""
    options = _parser().parse_args()
    status: int = options.run(options)
    return status


def run(options: argparse.Namespace) -> int:
    """Measure workloads; the exit status."""
    settings = Settings(options.quick, options.output / "reference")
    console = Console()
    figures: dict[str, list[Figure]] = {}
    failures: list[Failure] = []
    with one_core():
        for name in options.names or WORKLOADS:
            try:
                figures[name] = _measure(name, settings, console)
            except Exception as error:
                failures.append(Failure(name, f"{type(error).__name__}: {error}"))
                console.print(f"{name} failed: ", failures[-1].reason, markup=False)
            else:
                print_table(console, name, figures[name])
    results = options.output / "results.json"
    write_json(results, settings, figures, failures)
    _summarise(console, figures, results)
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True)
    add_command(commands)
    measure = commands.add_parser("run", help="measure and print a table")
    measure.add_argument("names", nargs="*", metavar="name", help=", ".join(WORKLOADS))
    measure.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    output = Path("build") / "bench"
    measure.add_argument("--output", type=Path, default=output, help="folder to write")
    measure.set_defaults(run=run)
    return parser


def _measure(name: str, settings: Settings, console: Console) -> list[Figure]:
    """One workload's figures, with a progress line while it runs."""
    if name not in WORKLOADS:
        raise ValueError(f"there is no workload {name!r}; there are {WORKLOADS}")
    module = import_module(f"bench.workloads.{name}")
    workload = getattr(module, "WORKLOAD", module)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name)
        figures = []
        for figure in workload.measure(settings):
            figures.append(figure)
            progress.update(task, description=f"{name}: {figure.name}")
    return figures


def _summarise(
    console: Console, figures: dict[str, list[Figure]], results: Path
) -> None:
    verdicts = [figure.met for rows in figures.values() for figure in rows]
    with_target = [verdict for verdict in verdicts if verdict is not None]
    console.print(
        f"{sum(with_target)} of {len(with_target)} targets met; figures in {results}"
    )


if __name__ == "__main__":
    sys.exit(main())
