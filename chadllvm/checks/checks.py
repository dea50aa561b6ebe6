"""Debug mode: every operation is checked for what plain Python would have raised.

    c = iadd(a, b)                      ok = add_fits(a, b)
    y = log(x)                    →     c = iadd(a, b)
                                        y = log(x)
                                        ok_1 = no_pole(x, y)

It is applied to the source program as it stands, before anything is simplified, and so
to the primal of every derivative. The checks can fail, so no pass removes or reorders
them. Sums of integers are written out, to check each step. The library checks its
arguments itself, and is left alone.
"""

from __future__ import annotations

import os

from chadllvm.checks.sequential import sequential
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, rebuild, with_body
from chadllvm.ir.term import Apply, Binding, Block, Operand, Program, Var
from chadllvm.ir.types import BOOL, I64
from chadllvm.support.diagnostic import Span
from chadllvm.support.package import FOLDER

_LIBRARY = os.path.join(FOLDER, "prelude")


def add_checks(program: Program) -> Program:
    """The program with its arithmetic checked."""
    return map_functions(
        program, lambda f: f if in_library(f.span) else with_body(f, _block(f.body))
    )


def in_library(span: Span) -> bool:
    """Whether this is in a function of ours, which looks after itself."""
    return bool(span.within) or span.file.startswith(_LIBRARY)


def _block(block: Block) -> Block:
    bindings: list[Binding] = []
    for binding in block.bindings:
        if binding.vars and binding.vars[0].type == I64:
            binding = sequential(binding)
        match binding.expr:
            case Apply(Prim(check=check), args) if check:
                bindings += _checked(PRIMS[check], args, binding)
            case expr:
                inside = rebuild(expr, _block)
                bindings.append(Binding(binding.vars, inside, binding.span))
    return Block(tuple(bindings), block.results)


def _checked(check: Prim, args: tuple[Operand, ...], binding: Binding) -> list[Binding]:
    """A binding with a check of its arguments, or of these and its result."""
    every = (*args, *binding.vars)[: len(check.params)]
    ok = Binding((Var("ok", BOOL),), Apply(check, every), binding.span)
    return [ok, binding] if len(every) == len(args) else [binding, ok]
