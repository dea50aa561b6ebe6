"""Counts how long chunks take that follow each other through rows.

    for i in …:                        for i in …:
      … x                                … x
      for k in 0 .. n:                   for k in 0 .. n:
        wait until rows[k] = i             wait until rows[k] = i
        … y                       →        … y
        rows[k] = i + 1                    rows[k] = i + 1
                                           held[k] += operations of y
                                         time += operations of x
                                         for k in 0 .. n:
                                           time = max(time, left[k]) + held[k]
                                           left[k] = time

Chunks that take turns (`chunks/turns.py`) wait for each other. What they do is counted
row by row, in the order of the steps, and with it the time at which a row is left, if
so many cores take the chunks in rounds: a chunk begins when those are done that stand
a round before it. Steps that lanes run together are at a row together, so that they
are counted together: the loop is cut into groups of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.loops import (
    PTR,
    ROW_TURN,
    Accumulate,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    For,
    Let,
    Load,
    Reg,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64
from chadllvm.lower.out import Out


@dataclass(frozen=True)
class Place:
    """An element of a buffer."""

    ptr: Reg
    index: Atom


# A body that counts itself, and so many statements more, also at a place.
Count = Callable[[Sequence[Stmt], Place | None, int], Iterator[Stmt]]


@dataclass(frozen=True)
class Rows:
    """A loop over rows: how many there are, what the steps that are together at them do
    at each, and when each was left last, by the number of cores."""

    count: Atom
    held: Reg
    left: Mapping[int, Reg]


def row_call(loop: For) -> tuple[Atom, Reg] | None:
    """Whether steps take turns in a loop: if this holds, and with these numbers."""
    for stmt in loop.body:
        match stmt:
            case CallRuntime(function=name, args=(Reg() as numbers, *_)):
                if name == ROW_TURN:
                    return Lit(True), numbers
            case Branch(cond, then, ()):
                for inner in then:
                    match inner:
                        case CallRuntime(function=name, args=(Reg() as numbers, *_)):
                            if name == ROW_TURN:
                                return cond, numbers
                        case _:
                            pass
            case _:
                pass
    return None


@dataclass(eq=False)
class Following:
    """The chunks of one loop that take turns, if `wanted`.

    `rows`: by their numbers. `ended`: for each number of cores when each chunk and all
    before it were done. `behind`: what steps do behind rows, which waits for nobody
    else. In a chunk, `time` is how late it is, and `mark` what was counted until then.
    """

    spread: Spread
    steps: Slot
    region: int
    root: int
    cores: Sequence[int]
    wanted: Atom = Lit(False)
    rows: dict[Reg, Rows] = field(default_factory=dict)
    ended: dict[int, Reg] = field(default_factory=dict)
    behind: Reg = field(default_factory=lambda: Reg("behind", PTR))
    time: dict[int, Slot] = field(default_factory=dict)
    mark: Slot = field(default_factory=lambda: Slot("mark", I64))

    def begin(self) -> Iterator[Stmt]:
        """What stands in front of the chunks."""
        for loop in everywhere(self.spread.body):
            if isinstance(loop, For) and (call := row_call(loop)):
                self.wanted, numbers = call
                if numbers not in self.rows:
                    yield from self._rows(numbers, loop.high)
        yield self._zeros(self.behind, Lit(len(self.rows)))
        for cores in self.cores:
            self.ended[cores] = Reg("ended", PTR)
            self.time[cores] = Slot("time", I64)
            yield self._zeros(self.ended[cores], self.spread.chunks)

    def _rows(self, numbers: Reg, high: Atom) -> Iterator[Stmt]:
        count = Reg("count", I64)
        yield Let(count, "imax", (high, Lit(0)))
        left = {cores: Reg("left", PTR) for cores in self.cores}
        self.rows[numbers] = rows = Rows(count, Reg("held", PTR), left)
        for ptr in (rows.held, *left.values()):
            yield self._zeros(ptr, count)

    def _zeros(self, ptr: Reg, count: Atom) -> Alloc:
        return Alloc(ptr, self.region, count, I64, self.root, zero=True)

    def has(self, loop: For) -> bool:
        """Whether these are steps that go through rows."""
        return any(isinstance(s, For) and row_call(s) for s in loop.body)

    def enter(self) -> Iterator[Stmt]:
        """The beginning of a chunk: all are done that stand a round before it."""
        out, chunk = Out(), self.spread.chunk
        out.emit(Set(self.mark, Lit(0)))
        for cores, ended in self.ended.items():
            place = out.let("imax", out.let("iadd", chunk, Lit(-cores)), Lit(0))
            first = out.let("ilt", chunk, Lit(cores))
            before = out.let("select", first, Lit(0), self._load(out, ended, place))
            out.emit(Set(self.time[cores], before))
        yield from out.stmts

    def leave(self) -> Iterator[Stmt]:
        """The end of a chunk."""
        out, chunk = Out(), self.spread.chunk
        more = out.let("isub", out.get(self.steps), out.get(self.mark))
        for cores, ended in self.ended.items():
            place = out.let("imax", out.let("iadd", chunk, Lit(-1)), Lit(0))
            mine = out.let("iadd", out.get(self.time[cores]), more)
            last = out.let("imax", mine, self._load(out, ended, place))
            out.emit(Store(ended, chunk, last, self.root))
        yield from out.stmts

    def together(self, out: Out, cores: int) -> Atom:
        """How long all chunks take, at least; 0 if there are no turns."""
        last = out.let("iadd", self.spread.chunks, Lit(-1))
        place = out.let("imax", last, Lit(0))
        # There is no element to look up if there is no chunk.
        some = out.let("ilt", Lit(0), self.spread.chunks)
        wanted = out.let("and", some, self.wanted)
        slot = Slot("all", I64)
        out.emit(Set(slot, Lit(0)))
        inner = Out()
        inner.emit(Set(slot, self._load(inner, self.ended[cores], place)))
        out.emit(Branch(wanted, tuple(inner.stmts)))
        return out.get(slot)

    def steps_of(self, loop: For, count: Count) -> Iterator[Stmt]:
        """The loop over steps, which says where it has come to behind each group."""
        body: list[Stmt] = []
        part: list[Stmt] = []
        number = 0
        place: Place | None = None
        for stmt in loop.body:
            call = row_call(stmt) if isinstance(stmt, For) else None
            if not isinstance(stmt, For) or call is None:
                part.append(stmt)
                continue
            body += count(part, place, 1)
            at_row = Place(self.rows[call[1]].held, stmt.index)
            body.append(replace(stmt, body=tuple(count(stmt.body, at_row, 0))))
            part, place = [], Place(self.behind, Lit(number))
            number += 1
        body += count(part, place, 0)
        if loop.lanes == 1:
            whole = (*body, *self._pass())
            yield replace(loop, body=whole, commutes=False)
        else:
            yield from self._groups(loop, body)

    def _groups(self, loop: For, body: Sequence[Stmt]) -> Iterator[Stmt]:
        """The same for steps in lanes; the first group that fails is the last."""
        out, inner, group = Out(), Out(), Reg("group", I64)
        lanes = Lit(loop.lanes)
        groups = out.let("idiv", out.let("isub", loop.high, loop.low), lanes)
        first = inner.let("iadd", loop.low, inner.let("imul", group, lanes))
        last = inner.let("iadd", first, lanes)
        inner.emit(replace(loop, low=first, high=last, body=tuple(body)))
        inner.stmts += self._pass()
        going = None
        if loop.resume is not None:
            going = Slot("going", BOOL)
            out.emit(Set(going, Lit(True)))
            failed = out.get(loop.resume)
            good = inner.let("ieq", inner.get(loop.resume), failed)
            inner.emit(Set(going, good))
        out.emit(For(group, Lit(0), groups, tuple(inner.stmts), go=going))
        yield from out.stmts

    def _pass(self) -> Iterator[Stmt]:
        """Go through the rows with what was counted there."""
        out, noted = Out(), Slot("noted", I64)
        now = out.get(self.steps)
        out.emit(Set(noted, Lit(0)))
        places = [(r.held, r.count) for r in self.rows.values()]
        for ptr, count in (*places, (self.behind, Lit(len(self.rows)))):
            k, add = Reg("k", I64), Out()
            add.emit(Accumulate(noted, self._load(add, ptr, k)))
            out.emit(For(k, Lit(0), count, tuple(add.stmts)))
        done = out.let("isub", now, out.get(self.mark))
        before = out.let("isub", done, out.get(noted))
        out.emit(Set(self.mark, now))
        for slot in self.time.values():
            out.emit(Accumulate(slot, before))
        for number, rows in enumerate(self.rows.values()):
            self._through(out, rows)
            behind = self._load(out, self.behind, Lit(number))
            for slot in self.time.values():
                out.emit(Accumulate(slot, behind))
            out.emit(Store(self.behind, Lit(number), Lit(0), self.root))
        yield from out.stmts

    def _through(self, out: Out, rows: Rows) -> None:
        k, at = Reg("k", I64), Out()
        held = self._load(at, rows.held, k)
        for cores, slot in self.time.items():
            free = self._load(at, rows.left[cores], k)
            begun = at.let("imax", at.get(slot), free)
            done = at.let("iadd", begun, held)
            at.emit(Set(slot, done))
            at.emit(Store(rows.left[cores], k, done, self.root))
        at.emit(Store(rows.held, k, Lit(0), self.root))
        out.emit(For(k, Lit(0), rows.count, tuple(at.stmts)))

    def _load(self, out: Out, ptr: Reg, place: Atom) -> Reg:
        reg = Reg("t", I64)
        out.emit(Load(reg, ptr, place, self.root))
        return reg
