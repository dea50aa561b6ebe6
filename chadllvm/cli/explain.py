"""`chadllvm explain`: the rule that a message is about."""

from __future__ import annotations

import argparse

from chadllvm.cli.output import say
from chadllvm.cli.rules import UnknownCode, explain, listed
from chadllvm.cli.status import DONE, BadInput

EXAMPLES = """\
  chadllvm explain CL0401
  chadllvm explain --list
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("code", nargs="?", help="the code, as in CL0401")
    what.add_argument("--list", action="store_true", help="show all codes")


def run(options: argparse.Namespace) -> int:
    """Print a rule, with a program that fails and one that works, or all codes."""
    try:
        say(listed() if options.list else explain(options.code))
    except UnknownCode as unknown:
        raise BadInput(str(unknown)) from unknown
    return DONE
