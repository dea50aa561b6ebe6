"""`chadllvm check`: a function's gradient against central differences."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from chadllvm.api.checking import check_grads
from chadllvm.api.compiled import Compiled
from chadllvm.cli.differences import Comparison, Row
from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    function_of,
    positions,
)
from chadllvm.cli.given import Given, add_values, given
from chadllvm.cli.option_types import count, positive
from chadllvm.cli.output import say, say_json, say_table
from chadllvm.cli.results import to_json
from chadllvm.cli.status import DONE, NO, BadInput

EXAMPLES = """\
  chadllvm check model.py:energy
  chadllvm check model.py:energy x=points.npy stiffness=2 --entries 0
  chadllvm check model.py:energy --shape x=1000 --between 1,2 --order 2 --json

What is not given is drawn at random. Exit status 1 says that derivatives disagree.
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    add_wrt(parser)
    parser.add_argument(
        "--entries",
        type=count,
        default=20,
        metavar="N",
        help="how many numbers of each argument to move, chosen at random (default 20; "
        "0: all)",
    )
    parser.add_argument(
        "--tolerance",
        type=positive,
        metavar="T",
        help="how far they may be apart (default 1e-6, with f32 2e-2), relative to the "
        "derivative if that is above 1",
    )
    parser.add_argument(
        "--step",
        type=positive,
        metavar="H",
        help="the step of differences (default 6e-6, with f32 2e-2), relative to a "
        "number above 1",
    )
    parser.add_argument(
        "--order",
        type=count,
        default=1,
        help="up to which order derivatives are checked, in both modes (default 1)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Compare, and show the table."""
    function = function_of(options)
    arguments = given(function, options, draw=True)
    by = positions(function, options.wrt, arguments)
    random = np.random.default_rng(options.seed)
    comparison = Comparison(
        function, arguments, random, options.step, options.tolerance
    )
    rows = list(comparison.rows(by, options.entries))
    wrong = [row for row in rows if not row.agrees]
    message = "" if wrong else _higher(function, arguments, options)
    if options.json:
        say_json(to_json(_as_json(rows, message)))
    else:
        _show(rows, message)
    return NO if wrong or message else DONE


def _higher(function: Compiled, given: Given, options: argparse.Namespace) -> str:
    """What is wrong with derivatives of higher order; empty if nothing is."""
    if options.order == 1:
        return ""
    if options.order < 1 or given.by_name:
        raise BadInput(f"--order {options.order}: no such derivatives to check")
    try:
        check_grads(function, given.positional, order=options.order)
    except AssertionError as error:
        return str(error)
    except ValueError as error:
        raise BadInput(str(error)) from error
    return ""


def _as_json(rows: list[Row], message: str) -> dict[str, Any]:
    agree = not message and all(row.agrees for row in rows)
    listed = [{**asdict(r), "error": r.error, "agrees": r.agrees} for r in rows]
    return {"agree": agree, "rows": listed, "higher_orders": message or None}


def _show(rows: list[Row], message: str) -> None:
    heads = ("argument", "ours", "difference", "error", "")
    say_table(heads, [_cells(row) for row in rows])
    wrong = sum(not row.agrees for row in rows)
    if wrong:
        say(f"{wrong} of {len(rows)} derivatives disagree")
    else:
        say(message or f"{len(rows)} derivatives agree")


def _cells(row: Row) -> tuple[str, ...]:
    place = row.place or f"{row.argument}, a direction"
    numbers = (f"{row.ours:.10g}", f"{row.difference:.10g}", f"{row.error:.2g}")
    return (place, *numbers, "" if row.agrees else "<- wrong")
