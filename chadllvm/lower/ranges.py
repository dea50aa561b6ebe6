"""Loops that ask where their index is are split where the answer changes.

    for j in 0 .. n:                      p = min(max(0, 2), n)
      c = 1 < j                           q = max(min(n, m), p)
      d = j < m                           for j in 0 .. p: b[j] = 0.0
      e = c and d                   →     for j in p .. q:
      if e: s := a[j]                       s := a[j]
      else: s := 0.0                        b[j] = s
      b[j] = s                            for j in q .. n: b[j] = 0.0

A loop that has nothing to do at one index, as at `j != i`, or something else, is split
there if what it does besides is a loop of its own.

The loop in the middle has no branches, so that it becomes vector code. A loop around is
split as well if branches of the loops in it ask for its index: their middle is in its
middle then. What is left on a side is cut where each of its conditions changes, so that
it is known which of them hold, unless there are many, or nobody knows which is first;
the loops in it stay whole. So the code grows by a constant for each loop around, and
the work not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from chadllvm.ir.loops import (
    Atom,
    Branch,
    For,
    Get,
    Invoke,
    Let,
    LoopFunction,
    Reg,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.statements import (
    Body,
    Names,
    copied,
    everywhere,
    made,
    over_bodies,
    over_inner,
    over_statements,
    slots_of,
    whole,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64

# Distances from the index, and bounds, beyond these do not occur in arrays; within them
# nothing wraps around.
_FAR = 1 << 32
_LIMIT = 1 << 62

# A loop of more statements is not there twice for one index.
_SHORT = 128

# So many places on a side, where conditions change, make a part of the loop each.
_MOST = 3

_SURE = (Lit(True), Lit(False))


def ranges(function: LoopFunction) -> LoopFunction:
    """Split the loops whose branches depend on where the index is."""
    return over_bodies(function, _Splitting(_count(whole(function))).body)


class _Splitting:
    """`slots` says how often each slot is mentioned in the function."""

    def __init__(self, slots: Counter[Slot]) -> None:
        self.slots = slots

    def body(self, body: Body) -> Body:
        return over_statements(body, self._statement)

    def _statement(self, stmt: Stmt) -> Iterable[Stmt]:
        match stmt:
            case For(go=None) if asked := _asked(stmt.body):
                return self._loop(stmt, asked)
            case _:
                return [over_inner(stmt, self.body)]

    def _loop(self, loop: For, asked: set[Any]) -> Iterator[Stmt]:
        found = _Conditions(loop)
        asked = asked.intersection(found.ranges)
        if asked and self._is_worth_it(loop, asked):
            bounds, parts = found.parts(asked)
        elif (point := self._point(loop, found)) is not None:
            bounds, parts = found.beside(point)
        else:
            yield over_inner(loop, self.body)
            return
        yield from bounds
        for part in parts:
            copy = self._copied(loop, part.low, part.high, part.known)
            if part.is_middle:
                copy = replace(copy, body=self.body(copy.body))
            same, body = _invariants(copy)
            yield from same
            yield replace(copy, body=body)

    def _point(self, loop: For, found: _Conditions) -> Reg | None:
        """A condition about one index alone, if what depends on it has loops, which
        lanes would take one by one."""
        for stmt in loop.body:
            match stmt:
                case Branch(Reg() as cond) if cond in found.points:
                    inside = everywhere([stmt])
                    if any(isinstance(s, For) for s in inside) and _is_short(loop):
                        return cond
                case _:
                    pass
        return None

    def _is_worth_it(self, loop: For, asked: Collection[Reg]) -> bool:
        """Whether the middle has no branches, or is around loops that have none. Calls
        look at the loop that they are in, so that there is one of it."""
        if any(isinstance(stmt, Invoke) for stmt in everywhere(loop.body)):
            return False
        known = dict.fromkeys(asked, True)
        middle = self._copied(loop, loop.low, loop.high, known).body
        inner = [s for s in middle if isinstance(s, For)]
        if not inner:
            return not any(isinstance(s, Branch) for s in middle)
        return any(map(self._becomes_straight, inner))

    def _becomes_straight(self, loop: For) -> bool:
        """Whether a loop has no branches, or none in the middle."""
        if loop.go is not None:
            return False
        asked = set(_Conditions(loop).ranges) & _asked(loop.body)
        if asked:
            return self._is_worth_it(loop, asked)
        return not any(isinstance(s, Branch | For) for s in loop.body)

    def _copied(
        self, loop: For, low: Atom, high: Atom, holding: Mapping[Reg, bool]
    ) -> For:
        """The loop over other indices, where these conditions hold, or do not."""
        local = _count(everywhere(loop.body))
        mine = {s: Slot(s.name, s.type) for s, n in local.items() if n == self.slots[s]}
        self.slots.update({new: local[old] for old, new in mine.items()})
        known: dict[Reg, Atom] = {reg: Lit(holds) for reg, holds in holding.items()}
        body = _handed_on([*_left(loop.body, known)], known)
        read = {s for stmt in everywhere(body) if _reads(stmt) for s in slots_of(stmt)}
        unread = mine.keys() - read
        new = replace(loop, low=low, high=high, body=_without(body, unread))
        return copied(new, Names(known, mine))


@dataclass(frozen=True)
class _Part:
    """A part of a loop, and which conditions are known to hold there, or not to."""

    low: Atom
    high: Atom
    known: Mapping[Reg, bool]
    is_middle: bool = False


@dataclass(frozen=True)
class _Cut:
    """Where conditions begin to hold, or end to; `is_sure`: each of them just there."""

    at: Atom
    regs: tuple[Reg, ...]
    is_sure: bool


class _Conditions:
    """The conditions of a loop that hold from some index on, or up to one; or at one.

    `ranges` has, for each of them, the first index or the one behind the last: a bound
    that does not change in the loop, and what is added to that.
    """

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.ranges: dict[Reg, tuple[bool, Atom, int]] = {}
        # The same for those that hold at one index only, or everywhere else.
        self.points: dict[Reg, tuple[bool, Atom, int]] = {}
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
            case Let(reg, "ieq" | "ine" as op, (x, y)):
                for one, other in ((x, y), (y, x)):
                    if one in self._distance and other not in self._local:
                        self.points[reg] = (op == "ieq", other, -self._distance[one])

    def beside(self, reg: Reg) -> tuple[list[Stmt], list[_Part]]:
        """The parts in front of one index, there, and behind it; and its statements."""
        stmts: list[Stmt] = []
        loop, let = self.loop, partial(_let, stmts)
        holds, bound, more = self.points[reg]
        at = self._at(*_place(bound, more), let)
        first = let("imin", later(at, loop.low, let), loop.high)
        behind = later(let("iadd", at, Lit(1)), loop.low, let)
        second = let("imin", behind, loop.high)
        return stmts, [
            _Part(loop.low, first, {reg: not holds}, is_middle=True),
            _Part(first, second, {reg: holds}),
            _Part(second, loop.high, {reg: not holds}, is_middle=True),
        ]

    def parts(self, asked: Collection[Reg]) -> tuple[list[Stmt], list[_Part]]:
        """The parts of the loop in order, and the statements that compute their bounds.

        Where nothing begins or ends to hold the middle begins or ends with the loop.
        """
        stmts: list[Stmt] = []
        loop, let = self.loop, partial(_let, stmts)
        always = {reg: True for reg in asked if self._holds_always(reg)}
        rest = [reg for reg in self.ranges if reg in asked and reg not in always]
        firsts = self._cuts([r for r in rest if self.ranges[r][0]], let)
        lasts = self._cuts([r for r in rest if not self.ranges[r][0]], let)
        begins = [let("imin", cut.at, loop.high) for cut in firsts]
        begin = begins[-1] if begins else loop.low
        ends = [let("imax", cut.at, begin) for cut in lasts]
        end = ends[0] if ends else loop.high
        parts = [
            _Part(low, high, {**always, **_known(firsts, range(k))})
            for k, (low, high) in enumerate(pairwise([loop.low, *begins]))
        ]
        parts.append(_Part(begin, end, dict.fromkeys(asked, True), is_middle=True))
        held = {**always, **{reg: True for cut in firsts for reg in cut.regs}}
        parts += [
            _Part(low, high, {**held, **_known(lasts, range(k + 1, len(lasts)))})
            for k, (low, high) in enumerate(pairwise([*ends, loop.high]))
        ]
        return stmts, parts

    def _holds_always(self, reg: Reg) -> bool:
        """Whether a condition holds from the beginning of the loop on."""
        is_first, bound, more = self.ranges[reg]
        if not (is_first and isinstance(bound, Lit) and isinstance(self.loop.low, Lit)):
            return False
        return _place(bound, more)[1] <= int(self.loop.low.value)

    def _cuts(self, regs: Sequence[Reg], let: Callable[..., Atom]) -> list[_Cut]:
        """Where these conditions begin to hold, or end to, in the order of the index.

        One place for all of them if it is not known which one is first.
        """
        places: dict[tuple[Atom | None, int], list[Reg]] = {}
        for reg in regs:
            places.setdefault(_place(*self.ranges[reg][1:]), []).append(reg)
        groups = [[place] for place in sorted(places, key=lambda place: place[1])]
        if len({base for base, _ in places}) > 1 or len(places) > _MOST:
            groups = [list(places)]
        cuts = []
        for group in groups:
            found = tuple(reg for place in group for reg in places[place])
            at = self._limit(group, self.ranges[found[0]][0], let)
            cuts.append(_Cut(at, found, is_sure=len(group) == 1))
        return cuts

    def _limit(
        self,
        places: Sequence[tuple[Atom | None, int]],
        is_first: bool,
        let: Callable[..., Atom],
    ) -> Atom:
        """The latest of some places, or the earliest one."""
        at = self.loop.low if is_first else self.loop.high
        for base, more in places:
            place = self._at(base, more, let)
            at = later(at, place, let) if is_first else let("imin", at, place)
        return at

    def _at(self, base: Atom | None, more: int, let: Callable[..., Atom]) -> Atom:
        """A place; one that is far away does not wrap around."""
        if base is None:
            return Lit(more)
        place = let("imax", let("imin", base, Lit(_LIMIT)), Lit(-_LIMIT))
        return let("iadd", place, Lit(more)) if more else place


def _place(bound: Atom, more: int) -> tuple[Atom | None, int]:
    """Where a condition changes: what is added to a register, or a number alone."""
    if isinstance(bound, Lit):
        return None, max(-_LIMIT, min(int(bound.value), _LIMIT)) + more
    return bound, more


def _known(cuts: Sequence[_Cut], holding: range) -> dict[Reg, bool]:
    """Which conditions hold in a part, of those that all change at their cut."""
    return {r: k in holding for k, c in enumerate(cuts) if c.is_sure for r in c.regs}


def _is_short(loop: For) -> bool:
    """Whether a loop may be there twice."""
    inside = list(everywhere(loop.body))
    return len(inside) <= _SHORT and not any(isinstance(s, Invoke) for s in inside)


def _let(stmts: list[Stmt], op: str, *args: Atom) -> Atom:
    reg = Reg("t", I64)
    stmts.append(Let(reg, op, args))
    return reg


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
                if Lit(False) in now:
                    known[reg] = Lit(False)
                elif Lit(True) in now:
                    known[reg] = now[1] if now[0] == Lit(True) else now[0]
                yield stmt
            case Branch(Reg() as cond, then, orelse) if known.get(cond) in _SURE:
                yield from _left(then if known[cond] == Lit(True) else orelse, known)
            case Branch(_, then, orelse):
                then, orelse = (tuple(_left(side, known)) for side in (then, orelse))
                yield replace(stmt, then=then, orelse=orelse)
            case For(body=inner):
                yield replace(stmt, body=tuple(_left(inner, known)))
            case _:
                yield stmt


def _invariants(loop: For) -> tuple[Body, Body]:
    """What a loop computes of places in the same way in each step, and what else there
    is in its body: what branches computed may be in front of it now."""
    local: set[Any] = {loop.index, *made(loop.body)}
    same, rest = list[Stmt](), list[Stmt]()
    for stmt in loop.body:
        match stmt:
            case Let(reg, _, args) if (
                reg.type == I64 and stmt.code.is_cheap and local.isdisjoint(args)
            ):
                local.discard(reg)
                same.append(stmt)
            case _:
                rest.append(stmt)
    return tuple(same), tuple(rest)


def _handed_on(body: Sequence[Stmt], known: dict[Reg, Atom]) -> Body:
    """Statements without those that read what was just put into a slot, which stands
    for the register, where there was a branch."""
    held: dict[Slot, Atom] = {}
    new: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Get(reg, slot) if slot in held:
                known[reg] = held[slot]
                continue
            case Set(slot, value):
                held[slot] = value
            case _:
                stmt = over_inner(stmt, lambda inner: _handed_on(inner, known))
                for slot in {s for part in everywhere([stmt]) for s in slots_of(part)}:
                    held.pop(slot, None)
        new.append(stmt)
    return tuple(new)


def _reads(stmt: Stmt) -> bool:
    return not isinstance(stmt, Set)


def _without(body: Body, slots: Collection[Slot]) -> Body:
    """Statements without those that put something into slots that nobody reads."""
    return over_statements(
        body,
        lambda stmt: (
            []
            if isinstance(stmt, Set) and stmt.slot in slots
            else [over_inner(stmt, lambda inner: _without(inner, slots))]
        ),
    )


def _count(stmts: Iterable[Stmt]) -> Counter[Slot]:
    """How often each slot is mentioned."""
    return Counter(slot for stmt in stmts for slot in slots_of(stmt))
