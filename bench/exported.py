"""`python -m bench exported`: libraries beside compiled functions, and their calls.

Gradients of workloads run compiled, and exported for this processor and for any; both
are called from Python, in turns. What a call itself costs, a C program says that makes
many calls of a function which does next to nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import chadllvm as cl
from bench.measure import interleaved, one_core
from bench.workload import Workload, workloads

NAMES = ("gmm", "heat", "hidden_markov", "lstm", "nbody", "trees")

# How each library is exported: for this machine, as usual, for the least processor.
FORMS: dict[str, dict[str, Any]] = {
    "native": {"cpu": "native"},
    "usual": {},
    "x86-64": {"cpu": "x86-64"},
}

_CALLS = """
#include <stdio.h>
#include <time.h>
#include "call.h"

int main(void) {
  const int count = 50000000;
  double x = 0.0, value = 0.0;
  call_memory *memory = NULL;
  (void)call_memory_open(CALL_INTERFACE, NULL, &memory);
  for (int with_memory = 0; with_memory < 2; ++with_memory) {
    const clock_t start = clock();
    for (int k = 0; k < count; ++k) {
      (void)call_square(with_memory ? memory : NULL, x, &value, NULL);
      x = 0.5 - value;
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%f\\n", 1e9 * seconds / count);
  }
  call_memory_close(memory);
  return x < 1e9 ? 0 : 1;
}
"""


@cl.jit
def square(x: float) -> float:
    return x * x


def nanoseconds(folder: Path) -> list[float]:
    """What a call of a scalar function from C takes: without and with a memory."""
    made = cl.export({"square": square}, folder / "libcall")
    program, source = folder / "calls", folder / "calls.c"
    source.write_text(_CALLS)
    paths = [f"-I{made.parent}", f"-L{made.parent}", "-lcall"]
    command = ["cc", "-std=c11", "-O2", str(source), *paths, "-o", str(program)]
    subprocess.run([*command, f"-Wl,-rpath,{made.parent}"], check=True)
    ran = subprocess.run([program], check=True, capture_output=True, text=True)
    return [float(line) for line in ran.stdout.split()]


def compared(workload: Workload, folder: Path, rounds: int) -> dict[str, float]:
    """The seconds of a workload's gradient, compiled and exported in each form."""
    case = workload.case(workload.sizes[0])
    gradient, arguments = case.gradient(), case.arguments
    runs: dict[str, Callable[[], object]] = {"compiled": lambda: gradient(*arguments)}
    for form, options in FORMS.items():
        given = {"gradient": (gradient, arguments)}
        name = f"lib{workload.name}_{form.replace('-', '_')}"
        library = cl.load(cl.export(given, folder / name, **options))
        runs[form] = partial(library["gradient"], *arguments)
    return interleaved(runs, rounds)


def lines(names: list[str], rounds: int) -> Iterator[str]:
    """The table, as it is measured."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        yield f"{'':16}{'compiled':>12}" + "".join(f"{form:>10}" for form in FORMS)
        for name in names:
            found = compared(workloads()[name], folder, rounds)
            base = found["compiled"]
            ratios = "".join(f"{found[form] / base:10.2f}" for form in FORMS)
            yield f"{name:16}{1e6 * base:9.1f} µs{ratios}"
        without, with_memory = nanoseconds(folder)
        yield f"a scalar call from C: {without:.1f} ns, {with_memory:.1f} with a memory"


def add_command(commands: Any) -> None:
    """Add `exported` to the command line."""
    parser = commands.add_parser("exported", help="libraries beside compiled functions")
    parser.add_argument("names", nargs="*", help="the workloads")
    parser.add_argument("--rounds", type=int, default=31)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    with one_core():
        for line in lines(options.names or [*NAMES], options.rounds):
            print(line, flush=True)
    return 0
