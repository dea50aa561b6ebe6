"""Counts executed operations: loops → the same loops that also return their number.

    for i in 0 .. n:              steps := 0
      v = a[i]                    for i in 0 .. n:
      s += v                →       steps += 2
    return s                        v = a[i]
                                    s += v
                                  steps += 2 …
                                  return s, steps

Every statement counts one; filling and copying memory count one for each element, and
the runtime's structures report their own steps. Chunks that may run at the same time
count for themselves, and are added up behind them; calls run in order. That is how the
cost law is measured on compiled code: the number is the same on every machine and at
every run.

What is saved where chunks run at the same time can be counted too: on so many cores
chunks take as long as the longest of them, or as equal ones do in rounds; those that
take turns at rows as long as it takes them behind each other (`count_turns.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    PTR,
    ROW_DONE,
    ROW_TURN,
    RUNTIME,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Clear,
    Copy,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Reg,
    Reset,
    Return,
    ScalarResult,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.count_turns import Following, Place, row_call
from chadllvm.lower.fills import MOST_PIECES, elements
from chadllvm.lower.out import Out

# What looks at all elements of an array, whose number is its last argument.
LOOKS = frozenset(name for name, f in RUNTIME.items() if f.refused == "finds")

# What the runtime does not count as steps of its own.
_UNCOUNTED = {
    "chad_arena_segment", "chad_lanes", "chad_turn", "chad_log_sort", "chad_print",
    "chad_print_real", "chad_print_integer", "chad_print_address",
    ROW_TURN, ROW_DONE, *LOOKS,
}  # fmt: skip


# A number of cores that is never too small.
UNLIMITED = 1 << 40


def count_operations(function: LoopFunction, cores: Sequence[int] = ()) -> LoopFunction:
    """The function with the number of executed operations behind its results.

    Behind that comes how many of them are saved on each of these numbers of cores.
    """
    steps = Slot("steps", I64)
    saved = {count: Slot("saved", I64) for count in cores}
    start: list[Stmt] = [Set(steps, Lit(0))]
    reports = _uses_runtime(function.body) or any(
        _uses_runtime(s.body) for s in function.subroutines
    )
    if reports:
        before, none = Reg("before", I64), Reg("none", I64)
        start = [
            CallRuntime(before, "chad_steps", ()),
            Let(none, "isub", (Lit(0), before)),
            Set(steps, none),
        ]
    start += [Set(slot, Lit(0)) for slot in saved.values()]
    counting = _Counting(function, steps, reports, saved)
    body = (*start, *counting.body(function.body))
    results = (*function.results, *[ScalarResult(I64)] * (1 + len(saved)))
    subroutines = tuple(
        replace(s, body=tuple(counting.body(s.body)), tasks=None)
        for s in function.subroutines
    )
    return replace(
        function,
        body=body,
        results=results,
        regions=function.regions + 1,
        roots=(*function.roots, len(function.roots)),
        subroutines=subroutines,
    )


def _uses_runtime(body: Sequence[Stmt]) -> bool:
    return any(
        isinstance(stmt, CallRuntime) and stmt.function not in _UNCOUNTED
        for stmt in everywhere(body)
    )


@dataclass(frozen=True)
class _Counting:
    """`reports`: the runtime's steps belong to the count; `saved`: by cores.

    Inside of chunks that take turns, `following` are these, and `place` is where what
    is done at a row is counted as well.
    """

    function: LoopFunction
    steps: Slot
    reports: bool
    saved: Mapping[int, Slot]
    following: Following | None = None
    place: Place | None = None

    def _add(self, count: Atom) -> Iterator[Stmt]:
        yield Accumulate(self.steps, count)
        if self.place is not None:
            place, root = self.place, len(self.function.roots)
            yield AddTo(place.ptr, place.index, count, root)

    def body(self, body: Sequence[Stmt]) -> Iterator[Stmt]:
        """The statements of a body, which counts them when it is entered."""
        if body:
            yield from self._add(Lit(len(body)))
        for stmt in body:
            match stmt:
                case For() if self.following and self.following.has(stmt):
                    yield from self.following.steps_of(stmt, self._at)
                case For():
                    # Steps are counted once.
                    loop = replace(stmt, lanes=1, ends=False) if stmt.ends else stmt
                    yield replace(loop, body=tuple(self.body(stmt.body)))
                case Branch(_, then, orelse):
                    then, orelse = (tuple(self.body(b)) for b in (then, orelse))
                    yield replace(stmt, then=then, orelse=orelse)
                case Spread():
                    yield from self._spread(stmt)
                case Return(values):
                    yield from self._returned(values)
                case CallRuntime(function=function, args=(_, count)) if (
                    function in LOOKS
                ):
                    yield from self._add(count)
                    yield stmt
                case CallRuntime(function="chad_log_sort", args=(_, _, _, count, *_)):
                    # It looks at all places, and then moves places and values.
                    for _ in range(3):
                        yield from self._add(count)
                    yield stmt
                case Clear() | Copy() | Alloc(zero=True):
                    yield from self._add(stmt.count)
                    yield from self._pieces(stmt)
                    yield stmt
                case _:
                    yield stmt

    def _at(
        self, body: Sequence[Stmt], place: Place | None, more: int
    ) -> Iterator[Stmt]:
        """The statements of a body, which counts them and some more also at a place."""
        there = replace(self, following=None, place=place)
        if more:
            yield from there._add(Lit(more))
        yield from there.body(body)

    def _pieces(self, stmt: Clear | Copy | Alloc) -> Iterator[Stmt]:
        """What is saved if several cores fill an array."""
        if stmt.pieces and self.saved:
            some, most, pieces, share = (Reg("pieces", I64) for _ in range(4))
            yield Let(some, "idiv", (stmt.count, Lit(elements(stmt.elem))))
            yield Let(most, "imin", (some, Lit(MOST_PIECES)))
            yield Let(pieces, "imax", (most, Lit(1)))
            yield Let(share, "idiv", (stmt.count, pieces))
            for cores, slot in self.saved.items():
                yield from self._less(stmt.count, share, pieces, cores, slot)

    def _spread(self, stmt: Spread) -> Iterator[Stmt]:
        """Each chunk counts for itself, as slots around are not there for it.

        Merges count together. There is one lane, so that they follow each other.
        """
        region, root = self.function.regions, len(self.function.roots)
        counts, total = Reg("counts", PTR), Reg("steps", I64)
        yield Alloc(counts, region, stmt.chunks, I64, root)
        following = self._following(stmt)
        if following is not None:
            yield from following.begin()
        # Cores that are busy already save nothing.
        inside = replace(self, saved={}, following=following)
        body = (
            Set(self.steps, Lit(0)),
            *(following.enter() if following else ()),
            *inside.body(stmt.body),
            *(following.leave() if following else ()),
            Get(total, self.steps),
            Store(counts, stmt.chunk, total, root),
        )
        merging = Slot("merging", I64)
        yield Set(merging, Lit(0))
        merge = tuple(replace(inside, steps=merging, following=None).body(stmt.merge))
        yield replace(stmt, body=body, merge=merge, lanes=Lit(1))
        yield from self._merged(stmt.parts, merging)
        each = Load(Reg("steps", I64), counts, Reg("chunk", I64), root)
        yield from self._added(stmt.chunks, each, following)
        yield Reset(region)

    def _following(self, spread: Spread) -> Following | None:
        """How the chunks take turns, if that is asked and they do."""
        found = (s for s in everywhere(spread.body) if isinstance(s, For))
        if not self.saved or not any(map(row_call, found)):
            return None
        region, root = self.function.regions, len(self.function.roots)
        return Following(spread, self.steps, region, root, tuple(self.saved))

    def _merged(self, parts: Atom, merging: Slot) -> Iterator[Stmt]:
        """Add what the merges have counted, and what is saved if parts are merged at
        the same time: they have the same to do."""
        total = Reg("merging", I64)
        yield Get(total, merging)
        yield Accumulate(self.steps, total)
        if parts != Lit(1):
            share = Reg("share", I64)
            yield Let(share, "idiv", (total, parts))
            for cores, slot in self.saved.items():
                yield from self._less(total, share, parts, cores, slot)

    def _added(
        self, chunks: Atom, each: Load, following: Following | None
    ) -> Iterator[Stmt]:
        """Add up what the chunks have counted, and what is saved."""
        assert isinstance(each.index, Reg)
        if not self.saved:
            add = Accumulate(self.steps, each.reg)
            yield For(each.index, Lit(0), chunks, (each, add))
            return
        together, longest = Slot("together", I64), Slot("longest", I64)
        yield from (Set(together, Lit(0)), Set(longest, Lit(0)))
        most, more = Reg("most", I64), Reg("most", I64)
        body = (
            each,
            Accumulate(together, each.reg),
            Get(most, longest),
            Let(more, "imax", (most, each.reg)),
            Set(longest, more),
        )
        yield For(each.index, Lit(0), chunks, body)
        work, span, count = (Reg(name, I64) for name in ("work", "span", "count"))
        yield from (Get(work, together), Get(span, longest))
        yield Accumulate(self.steps, work)
        yield Let(count, "imax", (chunks, Lit(1)))
        for cores, slot in self.saved.items():
            least: Atom = span
            if following is not None:
                out = Out()
                least = out.let("imax", span, following.together(out, cores))
                yield from out.stmts
            yield from self._less(work, least, count, cores, slot)

    def _less(
        self, work: Atom, span: Atom, chunks: Atom, cores: int, slot: Slot
    ) -> Iterator[Stmt]:
        """What so many cores save, which take the chunks in rounds."""
        found: list[Stmt] = []

        def let(op: str, *args: Atom) -> Atom:
            reg = Reg("t", I64)
            found.append(Let(reg, op, args))
            return reg

        last = let("iadd", chunks, Lit(cores - 1))
        rounds = let("idiv", last, Lit(cores))
        shares = let("idiv", let("imul", rounds, work), chunks)
        time = let("imax", shares, span)
        found.append(Accumulate(slot, let("isub", work, time)))
        yield from found

    def _returned(self, values: Sequence[Atom]) -> Iterator[Stmt]:
        """Return the count with the values."""
        if self.reports:
            after = Reg("after", I64)
            yield CallRuntime(after, "chad_steps", ())
            yield Accumulate(self.steps, after)
        found = []
        for slot in (self.steps, *self.saved.values()):
            found.append(Reg(slot.name, I64))
            yield Get(found[-1], slot)
        yield Return((*values, *found))
