"""Does the suite notice? Seeded faults in passes, rules and derivatives.

Each of a number of faults, chosen by a seed and spread over the folders in proportion
to the faults that there are in each, is put into the compiler by itself (`plugin.py`),
and tests are run until one fails: those of the folder, then the programs of the corpus.
A fault that no test notices is *missed*: a test is missing, or the fault changes
nothing that matters, which only a reader can tell.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from random import Random

from tests.mutation.plugin import VARIABLE
from tests.mutation.sites import Site, sites

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "chadllvm"

# The folders that have faults, each with the tests that are run first.
FOLDERS = {
    "ops": ("tests/ops", "tests/ir"),
    "chad": ("tests/chad",),
    "closure": ("tests/closure",),
    "simplify": ("tests/simplify",),
    "lower": ("tests/lower",),
}

# The tests that are run for all faults that no test of the folder notices.
ALL = ("tests/test_programs.py", "tests/test_random_native.py", "tests/laws")


@dataclass(frozen=True)
class Mutant:
    """A fault in a module."""

    module: str
    site: Site

    @property
    def name(self) -> str:
        return f"{self.module}:{self.site.number}"

    @property
    def folder(self) -> str:
        return self.module.split(".")[1]


@dataclass(frozen=True)
class Result:
    """What became of a mutant: `caught` by a test, by `time`, or `missed`."""

    name: str
    folder: str
    kind: str
    status: str
    by: str
    where: str
    fault: str


@cache
def mutants() -> tuple[Mutant, ...]:
    """All that there are."""
    return tuple(_mutants())


def _mutants() -> Iterator[Mutant]:
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts)
            if path.stem != "__init__":
                for site in sites(path.read_text()):
                    yield Mutant(module, site)


def chosen(count: int, seed: int) -> list[Mutant]:
    """So many of them; the first ones of more are those of fewer."""
    everyone = list(mutants())
    Random(seed).shuffle(everyone)
    return everyone[:count]


def judged(mutant: Mutant, minutes: float) -> Result:
    """Run tests until one notices the fault."""
    status, by = "missed", ""
    for tests in (FOLDERS[mutant.folder], ALL):
        status, by = _run(mutant.name, tests, minutes)
        if status != "missed":
            break
    site = mutant.site
    where = f"{mutant.module.replace('.', '/')}.py:{site.line}"
    fault = f"{site.before}  →  {site.after}"
    return Result(mutant.name, mutant.folder, site.kind, status, by, where, fault)


def _run(name: str, tests: Sequence[str], minutes: float) -> tuple[str, str]:
    """Whether these tests notice a fault, and the first that does."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutation.plugin"]
    command += ["-p", "no:cacheprovider", "-x", "-q", "--no-header", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, VARIABLE: name},
            capture_output=True,
            text=True,
            timeout=60.0 * minutes,
        )
    except subprocess.TimeoutExpired:
        return "time", ""
    if not done.returncode:
        return "missed", ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "caught", found[1] if found else f"exit status {done.returncode}"


def table(results: Sequence[Result]) -> str:
    """How many were noticed, by folder and by kind; then those that were not."""
    lines = []
    for key in ("folder", "kind"):
        everyone = Counter(getattr(r, key) for r in results)
        missed = Counter(getattr(r, key) for r in results if r.status == "missed")
        lines.append(f"{key:14}{'faults':>8}{'noticed':>9}{'share':>8}")
        for name, count in sorted(everyone.items()):
            noticed = count - missed[name]
            lines.append(f"{name:14}{count:8}{noticed:9}{noticed / count:8.0%}")
        lines.append("")
    left = [r for r in results if r.status == "missed"]
    share = 1.0 - len(left) / len(results) if results else 0.0
    lines.append(f"{len(results)} faults, {share:.0%} noticed; missed:")
    lines += [f"  {r.where}: {r.fault}" for r in left]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description="Seeded faults in the compiler."
    )
    parser.add_argument("--faults", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="a file of results, which grows")
    parser.add_argument(
        "--minutes", type=float, default=15.0, help="for the tests of a fault"
    )
    options = parser.parse_args(arguments)
    results = _known(options.resume)
    names = {result.name for result in results}
    for mutant in chosen(options.faults, options.seed):
        if mutant.name in names:
            continue
        result = judged(mutant, options.minutes)
        results.append(result)
        print(f"{len(results):4} {result.status:7} {result.where}: {result.fault}")
        if options.resume is not None:
            with options.resume.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
    print(table(results))
    return 0


def _known(path: Path | None) -> list[Result]:
    if path is None or not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()]
