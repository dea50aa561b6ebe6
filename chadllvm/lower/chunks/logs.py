"""Large arrays that steps add to here and there: chunks write down what they add.

    spread chunk …:                       places, values = buffers of a lane, n := 0
      for i in …:                         for i in …:
        … c[j] += y …           →           … if n < limit: places[n], values[n] = j, y
    merge: c += the chunk's copy                            n += 1
                                              else: if 0 < n: wait for the turn
                                                              add what is in the log
                                                              n := 0
                                                    c[j] += y
                                          sort the log by parts of c
                                        merge part: add what is in this part of the log

A copy of the array for each chunk would be more work than the steps, so that there
would be few chunks or one. The log of a chunk is added when all chunks before it have
been, so every element gets what it got from the loop as it was, in the same order: the
bits are the same whether there are logs or not. On one thread there are none (limit =
0), for the chunks follow each other there, and add to the array itself. A chunk whose
log is full waits until it is the oldest one, and then adds to the array itself, too. So
the memory of logs is bounded whatever the steps do: a lane's is no more than a copy.

The steps are the same code in both cases, but for what happens to finished values: what
they add is put at the end of their bodies, and these additions are neither contracted
with what makes the values nor reassociated. Nor may LLVM make two loops of one, which
it would then compile in different ways: what it asks is where the log ends, not whether
there is one, for that changes with each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    For,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
    bodies_of,
)
from chadllvm.ir.statements import assigned, everywhere
from chadllvm.ir.term import Lit
from chadllvm.ir.types import F64, I64
from chadllvm.lower.chunks.forms import Form, atoms, plus
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.legal import Plan
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.work import Work, is_vector
from chadllvm.lower.lanes import Deciding

# What it takes to write down an addition and to make it later, in simple operations.
_ADDITION = 32.0

# So many there are for an addition at least, or there are no logs on any number of
# threads.
_FEWEST = 16.0

# On so many lanes one thread at a time makes the additions while others go on, so that
# logs need not be sorted.
_FEW_LANES = 8

# An array of fewer elements has copies.
_SMALL = 1 << 12

# The elements of an array for each of which a lane's log has room for one addition, so
# that places and values, twice, are not more than a copy.
_ROOM = {True: 5, False: 7}

# How many more additions a chunk may have than were estimated.
_MORE = 1.25
_AT_LEAST = 64


def sparse_cells(plan: Plan, known: Known, deciding: Deciding) -> list[Alloc]:
    """The cells of a loop to which steps add what LLVM makes no vectors of."""
    loops = [s for s in everywhere((plan.loop,)) if isinstance(s, For)]
    if not plan.cells or any(deciding.decision(loop) for loop in loops):
        return []
    dense: set[Atom] = set()
    for loop in loops:
        adds = [*_adds(loop.body)]
        if is_vector(loop) and not any(_is_far(a, loop, plan, known) for a in adds):
            dense.update(base_of(add, known) for add in adds)
    return [
        cell
        for cell in plan.cells
        if cell.reg not in dense
        and not (isinstance(cell.count, Lit) and cell.count.value < _SMALL)
    ]


def _adds(body: Iterable[Stmt]) -> Iterator[AddTo]:
    """The additions of a loop's body that are in no loop inside of it."""
    for stmt in body:
        if isinstance(stmt, AddTo):
            yield stmt
        elif not isinstance(stmt, For):
            for inner in bodies_of(stmt):
                yield from _adds(inner)


def base_of(add: AddTo, known: Known) -> Atom:
    """The buffer that something is added to."""
    return known.buffer(add.ptr)


def _offsets(add: AddTo, known: Known) -> Iterator[Atom]:
    """What the place of an addition is the sum of."""
    yield add.index
    ptr = add.ptr
    while isinstance(ptr, Reg) and isinstance(part := known.pointers.get(ptr), Offset):
        yield part.index
        ptr = part.ptr


def _is_far(add: AddTo, loop: For, plan: Plan, known: Known) -> bool:
    """Whether where an addition goes is looked up in each step, so that LLVM makes no
    vectors of them."""
    form: Form = {}
    for part in _offsets(add, known):
        form = plus(form, plan.forms.of(part))
    inside = {reg for stmt in loop.body for reg in assigned(stmt)}
    return not inside.isdisjoint(atoms(form))


def most_together(body: Sequence[Stmt], cell: Alloc, known: Known) -> int:
    """How many additions to a cell are at most made at the end of one body."""
    adds = [s for s in body if isinstance(s, AddTo) and base_of(s, known) is cell.reg]
    inside = (most_together(b, cell, known) for s in body for b in bodies_of(s))
    return max(len(adds), *inside, 0)


def may_pay(hits: Work, work: Work) -> bool:
    """Whether additions may be a small part of the work, for some sizes."""
    if any((*hits, *work)) and {*hits, *work} != {()}:
        return True
    return hits.get((), 0.0) * _FEWEST <= work.get((), 0.0)


@dataclass(eq=False)
class Log:
    """The logs of one cell.

    `wanted`: whether sizes are such that there are logs instead of copies, of `hits`
    additions in all; `used`: and there is more than one lane. At most so many are
    written down `together`. They are sorted by so many `parts`, where the sorted ones
    begin at `room`, each between two of the `bounds`; if it is one, they stay.
    """

    cell: Alloc
    hits: Atom
    wanted: Atom
    together: int
    used: Atom = Lit(False)
    room: Atom = Lit(0)
    parts: Atom = Lit(1)
    bounds: Atom = Lit(0)
    places: Alloc | None = None
    values: Alloc | None = None
    starts: Alloc | None = None
    count: Slot = field(default_factory=lambda: Slot("logged", I64))

    @property
    def _buffers(self) -> tuple[Alloc, Alloc, Alloc]:
        assert self.places is not None
        assert self.values is not None
        assert self.starts is not None
        return self.places, self.values, self.starts

    def allocate(
        self,
        out: Out,
        chunks: Atom,
        lanes: Atom,
        several: Atom,
        parts: Atom,
        region: int,
        root: Callable[[], int],
    ) -> None:
        """Make room for the logs of all lanes, if there are several."""
        cell = self.cell
        few = out.let("ile", lanes, Lit(_FEW_LANES))
        self.parts = out.let("select", few, Lit(1), parts)
        self.used = out.let("and", self.wanted, several, name="logs")
        most = out.let("idiv", cell.count, Lit(_ROOM[cell.elem == F64]))
        each = out.let("div", self.hits, out.let("to_float", chunks))
        likely = out.let("to_int", out.let("mul", each, Lit(_MORE)))
        some = out.let("imin", most, out.let("iadd", likely, Lit(_AT_LEAST)))
        # Whatever was estimated, an empty log has room: who finds none in it has not
        # waited, and must not add to the array itself.
        some = out.let("imax", some, Lit(self.together))
        self.room = out.let("select", self.used, some, Lit(0), name="room")
        both = out.let("imul", lanes, self._twice(out))
        bounds = out.let("iadd", self.parts, Lit(2))
        self.bounds = out.let("select", self.used, bounds, Lit(0))
        starts = out.let("imul", lanes, self.bounds)
        self.places = Alloc(Reg("places", PTR), region, both, I64, root())
        self.values = Alloc(Reg("values", PTR), region, both, cell.elem, root())
        self.starts = Alloc(Reg("starts", PTR), region, starts, I64, root())
        out.stmts += self._buffers

    def _twice(self, out: Out) -> Atom:
        return out.let("imul", self.room, Lit(2))

    def lane(self, out: Out, lane: Atom) -> tuple[Reg, Reg, Reg]:
        """The places, the values and the starts of a lane."""
        places, values, starts = self._buffers
        first = out.let("imul", lane, self._twice(out))
        more = out.let("imul", lane, self.bounds)
        found = []
        for made, at in ((places, first), (values, first), (starts, more)):
            found.append(Reg(made.reg.name, PTR))
            out.emit(Offset(found[-1], made.reg, at, made.elem))
        return found[0], found[1], found[2]

    def _add(self, places: Reg, values: Reg, low: Atom, high: Atom) -> For:
        """Add what is in a log to the cell."""
        out, entry, cell = Out(), Reg("entry", I64), self.cell
        place, value = Reg("place", I64), Reg("value", cell.elem)
        of_places, of_values, _ = self._buffers
        out.emit(Load(place, places, entry, of_places.root))
        out.emit(Load(value, values, entry, of_values.root))
        out.emit(AddTo(cell.reg, place, value, cell.root, exact=True))
        return For(entry, low, high, tuple(out.stmts))

    def merge(self, before: Out, lane: Atom, part: Reg) -> None:
        """Add this part of the log of a lane, if it has that part."""
        out = Out()
        places, values, starts = self.lane(out, lane)
        _, _, made = self._buffers
        bounds = []
        for more in (0, 1):
            bounds.append(Reg("entry", I64))
            at = out.let("iadd", part, Lit(more))
            out.emit(Load(bounds[-1], starts, at, made.root))
        out.emit(self._add(places, values, *bounds))
        has_part = before.let("ilt", part, self.parts)
        is_there = before.let("and", self.used, has_part)
        before.emit(Branch(is_there, tuple(out.stmts)))


class Writing:
    """What a chunk writes into its logs, which begin where `begin` says."""

    def __init__(self, logs: Sequence[Log], known: Known) -> None:
        self._logs: Mapping[Atom, Log] = {log.cell.reg: log for log in logs}
        self._known = known
        self._lanes: dict[Log, tuple[Reg, Reg, Reg]] = {}
        self._limits: dict[tuple[Log, int], Atom] = {}
        self._before = Out()

    def steps(self, out: Out, lane: Atom, loop: For) -> For:
        """The loop that writes down what it adds."""
        if not self._logs:
            return loop
        self._before = out
        for log in self._logs.values():
            self._lanes[log] = log.lane(out, lane)
            out.emit(Set(log.count, Lit(0)))
        return replace(loop, body=self._body(loop.body))

    def end(self, out: Out) -> None:
        """Sort the logs."""
        for log in self._logs.values():
            inner, cell = Out(), log.cell
            places, values, starts = self._lanes[log]
            about = (
                Lit(8 if cell.elem == F64 else 4),
                inner.get(log.count),
                log.room,
                cell.count,
            )
            args = (places, values, *about, log.parts, starts)
            inner.emit(CallRuntime(None, "chad_log_sort", args))
            out.emit(Branch(log.used, tuple(inner.stmts)))

    def _body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """A body that makes all its additions at its end."""
        new: list[Stmt] = []
        late: dict[Atom, list[AddTo]] = {}
        for stmt in body:
            match stmt:
                case AddTo() if (base := base_of(stmt, self._known)) in self._logs:
                    late.setdefault(base, []).append(stmt)
                case For():
                    new.append(replace(stmt, body=self._body(stmt.body)))
                case Branch(_, then, orelse):
                    then, orelse = self._body(then), self._body(orelse)
                    new.append(replace(stmt, then=then, orelse=orelse))
                case _:
                    new.append(stmt)
        for base, adds in late.items():
            new += self._written(self._logs[base], adds)
        return tuple(new)

    def _written(self, log: Log, adds: Sequence[AddTo]) -> list[Stmt]:
        out, orelse = Out(), Out()
        count = out.get(log.count)
        fits = out.let("ilt", count, self._limit(log, len(adds)))
        some = orelse.let("ilt", Lit(0), count)
        orelse.emit(Branch(some, self._flush(log, count)))
        for add in adds:
            orelse.emit(replace(add, exact=True))
        then = self._entries(log, count, adds)
        out.emit(Branch(fits, then, tuple(orelse.stmts)))
        return out.stmts

    def _limit(self, log: Log, adds: int) -> Atom:
        """Up to where there is room for so many."""
        key = log, adds
        if key not in self._limits:
            less = self._before.let("isub", log.room, Lit(adds - 1))
            self._limits[key] = less
        return self._limits[key]

    def _entries(
        self, log: Log, count: Atom, adds: Sequence[AddTo]
    ) -> tuple[Stmt, ...]:
        out = Out()
        places, values, _ = self._lanes[log]
        of_places, of_values, _ = log._buffers
        for k, add in enumerate(adds):
            place, *more = _offsets(add, self._known)
            for part in more:
                place = out.let("iadd", place, part)
            at = out.let("iadd", count, Lit(k))
            out.emit(Store(places, at, place, of_places.root))
            out.emit(Store(values, at, add.value, of_values.root))
        out.emit(Set(log.count, out.let("iadd", count, Lit(len(adds)))))
        return tuple(out.stmts)

    def _flush(self, log: Log, count: Atom) -> tuple[Stmt, ...]:
        """Add what is in the log as soon as it is the chunk's turn."""
        places, values, _ = self._lanes[log]
        turn = CallRuntime(None, "chad_turn", (log.cell.reg,))
        return turn, log._add(places, values, Lit(0), count), Set(log.count, Lit(0))


def lanes_for(out: Out, logs: Iterable[Log], total: Atom, lanes: Atom) -> Atom:
    """As many lanes, but one if with these logs it takes the threads longer than one
    thread without. That changes no bits. There are two lanes for each thread."""
    more: Atom = Lit(0.0)
    for log in logs:
        hits = out.let("select", log.wanted, log.hits, Lit(0.0))
        more = out.let("add", more, hits)
    saved = out.let(
        "add", out.let("mul", out.let("to_float", lanes), Lit(0.5)), Lit(-1.0)
    )
    lost = out.let("mul", more, Lit(_ADDITION))
    pays = out.let("fle", lost, out.let("mul", total, saved))
    none = out.let("feq", more, Lit(0.0))
    return out.let("select", out.let("or", pays, none), lanes, Lit(1), name="lanes")


def wanted(
    out: Out, cell: Alloc, hits: Atom, total: Atom, most: Atom, share: float
) -> Atom:
    """Whether a cell has logs: copies would take more than a share of the work for half
    of the `most` chunks that there may be, and its additions are a small part of it."""
    size = out.let("to_float", cell.count)
    copies = out.let("mul", out.let("mul", size, most), Lit(share / 2.0))
    is_large = out.let("flt", total, copies)
    is_little = out.let("fle", out.let("mul", hits, Lit(_FEWEST)), total)
    room = out.let("mul", size, most)
    fits = out.let("fle", out.let("mul", hits, Lit(8.0)), room)
    return out.let("and", is_large, out.let("and", is_little, fits))
