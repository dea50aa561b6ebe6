"""Random programs in machine code, by the thousand:

    python -m tests.random_native --count 2000 --seed 0 --jobs 2

Every program runs in a process of its own, since LLVM keeps some memory for each that
it compiles, and since wrong machine code may crash. Prints progress, and every failure
with the smallest program that shows it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import sampled_from

from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from tests.array_strategies import array_cases
from tests.native import WAYS, check_case
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases

BATCH = 50


def main() -> int:
    """Run the batches; the exit code says whether all programs passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=Path, help="run one batch; the file of reports")
    args = parser.parse_args()
    if args.batch is not None:
        return run_batch(args.seed, args.count, args.batch)
    failures = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for done, report in enumerate(pool.map(batch_process, _seeds(args)), 1):
            failures += bool(report)
            print(report, end="", flush=True)
            print(f"{done * BATCH} programs, {failures} failures", flush=True)
    return 1 if failures else 0


def _seeds(args: argparse.Namespace) -> Iterator[int]:
    return iter(range(args.seed, args.seed + -(-args.count // BATCH)))


def batch_process(number: int) -> str:
    """Run a batch in a process of its own; what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program")
        command = [sys.executable, "-m", __spec__.name, "--batch", str(file)]
        command += ["--seed", str(number), "--count", str(BATCH)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode == 0:
            return ""
        text = file.read_text() if file.exists() else process.stderr
        return f"--- seed {number}, exit code {process.returncode}\n{text}\n"


def run_batch(number: int, count: int, file: Path) -> int:
    """Check programs; the program at hand is in the file, so that a crash leaves it."""

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        cases(single=False) | array_cases() | sum_cases(single=False),
        sampled_from(WAYS),
    )
    def check(case: Case, way: str) -> None:
        file.write_text(describe(case, way))
        check_in_child(case, way, file.with_suffix(".error"))

    # The processes that are forked for each program then have everything loaded.
    check_case(Case(parse("def main(x: f64) { return x }"), (0.5,)))
    try:
        check()
    except Exception as error:
        with file.open("a") as out:
            out.write(f"{error}\n")
        return 1
    return 0


def check_in_child(case: Case, way: str, file: Path) -> None:
    """Check a program in a forked process, which may crash; `file` is for its report.

    Raises:
        AssertionError: with the child's report, or the signal that ended it.
    """
    child = os.fork()
    if not child:
        try:
            check_case(case, [way])
        except BaseException:
            file.write_text(traceback.format_exc(limit=-4))
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code >= 0, f"signal {-code}"
    assert code == 0, file.read_text()


def describe(case: Case, way: str) -> str:
    """A program and its arguments, as text."""
    return f"{way}:\n{pretty(case.program)}\nargs = {case.args}\n"


if __name__ == "__main__":
    sys.exit(main())
