"""Calls in branches that follow each other are put together, if both are made.

    if p: a = f(x); s := g(a)        both = p and q
    else: s := 0                     if both:
    t = s                      →       b = f(y) beside, a = f(x); s := g(a); t = s; …
    if q: b = f(y); …                else:
                                       if p: …; t = s; if q: …

So trees are divided whose nodes may have a left and a right part. What the second
condition needs goes in front of the first branch; what is between the branches is in
both ways, and so are the branches. Where calls of two branches cannot be together, they
stay as they are; so do those of a third one, but for the next pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    PTR,
    Alloc,
    Atom,
    Branch,
    Check,
    Data,
    For,
    Get,
    Invoke,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    bodies_of,
)
from chadllvm.ir.statements import assigned, copied, everywhere, over_inner, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.effects import Effects
from chadllvm.lower.out import Out
from chadllvm.lower.together import Together, stays

# No more statements are there twice at a place, and there are so many such places.
_SHORT = 256
_FEW = 8


@dataclass(frozen=True)
class _Pair:
    """Two branches with calls, what goes in front of them, and what is between them."""

    first: Branch
    second: Branch
    front: list[Stmt]
    between: list[Stmt]

    @property
    def stmts(self) -> list[Stmt]:
        """All that is there in both ways."""
        return [self.first, *self.between, self.second]


class Meeting:
    """The joining of the branches of one subroutine."""

    def __init__(self, together: Together) -> None:
        self._together = together
        self._left = _FEW

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """A body in which calls of branches are together where they may be."""
        done: list[Stmt] = []
        new: list[Stmt] = []
        first = -1  # Where the branch is that the next may be joined with.
        for place, stmt in enumerate(body):
            joined = None
            if first >= 0 and self._left and _side(stmt) is not None:
                joined = self._joined(new[first:], stmt, body[place + 1 :])
            if joined is not None:
                done += [*map(self._inside, new[:first]), *joined]
                new, first = [], -1
                continue
            if _side(stmt) is not None:
                first = len(new)
            elif stays(stmt) or isinstance(stmt, Alloc):
                first = -1
            new.append(stmt)
        return (*done, *map(self._inside, new))

    def _inside(self, stmt: Stmt) -> Stmt:
        return over_inner(stmt, self.body) if isinstance(stmt, For | Branch) else stmt

    def _joined(
        self, before: Sequence[Stmt], second: Stmt, behind: Sequence[Stmt]
    ) -> list[Stmt] | None:
        """What stands for two branches and what is between them, if they may be."""
        pair = self._pair(before, second)
        if pair is None or len([*everywhere(pair.stmts)]) > _SHORT:
            return None
        handed = _handed_on(pair.between, behind)
        if any(reg.type == PTR for reg in handed):
            return None
        slots = {reg: Slot(reg.name, reg.type) for reg in handed}
        sets = [Set(slot, reg) for reg, slot in slots.items()]
        straight = [*_taken(pair.first), *pair.between, *_taken(pair.second)]
        both = self._together.body(straight)
        if _count_together(both) == _count_together(straight):
            return None
        self._left -= 1
        out = Out([*pair.front])
        meets = out.let(
            "and", _condition(pair.first, out), _condition(pair.second, out)
        )
        apart = _renamed([*pair.stmts, *sets])
        out.emit(Branch(meets, _renamed([*both, *sets]), apart))
        out.stmts += [Get(reg, slot) for reg, slot in slots.items()]
        return out.stmts

    def _pair(self, before: Sequence[Stmt], second: Stmt) -> _Pair | None:
        first, between = before[0], [*before[1:]]
        assert isinstance(first, Branch) and isinstance(second, Branch)
        front: list[Stmt] = []
        moving = Effects()
        moving.used.update(used(replace(second, then=(), orelse=())))
        for stmt in reversed(before[1:]):
            does = self._together.does(stmt)
            if does.needed_by(moving):
                front.insert(0, stmt)
                between.remove(stmt)
                moving.include(does)
        if self._together.does(first).needed_by(moving):
            return None
        is_checked = any(isinstance(s, Check) for s in everywhere((first,)))
        if not all(_may_pass(stmt, is_checked) for stmt in front):
            return None
        return _Pair(first, second, front, between)


def _may_pass(stmt: Stmt, is_checked: bool) -> bool:
    """Whether a statement may be run in front of a branch; `is_checked`: where that
    ends the function, it is not sure that it can be."""
    match stmt:
        case Let():
            return not is_checked or stmt.code.is_cheap
        case Load():
            return not is_checked
        case Get() | Data() | Offset():
            return True
        case _:
            return False


def _side(stmt: Stmt) -> int | None:
    """Which of the two sides of a branch has calls, if one has."""
    if not isinstance(stmt, Branch):
        return None
    sides = [any(isinstance(s, Invoke) for s in stmts) for stmts in bodies_of(stmt)]
    deep = [any(isinstance(s, Invoke) for s in everywhere(b)) for b in bodies_of(stmt)]
    return sides.index(True) if sides == deep and sum(deep) == 1 else None


def _taken(branch: Branch) -> Sequence[Stmt]:
    """The side of a branch that has calls."""
    return branch.orelse if _side(branch) else branch.then


def _condition(branch: Branch, out: Out) -> Atom:
    """Whether that side is taken."""
    return out.let("not", branch.cond) if _side(branch) else branch.cond


def _handed_on(stmts: Sequence[Stmt], behind: Sequence[Stmt]) -> list[Reg]:
    """The registers of statements that others behind them use."""
    needed = {reg for stmt in everywhere(behind) for reg in used(stmt)}
    return [reg for stmt in stmts for reg in assigned(stmt) if reg in needed]


def _renamed(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The same statements with registers of their own."""
    return copied(For(Reg("once", I64), Lit(0), Lit(1), tuple(stmts))).body


def _count_together(stmts: Sequence[Stmt]) -> int:
    return sum(isinstance(s, Invoke) and s.together for s in everywhere(stmts))
