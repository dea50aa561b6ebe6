"""How long compiling takes: the mixture's gradient, and ever longer straight lines.

Each figure is the best of a few fresh processes, so that nothing is warm and what else
the machine does is left out; imports are excluded.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

from bench.report import Figure, Settings

TARGET_GMM = 1.0
TARGET_DOUBLING = 2.3
REPEATS = 3

_GMM = """
import time
import chadllvm as cl
from bench.mixtures import random_problem
from examples.gmm_model import log_posterior
problem = random_problem(4, 2, 3)
value_and_grad = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3))
start = time.perf_counter()
value_and_grad(*problem.arguments)
print(time.perf_counter() - start)
"""

_STRAIGHT_LINE = """
import linecache, sys, time
import chadllvm as cl
steps = int(sys.argv[1])
lines = ["def chain(x: float) -> float:\\n", "    y = x\\n"]
lines += [f"    y = y * x + 0.{step % 7 + 1}\\n" for step in range(steps)]
lines += ["    return y\\n"]
name = "<chain>"
linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
namespace = {"cl": cl}
exec(compile("".join(lines), name, "exec"), namespace)
run = getattr(cl, sys.argv[2])(namespace["chain"])
start = time.perf_counter()
run(0.5)
print(time.perf_counter() - start)
"""


def measure(settings: Settings) -> Iterator[Figure]:
    """Seconds for each program, and the ratio each time the program doubles."""
    gmm = _fresh(_GMM)
    yield Figure("gmm value and gradient, cold", gmm, "s", TARGET_GMM)
    sizes = (50, 100) if settings.quick else (1250, 2500, 5000, 10_000)
    for transform in ("jit", "grad"):
        times = {}
        for size in sizes:
            times[size] = _fresh(_STRAIGHT_LINE, str(size), transform)
            yield Figure(f"{transform}, {size} assignments", times[size], "s")
        for small, large in pairwise(sizes):
            name = f"{transform}, {large} to {small} assignments"
            ratio = times[large] / times[small]
            yield Figure(name, ratio, "x", TARGET_DOUBLING)


def _fresh(program: str, *arguments: str) -> float:
    """The least of the seconds that a program prints, run by new interpreters."""
    command = [sys.executable, "-c", program, *arguments]
    return min(_printed(command) for _ in range(REPEATS))


def _printed(command: list[str]) -> float:
    """The number that a command prints."""
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[-1])
    return float(result.stdout)
