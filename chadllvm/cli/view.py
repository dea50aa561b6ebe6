"""`chadllvm view`: the source beside the stages of its compilation, as a page."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    function_of,
    gradient_of,
    positions,
)
from chadllvm.cli.given import add_values, examples
from chadllvm.cli.output import say
from chadllvm.cli.status import DONE, Failed, called

EXAMPLES = """\
  chadllvm view model.py:energy
  chadllvm view model.py:energy --grad --wrt x -o energy.html
  chadllvm view model.py:untyped '[1.0, 2.0]'

The page is one file, which asks nobody for anything. A function is compiled past the
cache, so that the times are those of a whole compilation.
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    parser.add_argument(
        "--grad", action="store_true", help="of the value with its gradient"
    )
    add_wrt(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the page that is written (default: the name of the function, and .html)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    function = function_of(options, cache=False)
    arguments = examples(function, options)
    shown = function
    if options.grad or options.wrt:
        shown = gradient_of(function, positions(function, options.wrt, arguments))
    args = () if arguments is None else arguments.positional
    names = {} if arguments is None else arguments.by_name
    page = called(shown.view, args, names)
    place = Path(options.output or f"{function.name}.html")
    try:
        _write(place, str(page))
    except OSError as error:
        raise Failed(f"{place}: {error.strerror or error}") from error
    say(str(place))
    return DONE


def _write(place: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    draft = place.with_name(f".{place.name}.{os.getpid()}.draft")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
