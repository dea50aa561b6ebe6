"""Loops that clamp their index are split where the clamping begins and ends.

    for j in 0 .. n:                      p = min(1, n)
      k = j - 1                           q = max(min(m, n), p)
      l = max(k, 0)                       for j in 0 .. p: …
      r = j + 1                     →     for j in p .. q:
      s = min(r, m)                         k = j - 1
      … a[l] … a[s] …                       r = j + 1
                                            … a[k] … a[r] …
                                          for j in q .. n: …

This is how a grid's neighbours are looked up at its border. On a ring there are choices
in the place of the least and the largest, `select(r < n, r, 0)`. The loop in the middle
reads and writes memory in order, so that it becomes vector code. If it does nothing but
add to memory, at several distances from its index, it is split into loops that add to
one place each, for the same reason: such sums may be reassociated. Only innermost loops
are split, so the code grows by a constant factor, and so does the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chadllvm.ir.loops import (
    AddTo,
    Atom,
    Branch,
    For,
    Invoke,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Spread,
    Stmt,
)
from chadllvm.ir.statements import (
    Body,
    Names,
    assigned,
    copied,
    made,
    over_bodies,
    over_inner,
    over_statements,
    used,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.ranges import later

# Distances from the index, and clamping bounds, beyond these do not occur in arrays;
# within them nothing wraps around.
_FAR = 1 << 32
_LIMIT = (1 << 62) + (1 << 33)


def split_loops(function: LoopFunction) -> LoopFunction:
    """Split the innermost loops whose index is clamped."""
    return over_bodies(function, _body)


def _body(body: Body) -> Body:
    return over_statements(body, _statement)


def _statement(stmt: Stmt) -> Iterable[Stmt]:
    match stmt:
        case For(go=None) if not any(
            isinstance(s, For | Branch | Invoke | Spread) for s in stmt.body
        ):
            return _split(stmt)
        # In lanes, all that is the same for them is asked once; what is not would
        # make the bounds differ, and they would not go through the loop in step.
        case For() if stmt.lanes != 1:
            return [stmt]
        case _:
            return [over_inner(stmt, _body)]


def _split(loop: For) -> Iterator[Stmt]:
    clamps = _Clamps(loop)
    if not clamps.inside:
        yield loop
        return
    bounds, begin, end = clamps.middle()
    yield from bounds
    # What is left is vector code of another kind than lanes are.
    loop = replace(loop, lanes=1, resume=None)
    if begin != loop.low:
        yield copied(replace(loop, high=begin))
    for part in _parts(loop, clamps):
        middle = replace(loop, low=begin, high=end, body=tuple(part))
        yield copied(middle, Names(clamps.inside))
    if end != loop.high:
        yield copied(replace(loop, low=end))


def _parts(loop: For, clamps: _Clamps) -> list[Sequence[Stmt]]:
    """What adds to memory at one place each, if all of the body does nothing else.

    A loop cannot read the memory it adds to: that is a cell, which is read when closed.
    """
    added: list[Stmt] = []
    distances = set()
    for stmt in loop.body:
        match stmt:
            case Let() | Offset() | Load():
                pass
            case AddTo(ptr, Reg() as index) if index in clamps.shift:
                if not clamps.is_invariant(ptr):
                    return [loop.body]
                added.append(stmt)
                distances.add(clamps.shift[index])
            case _:
                return [loop.body]
    parts = [needed(loop.body, stmt) for stmt in added]
    is_cheap = sum(map(len, parts)) <= 2 * len(loop.body)
    return [*parts] if is_cheap and len(distances) > 1 else [loop.body]


class _Clamps:
    """The clamped indices of a loop: what they are in the middle, and where that is."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.inside: dict[Reg, Reg] = {}
        self.lower: list[tuple[Atom, int]] = []
        self.upper: list[tuple[Atom, int]] = []
        # The distance from the index, and from the index plus what is the same in all
        # iterations, for the registers where it is known.
        self.distance: dict[Reg, int] = {loop.index: 0}
        self.shift: dict[Reg, int] = {loop.index: 0}
        # What registers with a distance were compared with.
        self.below: dict[Atom, tuple[Reg, Atom]] = {}
        self.local = {loop.index, *made(loop.body)}
        for stmt in loop.body:
            if isinstance(stmt, Let):
                self._note(stmt)

    def is_invariant(self, atom: Atom) -> bool:
        return not isinstance(atom, Reg) or atom not in self.local

    def _note(self, let: Let) -> None:
        match let.op, let.args:
            case "ilt", (Reg() as x, y) if x in self.distance and self.is_invariant(y):
                self.below[let.reg] = x, y
            case "select", (cond, yes, no) if cond in self.below:
                self._note_choice(let.reg, *self.below[cond], yes, no)
            case (("iadd" | "imin" | "imax"), _):
                self._note_sum_or_clamp(let)

    def _note_choice(self, reg: Reg, x: Reg, y: Atom, yes: Atom, no: Atom) -> None:
        """`reg` is `yes` if x < y, and else `no`: x is one of them in the middle."""
        if x not in (yes, no) or reg.type != I64:
            return
        self.inside[reg] = x
        self.shift[reg] = self.shift[x]
        if x is yes:
            self.upper.append((y, self.distance[x] + 1))
        else:
            self.lower.append((y, self.distance[x]))

    def _note_sum_or_clamp(self, let: Let) -> None:
        for x, y in (let.args, let.args[::-1]):
            if not isinstance(x, Reg) or not self.is_invariant(y):
                continue
            if x in self.shift and let.op == "iadd":
                self._note_sum(let.reg, x, y)
            elif x in self.distance and let.op != "iadd":
                self.inside[let.reg] = x
                self.shift[let.reg] = self.shift[x]
                side = self.lower if let.op == "imax" else self.upper
                side.append((y, self.distance[x]))

    def _note_sum(self, reg: Reg, x: Reg, y: Atom) -> None:
        self.shift[reg] = self.shift[x]
        if isinstance(y, Lit) and x in self.distance:
            distance = self.distance[x] + int(y.value)
            if abs(distance) < _FAR:
                self.distance[reg] = self.shift[reg] = distance

    def middle(self) -> tuple[list[Stmt], Atom, Atom]:
        """Where the middle begins and ends, and the statements that compute it.

        It begins or ends with the loop itself if nothing is clamped on that side.
        """
        stmts: list[Stmt] = []

        def let(op: str, *args: Atom) -> Atom:
            reg = Reg("t", I64)
            stmts.append(Let(reg, op, args))
            return reg

        def first(bound: Atom, distance: int) -> Atom:
            """The index at this distance from the bound, if any comes near it."""
            if isinstance(bound, Lit):
                return Lit(max(-_LIMIT, min(int(bound.value), _LIMIT)) - distance)
            bound = let("imax", let("imin", bound, Lit(_LIMIT)), Lit(-_LIMIT))
            return let("isub", bound, Lit(distance)) if distance else bound

        begin, end = self.loop.low, self.loop.high
        for bound, distance in self.lower:
            begin = later(begin, first(bound, distance), let)
        if begin != self.loop.low:
            begin = let("imin", begin, self.loop.high)
        for bound, distance in self.upper:
            end = let("imin", end, first(bound, distance - 1))
        if end != self.loop.high:
            end = let("imax", end, begin)
        return stmts, begin, end


def needed(body: Sequence[Stmt], effect: Stmt) -> list[Stmt]:
    """A statement, and what it is computed from."""
    wanted: set[Reg] = set()
    found: list[Stmt] = []
    for stmt in reversed(body):
        if stmt is effect or not wanted.isdisjoint(assigned(stmt)):
            found.append(stmt)
            wanted.update(used(stmt))
    return found[::-1]
