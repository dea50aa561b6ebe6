"""What a benchmark measured, beside what it should be: a table, and JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PACKAGES = ("chadllvm", "llvmlite", "numpy", "scipy", "cffi")


@dataclass(frozen=True)
class Settings:
    """How to measure. `quick`: small sizes and few rounds, to see that all works."""

    quick: bool
    build_folder: Path

    def rounds(self, full: int) -> int:
        """The number of rounds to take."""
        return 3 if self.quick else full


@dataclass(frozen=True)
class Figure:
    """One measured number. `target`: the most it should be, or None if only noted."""

    name: str
    value: float
    unit: str
    target: float | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.value <= self.target


@dataclass(frozen=True)
class Failure:
    """A workload that could not be measured."""

    workload: str
    reason: str


def print_table(console: Console, workload: str, figures: Sequence[Figure]) -> None:
    """One workload's figures, each with its target and whether it is met."""
    table = Table(title=workload, title_justify="left", title_style="bold")
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("target", justify="right")
    table.add_column("met")
    for figure in figures:
        target = "" if figure.target is None else f"≤ {figure.target:g} {figure.unit}"
        verdict = {None: "", True: "[green]yes", False: "[red]no"}[figure.met]
        table.add_row(figure.name, f"{figure.value:.4g} {figure.unit}", target, verdict)
    console.print(table)


def write_json(
    path: Path,
    settings: Settings,
    figures: dict[str, list[Figure]],
    failures: Sequence[Failure],
) -> None:
    """Everything measured, with the machine and the versions it was measured on."""
    content = {
        "quick": settings.quick,
        "machine": _machine(),
        "versions": _versions(),
        "figures": {
            workload: [asdict(figure) | {"met": figure.met} for figure in rows]
            for workload, rows in figures.items()
        },
        "failures": [asdict(failure) for failure in failures],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def _machine() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
