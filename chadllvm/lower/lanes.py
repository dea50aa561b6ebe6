"""Iterations that have loops of their own are run side by side, in vectors.

    for i in 0 .. n:                      m = n / 8 * 8
      s := 0.0                            for i in 0 .. m:  # 8 lanes
      for k in 0 .. terms:                  s := 0.0
        s := s * x[i] + c[k]      →         for k in 0 .. terms:
      total += s * s                          s := s * x[i] + c[k]
                                            total += s * s
                                          for i in m .. n: …

LLVM makes vectors of the steps of innermost loops only. That fails where each step
needs the one before, and is not worth it where there are few steps. If the iterations
around them are independent of each other, the same statement of eight of them is one
vector instruction (`llvm/lanes.py`), as long as they go through their loops in step.
What each iteration has in a buffer of its own takes eight times the memory (but where
sums over the lanes are enough, `totals.py`), so that this is done for small ones only,
which is asked at run time: in front of the loop, or where an iteration makes them, as
it does for what a loop collects that ends itself. There the lanes are left if one is
too large, and what they have begun is done again one by one. It is asked as well where
inner loops would be vectorised if they were long. Where a loop inside has its lanes
next to each other, and this one far apart, as the columns and rows of an image, it is
asked whether that one makes enough steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from chadllvm.ir.loops import (
    PTR,
    Alloc,
    Atom,
    Branch,
    Check,
    Failure,
    For,
    Get,
    Let,
    LoopFunction,
    Reg,
    Reset,
    Set,
    Slot,
    Spread,
    Stmt,
    Subroutine,
    bodies_of,
)
from chadllvm.ir.statements import (
    Body,
    assigned,
    copied,
    everywhere,
    made,
    over_bodies,
    over_inner,
    over_statements,
    roots_of,
    same_or_new,
    whole,
    with_body,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64
from chadllvm.lower.gain import Gain, inner_loops
from chadllvm.lower.legality import Legality, begins_again, slot_uses
from chadllvm.lower.overlap import by_rows
from chadllvm.lower.packing import LONGEST, Packed, Row, rows, with_rows
from chadllvm.lower.varying import MOST, Varying

# What is said of a check that fails or not, by how numbers are rounded.
_UNSURE = "whether this is an error depends on how numbers are rounded"

# Loops with as many steps are better vectorised themselves, if they can be.
SHORT = 16

# A loop inside must be so much better, and make as many steps as its lanes so often.
_MUCH = 0.7
_OFTEN = 3


def lanes(function: LoopFunction) -> LoopFunction:
    """Run iterations side by side where it pays."""
    making = _Making(function)
    changed = making.function()
    return changed if making.made else function


@dataclass(frozen=True)
class Decision:
    """That iterations are run side by side: what they have of their own, what is won,
    the rows that they read, and whether they may be left and begin `again`."""

    varying: Varying
    gain: Gain
    rows: Sequence[Row]
    again: bool


class Deciding:
    """Says which loops of a function are run in lanes.

    A body is looked at from its beginning: what it makes is known behind that only.
    """

    def __init__(self, function: LoopFunction) -> None:
        inside = [*whole(function)]
        self.roots = function.roots
        self.allocs = [s for s in inside if isinstance(s, Alloc)]
        self._open: set[Reg] = set()
        self._uses = Counter(slot_uses(inside))
        self._apart = {s.reg: s.apart for s in inside if isinstance(s, Get)}
        self._touched = Counter(self._classes(inside))
        self._lets = {s.reg: s for s in inside if isinstance(s, Let)}
        # Where buffers are made and what loops do: the numbers of the bodies around.
        self._homes: dict[Stmt, tuple[int, ...]] = {}
        self._places: dict[int, tuple[int, ...] | None] = {}
        self._numbers = count()
        for body in (function.body, *(s.body for s in function.subroutines)):
            self._find(body, (next(self._numbers),))

    def _find(self, body: Body, place: tuple[int, ...]) -> None:
        for stmt in body:
            if isinstance(stmt, Alloc):
                self._homes[stmt] = place
            for inner in bodies_of(stmt):
                there = (*place, next(self._numbers))
                again = id(inner) in self._places
                self._places[id(inner)] = None if again else there
                self._find(inner, there)

    def _is_elsewhere(self, alloc: Alloc, loop: For) -> bool:
        """Whether a buffer is made on another way than that to a loop or in it."""
        home, place = self._homes[alloc], self._places.get(id(loop.body))
        return place is not None and any(map(int.__ne__, home, place))

    def begin(self, body: Sequence[Stmt]) -> None:
        """A body of the function is looked at from now on."""
        self._open = set(made(body))

    def knows(self, stmt: Stmt) -> None:
        """A statement stands in front of those that are looked at from now on."""
        if not isinstance(stmt, For | Spread):
            self._open.difference_update(assigned(stmt))

    def private(self, loop: For) -> tuple[int, ...]:
        """The roots of buffers of one iteration that are not mixed with others."""
        inside = set(loop.private)
        mixed = {self.roots[r] for r in range(len(self.roots)) if r not in inside}
        known = [r for r in loop.private if self.roots[r] not in mixed]
        made = {s.root for s in everywhere(loop.body) if isinstance(s, Alloc)}
        if made:
            here = Counter(self._classes(everywhere(loop.body)))
            own = {of for of, count in here.items() if count == self._touched[of]}
            made = {root for root in made if self.roots[root] in own}
        return (*known, *sorted(made.difference(known)))

    def _classes(self, stmts: Iterable[Stmt]) -> Iterator[int]:
        """The classes of the buffers that each statement is about."""
        for stmt in stmts:
            yield from (self.roots[root] for root in roots_of(stmt))

    def decision(self, loop: For) -> Decision | None:
        """None: its iterations stay one after the other."""
        if not loop.commutes or loop.go is not None or not inner_loops(loop.body):
            return None
        loop = replace(loop, private=self.private(loop))
        varying = Varying(loop, self.roots, [self.roots[r] for r in loop.private])
        if not Legality(
            loop, varying, self.roots, self._uses, self.allocs, self._apart
        ).holds:
            return None
        again = begins_again(loop, varying)
        if not again and _has_to_begin_again(loop, varying):
            return None
        found = [
            row
            for row in rows(loop, varying, self.roots)
            if row.inner.high not in self._open
        ]
        near = {row.load for row in found}
        gain = Gain(loop, varying, near, self._longest(loop), self._keeps(varying))
        if not gain.always and not gain.if_short:
            return None
        # Whether there is room in it for all lanes is asked where it is made.
        asked = [
            a for a in self.allocs if varying.owns(a.root) and grows(a, gain.lanes)
        ]
        if any(self._is_elsewhere(alloc, loop) for alloc in asked):
            return None
        return Decision(varying, gain, found, again)

    def nearer(self, loop: For, decision: Decision) -> For | None:
        """A loop inside whose lanes are much better, as they are next to each other
        where those of this one are far apart."""
        inside = set(made((loop,)))
        if loop.private or any(isinstance(s, Alloc) for s in everywhere(loop.body)):
            return None
        for inner in loop.body:
            if not isinstance(inner, For) or not inside.isdisjoint(
                (inner.low, inner.high)
            ):
                continue
            other = self.decision(inner)
            if other and other.gain.share < _MUCH * decision.gain.share:
                return inner
        return None

    def _keeps(self, varying: Varying) -> bool:
        """Whether each lane has a table of its own, with rows and columns."""
        sizes = [self._made(a.count) for a in self.allocs if varying.owns(a.root)]
        return any(let is not None and let.op == "imul" for let in sizes)

    def _longest(self, loop: For) -> int:
        """The most steps of a loop over a chunk, min(low + size, n); 0: not known."""
        match self._made(loop.high):
            case Let(_, "imin", ends):
                for end in ends:
                    match self._made(end):
                        case Let(_, "iadd", (low, Lit(size))) if low is loop.low:
                            return int(size)
            case _:
                pass
        return 0

    def _made(self, atom: Atom) -> Let | None:
        return self._lets.get(atom) if isinstance(atom, Reg) else None


class _Making:
    """What is changed, and what is needed for it: `rows` go in front of the outermost
    loop that is being changed, where what is known has its value, or to the beginning
    of a chunk. What calls itself gives them back behind that loop."""

    def __init__(self, function: LoopFunction) -> None:
        self.made = self._packs = False
        self._gives: list[Stmt] = []
        self._function = function
        self._deciding = Deciding(function)
        self.roots = list(function.roots)
        self.region = function.regions
        self._rows: list[Stmt] = []
        # The buffers that each lane has: by how many lanes there are, whether it is
        # small enough. Parts of a loop that was split have the same ones.
        self._buffers: dict[Stmt, dict[int, Atom]] = {}

    def function(self) -> LoopFunction:
        """The function."""
        function = self._function
        self._deciding.begin(function.body)
        self._packs, self._gives = False, []
        function = with_body(function, self._outermost(function.body))
        self.region += self._packs
        others = tuple(map(self._subroutine, function.subroutines))
        roots, regions = tuple(self.roots), self.region
        function = replace(function, roots=roots, regions=regions, subroutines=others)
        return over_bodies(function, self.allocations)

    def _subroutine(self, subroutine: Subroutine) -> Subroutine:
        self._deciding.begin(subroutine.body)
        self._packs, self._gives = False, [Reset(self.region)]
        body = self._outermost(subroutine.body)
        if not self._packs:
            return with_body(subroutine, body)
        regions = (*subroutine.regions, self.region)
        self.region += 2
        return replace(subroutine, body=body, regions=regions)

    def _outermost(self, body: Body) -> Body:
        """The statements of a body that is in no loop."""
        new: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Branch):
                new.append(over_inner(stmt, self._outermost))
            else:
                changed = self.body([stmt])
                new += [*self._rows, *changed, *(self._gives if self._rows else ())]
                self._rows.clear()
            self._deciding.knows(stmt)
        return same_or_new(new, body)

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements of a body with loops in lanes."""
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For():
                    new += self._loop(stmt)
                case Branch(_, then, orelse):
                    then, orelse = self.body(then), self.body(orelse)
                    new.append(replace(stmt, then=then, orelse=orelse))
                case Spread():
                    new.append(self._spread(stmt))
                case _:
                    new.append(stmt)
        return tuple(new)

    def _spread(self, spread: Spread) -> Spread:
        """Each chunk has rows of its own."""
        outside, self._rows = self._rows, []
        body = self.body(spread.body)
        mine, self._rows = self._rows, outside
        if not mine:
            return replace(spread, body=body)
        regions = (*spread.regions, self.region)
        return replace(spread, body=(*mine, *body), regions=regions)

    def _loop(self, loop: For) -> list[Stmt]:
        loop = replace(loop, private=self._deciding.private(loop))
        decision = self._deciding.decision(loop)
        if decision is None:
            return [replace(loop, body=self.body(loop.body))]
        together = self._side_by_side(loop, decision)
        inner = self._deciding.nearer(loop, decision)
        if inner is None:
            return together
        inside = replace(loop, body=self.body(loop.body))
        steps, is_long = Reg("steps", I64), Reg("long", BOOL)
        few = Lit(_OFTEN * decision.gain.lanes)
        return [
            Let(steps, "isub", (inner.high, inner.low)),
            Let(is_long, "ile", (few, steps)),
            Branch(is_long, (copied(inside),), tuple(together)),
        ]

    def _side_by_side(self, loop: For, decision: Decision) -> list[Stmt]:
        varying, gain = decision.varying, decision.gain
        self.made = True
        out: list[Stmt] = []

        def let(ty: Any, op: str, *args: Atom) -> Reg:
            reg = Reg("t", ty)
            out.append(Let(reg, op, args))
            return reg

        count = Lit(gain.lanes)
        whole = let(
            I64,
            "imul",
            let(I64, "idiv", let(I64, "isub", loop.high, loop.low), count),
            count,
        )
        conds = [*self._owned(loop, varying, gain.lanes)]
        if not gain.always:
            conds += [let(BOOL, "ile", n, Lit(SHORT)) for n in gain.trips]
        packed = [self._packed(row, gain.lanes) for row in decision.rows]
        conds += [p.fits for p in packed]
        asked = [cond for cond in conds if isinstance(cond, Reg)]
        for cond in asked:
            whole = let(I64, "select", cond, whole, Lit(0))
        middle = let(I64, "iadd", loop.low, whole)
        together = replace(
            loop,
            high=middle,
            body=by_rows(with_rows(loop.body, packed), varying),
            private=(*loop.private, *(p.root for p in packed)),
            lanes=gain.lanes,
        )
        rest = replace(copied(loop), low=middle, few=not asked)
        failure = _first_failure(loop, varying)
        if failure is None and not _has_buffers(loop):
            return [*out, together, rest]
        return [*out, *_resumed(together, rest, None if decision.again else failure)]

    def _packed(self, row: Row, count: int) -> Packed:
        """A buffer for what the lanes would look up one by one."""
        self._packs = True
        new = Packed(row, Reg("row", PTR), len(self.roots), Reg("fits", BOOL))
        self.roots.append(new.root)
        all_lanes, room = Reg("all", I64), Reg("room", I64)
        length = Reg("n", I64)
        self._rows += [
            Let(new.fits, "ile", (row.inner.high, Lit(LONGEST))),
            Let(length, "imax", (row.inner.high, Lit(0))),
            Let(all_lanes, "imul", (length, Lit(count))),
            Let(room, "select", (new.fits, all_lanes, Lit(0))),
            Alloc(new.ptr, self.region, room, new.elem, new.root),
        ]
        return new

    def _owned(self, loop: For, varying: Varying, lanes: int) -> Iterator[Atom]:
        """Whether the buffers that each lane has are small enough for that.

        Of those that are made in the loop it is asked there.
        """
        inside = set(everywhere(loop.body))
        for alloc in self._deciding.allocs:
            if not varying.owns(alloc.root) or alloc in inside:
                continue
            fits: Atom = Lit(True)
            if grows(alloc, lanes):
                fits = Reg("fits", BOOL)
            yield self._buffers.setdefault(alloc, {}).setdefault(lanes, fits)

    def allocations(self, body: Body) -> Body:
        """Make room for all lanes."""
        return over_statements(body, self._allocation)

    def _allocation(self, stmt: Stmt) -> Iterable[Stmt]:
        if isinstance(stmt, Alloc) and stmt in self._buffers:
            return _larger(stmt, self._buffers[stmt])
        return [over_inner(stmt, self.allocations)]


def grows(alloc: Alloc, lanes: int) -> bool:
    """Whether a buffer may be too large to be there for each lane."""
    return isinstance(alloc.count, Reg) or alloc.count.value * lanes > MOST


def _first_failure(loop: For, varying: Varying) -> Failure | None:
    """What the first check raises that may fail in some lanes, if there is one."""
    for stmt in everywhere(loop.body):
        if isinstance(stmt, Check) and stmt in varying.unsure:
            return stmt.failure
    return None


def _has_buffers(loop: For) -> bool:
    """Whether its iterations make buffers, whose sizes are known only then."""
    return any(isinstance(stmt, Alloc) for stmt in everywhere(loop.body))


def _has_to_begin_again(loop: For, varying: Varying) -> bool:
    """Whether iterations have to be run again that have begun: where a buffer is too
    large, or one does not end while another one fails behind its loop."""
    return _has_buffers(loop) or bool(varying.masked and varying.unsure)


def _resumed(together: For, rest: For, failure: Failure | None) -> Iterator[Stmt]:
    """The loops with a way from the one to the other.

    If it is taken for a failure, it is the rest that fails then, for it does the same
    again. But numbers may be rounded in another way there, so that it does not: then
    all of it fails, if this `failure` is given.
    """
    resume, low, good = Slot("resume", I64), Reg("low", I64), Reg("good", BOOL)
    yield Set(resume, together.high)
    yield replace(together, resume=resume)
    yield Get(low, resume)
    yield replace(rest, low=low)
    if failure is not None:
        yield Let(good, "ieq", (low, together.high))
        yield Check(good, Failure(failure.kind, _UNSURE, failure.span))


def _larger(alloc: Alloc, buffers: Mapping[int, Atom]) -> Iterator[Stmt]:
    """A buffer for as many lanes as it is small enough for."""
    room = alloc.count
    for lanes, fits in sorted(buffers.items()):
        all_lanes = Reg("all", I64)
        yield Let(all_lanes, "imul", (alloc.count, Lit(lanes)))
        if isinstance(fits, Reg):
            yield Let(fits, "ile", (alloc.count, Lit(MOST // lanes)))
            chosen = Reg("room", I64)
            yield Let(chosen, "select", (fits, all_lanes, room))
            all_lanes = chosen
        room = all_lanes
    yield replace(alloc, count=room)
