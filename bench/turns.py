"""`python -m bench turns PYTHON [names]`: what became slower, timed in turns.

PYTHON is the interpreter of an environment in which another version of the package is
installed. Each program of the workloads and of the wide suite, with its gradient, runs
in a process of either, on one core, and the two take turns: what slows the machine
slows both. A factor is the median of those of the rounds. Arguments begin a line of the
cache; where code and other data lie is luck, for better or worse. So what looks slower
is timed again in new processes, and the median of all attempts counts.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench.measure import SAMPLE_SECONDS, one_core, summary
from bench.results import Time
from bench.subjects import chosen
from bench.table import Table, duration, printer, ratio_text

THRESHOLD = 0.03
ROUNDS = 15
ATTEMPTS = 9  # an odd number

ROOT = Path(__file__).parent.parent
WHAT = ("value", "gradient")

# The package is what is installed there, so it comes first; the programs are these.
BEGIN = """
import sys
import chadllvm
sys.path.insert(0, sys.argv[1])
from bench.turned import serve
serve()
"""


@dataclass(frozen=True)
class Factor:
    """What a program takes now over what it took: the medians of the times too."""

    program: str
    what: str
    before: float
    after: float
    factor: Time

    def is_slower(self, threshold: float) -> bool:
        """Whether it takes more than the threshold allows."""
        return self.factor.median > 1.0 + threshold


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `turns` among the commands of `python -m bench`."""
    turns = commands.add_parser("turns", help="what became slower, timed in turns")
    turns.add_argument("before", type=Path, metavar="python")
    turns.add_argument("names", nargs="*", metavar="name", default=[])
    turns.add_argument("--quick", action="store_true", help="small sizes")
    turns.add_argument("--threshold", type=float, default=THRESHOLD)
    turns.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status is 1 if something became slower, or failed."""
    names = chosen(options.names)
    console = printer()
    found: list[Factor] = []
    failed = 0
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            progress.update(task, description=name)
            try:
                found += confirmed(
                    options.before, name, options.quick, options.threshold
                )
            except RuntimeError as error:
                console.print(f"{name} is not measured: {error}", markup=False)
                failed += 1
            progress.advance(task)
    console.print(table(found).rich())
    slower = [f for f in found if f.is_slower(options.threshold)]
    for what in WHAT:
        factors = [f.factor.median for f in found if f.what == what]
        mean = math.exp(math.fsum(map(math.log, factors)) / max(1, len(factors)))
        console.print(
            f"{what}: {len(factors)} programs, geometric mean {mean:.3f}, "
            f"{sum(f.what == what for f in slower)} slower"
        )
    return 1 if slower or failed else 0


def confirmed(before: Path, name: str, quick: bool, threshold: float) -> list[Factor]:
    """The factors of a program; medians of its attempts, where it looks slower.

    Attempts end where more of them cannot change what is slower.
    """
    attempts = [factors(before, name, quick)]
    if not any(f.is_slower(threshold) for f in attempts[0]):
        return attempts[0]
    while not all(_decided(each, threshold) for each in zip(*attempts, strict=True)):
        attempts.append(factors(before, name, quick))
    return [
        sorted(each, key=lambda f: f.factor.median)[len(each) // 2]
        for each in zip(*attempts, strict=True)
    ]


def _decided(attempts: Sequence[Factor], threshold: float) -> bool:
    """Whether the median of `ATTEMPTS` is on the side of the threshold of these."""
    slower = sum(f.is_slower(threshold) for f in attempts)
    return max(slower, len(attempts) - slower) > ATTEMPTS // 2


def factors(before: Path, name: str, quick: bool) -> list[Factor]:
    """The factors of a program in two new processes.

    Raises: RuntimeError if a process fails, or the results differ.
    """
    with ExitStack() as stack, one_core():
        sides = [
            stack.enter_context(_Side(python, name, quick))
            for python in (before, Path(sys.executable))
        ]
        _compare(*(side.results for side in sides))
        return [_factor(name, what, sides) for what in WHAT]


def _factor(name: str, what: str, sides: Sequence[_Side]) -> Factor:
    once = min(side.seconds(what, 1) for side in sides)
    calls = max(1, round(SAMPLE_SECONDS / max(once, 1e-7)))
    samples = []
    for k in range(ROUNDS):
        # Who begins takes turns, too.
        order = sides if k % 2 else sides[::-1]
        pair = [side.seconds(what, calls) for side in order]
        samples.append(pair if k % 2 else pair[::-1])
    was, now = (summary([pair[k] for pair in samples]).median for k in range(2))
    return Factor(name, what, was, now, summary([b / a for a, b in samples]))


def _compare(before: list[Any], after: list[Any]) -> None:
    for a, b in zip(before, after, strict=True):
        if not abs(a - b) <= 1e-8 * max(1.0, abs(a)):
            raise RuntimeError(f"it was {a!r} and is {b!r}")


class _Side:
    """A process of one of the versions, which has a program ready."""

    def __init__(self, python: Path, name: str, quick: bool) -> None:
        self._python = python
        self._process = subprocess.Popen(
            [python, "-P", "-c", BEGIN, str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            self.results: list[Any] = self._asked([name, quick])
        except RuntimeError:
            self.__exit__()
            raise

    def __enter__(self) -> _Side:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def seconds(self, what: str, calls: int) -> float:
        """Those of a call of the value or the gradient."""
        return float(self._asked([WHAT.index(what), calls]))

    def _asked(self, request: list[Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"the process of {self._python} ended")
        found, error = json.loads(line)
        if error:
            raise RuntimeError(error)
        return found


def table(found: Sequence[Factor]) -> Table:
    """The factors with their quartiles, the largest first."""
    rows = [
        (f.program, f.what, duration(f.before), duration(f.after),
         *map(ratio_text, (f.factor.median, f.factor.low, f.factor.high)))
        for f in sorted(found, key=lambda f: -f.factor.median)
    ]  # fmt: skip
    heads = ("program", "what", "before", "now", "factor", "from", "to")
    return Table("Now over before", heads, tuple(rows))
