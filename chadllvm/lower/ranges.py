"""Loops that ask where their index is are split where the answer changes.

    for j in 0 .. n:                      p = min(max(0, 2), n)
      c = 1 < j                           q = max(min(n, m), p)
      d = j < m                           for j in 0 .. p: …
      e = c and d                   →     for j in p .. q:
      if e: s := a[j]                       s := a[j]
      else: s := 0.0                        b[j] = s
      b[j] = s                            for j in q .. n: …

The loop in the middle has no branches, so that it becomes vector code. A loop around is
split as well if branches of the loops in it ask for its index: their middle is in its
middle then. What is left of all these loops stays as it is, so the code grows by a
constant for each loop around, and the work not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chadllvm.ir.loops import (
    Atom,
    Branch,
    For,
    Invoke,
    Let,
    LoopFunction,
    Reg,
    Slot,
    Stmt,
)
from chadllvm.ir.statements import Names, copied, everywhere, made, slots_of
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64

# Distances from the index, and bounds, beyond these do not occur in arrays; within them
# nothing wraps around.
_FAR = 1 << 32
_LIMIT = 1 << 62


def ranges(function: LoopFunction) -> LoopFunction:
    """Split the loops whose branches depend on where the index is."""
    if function.subroutines or not _has_branch_in_loop(function.body, False):
        return function
    slots = _count(function.body)
    return replace(function, body=_Splitting(slots).body(function.body))


class _Splitting:
    """`slots` says how often each slot is mentioned in the function."""

    def __init__(self, slots: Counter[Slot]) -> None:
        self.slots = slots

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For(go=None):
                    new += self._loop(stmt)
                case For():
                    new.append(replace(stmt, body=self.body(stmt.body)))
                case Branch(cond, then, orelse):
                    new.append(Branch(cond, self.body(then), self.body(orelse)))
                case _:
                    new.append(stmt)
        return tuple(new)

    def _loop(self, loop: For) -> Iterator[Stmt]:
        found = _Conditions(loop)
        asked = set(found.ranges) & _asked(loop.body)
        if not asked or not self._is_worth_it(loop, asked):
            yield replace(loop, body=self.body(loop.body))
            return
        bounds, begin, end = found.middle(asked)
        middle = self._copied(loop, begin, end, asked)
        yield from bounds
        if begin != loop.low:
            yield self._copied(loop, loop.low, begin, ())
        yield replace(middle, body=self.body(middle.body))
        if end != loop.high:
            yield self._copied(loop, end, loop.high, ())

    def _is_worth_it(self, loop: For, asked: Collection[Reg]) -> bool:
        """Whether the middle has no branches, or is around loops that have none."""
        middle = self._copied(loop, loop.low, loop.high, asked).body
        inner = [s for s in middle if isinstance(s, For)]
        if not inner:
            return not any(isinstance(s, Branch | Invoke) for s in middle)
        return any(map(self._becomes_straight, inner))

    def _becomes_straight(self, loop: For) -> bool:
        """Whether a loop has no branches, or none in the middle."""
        if loop.go is not None:
            return False
        asked = set(_Conditions(loop).ranges) & _asked(loop.body)
        if asked:
            return self._is_worth_it(loop, asked)
        return not any(isinstance(s, Branch | For | Invoke) for s in loop.body)

    def _copied(
        self, loop: For, low: Atom, high: Atom, holding: Collection[Reg]
    ) -> For:
        """The loop over other indices, where these conditions hold."""
        local = _count(loop.body)
        mine = {s: Slot(s.name, s.type) for s, n in local.items() if n == self.slots[s]}
        self.slots.update({new: local[old] for old, new in mine.items()})
        known: dict[Reg, Atom] = dict.fromkeys(holding, Lit(True))
        body = tuple(_left(loop.body, known))
        new = replace(loop, low=low, high=high, body=body)
        return copied(new, Names(known, mine))


class _Conditions:
    """The conditions of a loop that hold from some index on, or up to one.

    `ranges` has, for each of them, the first index or the one behind the last: a bound
    that does not change in the loop, and what is added to that.
    """

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.ranges: dict[Reg, tuple[bool, Atom, int]] = {}
        self._distance: dict[Atom, int] = {loop.index: 0}
        self._local: set[Any] = {loop.index, *made(loop.body)}
        for stmt in loop.body:
            if isinstance(stmt, Let):
                self._note(stmt)

    def _note(self, let: Let) -> None:
        match let:
            case Let(reg, "iadd", (Reg() as x, Lit(value))) if x in self._distance:
                distance = self._distance[x] + int(value)
                if abs(distance) < _FAR:
                    self._distance[reg] = distance
            case Let(reg, "ilt" | "ile" as op, (x, y)):
                strict = int(op == "ilt")
                if x in self._distance and y not in self._local:
                    bound = 1 - strict - self._distance[x]
                    self.ranges[reg] = (False, y, bound)
                elif y in self._distance and x not in self._local:
                    self.ranges[reg] = (True, x, strict - self._distance[y])

    def middle(self, asked: Collection[Reg]) -> tuple[list[Stmt], Atom, Atom]:
        """Where all of these conditions hold, and the statements that compute it.

        It begins or ends with the loop itself if nothing is asked that says otherwise.
        """
        stmts: list[Stmt] = []

        def let(op: str, *args: Atom) -> Atom:
            reg = Reg("t", I64)
            stmts.append(Let(reg, op, args))
            return reg

        def place(bound: Atom, more: int) -> Atom:
            if isinstance(bound, Lit):
                return Lit(max(-_LIMIT, min(int(bound.value), _LIMIT)) + more)
            bound = let("imax", let("imin", bound, Lit(_LIMIT)), Lit(-_LIMIT))
            return let("iadd", bound, Lit(more)) if more else bound

        begin, end = self.loop.low, self.loop.high
        for reg, (is_first, bound, more) in self.ranges.items():
            if reg in asked and is_first:
                begin = later(begin, place(bound, more), let)
            elif reg in asked:
                end = let("imin", end, place(bound, more))
        if begin != self.loop.low:
            begin = let("imin", begin, self.loop.high)
        if end != self.loop.high:
            end = let("imax", end, begin)
        return stmts, begin, end


def later(a: Atom, b: Atom, let: Callable[..., Atom]) -> Atom:
    """The larger of two indices."""
    if isinstance(a, Lit) and isinstance(b, Lit):
        return Lit(max(int(a.value), int(b.value)))
    return let("imax", a, b)


def _asked(body: Sequence[Stmt]) -> set[Any]:
    """The conditions that the branches of loops without loops ask for, or that are
    combined to these.
    """
    asked: set[Any] = set()
    for stmt in reversed(body):
        match stmt:
            case For(body=inner):
                asked |= _asked(inner)
            case Branch(cond):
                asked.add(cond)
            case Let(reg, "and", args) if reg in asked:
                asked.update(args)
            case _:
                pass
    return asked


def _left(body: Sequence[Stmt], known: dict[Reg, Atom]) -> Iterator[Stmt]:
    """What is left of statements where some conditions are known.

    That a condition follows from these is entered into `known`.
    """
    for stmt in body:
        match stmt:
            case Let(reg, "and", args):
                now = [known.get(a, a) if isinstance(a, Reg) else a for a in args]
                if Lit(True) in now:
                    known[reg] = now[1] if now[0] == Lit(True) else now[0]
                yield stmt
            case Branch(Reg() as cond, then) if known.get(cond) == Lit(True):
                yield from _left(then, known)
            case Branch(cond, then, orelse):
                sides = (tuple(_left(side, known)) for side in (then, orelse))
                yield Branch(cond, *sides)
            case For(body=inner):
                yield replace(stmt, body=tuple(_left(inner, known)))
            case _:
                yield stmt


def _has_branch_in_loop(body: Sequence[Stmt], in_loop: bool) -> bool:
    for stmt in body:
        match stmt:
            case For(body=inner):
                if _has_branch_in_loop(inner, True):
                    return True
            case Branch(_, then, orelse):
                if in_loop or _has_branch_in_loop((*then, *orelse), False):
                    return True
            case _:
                pass
    return False


def _count(body: Sequence[Stmt]) -> Counter[Slot]:
    """How often each slot is mentioned."""
    return Counter(slot for stmt in everywhere(body) for slot in slots_of(stmt))
