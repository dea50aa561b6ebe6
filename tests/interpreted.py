"""Programs in the interpreter, which counts what they cost (paper, App. C)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chadllvm.api.compiled import Compiled
from chadllvm.driver.pipeline import Compilation
from chadllvm.frontend import specialise
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Program
from chadllvm.ir.value import to_value
from chadllvm.support.options import CompileOptions
from tests.leaves import all_leaves


def normalised(
    function: Compiled, args: Sequence[Any], options: CompileOptions | None = None
) -> tuple[Program, list[Any]]:
    """A program for these arguments, without derivatives and calls; their leaves."""
    types = function._types(args)
    source = specialise(function._function, types)
    values = [to_value(a, ty) for a, ty in zip(args, types, strict=True)]
    program = Compilation(options or CompileOptions()).normalised(source)
    return program, all_leaves(values, types)


def cost(function: Compiled, *args: Any, options: CompileOptions | None = None) -> int:
    """What a call costs, with the derivatives that are taken inside."""
    program, leaves = normalised(function, args, options)
    interpreter = Interpreter(program)
    interpreter.run(*leaves)
    return interpreter.cost
