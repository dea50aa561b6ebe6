"""`chadllvm run`: call a function, and print its value and gradient."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    function_of,
    gradient_of,
    positions,
)
from chadllvm.cli.given import add_values, given
from chadllvm.cli.output import say, say_json
from chadllvm.cli.results import to_json
from chadllvm.cli.status import DONE

EXAMPLES = """\
  chadllvm run model.py:energy '[0.1, 0.5, 0.9]' 2.0
  chadllvm run model.py:energy x=points.npy stiffness=2 --grad
  chadllvm run model.py:energy --draw --shape x=100 --seed 3 --grad --wrt x --json
  echo '{"x": [0.1, 0.5], "stiffness": 2}' | chadllvm run model.py:energy --arguments -
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    parser.add_argument(
        "--draw", action="store_true", help="draw every argument that is not given"
    )
    parser.add_argument(
        "--grad", action="store_true", help="print the gradient beside the value"
    )
    add_wrt(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Call the function."""
    function = function_of(options)
    arguments = given(function, options, draw=options.draw)
    if not (options.grad or options.wrt):
        _show(arguments.call(function.value), None, options.json)
        return DONE
    by = positions(function, options.wrt, arguments)
    value, found = arguments.call(gradient_of(function, by))
    names = [function.parameters[k].name for k in by]
    _show(value, dict(zip(names, found, strict=True)), options.json)
    return DONE


def _show(value: Any, gradient: dict[str, Any] | None, as_json: bool) -> None:
    if as_json:
        parts = {} if gradient is None else {"gradient": gradient}
        return say_json(to_json({"value": value, **parts}))
    if gradient is None:
        return say(_text(value, ""))
    say(_text(value, "value: "))
    for name, part in gradient.items():
        say(_text(part, f"by {name}: "))


def _text(value: Any, title: str) -> str:
    """A value as Python writes it, without the dtypes of arrays and single numbers."""
    if isinstance(value, np.ndarray):
        return title + np.array2string(
            value, separator=", ", prefix=title, formatter={"float_kind": str}
        )
    return title + (str(value) if isinstance(value, np.generic) else repr(value))
