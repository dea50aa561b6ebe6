"""How long compiling takes: the mixture's gradient, and ever longer programs.

There are straight lines, and programs of assignments, loops and branches in turns, as
people write them. Each figure is the best of a few fresh processes, so that nothing is
warm; what else the machine does is left out, and so are imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bench.measure import fresh
from bench.results import Figure
from bench.settings import Settings

TARGET_GMM = 1.0
TARGET_500_LINES = 5.0
TARGET_DOUBLING = 2.3

_GMM = """
import time
import chadllvm as cl
from bench.mixtures import random_problem
from examples.gmm_model import log_posterior
problem = random_problem(4, 2, 3)
value_and_grad = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3))
start = time.process_time()
value_and_grad(*problem.arguments)
print(time.process_time() - start)
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
start = time.process_time()
run(0.5)
print(time.process_time() - start)
"""

_MIXED = """
import linecache, math, sys, time
import numpy as np
import chadllvm as cl
lines = ["def mixed(x: cl.f64[:], a: float) -> float:\\n", "    s = 0.0\\n"]
count = int(sys.argv[1])
for k in range(count // 8):
    lines += [
        f"    t{k} = a * s + x[{k % 8}]\\n",
        "    for i in range(len(x)):\\n",
        f"        s += t{k} * x[i] * 0.5\\n",
        f"    if s > {k}.0:\\n",
        "        s = s / (1.0 + s * s)\\n",
        f"    u{k} = math.sin(t{k}) + math.exp(-s * s)\\n",
        f"    v = [u{k} * value for value in x]\\n",
        f"    s = s + v[{k % 7}] * a\\n",
    ]
lines += ["    return s\\n"]
name = "<mixed>"
linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
namespace = {"cl": cl, "math": math}
exec(compile("".join(lines), name, "exec"), namespace)
run = getattr(cl, sys.argv[2])(namespace["mixed"])
start = time.process_time()
run(np.linspace(0.1, 0.8, 8), 0.5)
print(time.process_time() - start)
"""


def measure(settings: Settings) -> Iterator[Figure]:
    """Seconds for each program, and the ratio each time the program doubles."""
    gmm = fresh(_GMM)
    yield Figure("gmm value and gradient, cold", gmm, "s", TARGET_GMM)
    sizes = (50, 100) if settings.quick else (1250, 2500, 5000, 10_000)
    for transform in ("jit", "grad"):
        yield from _growing(_STRAIGHT_LINE, sizes, transform, "assignments")
    sizes = (62, 125) if settings.quick else (62, 125, 250, 500, 1000)
    for transform in ("jit", "value_and_grad"):
        yield from _growing(_MIXED, sizes, transform, "lines")


def _growing(
    program: str, sizes: Sequence[int], transform: str, unit: str
) -> Iterator[Figure]:
    """The time for each size, and how it grows from one to the next."""
    times = {}
    for size in sizes:
        times[size] = fresh(program, str(size), transform)
        target = TARGET_500_LINES if (size, unit) == (500, "lines") else None
        yield Figure(f"{transform}, {size} {unit}", times[size], "s", target)
    for small, large in pairwise(sizes):
        name = f"{transform}, {large} to {small} {unit}"
        yield Figure(name, times[large] / times[small], "x", TARGET_DOUBLING)
