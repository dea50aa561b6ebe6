"""`debug_nans`: every operation is checked for making a NaN of numbers that are none.

    y = div(x, x)                 →     y = div(x, x)
                                        ok = no_nan["{0} / {1}"](y, x, x)

It is applied last, to the derivative as it stands, from which only what nobody asked
for was removed. The places in backpropagators are named so, and those of tangents: a
message says "in the reverse of f". Sums are written out, to check each step; of cells
the totals are checked (`totals.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from chadllvm.checks.checks import in_library
from chadllvm.checks.sequential import sequential
from chadllvm.checks.totals import given_nans, total_check
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere, map_functions, rebuild, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Function,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import BOOL, I64
from chadllvm.ops.no_nan import NoNan
from chadllvm.support.diagnostic import Span

# What gives one of its arguments, or a part of one: a NaN is older than these.
_PASSING = {
    *("neg", "abs", "select", "minimum", "maximum", "copysign", "sign", "stop"),
    *("to_float", "to_single", "narrow", "widen"),
    *("floor", "ceil", "trunc", "rint", "round_to", "ldexp"),
}

_SYMBOLS = {
    **{"add": "+", "sub": "-", "mul": "*", "scale": "*", "div": "/"},
    **{"floordiv": "//", "mod": "%", "pow": "**", "powi": "**"},
}


def check_nans(program: Program) -> Program:
    """The program with a check behind everything that may make a NaN."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    found = given_nans(function)
    if found is None:
        return with_body(function, _Checking(None).block(function.body))
    marks, given = found
    block = _Checking(given).block(function.body)
    return with_body(function, Block((*marks, *block.bindings), block.results))


class _Checking:
    """Puts checks into blocks; `given` is a NaN if the program was given one."""

    def __init__(self, given: Operand | None) -> None:
        self.given = given

    def block(self, block: Block) -> Block:
        bindings: list[Binding] = []
        for binding in block.bindings:
            if binding.vars and binding.vars[0].type not in (I64, BOOL):
                binding = sequential(binding)
            inside = rebuild(binding.expr, self.block)
            bindings.append(Binding(binding.vars, inside, binding.span))
            bindings += self._checks(binding)
        return Block(tuple(bindings), block.results)

    def _checks(self, binding: Binding) -> list[Binding]:
        match binding.expr:
            case Apply(Prim() as op, args) if _may_make(op, binding.span):
                check = Apply(NoNan(_text(op)), (binding.vars[0], *args))
                return [Binding((Var("ok", BOOL),), check, binding.span)]
            case Close() if self.given is not None:
                return total_check(binding.vars[0], self.given, binding.span)
            case _:
                return []


def _may_make(op: Prim, span: Span) -> bool:
    if in_library(span):
        return False
    return op.result not in (I64, BOOL) and op.name not in _PASSING


def _text(op: Prim) -> str:
    if op.name in _SYMBOLS:
        return f"{{0}} {_SYMBOLS[op.name]} {{1}}"
    shown = ", ".join(f"{{{k}}}" for k in range(len(op.params)))
    return f"{op.name}({shown})"


# ---- where the derivative's operations are ---------------------------------------


def name_reverse(program: Program) -> Program:
    """Name the places in backpropagators after the pass that they belong to."""
    return map_functions(program, lambda f: with_body(f, _named(f.body, False)))


def _named(block: Block, in_reverse: bool) -> Block:
    bindings = []
    for binding in block.bindings:
        below = in_reverse or isinstance(binding.expr, Lambda)
        inside = rebuild(binding.expr, partial(_named, in_reverse=below))
        span = _part(binding.span, "reverse") if in_reverse else binding.span
        bindings.append(Binding(binding.vars, inside, span))
    return Block(tuple(bindings), block.results)


def name_tangents(program: Program, before: Program) -> Program:
    """Name the places of what the program before had not."""
    known = set(_variables(before.entry.body))

    def named(block: Block) -> Block:
        bindings = []
        for binding in block.bindings:
            inside, span = rebuild(binding.expr, named), binding.span
            if not isinstance(binding.expr, Lambda) and known.isdisjoint(binding.vars):
                span = _part(span, "tangents")
            bindings.append(Binding(binding.vars, inside, span))
        return Block(tuple(bindings), block.results)

    return map_functions(program, lambda f: with_body(f, named(f.body)))


def _variables(block: Block) -> Collection[Var]:
    return [var for binding in everywhere(block) for var in binding.vars]


def _part(span: Span, what: str) -> Span:
    """The place in a part of the derivative of the function that it is in."""
    return (
        span._replace(function=f"the {what} of {span.function}") if span.line else span
    )
