"""What a loop adds to one place is added up in a register first.

    for j in 0 .. n:                      total := 0.0
      …                                   for j in 0 .. n:
      p[j] += a                             …
      p[i] += b                     →       p[j] += a
                                            total += b
                                          if 0 < n:
                                            p[i] += total

The place may be one of those that the loop adds to besides, so that each step on the
left waits for the one before. If there is no step, there need not be such a place.
Inner loops go first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    Check,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    Body,
    everywhere,
    made,
    over_bodies,
    over_inner,
    over_statements,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import BOOL


def registers(function: LoopFunction) -> LoopFunction:
    """Add up in registers what goes to one place."""
    return over_bodies(function, _Registers(function.roots).body)


class _Registers:
    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots

    def body(self, body: Body) -> Body:
        """The statements of a body, whose loops add up in registers."""
        return over_statements(body, self._statement)

    def _statement(self, stmt: Stmt) -> list[Stmt]:
        stmt = over_inner(stmt, self.body)
        return self._loop(stmt) if isinstance(stmt, For) else [stmt]

    def _loop(self, loop: For) -> list[Stmt]:
        added = self._to_one_place(loop)
        if not added:
            return [loop]
        slots: dict[tuple[Atom, Atom], Slot] = {}
        inside: list[Stmt] = []
        for stmt in loop.body:
            if isinstance(stmt, AddTo) and stmt in added:
                slot = Slot("total", stmt.value.type)
                slot = slots.setdefault((stmt.ptr, stmt.index), slot)
                inside.append(Accumulate(slot, stmt.value))
            else:
                inside.append(stmt)
        begin = [Set(slot, literal(0.0, slot.type)) for slot in slots.values()]
        places = {(add.ptr, add.index): add for add in added}
        end = [s for at, slot in slots.items() for s in _added(places[at], slot)]
        loop = replace(loop, body=tuple(inside))
        if isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
            return [*begin, loop, *(end if loop.low.value < loop.high.value else ())]
        some = Reg("some", BOOL)
        test = Let(some, "ilt", (loop.low, loop.high))
        return [*begin, loop, test, Branch(some, tuple(end))]

    def _to_one_place(self, loop: For) -> list[AddTo]:
        """The additions of a loop whose place is the same in all steps."""
        inside = list(everywhere(loop.body))
        if loop.go is not None or not all(isinstance(s, _PLAIN) for s in inside):
            return []
        local = {loop.index, *made(loop.body)}
        used = {self._roots[s.root] for s in inside if isinstance(s, Load | Store)}
        return [
            stmt
            for stmt in loop.body
            if isinstance(stmt, AddTo)
            and stmt.ptr not in local
            and stmt.index not in local
            and self._roots[stmt.root] not in used
        ]


# What does nothing with memory that it does not say.
_PLAIN = (
    *(Let, Get, Set, Accumulate, Offset, Load, Store, AddTo),
    *(For, Branch, Check),
)


def _added(add: AddTo, slot: Slot) -> list[Stmt]:
    total = Reg("total", slot.type)
    return [Get(total, slot), replace(add, value=total)]
