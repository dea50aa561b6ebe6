"""`chadllvm doctor`: what the machine has, and what is wrong with it."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from chadllvm.cli.machine import Finding, Health, examine
from chadllvm.cli.output import say, say_json
from chadllvm.cli.status import DONE, NO

EXAMPLES = """\
  chadllvm doctor
  chadllvm doctor --json

Exit status 1 says that something is broken: compiled functions do not run rightly.
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Look at everything, and tell it."""
    found = list(examine())
    if options.json:
        say_json([{**asdict(f), "health": f.health.value} for f in found])
    else:
        _show(found)
    return NO if any(f.health is Health.BROKEN for f in found) else DONE


def _show(found: list[Finding]) -> None:
    width = max(len(f.name) for f in found)
    for finding in found:
        mark = finding.health.value.ljust(6)
        say(f"{mark} {finding.name.ljust(width)}  {finding.text}")
        if finding.remedy:
            say(f"{' ' * (width + 9)}{finding.remedy}")
