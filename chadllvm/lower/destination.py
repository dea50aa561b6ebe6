"""Buffers that wait for their contents: what a result is written to directly.

The row of an array under construction, or the next state of a loop, is built in its
place rather than built and copied, if the variable that is bound to it makes a new
array in the same block (`maker`). A cell that takes over the buffer of its first
contribution makes none: who else has that buffer, as the state of a loop, looks there.
"""

from __future__ import annotations

from collections.abc import Callable

from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import Apply, Binding, Block, Close, Open, Operand, Var
from chadllvm.lower.inplace import InPlace
from chadllvm.lower.represent import ArrayRep
from chadllvm.ops.index import Sized
from chadllvm.ops.iterate import Iterate

# Given the array to come (its pointer is not known yet): the buffer and its root.
Destination = Callable[[ArrayRep], tuple[Atom, int]]


def definitions(block: Block) -> dict[Var, Binding]:
    """Where the variables of a block are bound."""
    return {v: b for b in block.bindings for v in b.vars}


def maker(
    operand: Operand, defined: dict[Var, Binding], in_place: InPlace
) -> Var | None:
    """The variable of the block whose allocation makes this result, if there is one."""
    if not isinstance(operand, Var) or operand not in defined:
        return None
    match defined[operand].expr:
        case Close(Var() as cell) if cell in defined and cell not in in_place.over:
            return cell if isinstance(defined[cell].expr, Open) else None
        case Apply(ArrayOp(name="build" | "fold" | "zeros")):
            return operand
        case Apply(Iterate(stops=False), (_, *inits)):
            is_state = defined[operand].vars.index(operand) < len(inits)
            return None if is_state else operand
        case Apply(Sized(), (array, *_)):
            return maker(array, defined, in_place)
        case _:
            return None
