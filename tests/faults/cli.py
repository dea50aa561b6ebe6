"""The command line of the faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tests.faults import Fault, guards
from tests.faults.allocations import MODES, refused, some_programs
from tests.faults.interrupts import interrupted
from tests.faults.processes import SCRIPTS, survives

# Calls that are interrupted, before it is told what became of them.
BATCH = 500

# Parts of the corpus, each in a process between guards.
PARTS = 12

KINDS = ("allocations", "guards", "interrupts", "processes")


def main(arguments: list[str]) -> int:
    """Run what is asked for; 1 if something is not survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("kinds", nargs="*", default=KINDS, help=", ".join(KINDS))
    parser.add_argument("--programs", type=int, default=50, help="with allocations")
    parser.add_argument("--calls", type=int, default=10_000, help="with interrupts")
    parser.add_argument("--rounds", type=int, default=20, help="of each process")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    given = parser.parse_args(arguments)
    failed = 0
    for kind in given.kinds:
        for name, outcome in _outcomes(kind, given):
            failed += isinstance(outcome, Fault)
            print(f"{kind:12} {name:40} {outcome}", flush=True)
    return bool(failed)


def _outcomes(
    kind: str, given: argparse.Namespace
) -> Iterator[tuple[str, Fault | str]]:
    if kind == "allocations":
        for case in some_programs(given.programs):
            for mode in MODES:
                yield f"{case.name}, {mode}", _tried(refused, case, mode)
    elif kind == "guards":
        for part in range(PARTS):
            for mode in guards.MODES:
                name = f"part {part + 1} of {PARTS}, {mode}"
                yield name, _tried(guards.behind_guards, part, PARTS, mode)
    elif kind == "interrupts":
        for first in range(0, given.calls, BATCH):
            count = min(BATCH, given.calls - first)
            name = f"calls {first} to {first + count}"
            yield name, _tried(interrupted, count, given.seed + first)
    elif kind == "processes":
        for name in SCRIPTS:
            yield name, _tried(survives, name, given.rounds, given.seed)
    else:
        raise SystemExit(f"no such kind: {kind}; there are {', '.join(KINDS)}")


def _tried(check: object, *args: object) -> Fault | str:
    try:
        return str(check(*args))  # type: ignore[operator]
    except Fault as fault:
        return fault
