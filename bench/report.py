"""`python -m bench report`: the tables of a run in the terminal, and in the docs.

With `--page docs/performance.md` the tables take their places there, and the picture
stands beside the page; with `--readme README.md` its one table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from bench.page import fill
from bench.picture import write_picture
from bench.results import Results, load
from bench.table import (
    Table,
    figure_tables,
    known_table,
    main_table,
    peer_table,
    printer,
    tables,
)
from bench.table import target_table as targets

RESULTS = Path("build") / "bench" / "results.json"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `report` among the commands of `python -m bench`."""
    report = commands.add_parser("report", help="print the tables of a run")
    report.add_argument("results", nargs="?", type=Path, default=RESULTS)
    report.add_argument(
        "--page", type=Path, help="also put them into this page, with the picture"
    )
    report.add_argument("--readme", type=Path, help="put the one beside others there")
    report.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    results = load(options.results)
    show(results, printer())
    if options.page is not None:
        put_into(results, options.page)
    if options.readme is not None:
        fill(options.readme, "known", known_table(results).markdown())
    return 0


def show(results: Results, console: Console) -> None:
    """Print all tables, and what could not be measured."""
    for table in tables(results):
        console.print(table.rich())
    for failure in results.failures:
        console.print(f"{failure.workload} failed: {failure.reason}", markup=False)


def put_into(results: Results, page: Path) -> None:
    """Fill the measured parts of a page, and draw the picture `PAGE.svg`."""
    fill(page, "machine", machine_text(results))
    fill(page, "targets", targets(results).markdown())
    fill(page, "workloads", main_table(results).markdown())
    fill(page, "peers", peer_table(results).markdown() if results.peers else "")
    fill(page, "figures", "\n\n".join(map(_titled, figure_tables(results))))
    write_picture(results, page.with_suffix(".svg"))


def machine_text(results: Results) -> str:
    """Where and with what it was measured, in a paragraph."""
    machine = results.machine
    speeds = machine["solo_speed"].items()
    cores = ", ".join(f"core {core} {speed:.0f}" for core, speed in speeds)
    packages = ", ".join(
        f"{name} {number}" for name, number in results.versions.items()
    )
    return (
        f"Measured {results.started[:10]} on one core of {machine['cores']}: "
        f"{machine['processor']}; {machine['system']}. Millions of dependent "
        f"multiplications a second, each core alone: {cores}. {packages}."
    )


def _titled(table: Table) -> str:
    return f"### {table.title}\n\n{table.markdown()}"
