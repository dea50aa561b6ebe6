"""Loops whose steps do not need each other run in chunks, on several threads.

    s := 0.0                            work = … n …
    for i in 0 .. n:                    chunks = min(work / GRAIN, n, …)
      … a[i] … s += x                   lanes = chad_lanes(chunks)
      c[k] += y                         copies = buffer of lanes cells
                                 →      spread chunk in 0 .. chunks in lanes:
                                          d = copies[lane], cleared
                                          s := 0.0
                                          for i in low(chunk) .. high(chunk):
                                            … a[i] … s += x
                                            d[k] += y
                                          sums[lane] = s
                                        merge:
                                          c += d, s += sums[lane]

The outermost loops that may are spread, if they have enough to do. How many chunks
there are depends on the sizes alone, and they are merged in their order, so that the
results are the same bits for any number of threads, and for one. The first chunk adds
to the cell itself and goes on with the number that the slot had. Copies are there for
as many chunks as there are lanes, two for each thread, and a chunk waits until the one
in its lane has been merged; so there are never more than two private cells a thread.
Clearing and merging all copies takes a small share of the work that is sure to be done,
unless there is so little of it that this would leave threads idle. Where few steps add
to a large cell, there are logs instead (`logs.py`); where all steps add to one row
after the other, they may take turns at rows (`turns.py`).

Loops that are nested two levels less than the deepest ones are left alone: what they do
hardly matters, and each loop that is spread takes LLVM some time. For its sake, loops
along an array at each step of time are spread only if there are few of them. A short
loop inside of others is there a second time, as it was, for where it is one chunk: it
may be run very often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from chadllvm.ir.loops import (
    RESULT,
    AddTo,
    Alloc,
    Branch,
    For,
    Let,
    LoopFunction,
    LoopNote,
    Reg,
    Stmt,
    Subroutine,
    bodies_of,
)
from chadllvm.ir.statements import (
    Body,
    assigned,
    everywhere,
    over_bodies,
    over_inner,
    over_statements,
    used,
    whole,
)
from chadllvm.ir.term import Lit
from chadllvm.lower.chunks import spread
from chadllvm.lower.chunks.forms import Forms
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.legal import Plan, Refused, plan
from chadllvm.lower.chunks.logs import base_of, may_pay, sparse_cells
from chadllvm.lower.chunks.spread import Home, Spreading
from chadllvm.lower.chunks.turns import Rows, rows_of
from chadllvm.lower.chunks.turns import may_pay as turns_may_pay
from chadllvm.lower.chunks.work import Additions, Estimate, Least, Work
from chadllvm.lower.lanes import Deciding

# What the note of a loop says.
IN_CHUNKS = "in chunks, on several threads if they are large"

# A loop inside of loops that are not spread has to do so much in each step, or to have
# loops in it. Others may have many steps, as those that go along an array at each step
# of time: they are spread if there are so few of them that it does not take LLVM long.
_HEAVY = 64
_FEW = 16

# What a step of these does at least: it has to wait for memory.
_LEAST = 1.0

# How many steps loops take that end when something is found: a small program with such
# loops does not pay for threads, and a large one has chunks enough.
_UNTIL = 32


def parallel(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Spread the loops that may be; without `threads`, all chunks run in order."""
    known = Known(function)
    deciding = Deciding(function)
    home = Home(known, deciding, function.regions, [*function.roots], threads)
    depth = depth_of(function.body) - 1
    light = 0 < _count_light(function.body, depth) <= _FEW
    walk = _Walk(known, home, depth, light)
    body = walk.whole(function.body, inside=False)
    others = tuple(walk.subroutine(s) for s in function.subroutines)
    function = replace(function, notes=walk.noted(function.notes))
    if not walk.count:
        return function
    function = replace(
        function,
        body=body,
        subroutines=others,
        regions=home.regions + 2,
        roots=tuple(home.roots),
    )
    return over_bodies(function, partial(_without_unused, _needed(function)))


class _Walk:
    """A walk over a function; `depth`: how deep a loop must be nested at least;
    `light`: loops inside of others may do little in each step."""

    def __init__(self, known: Known, home: Home, depth: int, light: bool) -> None:
        self._known = known
        self._home = home
        self._depth = depth
        self._light = light
        self._orders: dict[int, str] = {}
        self.count = 0

    def whole(self, body: Sequence[Stmt], *, inside: bool) -> tuple[Stmt, ...]:
        """The body of a function; `inside`: it may be run again and again."""
        deciding = self._home.deciding
        deciding.begin(body)
        for stmt in body:
            deciding.knows(stmt)
        return self.body(body, self._known.forms, inside=inside)

    def subroutine(self, subroutine: Subroutine) -> Subroutine:
        """One whose nests of loops are spread, unless threads run its calls.

        It is run often, so that loops without others inside are left alone. It has
        regions of its own for what is there as long as a loop is running.
        """
        if subroutine.tasks is not None:
            return subroutine
        self._home.regions += 2
        self._depth, self._light = max(2, depth_of(subroutine.body) - 1), False
        before = self.count
        body = self.whole(subroutine.body, inside=True)
        if self.count == before:
            self._home.regions -= 2
            return subroutine
        regions = (*subroutine.regions, self._home.regions)
        return replace(subroutine, body=body, regions=regions)

    def noted(self, notes: Sequence[LoopNote]) -> tuple[LoopNote, ...]:
        """The notes, which say what was decided."""
        found = [self._orders.get(k, "") for k in range(len(notes))]
        return tuple(
            replace(n, order=o) if o else n for n, o in zip(notes, found, strict=True)
        )

    def _note(self, loop: For, order: str) -> None:
        notes = (s.note for s in everywhere((loop,)) if isinstance(s, For))
        note = next(notes) if not _cuts(loop) else max(next(notes), next(notes))
        self._orders.setdefault(note, order)

    def body(
        self, body: Sequence[Stmt], forms: Forms, *, inside: bool
    ) -> tuple[Stmt, ...]:
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For():
                    new += self._loop(stmt, forms, inside)
                case Branch(_, then, orelse):
                    then = self.body(then, forms, inside=inside)
                    orelse = self.body(orelse, forms, inside=inside)
                    new.append(replace(stmt, then=then, orelse=orelse))
                case _:
                    new.append(stmt)
        return tuple(new)

    def _loop(self, loop: For, forms: Forms, inside: bool) -> Iterator[Stmt]:
        if depth_of((loop,)) < self._depth:
            yield loop
            return
        try:
            found = _commuting(plan(loop, self._known, forms))
        except Refused as reason:
            self._note(loop, f"in order: {reason}")
            inner = self.body(loop.body, forms.inside(loop), inside=True)
            yield replace(loop, body=inner)
            return
        work = self._work(found)
        if inside and self._light and _is_light(loop, work):
            work = {(): max(work.get((), 0.0), _LEAST)}
        elif not _may_pay(loop, work, inside):
            yield loop
            return
        self.count += 1
        self._note(loop, IN_CHUNKS)
        hits = dict(self._hits(found, work))
        spreading = Spreading(found, self._home, () if hits else self._rows(found))
        yield from spreading.stmts(work, self._least(found), inside, hits)

    def _rows(self, found: Plan) -> Sequence[Rows]:
        """The loops over rows at which chunks may take turns."""
        rows = rows_of(found, self._known, self._home.deciding, _UNTIL)
        return rows if turns_may_pay(rows) else ()

    def _work(self, found: Plan) -> Work:
        return Estimate(found.loop, _outside(found.loop), _UNTIL).step(found.forms)

    def _least(self, found: Plan) -> Work:
        return Least(found.loop, _outside(found.loop), _UNTIL).step(found.forms)

    def _hits(self, found: Plan, work: Work) -> Iterator[tuple[Alloc, Work]]:
        """The cells that may have logs, and how often a step adds to them."""
        for cell in sparse_cells(found, self._known, self._home.deciding):

            def counts(add: AddTo, cell: Alloc = cell) -> bool:
                return base_of(add, self._known) is cell.reg

            hits = Additions(found.loop, _outside(found.loop), counts)
            step = hits.step(found.forms)
            if may_pay(step, work):
                yield cell, step


def _outside(loop: For) -> Callable[[Reg], bool]:
    """Whether a register is known before a loop."""
    local = {r for s in everywhere((loop,)) for r in assigned(s)}
    return lambda reg: reg not in local


def _commuting(plan: Plan) -> Plan:
    """Say of steps that only fill places of their own that they commute.

    It is said of those that hold a loop that ends itself: LLVM makes no vectors of what
    is in it.
    """
    alone = not (plan.sums or plan.scans or plan.own or plan.cells or plan.reach > 1)
    ends = any(
        isinstance(s, For) and s.go is not None for s in everywhere(plan.loop.body)
    )
    if not alone or not ends:
        return plan
    return replace(plan, loop=replace(plan.loop, commutes=True))


def depth_of(body: Sequence[Stmt]) -> int:
    """How deep loops are nested; what only cuts another into chunks does not count."""
    most = 0
    for stmt in body:
        inner = max(map(depth_of, bodies_of(stmt)), default=0)
        most = max(most, inner + (isinstance(stmt, For) and not _cuts(stmt)))
    return most


def _count_light(body: Sequence[Stmt], depth: int) -> int:
    """How many loops there are in others that may do little in each step."""
    if depth > 1:
        return 0
    outer = [stmt for stmt in everywhere(body) if isinstance(stmt, For)]
    inner = [s for loop in outer for s in everywhere(loop.body) if isinstance(s, For)]
    return sum(_is_light(loop, {}) for loop in inner)


def _is_light(loop: For, work: Work) -> bool:
    """Whether a short loop has no loops in it, and does the same in each of its steps,
    of which nobody knows how many there are."""
    if isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
        return False
    is_short = len([*everywhere(loop.body)]) < spread.LONG
    return is_short and depth_of(loop.body) == 0 and all(not term for term in work)


def does_little(loop: For, known: Known) -> bool:
    """Whether a loop inside of others is spread only if there are few like it."""
    work = Estimate(loop, lambda _: True, _UNTIL).step(known.forms)
    return _is_light(loop, work) and work.get((), 0.0) < _HEAVY


def _cuts(loop: For) -> bool:
    """Whether a loop runs another one over so many of its steps at a time."""
    first = loop.body[0] if loop.body else None
    if not isinstance(first, Let) or first.op != "imul" or loop.index not in first.args:
        return False
    return any(isinstance(s, For) and s.low is first.reg for s in loop.body)


def _needed(function: LoopFunction) -> set[Reg]:
    """The registers that somebody uses."""
    return {reg for stmt in whole(function) for reg in used(stmt)}


def _without_unused(needed: Collection[Reg], body: Body) -> Body:
    """Without buffers of which each chunk has its own, and nobody else needs one."""

    def kept(stmt: Stmt) -> Iterator[Stmt]:
        if isinstance(stmt, For):
            yield over_inner(stmt, partial(_without_unused, needed))
        elif not isinstance(stmt, Alloc) or stmt.region == RESULT or stmt.reg in needed:
            yield stmt

    return over_statements(body, kept)


def _may_pay(loop: For, work: Work, inside: bool) -> bool:
    """Whether a loop may have enough to do, for some sizes."""
    step = work.get((), 0.0)
    if all(not term for term in work):
        if isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
            return (
                step * (int(loop.high.value) - int(loop.low.value)) >= 2 * spread.GRAIN
            )
        return not inside or step >= _HEAVY
    return True
