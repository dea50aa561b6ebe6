"""`python -m bench run [names]`: measures, one new process a workload, on one core.

Writes one JSON file (see `bench/results.py`) and prints its table. The exit status is 1
if a workload could not be measured; a target that is not met is reported and is not an
error.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench.machine import machine, versions
from bench.peers import PACKAGES, installed
from bench.process import Tell, in_new_process
from bench.reference.load import make
from bench.report import show
from bench.results import Failure, Figure, Result, Results, save
from bench.row import measured
from bench.settings import Settings
from bench.table import printer
from bench.workload import workloads

# What has a form of its own: figures, each with its target.
FIGURES = (
    "elementwise",
    "updates",
    "second",
    "call_overhead",
    "compile_time",
    "memory",
)

SIZES = ("small", "usual", "all")
DEFAULT_OUTPUT = Path("build") / "bench"

Found = Result | tuple[Figure, ...]


def names() -> tuple[str, ...]:
    """All that can be measured."""
    return (*workloads(), *FIGURES)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `run` among the commands of `python -m bench`."""
    run_ = commands.add_parser("run", help="measure, and print a table")
    run_.add_argument("names", nargs="*", metavar="name", help=", ".join(names()))
    run_.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    run_.add_argument(
        "--sizes", choices=SIZES, default="usual", help="which sizes (default: usual)"
    )
    run_.add_argument(
        "--peers",
        nargs="*",
        choices=tuple(PACKAGES),
        default=installed(),
        help="other systems to compare with (default: all that are installed)",
    )
    run_.add_argument(
        "--output", type=Path, default=DEFAULT_OUTPUT, help="folder to write"
    )
    run_.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    chosen = options.names or names()
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        raise SystemExit(f"there is no workload {unknown[0]!r}; there are {names()}")
    quick = options.quick or options.sizes == "small"
    folder = (options.output / "reference").absolute()
    peers = tuple(options.peers)
    settings = Settings(quick, folder, peers, options.sizes == "all")
    console = printer()
    path = options.output / "results.json"
    results = measure(chosen, settings, console, path)
    show(results, console)
    console.print(f"written to {path}")
    return 1 if results.failures else 0


def measure(
    chosen: Sequence[str], settings: Settings, console: Console, path: Path
) -> Results:
    """Measure all that is named; what is known is written after each of them."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("builds the C kernels", total=len(chosen))
        make(settings.build_folder)
        progress.update(task, description="measures the cores")
        results = _begun(settings)
        for name in chosen:

            def tell(what: str, name: str = name) -> None:
                progress.update(task, description=f"{name}: {what}")

            tell("")
            results = _with(results, name, _tried(name, settings, tell))
            progress.advance(task)
            save(results, path)
    return results


def _begun(settings: Settings) -> Results:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    found = machine(settings.build_folder)
    return Results(settings.quick, started, found, versions())


def _tried(name: str, settings: Settings, tell: Tell) -> Found | Failure:
    try:
        found: Found = in_new_process(_found, name, settings, tell=tell)
    except Exception as error:
        return Failure(name, str(error))
    return found


def _with(results: Results, name: str, found: Found | Failure) -> Results:
    match found:
        case Failure():
            return replace(results, failures=(*results.failures, found))
        case Result():
            return replace(results, results=(*results.results, found))
        case _:
            return replace(results, figures={**results.figures, name: found})


def _found(name: str, settings: Settings, tell: Tell) -> Found:
    if name in workloads():
        return measured(name, workloads()[name], settings, tell)
    figures = []
    for figure in import_module(f"bench.workloads.{name}").measure(settings):
        figures.append(figure)
        tell(figure.name)
    return tuple(figures)
