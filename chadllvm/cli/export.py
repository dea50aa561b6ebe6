"""`chadllvm export`: a function, and its gradient, as a C library."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from chadllvm.api.compiled import Compiled
from chadllvm.api.exporting import export
from chadllvm.cli.function_options import (
    add_function,
    add_wrt,
    changes_of,
    function_of,
    gradient_of,
    positions,
)
from chadllvm.cli.given import Given, add_values, examples
from chadllvm.cli.output import say, say_json
from chadllvm.cli.status import DONE, BadInput, Failed
from chadllvm.cli.target import load

EXAMPLES = """\
  chadllvm export model.py:energy --grad -o build/libmodel
  chadllvm export model.py:energy --also model.py:force --kind shared,static
  chadllvm export model.py:energy --cpu native --openmp
  chadllvm export model.py:energy --kind object --target aarch64-linux-gnu
  chadllvm export model.py:untyped --shape x=3

With --grad there is `energy_grad` beside `energy`, which gives value and gradient. Of
parameters without a full annotation, arguments (given or drawn) say the types.
"""


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_function(parser)
    add_values(parser)
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="FUNCTION",
        help="another function for the same library; all of its types are annotated",
    )
    parser.add_argument(
        "--grad", action="store_true", help="export the gradient of each, too"
    )
    add_wrt(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="the folder that is made, named as the library (default: lib and the name "
        "of the file)",
    )
    parser.add_argument(
        "--kind",
        default="shared",
        help="shared, static, both (shared,static), or object (default shared)",
    )
    parser.add_argument(
        "--cpu",
        help="the least processor it runs on, native, or several levels of x86-64 from "
        "which the library chooses (default: any of the target, and for libraries "
        "x86-64,x86-64-v3)",
    )
    parser.add_argument(
        "--target", metavar="TRIPLE", help="another system, as aarch64-linux-gnu"
    )
    parser.add_argument(
        "--openmp", action="store_true", help="let calls run on several threads"
    )
    parser.add_argument("--cc", help="the C compiler, with options for it")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Make the library."""
    functions = _functions(options)
    folder = Path(options.output or f"lib{_stem(options.function)}")
    cpus = None if options.cpu is None else tuple(options.cpu.split(","))
    try:
        made = export(
            functions,
            folder,
            kind=tuple(options.kind.split(",")),
            cpu=cpus[0] if cpus is not None and len(cpus) == 1 else cpus,
            target=options.target,
            openmp=options.openmp,
            cc=options.cc,
        )
    except (TypeError, ValueError, FileExistsError) as error:
        raise BadInput(str(error)) from error
    except (RuntimeError, OSError) as error:
        raise Failed(str(error)) from error
    _show(made, folder, list(functions), options.json)
    return DONE


def _functions(options: argparse.Namespace) -> dict[str, Any]:
    """What is exported, by its names in C: functions, or functions with arguments."""
    function = function_of(options)
    arguments = examples(function, options)
    found = {function.name: _with(function, arguments)}
    if options.grad or options.wrt:
        by = positions(function, options.wrt, arguments)
        found[f"{function.name}_grad"] = _with(gradient_of(function, by), arguments)
    for target in options.also:
        more = load(target, **changes_of(options))
        if more.name in found:
            raise BadInput(f"--also {target}: there are two functions {more.name}")
        found[more.name] = more
        if options.grad:
            found[f"{more.name}_grad"] = gradient_of(more, positions(more, None, None))
    return found


def _with(function: Compiled, arguments: Given | None) -> Any:
    return function if arguments is None else (function, arguments.positional)


def _stem(target: str) -> str:
    """The name of a file or module, without its folder."""
    place = target.partition(":")[0]
    return Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]


def _show(made: Path, folder: Path, names: list[str], as_json: bool) -> None:
    files = sorted(str(path) for path in folder.rglob("*") if path.is_file())
    if as_json:
        return say_json({"library": str(made), "functions": names, "files": files})
    say(f"{made} with {', '.join(names)}")
    for file in files:
        say(f"  {file}")
