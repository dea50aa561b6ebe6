"""Which statements of a body are strands: parts that do not need each other.

    y = …                       in front: y = …, q = buffer
    for …: a := f(a)            strand 0: for …: a := f(a)
    q = buffer            →     strand 1: for …: b := g(b)
    for …: b := g(b)            behind:   z = a * b
    z = a * b

Around loops that may take long, what needs none of them moves to the front, what needs
one joins it, and what needs several comes behind. A check moves to the front if nothing
before it can fail, or all of them end there: what is behind it may rely on it, and no
error may come before an earlier one. So does a call, which is no part of a strand, for
calls see the place where they stand. Loops with checks in them may be strands, for
strands have an order, and what checks inside of loops have found holds only there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.loops import Alloc, Data, Stmt
from chadllvm.lower.effects import Calls, Effects, Opaque

# More strands are not worth their code, and the statements that are looked at for them
# are limited, so that long programs take as long as they are.
_MOST_STRANDS = 8
_MOST_STATEMENTS = 400


@dataclass
class Strand:
    """Statements that need each other, and what they do."""

    stmts: list[Stmt] = field(default_factory=list)
    effects: Effects = field(default_factory=Effects)

    def add(self, stmt: Stmt, does: Effects) -> None:
        """One more."""
        self.stmts.append(stmt)
        self.effects.include(does)


@dataclass
class Group:
    """Strands, what comes in front of them, and behind; `end` is the place of the first
    statement that has nothing to do with them."""

    end: int
    front: list[Stmt]
    strands: list[Strand]
    behind: list[Stmt]


def group(
    body: Sequence[Stmt],
    start: int,
    calls: Calls,
    is_long: Callable[[Stmt], bool],
) -> Group | None:
    """The strands from the long statement at `start` on, if there are several."""
    search = _Search(calls, is_long)
    end, last = start, min(len(body), start + _MOST_STATEMENTS)
    while end < last and search.takes(body[end]):
        end += 1
    if len(search.strands) < 2:
        return None
    return Group(end, search.front, search.strands, search.behind.stmts)


class _Search:
    """The search for the strands of one group."""

    def __init__(self, calls: Calls, is_long: Callable[[Stmt], bool]) -> None:
        self._calls = calls
        self._is_long = is_long
        self.front: list[Stmt] = []
        self.strands: list[Strand] = []
        self.behind = Strand()

    def takes(self, stmt: Stmt) -> bool:
        """Find a place for a statement; false if it, and what follows, has to wait."""
        if isinstance(stmt, Alloc | Data):
            return self._takes_to_front(stmt)
        try:
            does = self._calls.effects((stmt,))
        except Opaque:
            return False
        if self._is_long(stmt):
            return self._takes_long(stmt, does)
        needed = self._needed(does)
        is_behind = len(needed) > 1 or self.behind.effects.needed_by(does)
        if does.can_fail and (needed or is_behind or self._may_fail()):
            return False
        if is_behind:
            self.behind.add(stmt, does)
        elif needed:
            return not does.calls and self._joins(needed[0], stmt, does)
        else:
            self.front.append(stmt)
        return True

    def _takes_to_front(self, stmt: Alloc | Data) -> bool:
        """What only makes a buffer, if its size is known there."""
        needed = {stmt.count} if isinstance(stmt, Alloc) else set()
        if any(not needed.isdisjoint(s.effects.made) for s in self._all()):
            return False
        self.front.append(stmt)
        return True

    def _takes_long(self, stmt: Stmt, does: Effects) -> bool:
        needed = self._needed(does, apart=True)
        if self.behind.effects.needed_by(does) or len(needed) > 1:
            return False
        if needed:
            return self._joins(needed[0], stmt, does)
        if len(self.strands) == _MOST_STRANDS:
            return False
        self.strands.append(Strand())
        self.strands[-1].add(stmt, does)
        return True

    def _joins(self, number: int, stmt: Stmt, does: Effects) -> bool:
        """Whether a strand may do this, too, and does it."""
        before, after = self.strands[:number], self.strands[number + 1 :]
        if does.can_fail and any(s.effects.can_fail for s in after):
            return False
        whole = Effects()
        whole.include(self.strands[number].effects)
        whole.include(does)
        if any(s.effects.needed_by(whole, apart=True) for s in before):
            return False
        if any(whole.needed_by(s.effects, apart=True) for s in after):
            return False
        self.strands[number].add(stmt, does)
        return True

    def _all(self) -> list[Strand]:
        return [*self.strands, self.behind]

    def _may_fail(self) -> bool:
        return any(s.effects.can_fail for s in self.strands)

    def _needed(self, does: Effects, *, apart: bool = False) -> list[int]:
        """The strands that a statement has to stay behind."""
        found = enumerate(self.strands)
        return [k for k, s in found if s.effects.needed_by(does, apart=apart)]
