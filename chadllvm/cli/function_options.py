"""What all commands about a function take: which function, and how it is compiled."""

from __future__ import annotations

import argparse
from typing import Any

from chadllvm.api.compiled import Compiled
from chadllvm.api.transforms import value_and_grad
from chadllvm.cli.given import Given, says_reals
from chadllvm.cli.status import BadInput
from chadllvm.cli.target import load
from chadllvm.support.options import LEVELS


def add_function(parser: argparse.ArgumentParser) -> None:
    """The function, and the options of its compilation."""
    parser.add_argument(
        "function",
        help="model.py:f or package.module:f; model.py alone, if it has one function "
        "with @cl.jit",
    )
    parser.add_argument(
        "--optimize",
        type=int,
        choices=LEVELS,
        help="0: run what CHAD gives as it stands, as an oracle",
    )
    parser.add_argument(
        "--debug", action="store_true", help="check all arithmetic, as Python does"
    )
    parser.add_argument(
        "--no-contract",
        dest="contract",
        action="store_false",
        help="round each product and each sum by itself",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="compute in the program's order, bit for bit as the interpreter does",
    )


def add_wrt(parser: argparse.ArgumentParser) -> None:
    """The parameters to differentiate by."""
    parser.add_argument(
        "--wrt",
        metavar="x,y",
        help="the parameters to differentiate by (default: all with real numbers)",
    )


def function_of(options: argparse.Namespace, **changes: Any) -> Compiled:
    """The function that is meant, with these options of its compilation besides."""
    return load(options.function, **changes_of(options), **changes)


def changes_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options of the compilation that were given."""
    changes: dict[str, Any] = {}
    if options.optimize is not None:
        changes["optimize"] = options.optimize
    if options.debug:
        changes["debug"] = True
    if not options.contract:
        changes["contract"] = False
    if options.strict:
        changes["strict"] = True
    return changes


def positions(function: Compiled, wrt: str | None, given: Given | None) -> list[int]:
    """The positions of the parameters to differentiate by.

    Args:
        given: the arguments, which say what holds reals where annotations do not.

    Raises:
        BadInput: if there is no such parameter, or none with reals.
    """
    names = [p.name for p in function.parameters]
    if wrt is None:
        found = given.real() if given is not None else _annotated(function)
        if not found:
            raise BadInput(f"{function.name}() has no parameter with real numbers")
        return found
    wanted = [name.strip() for name in wrt.split(",")]
    for name in wanted:
        if name not in names:
            raise BadInput(f"{function.name}() has no parameter {name!r}")
    return [names.index(name) for name in wanted]


def _annotated(function: Compiled) -> list[int]:
    return [k for k, p in enumerate(function.parameters) if says_reals(p)]


def gradient_of(function: Compiled, by: list[int]) -> Compiled:
    """The function that gives the value and a tuple of gradients."""
    try:
        return value_and_grad(function, tuple(by))
    except ValueError as error:
        raise BadInput(str(error)) from error
