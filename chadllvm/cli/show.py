"""`chadllvm show`: the program at a stage of its compilation."""

from __future__ import annotations

import argparse

from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    function_of,
    gradient_of,
    positions,
)
from chadllvm.cli.given import add_values, examples
from chadllvm.cli.output import say_program
from chadllvm.cli.status import DONE, called
from chadllvm.driver.shown import STAGES

EXAMPLES = """\
  chadllvm show model.py:energy --stage core
  chadllvm show model.py:energy --stage simplified --grad --wrt x
  chadllvm show model.py:untyped '[1.0, 2.0]' --stage asm | less
  chadllvm show model.py:energy --stage report --grad
"""

# What is said of the loops is a stage as well.
_REPORT = "report"

# The languages of Pygments that come close.
_LANGUAGES = {"source": "python", "llvm": "llvm", "asm": "gas", _REPORT: "text"}


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    parser.add_argument(
        "--stage",
        choices=(*STAGES, _REPORT),
        default="simplified",
        help="which stage (default simplified); report tells what is copied and stored",
    )
    parser.add_argument(
        "--grad", action="store_true", help="of the value with its gradient"
    )
    add_wrt(parser)


def run(options: argparse.Namespace) -> int:
    """Print the stage."""
    function = function_of(options)
    arguments = examples(function, options)
    shown = function
    if options.grad or options.wrt:
        shown = gradient_of(function, positions(function, options.wrt, arguments))
    args = () if arguments is None else arguments.positional
    names = {} if arguments is None else arguments.by_name
    if options.stage == _REPORT:
        text = called(shown.report, args, names)
    else:
        text = called(shown.show, (options.stage, *args), names)
    say_program(str(text).rstrip(), _LANGUAGES.get(options.stage, "rust"))
    return DONE
