"""What a new process takes until it has the first value with its gradient."""

from __future__ import annotations

from collections.abc import Iterable
from tempfile import TemporaryDirectory

from bench.measure import fresh

# The arguments are small, so that running takes next to nothing.
_COMPILE = """
import sys, time
import chadllvm as cl
from bench.workload import workloads
workload = workloads()[sys.argv[1]]
case = workload.case(workload.small)
start = time.process_time()
case.gradient()(*case.arguments)
print(time.process_time() - start)
"""

# NumPy is there already, as users have it for their data. `Workload` is a stand-in: the
# real one loads the compiler, which what is kept on disk has no need of.
_OURS = """
import importlib, os, sys, time
from types import ModuleType, SimpleNamespace
import numpy
kept = os.environ["CHADLLVM_CACHE"]
form = sys.modules["bench.workload"] = ModuleType("bench.workload")
form.Workload = lambda program, problem, **rest: SimpleNamespace(
    program=program, problem=problem, **rest
)
start = time.perf_counter()
import chadllvm as cl
workload = importlib.import_module("bench.workloads." + sys.argv[1]).WORKLOAD
before = time.perf_counter() - start
os.environ["CHADLLVM_CACHE"] = kept  # the package of benchmarks turns it off
arguments = workload.problem(*workload.small)
start = time.perf_counter()
cl.value_and_grad(workload.program, argnums=workload.argnums)(*arguments)
print(before + time.perf_counter() - start)
"""
_PEERS = """
import importlib, sys, time
workload = importlib.import_module("bench.workloads." + sys.argv[1]).WORKLOAD
case = workload.case(workload.small)
start = time.perf_counter()
prepared = importlib.import_module("bench.peers.with_" + sys.argv[2]).prepare(
    sys.argv[1], case
)
(prepared.gradient or prepared.value)()
print(time.perf_counter() - start)
"""

OURS, CACHED = "chadllvm", "chadllvm, cached"


def compile_seconds(name: str, repeats: int) -> float:
    """Seconds of the processor from the first call to its result; imports are done."""
    return fresh(_COMPILE, name, repeats=repeats)


def first_seconds(name: str, peers: Iterable[str], repeats: int) -> dict[str, float]:
    """Seconds that pass from the import of a system to its first value and gradient.

    For a system without gradients, to its first value. Ours is also measured with what
    an earlier process has kept on disk.
    """
    found = {OURS: fresh(_OURS, name, repeats=repeats)}
    with TemporaryDirectory() as folder:
        kept = {"CHADLLVM_CACHE": "1", "CHADLLVM_CACHE_DIR": folder}
        fresh(_OURS, name, repeats=1, variables=kept)
        found[CACHED] = fresh(_OURS, name, repeats=repeats, variables=kept)
    for peer in peers:
        found[peer] = fresh(_PEERS, name, peer, repeats=repeats)
    return found
