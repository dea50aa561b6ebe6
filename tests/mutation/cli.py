"""Does the suite notice? Seeded faults in passes, rules and derivatives.

Each of a number of faults, chosen by a seed and spread over the folders in proportion
to the faults that there are in each, is put into the compiler by itself (`plugin.py`),
and tests are run until one fails (`server.py`): only such as run the statement with the
fault, which is recorded once (`record.py`), and for so many seconds at most. A fault
that no test notices is *missed*: a test is missing, the seconds are too few, or the
fault changes nothing that matters, which only a reader can tell.

    python -m tests.mutation --reach FILE --record tests
    python -m tests.mutation --reach FILE --resume RESULTS
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

from tests.mutation.plugin import TESTS, VARIABLE
from tests.mutation.reach import ROOT, Known, Reach, modules, within
from tests.mutation.record import FILE, MINUTES
from tests.mutation.server import FOUND, JOBS
from tests.mutation.sites import Site, sites


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
    return tuple(
        Mutant(name, site)
        for name, source in modules().items()
        for site in sites(source)
    )


def chosen(count: int, seed: int) -> list[Mutant]:
    """So many of them; the first ones of more are those of fewer."""
    everyone = list(mutants())
    Random(seed).shuffle(everyone)
    return everyone[:count]


def result(mutant: Mutant, status: str, by: str) -> Result:
    """What became of a mutant."""
    site = mutant.site
    where = f"{mutant.module.replace('.', '/')}.py:{site.line}"
    fault = f"{site.before}  →  {site.after}"
    return Result(mutant.name, mutant.folder, site.kind, status, by, where, fault)


def judged(
    faults: Sequence[Mutant], reach: Reach, seconds: float, jobs: int = 1
) -> Iterator[Result]:
    """What became of faults, those first that are judged together."""
    alone, together = list[Mutant](), dict[str, Mutant]()
    tests = {
        mutant.name: [*within(reach.of(mutant.module, mutant.site.line), seconds)]
        for mutant in faults
    }
    for mutant in faults:
        if not tests[mutant.name]:
            yield result(mutant, "missed", "no test runs it")
        elif reach.is_early(mutant.module, mutant.site.line):
            alone.append(mutant)
        else:
            together[mutant.name] = mutant
    limit = {"seconds": int(4 * seconds) + 60, "jobs": jobs}
    ready = [
        {"name": n, "tests": [t.name for t in tests[n]], **limit} for n in together
    ]
    for found in _served(ready, reach):
        mutant = together[found["name"]]
        if found["status"] == "again":
            alone.append(mutant)
        else:
            yield result(mutant, found["status"], found["by"])

    def apart(mutant: Mutant) -> Result:
        return result(mutant, *_run(mutant.name, tests[mutant.name], 4 * seconds))

    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(apart, mutant) for mutant in alone]):
            yield future.result()


_PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-p")


def _served(jobs: Sequence[dict[str, Any]], reach: Reach) -> Iterator[dict[str, str]]:
    """What the server finds, as it does."""
    files = dict.fromkeys(test.file for test in reach.tests)
    with TemporaryDirectory() as folder:
        given, found = Path(folder, "jobs"), Path(folder, "found")
        given.write_text("".join(json.dumps(job) + "\n" for job in jobs))
        found.touch()
        more = {JOBS: str(given), FOUND: str(found)}
        command = [*_PYTEST, "tests.mutation.server", "-n0", "-o", "timeout=0", *files]
        server = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **more}, stdout=subprocess.DEVNULL
        )
        try:
            with found.open() as lines:
                is_over = False
                while not is_over:
                    is_over = server.poll() is not None
                    yield from map(json.loads, lines)
                    time.sleep(0.2)
        finally:
            server.terminate()
            server.wait()
    if len(jobs) and server.returncode not in (0, 5):
        raise RuntimeError(f"the tests could not be read: {server.returncode}")


def _run(name: str, tests: Sequence[Known], seconds: float) -> tuple[str, str]:
    """Whether these tests notice a fault in a process of its own, and the first."""
    command = [*_PYTEST, "tests.mutation.plugin", "-n0", "-x", "--no-header"]
    command += dict.fromkeys(test.file for test in tests)
    with NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(test.name for test in tests))
        file.flush()
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, VARIABLE: name, TESTS: file.name},
                capture_output=True,
                text=True,
                timeout=60.0 + seconds,
            )
        except subprocess.TimeoutExpired:
            return "time", ""
    if not done.returncode:
        return "missed", f"{len(tests)} tests run it"
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "caught", found[1] if found else f"exit status {done.returncode}"


def record(path: Path, minutes: float, tests: Sequence[str], jobs: int) -> int:
    """Let tests say what they run."""
    command = [*_PYTEST, "tests.mutation.record", f"-n{jobs}", *tests]
    more = {FILE: str(path.resolve()), MINUTES: str(minutes)}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **more}).returncode


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
    parser.add_argument("--reach", type=Path, required=True, help="what tests run")
    parser.add_argument(
        "--record", nargs="*", metavar="TESTS", help="let tests say it: a file grows"
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="to record for")
    parser.add_argument("--faults", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="a file of results, which grows")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="of tests for a fault"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    options = parser.parse_args(arguments)
    if options.record is not None:
        return record(options.reach, options.minutes, options.record, options.jobs)
    # Whoever ends this process, the server ends too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results = _known(options.resume)
    names = {result.name for result in results}
    left = [m for m in chosen(options.faults, options.seed) if m.name not in names]
    reach = Reach.read(options.reach)
    if not reach.tests:
        parser.error(f"{options.reach} has no test for the sources as they are")
    for found in judged(left, reach, options.seconds, options.jobs):
        results.append(found)
        print(f"{len(results):4} {found.status:7} {found.where}: {found.fault}")
        if options.resume is not None:
            with options.resume.open("a") as file:
                file.write(json.dumps(asdict(found)) + "\n")
    print(table(results))
    return 0


def _known(path: Path | None) -> list[Result]:
    if path is None or not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()]
