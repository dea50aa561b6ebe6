"""Why an array is copied rather than written to, and why a value is kept for the
reverse, as the user reads it."""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.closure.tape import BUDGET
from chadllvm.ir.op import Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    If,
    Var,
    nested,
    operands,
)
from chadllvm.ops.index import Dim, Index
from chadllvm.support.diagnostic import NO_SPAN, Span

# What a buffer is that must not be written to.
ARGUMENT = "it is an argument"
CONSTANT = "it is a constant of the program"
KEPT = "the reverse needs it as it was"
OUTSIDE = "it is made outside of the loop, whose other steps use it"
STATE = "it is the state of a loop, and not updated by every step"
IN_THE_LOOP = "the loop uses it besides"
UNKNOWN = "it is made in several ways"

# Why a copy is made elsewhere.
WAITING = "it belongs into an array that is there already"
EXACT = "the list was made with room for its elements only"
NOT_FRESH = "what is returned has to be an array of its own"
RENEWED = "a step has made it anew, and others update it where it is"
NEXT_STATE = "the next step needs it, and it is not made in its place"
ROW = "its rows are there already, or in another array"
FIRST_ROW = "how long its rows are is known only when the first one is there"


# Why a value is kept for the reverse rather than computed again.
_BEFORE = "the step before made it"
_READ = "what it is read from is overwritten"
_LOOP = "a loop made it"
_CALL = "a call made it"
_BRANCH = "a branch made it"
_HEAVY = "that takes less time than to compute it again"
_CUT = "that takes less memory than what it is made of"

# What has no name in the program.
UNNAMED = "an array"


def display(var: Var) -> str:
    """How a variable is called where the user reads of it."""
    return UNNAMED if var.name == "t" else var.name


def stored_because(binding: Binding | None) -> str:
    """Why a value is on the tape; None if no binding of the step makes it."""
    if binding is None:
        return _BEFORE
    match binding.expr:
        case Apply(Index()):
            return _READ
        case Apply(Prim(cycles=cycles)):
            return _HEAVY if cycles > BUDGET else _CUT
        case If():
            return _BRANCH
        case Call():
            return _CALL
        case _:
            return _LOOP


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a buffer was not taken over; `span` is the place that it speaks of."""

    text: str
    span: Span = NO_SPAN


def used_at(var: Var, block: Block, position: int) -> Reason:
    """The use of a variable at a place of a block."""
    if position == len(block.bindings):
        return Reason(f"{display(var)} is a result")
    binding = block.bindings[position]
    for _, inner in nested(binding.expr):
        at = last_uses(inner).get(var, -1)
        if 0 <= at < len(inner.bindings):
            return used_at(var, inner, at)
    return Reason(f"{display(var)} is used later", binding.span)


def last_uses(block: Block) -> dict[Var, int]:
    """The place of the last use of each variable in a block; results are at its end."""
    found: dict[Var, int] = {}
    for position, binding in enumerate(block.bindings):
        found.update(dict.fromkeys(buffers_used(binding.expr), position))
    end = len(block.bindings)
    found.update((r, end) for r in block.results if isinstance(r, Var))
    return found


def buffers_used(expr: Expr) -> set[Var]:
    """The variables that an expression reads; the size of an array is not in it."""
    if isinstance(expr, Apply) and isinstance(expr.op, Dim):
        return set()
    found = {v for v in operands(expr) if isinstance(v, Var)}
    for _, block in nested(expr):
        for binding in block.bindings:
            found |= buffers_used(binding.expr)
        found.update(r for r in block.results if isinstance(r, Var))
    return found
