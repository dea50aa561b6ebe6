"""`python -m bench scaling [workload…]`: work and span, and what 64 cores would give.

The operations of a call are counted with the arguments of the largest size: those of
its value, and those of its value with the gradient.
"""

from __future__ import annotations

import argparse

from bench.workload import workloads


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `scaling` among the commands of `python -m bench`."""
    scaling = commands.add_parser("scaling", help="count work and span of workloads")
    scaling.add_argument("names", nargs="*", metavar="workload", help="all, or some")
    scaling.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    known = workloads()
    for name in options.names:
        if name not in known:
            raise SystemExit(f"there is no workload {name!r}; there are {[*known]}")
    for name in options.names or known:
        workload = known[name]
        size = workload.sizes[-1]
        arguments = workload.problem(*size)
        report = workload.program.report(*arguments)  # type: ignore[attr-defined]
        for found in report.scaling:
            print(f"{name} {workload.named(size)} {found}")
    return 0
