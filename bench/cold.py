"""How long a workload's value with its gradient takes to compile in a new process."""

from __future__ import annotations

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


def compile_seconds(name: str, repeats: int) -> float:
    """Seconds of the processor from the first call to its result; imports are done."""
    return fresh(_COMPILE, name, repeats=repeats)
