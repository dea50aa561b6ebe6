"""`chadllvm bench`: the time of a function, and of its value with its gradient."""

from __future__ import annotations

import argparse
import time
from typing import Any

from chadllvm.api.compiled import Compiled
from chadllvm.cli.clock import Timing, measure
from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    function_of,
    gradient_of,
    positions,
)
from chadllvm.cli.given import Given, add_values, given
from chadllvm.cli.option_types import positive
from chadllvm.cli.output import amount, say, say_json, say_table, size
from chadllvm.cli.results import to_json
from chadllvm.cli.status import DONE
from chadllvm.driver.report import Report

EXAMPLES = """\
  chadllvm bench model.py:energy --shape x=1000000
  chadllvm bench model.py:energy x=points.npy stiffness=2 --wrt x --seconds 5 --json

What is not given is drawn at random. Times are those of the clock on the wall.
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    add_wrt(parser)
    parser.add_argument(
        "--seconds",
        type=positive,
        default=1.0,
        metavar="S",
        help="how long to repeat both (default 1)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Time both."""
    function = function_of(options, cache=False)
    arguments = given(function, options, draw=True)
    by = positions(function, options.wrt, arguments)
    gradient = gradient_of(function, by)
    both = {
        "value": _timing(function, arguments),
        "value and gradient": _timing(gradient, arguments),
    }
    measure(list(both.values()), options.seconds)
    stored = _stored(gradient.report(*arguments.positional, **arguments.by_name))
    if options.json:
        say_json(to_json(_as_json(both, stored)))
    else:
        _show(both, stored)
    return DONE


def _timing(function: Compiled, arguments: Given) -> Timing:
    """After the first call, which compiles."""
    start = time.perf_counter()
    arguments.call(function)
    first = time.perf_counter() - start
    args, names = arguments.positional, arguments.by_name
    return Timing(lambda: function(*args, **names), first)


def _stored(report: Report) -> list[dict[str, Any]]:
    """What each step of a loop stores for the reverse."""
    return [
        {
            "name": stored.name,
            "line": stored.span.line,
            "bytes": stored.bytes,
            "why": stored.why,
        }
        for loop in report.loops
        for stored in loop.stored
        if stored.tape
    ]


def _as_json(both: dict[str, Timing], stored: list[dict[str, Any]]) -> dict[str, Any]:
    times = {
        name: {
            "median_seconds": timing.median,
            "calls": timing.calls,
            "first_call_seconds": timing.first,
            "peak_bytes": timing.memory,
        }
        for name, timing in both.items()
    }
    return {**times, "ratio": _ratio(both), "stored_each_step": stored}


def _ratio(both: dict[str, Timing]) -> float:
    value, gradient = both.values()
    return gradient.median / value.median


def _show(both: dict[str, Timing], stored: list[dict[str, Any]]) -> None:
    heads = ("", "median", "calls", "first call", "peak memory")
    rows = [
        (name, amount(t.median), str(t.calls), amount(t.first), size(t.memory))
        for name, t in both.items()
    ]
    say_table(heads, rows)
    say(f"the gradient with the value takes {_ratio(both):.2f} times the value")
    for item in stored:
        number = "an array" if item["bytes"] is None else size(item["bytes"])
        say(f"each step stores {item['name']} (line {item['line']}), {number}")
