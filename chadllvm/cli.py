"""The command line: `python -m chadllvm` and `chadllvm`.

chadllvm explain CL0401      what the rule of a message is, with examples
chadllvm explain --list      all codes
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from chadllvm._version import __version__
from chadllvm.explain import UnknownCode, explain, listed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, or 2 for what is not understood."""
    parser = argparse.ArgumentParser("chadllvm", description="The chadllvm compiler.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="command", required=True)
    explaining = commands.add_parser(
        "explain", help="what the code of a message means", description=_explain.__doc__
    )
    what = explaining.add_mutually_exclusive_group(required=True)
    what.add_argument("code", nargs="?", help="the code, as in CL0401")
    what.add_argument("--list", action="store_true", help="show all codes")
    explaining.set_defaults(run=_explain)
    options = parser.parse_args(arguments)
    status: int = options.run(options)
    return status


def _explain(options: argparse.Namespace) -> int:
    """Tell the rule that a message is about, with a program that fails and one that
    works."""
    try:
        text = listed() if options.list else explain(options.code)
    except UnknownCode as unknown:
        sys.stderr.write(f"chadllvm: {unknown}\n")
        return 2
    sys.stdout.write(text + "\n")
    return 0
