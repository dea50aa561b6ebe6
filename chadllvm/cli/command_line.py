"""The command line: `python -m chadllvm` and `chadllvm`.

Each command has a file of its own. What they take by position may stand between and
behind their options, and may be negative numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence

from chadllvm._version import __version__
from chadllvm.cli import status
from chadllvm.cli.output import complain
from chadllvm.cli.status import BadInput, Failed, Raised
from chadllvm.support.diagnostic import CompileError
from chadllvm.support.package import FOLDER

COMMANDS = {
    "run": "call a function, and print its value and gradient",
    "check": "compare a gradient with differences of values",
    "bench": "time a function and its gradient",
    "show": "print a program at a stage of its compilation",
    "view": "write a page with the source beside the stages of its compilation",
    "export": "make a C library of functions and their gradients",
    "cache": "list, check or remove what compiled functions leave on disk",
    "explain": "tell the rule that the code of a message names",
    "doctor": "tell what this machine has, and what is wrong with it",
}

_NUMBER = re.compile(r"-[\d.]\S*|-inf")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line; completions for shells can be made of it.

    Args:
        only: the command whose arguments are wanted, so that what the others need is
            not imported.
    """
    made = argparse.ArgumentParser(
        "chadllvm",
        description="Gradients of ordinary typed Python functions at native speed.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=__version__)
    commands = made.add_subparsers(metavar="command", required=True)
    for name, what in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if only in (None, name):
            module = importlib.import_module(f"chadllvm.cli.{name}")
            command.epilog = f"examples:\n{module.EXAMPLES}"
            module.describe(command)
            command.set_defaults(run=module.run)
    return made


def _epilog() -> str:
    meanings = status.MEANINGS.items()
    lines = "\n".join(f"  {code:<4} {meaning}" for code, meaning in meanings)
    return (
        "`chadllvm COMMAND --help` shows what a command takes, with examples.\n\n"
        f"exit statuses:\n{lines}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status (`commands/status.py`)."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    made = parser(next((word for word in words if word in COMMANDS), ""))
    if not words:
        made.print_help(sys.stderr)
        return status.BAD_INPUT
    options, rest = made.parse_known_args(words)
    unknown = [word for word in rest if word[:1] == "-" and not _is_value(word)]
    if unknown or (rest and "values" not in options):
        made.error(f"unrecognized arguments: {' '.join(unknown or rest)}")
    if rest:
        options.values += rest
    return _run(options)


def _is_value(word: str) -> bool:
    return word == "-" or _NUMBER.fullmatch(word) is not None


def _run(options: argparse.Namespace) -> int:
    try:
        result: int = options.run(options)
        sys.stdout.flush()
        return result
    except BadInput as error:
        complain(str(error))
        return status.BAD_INPUT
    except Failed as error:
        complain(str(error))
        return status.NO
    except CompileError as error:
        sys.stderr.write(f"{error}\n")
        return status.REFUSED
    except Raised as raised:
        sys.stderr.write(_told(raised.__cause__))
        return status.RAISED
    except KeyboardInterrupt:
        return status.INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on, and Python must not find that out again when it ends.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status.CLOSED_PIPE
    except Exception:
        traceback.print_exc()
        complain("this is a defect of chadllvm")
        return status.DEFECT


def _told(error: BaseException | None) -> str:
    """What the user's program raised, with the lines of the user's files alone."""
    assert error is not None
    told = traceback.TracebackException.from_exception(error)
    kept = [f for f in told.stack if not f.filename.startswith((FOLDER, "<frozen "))]
    told.stack = traceback.StackSummary.from_list(kept)
    return "".join(told.format(chain=False))
