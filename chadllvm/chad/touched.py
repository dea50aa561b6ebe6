"""Which variables are touched: their cotangent is surely used when the results' are.

Results asked for are touched if their own cotangents are. What a primitive reads is
touched if its result is, and what both branches of an `if` touch. Elements of an array
never are, for nobody need use them. The state of a loop is touched in every step if it
is after the last and each step hands it on. So is what is added to the cell of a number
whose sum is. So every way to write a sum gives the same answer. What is added to the
cell of an array is not touched, for nobody need use the element.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.term import Apply, Block, Close, If, Lambda, One, Operand, Var
from chadllvm.ir.types import Acc, Scalar
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.scalar.row import no_derivative


def touched_variables(
    block: Block, results: Sequence[bool], cells: Collection[Var] = ()
) -> set[Var]:
    """The touched variables in and around a block; `results`: which results are.

    Cells of numbers are among them if their sums are touched; `cells` are those that
    are closed outside of the block.
    """
    found = {
        r
        for r, flag in zip(block.results, results, strict=True)
        if flag and isinstance(r, Var)
    }
    found.update(cells)
    for binding in reversed(block.bindings):
        flags = [v in found for v in binding.vars]
        match binding.expr:
            case One(Var() as cell, (), Var() as value) if cell in found:
                found.add(value)
            case Close(Var(type=Acc(Scalar())) as cell) if any(flags):
                found.add(cell)
        if not any(flags):
            continue
        match binding.expr:
            case Apply(Prim(selective=False) as op, args):
                if op.transpose is not None and op.transpose is not no_derivative:
                    found.update(_variables(args))
            case If(_, then, orelse):
                both = (touched_variables(b, flags, cells) for b in (then, orelse))
                found |= set.intersection(*both)
            case Apply(Iterate(), args, (body,)):
                kept = touched_states(body, flags, cells)
                chosen = [a for a, flag in zip(args[1:], kept, strict=True) if flag]
                found.update(_variables(chosen))
    return found


def touched_states(
    body: Lambda, finals: Sequence[bool], cells: Collection[Var] = ()
) -> list[bool]:
    """The states of a loop that are touched in every step, given the touched finals."""
    states = body.params[1:]
    rest = [False] * (len(body.body.results) - len(states))
    flags = list(finals[: len(states)])
    while any(flags):
        found = touched_variables(body.body, [*flags, *rest], cells)
        kept = [flag and s in found for flag, s in zip(flags, states, strict=True)]
        if kept == flags:
            break
        flags = kept
    return flags


def _variables(operands: Sequence[Operand]) -> set[Var]:
    return {o for o in operands if isinstance(o, Var)}
