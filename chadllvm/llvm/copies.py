"""Copies of a subroutine that LLVM puts in the place of its invocations of itself.

Half of the nodes of a tree are leaves, and a run at a leaf does little beside being
invoked. So what of a run invokes nobody, its *head*, stands where the run is invoked:

    def walk(n):                       def walk.head(n):
      if n is a leaf:                    if n is a leaf:
        … return a             →           … return a
      … s = walk(m) …                    return walk(n)
      return b

Only what may as well be done twice stands in front of the question. A small subroutine
is written a second time besides, as an *inner* copy that takes the place of its own
invocations, and invokes by heads. That is what compilers of C do with a function that
calls itself; LLVM's does not of its own accord. Copies look for nothing (`looking.py`),
for their frames are parts of one that has looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chadllvm.ir.loops import (
    Branch,
    Check,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Subroutine,
)
from chadllvm.ir.statements import everywhere

# The most statements that a subroutine with the copies inside it may come to, and that
# all the heads may which it then has.
LARGEST = 420

# The most statements that are done twice, for they stand in front of a question.
_TWICE = 32


@dataclass(frozen=True)
class Copies:
    """What stands for invocations of a subroutine by itself: an inner copy that is all
    of it, and its head, if it has one."""

    unfolds: bool
    head: Subroutine | None


def copies_of(subroutine: Subroutine) -> Copies:
    """The copies of a subroutine. Those with many statements have none."""
    first = [*islice(everywhere(subroutine.body), LARGEST)]
    invoked = [s.subroutine for s in first if isinstance(s, Invoke)]
    alone = set(invoked) == {subroutine.name}
    unfolds = alone and len(first) * (1 + len(invoked)) <= LARGEST
    times = invoked.count(subroutine.name) ** (2 if unfolds else 1)
    return Copies(unfolds, _head(subroutine, times) if len(first) < LARGEST else None)


def _head(subroutine: Subroutine, times: int) -> Subroutine | None:
    """What of a subroutine invokes nobody, and itself for the rest.

    Regions belong to a run, so that one with regions has no head. It is there `times`
    times.
    """
    if not times or subroutine.regions or subroutine.buffers:
        return None
    body = _Head(subroutine).body(subroutine.body, 0, frozenset())
    if body is None or times * sum(1 for _ in everywhere(body)) > LARGEST:
        return None
    return replace(subroutine, body=body)


class _Head:
    """The making of a head."""

    def __init__(self, subroutine: Subroutine) -> None:
        self.subroutine = subroutine

    def body(
        self, body: Sequence[Stmt], before: int, read: frozenset[Slot]
    ) -> tuple[Stmt, ...] | None:
        """A body in which the whole is invoked where a run has to invoke somebody.

        None if that is at its beginning, so that all of it is left out. `before`: how
        many statements stand in front of it; `read`: the slots that these read.
        """
        new: list[Stmt] = []
        for stmt in body:
            if not any(isinstance(s, Invoke) for s in everywhere((stmt,))):
                new.append(stmt)
                continue
            ahead = before + len(new)
            if not isinstance(stmt, Branch) or ahead > _TWICE:
                return None
            if not _may_be_twice(new, read):
                return None
            slots = read.union(s.slot for s in new if isinstance(s, Get))
            bodies = stmt.then, stmt.orelse
            sides = [self.body(side, ahead + 1, slots) for side in bodies]
            if sides == [None, None]:
                return None
            then, orelse = (self._whole() if s is None else s for s in sides)
            new.append(replace(stmt, then=then, orelse=orelse))
        return tuple(new)

    def _whole(self) -> tuple[Stmt, ...]:
        """What invokes the subroutine itself, and returns what that does."""
        own = self.subroutine
        regs = tuple(Reg("r", ty) for ty in own.results)
        return Invoke(regs, own.name, own.params, ()), Leave(regs)


def _may_be_twice(stmts: Sequence[Stmt], before: frozenset[Slot]) -> bool:
    """Whether it makes no difference if statements are run once more, with those in
    front of them, which have read the slots `before`."""
    read = set(before)
    for stmt in stmts:
        match stmt:
            case Get(slot=slot):
                read.add(slot)
            case Set(slot) if slot not in read:
                pass
            case Let() | Load() | Offset() | Check():
                pass
            case _:
                return False
    return True
