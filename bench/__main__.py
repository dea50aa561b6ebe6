"""`python -m bench`, from the root of the repository.

`run` measures the workloads and prints their tables, `report` puts the tables of a run
into the documentation, `compare` finds what became slower between two runs, `turns`
does so for two versions that take turns, `ablation` what each pass of the optimiser is
worth, `loops` what the machine code of the hot loops is made of, `threads` what several
threads are worth, `scaling` what many cores would be, `recursion` what loops cost
beside a recursive function, `exported` what libraries cost beside compiled functions,
and `paper` checks the claims of the paper.
"""

from __future__ import annotations

import argparse
import sys

import bench.ablation
import bench.exported
import bench.loops
import bench.recursion
import bench.regressions
import bench.report
import bench.run
import bench.scaling
import bench.threads
import bench.turns
from bench.paper.command import add_command as add_paper

COMMANDS = (
    bench.run,
    bench.report,
    bench.regressions,
    bench.ablation,
    bench.loops,
    bench.recursion,
    bench.threads,
    bench.exported,
    bench.scaling,
    bench.turns,
)


def main() -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for command in COMMANDS:
        command.add_command(commands)
    add_paper(commands)
    options = parser.parse_args()
    status: int = options.run(options)
    return status


if __name__ == "__main__":
    sys.exit(main())
