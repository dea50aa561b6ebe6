"""Sums begin with what is first added to their zeros.

    c := 0.0                              c := x
    c += x                                if t:
    if t:                          →        c += y
      c += y

An addition to zero is a link of the chain that a step is, like any other: a cell of
each stage of a step has one. What is first added may be in the branches that follow;
then they get the zero that they add to, and that of a side without additions stays.

A slot that is set to zero and added to, with no loop between, is a scalar's cell. It
becomes the sum of its contributions, as in `simplify/cells.py`, where the same is done
to cells that no branch adds to: what differs is the sign of a zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.loops import Accumulate, Branch, Set, Slot, Stmt
from chadllvm.ir.term import Lit
from chadllvm.ir.types import is_float
from chadllvm.lower.waiting import touched


def begun(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """A body without loops, in which no sum begins with zero if something is added."""
    new, zeros = list[Stmt](), dict[Slot, Stmt]()
    for stmt in body:
        here = [zeros.pop(slot) for slot in touched(stmt) if slot in zeros]
        match stmt:
            case Set(slot, Lit(value=0.0)) if is_float(slot.type):
                # What was there before is not looked at any more.
                zeros[slot] = stmt
            case Accumulate(slot, value) if here:
                new.append(Set(slot, value))
            case Branch(cond, then, orelse) if here:
                sides = begun((*here, *then)), begun((*here, *orelse))
                new.append(Branch(cond, *sides))
            case _:
                new += [*here, stmt]
    return (*new, *zeros.values())
