"""Makes the statements of a loop that runs in chunks; see `parallel.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Clear,
    For,
    Get,
    Load,
    Offset,
    Reg,
    Reset,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    Names,
    assigned,
    copied,
    everywhere,
    slots_of,
    used,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.chunks.best import Best
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.legal import Plan, Sum
from chadllvm.lower.chunks.logs import (
    Log,
    Writing,
    lanes_for,
    most_together,
    wanted,
)
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.scan import Bounds, Scanning, starts_of
from chadllvm.lower.chunks.turns import Rows, Turns
from chadllvm.lower.chunks.work import Work
from chadllvm.lower.lanes import Deciding

# The work of a chunk, in simple operations: some ten microseconds.
GRAIN = 1 << 16

# No more chunks than this, whatever there is to do.
MOST_CHUNKS = 128

# What a chunk does for each element of its cells is at most this part of its work.
SHARE = 32

# What it takes to clear an element of a copy and to merge it, in simple operations.
MERGE = 4

# What all merges are of the work, if there is much of it.
_LITTLE = 1.0 / 32.0

# Copies are merged in parts of so many elements at least, and in no more than so many.
PART = 1 << 12
MOST_PARTS = 64

# Where chunks have places in common, a chunk has so many times the steps that do.
_APART = 16

# Loops of fewer lanes' steps are cut anywhere, for else there would be few chunks.
_MANY_UNITS = 8

# Chunks that take turns do this part of what others do at least: they are as small as
# can be, and there are no copies to clear and merge.
_TURNS = 4

# A body of so many statements is not there a second time.
LONG = 48


@dataclass
class Home:
    """What all spread loops of a function share.

    There are two regions, `regions` and the next: one for what is there as long as a
    loop is running, and is given back behind it, and one that each chunk has.
    """

    known: Known
    deciding: Deciding
    regions: int
    roots: list[int]
    threads: bool

    def root(self) -> int:
        """A new root."""
        self.roots.append(len(self.roots))
        return len(self.roots) - 1


def _lanes(lanes: Reg, chunks: Atom) -> Iterator[Stmt]:
    """The runtime says how many lanes there are."""
    yield CallRuntime(lanes, "chad_lanes", (chunks,))


def _lanes_if_several(lanes: Reg, chunks: Atom) -> Iterator[Stmt]:
    """The same; for one chunk it is not asked."""
    out, slot, found = Out(), Slot("lanes", I64), Reg("lanes", I64)
    out.emit(Set(slot, Lit(1)))
    several = out.let("ilt", Lit(1), chunks)
    out.emit(Branch(several, (*_lanes(found, chunks), Set(slot, found))))
    out.emit(Get(lanes, slot))
    yield from out.stmts


def _enough(work: Work) -> int:
    """How many steps are two chunks, if each does the same."""
    return int(2 * GRAIN / max(work.get((), 0.0), 1.0))


def _share(out: Out, units: Atom, number: Atom, chunks: Atom) -> Atom:
    """How many units the first `number` chunks have: each has as many, but the first
    ones have one more. Divisions take as long as all else of a short chunk."""
    whole = out.let("udiv", units, chunks)
    rest = out.let("isub", units, out.let("imul", whole, chunks))
    more = out.let("imin", number, rest)
    return out.let("iadd", out.let("imul", whole, number), more)


class Spreading:
    """The making of one spread loop."""

    def __init__(self, plan: Plan, home: Home, rows: Sequence[Rows] = ()) -> None:
        self._plan = plan
        self._home = home
        self._turns = Turns(rows, plan, home.known) if rows else None
        self._chunk = Reg("chunk", I64)
        # How many steps chunks begin at a multiple of, and how many times that is.
        self._unit: Atom = Lit(1)
        self._units: Atom = Lit(1)
        self._lanes: Atom = Reg("lanes", I64) if home.threads else Lit(1)
        # For each sum the slot with what is merged, and the numbers of the chunks; for
        # each cell its copies.
        self._merged = {s: Slot(f"{s.slot.name}_all", s.slot.type) for s in plan.sums}
        self._numbers: dict[Sum, Alloc] = {}
        self._copies: dict[Alloc, Reg] = {}
        self._part = Reg("part", I64)
        self._parts: Atom = Lit(1)
        self._logs: dict[Alloc, Log] = {}
        self._total: Atom = Lit(0.0)
        self._scans: list[Scanning] = []

    def stmts(
        self, work: Work, least: Work, inside: bool, hits: Mapping[Alloc, Work]
    ) -> Iterator[Stmt]:
        """The loop in chunks; `inside` of others, as it is for one chunk, too. `least`:
        the work that is sure to be done. `hits`: how often a step adds to the cells
        that may have logs."""
        loop, out = self._plan.loop, Out()
        steps = out.let("isub", loop.high, loop.low)
        is_twice = inside and len([*everywhere(loop.body)]) < LONG
        if is_twice and self._turns is None and all(not term for term in work):
            # Asked by one comparison, as there may be few steps each time.
            many, more = out.let("ile", Lit(_enough(work)), steps), Out()
            chunks = self._count(more, steps, work, least, hits)
            more.stmts += self._spread(steps, chunks, is_one=True)
            yield from (*out.stmts, Branch(many, tuple(more.stmts), (loop,)))
            return
        chunks = self._count(out, steps, work, least, hits)
        inner = self._spread(
            steps, chunks, is_one=not is_twice, recurs=inside and not is_twice
        )
        if is_twice:
            inner = [Branch(out.let("ilt", Lit(1), chunks), tuple(inner), (loop,))]
        yield from (*out.stmts, *inner)

    def _measure(self, out: Out, steps: Atom, work: Work) -> None:
        """Cut where the steps that are run in lanes together end, if there are many, so
        that only the last chunk has steps that are not. Where chunks take turns each
        has as many."""
        self._unit, self._units = Lit(1), steps
        decision = self._home.deciding.decision(self._plan.loop)
        lanes = 1 if decision is None else decision.gain.lanes
        some: Atom = Lit(False)
        if self._turns is not None:
            step = out.let("mul", out.work(work), Lit(float(lanes)))
            some = self._turns.decide(out, step, GRAIN / _TURNS)
        if decision is None or self._plan.reach > 1:
            return
        if decision.gain.always:
            many = out.let("ile", Lit(_MANY_UNITS * lanes), steps)
            some = many if self._turns is None else out.let("or", some, many)
        elif self._turns is None:
            return
        self._unit = out.let("select", some, Lit(lanes), Lit(1))
        less = out.let("iadd", self._unit, Lit(-1))
        self._units = out.let("udiv", out.let("iadd", steps, less), self._unit)

    def _count(
        self,
        out: Out,
        steps: Atom,
        work: Work,
        least: Work,
        hits: Mapping[Alloc, Work],
    ) -> Atom:
        """The number of chunks, 1 at least."""
        self._measure(out, steps, work)
        number = out.let("to_float", steps)
        total = self._total = out.let("mul", out.work(work), number)
        grain: Atom = Lit(float(GRAIN))
        sizes: list[Atom] = []
        most: Atom = Lit(0.0)
        if hits:
            most = out.let("div", total, grain)
            most = out.let("lesser", most, Lit(float(MOST_CHUNKS)))
        for cell in self._plan.cells:
            size = out.let("to_float", cell.count)
            if cell in hits:
                all_hits = out.let("mul", out.work(hits[cell]), number)
                # Inner loops that count down below zero have no steps.
                all_hits = out.let("greater", all_hits, Lit(0.0))
                some = wanted(out, cell, all_hits, total, most, float(SHARE))
                together = most_together((self._plan.loop,), cell, self._home.known)
                self._logs[cell] = Log(cell, all_hits, some, together)
                size = out.let("select", some, Lit(0.0), size)
            sizes.append(size)
            more = out.let("mul", size, Lit(float(SHARE)))
            grain = out.let("add", grain, more)
        number = out.let("div", total, grain)
        if least != work:
            total = out.let("mul", out.work(least), out.let("to_float", steps))
        few = out.let("lesser", number, self._worth_merging(out, total, sizes))
        some = out.let("to_int", out.let("greater", few, Lit(1.0)))
        if self._plan.reach > 1:
            some = out.let(
                "imin", some, out.let("idiv", steps, Lit(_APART * self._plan.reach))
            )
        some = out.let("imin", some, self._units)
        if self._turns is not None:
            some = self._turns.chunks(out, self._units, some)
        return out.let("imax", some, Lit(1), name="chunks")

    def _worth_merging(self, out: Out, total: Atom, sizes: Sequence[Atom]) -> Atom:
        """The most chunks, so that to clear and merge copies is little of the work.

        If there is little to do that would leave threads idle: n chunks take an n-th of
        the work, if each has a thread, and n merges. Then that is made the least.
        """
        most: Atom = Lit(float(MOST_CHUNKS))
        if not sizes:
            return most
        merge: Atom = Lit(1.0)
        for size in sizes:
            merge = out.let("add", merge, out.let("mul", size, Lit(float(MERGE))))
        work = out.let("greater", total, Lit(0.0))
        merges = out.let("div", work, merge)
        little = out.let("mul", merges, Lit(_LITTLE))
        some = out.let("greater", little, out.let("sqrt", merges))
        return out.let("lesser", some, most)

    def _spread(
        self, steps: Atom, chunks: Atom, *, is_one: bool, recurs: bool = False
    ) -> list[Stmt]:
        """The loop in chunks; `is_one`: there may be only one; `recurs`: again and
        again."""
        out, plan, home = Out(), self._plan, self._home
        if isinstance(self._lanes, Reg):
            ask = _lanes_if_several if is_one else _lanes
            out.stmts += ask(self._lanes, chunks)
            if self._logs:
                logs = self._logs.values()
                self._lanes = lanes_for(out, logs, self._total, self._lanes)
        before = {s.slot: out.get(s.slot) for s in plan.sums}
        before |= {slot: out.get(slot) for slot in plan.read}
        for s in plan.sums:
            ptr, ty = Reg("numbers", PTR), s.slot.type
            made = Alloc(ptr, home.regions, self._lanes, ty, home.root())
            self._numbers[s] = made
            out.emit(made)
            out.emit(Set(self._merged[s], before[s.slot]))
        for scan in plan.scans:
            starts = starts_of(scan, chunks, home.regions, home.root())
            self._scans.append(Scanning(scan, starts))
            bounds = self._bounds(steps, chunks)
            out.stmts += self._scans[-1].begin(
                plan.loop, chunks, self._lanes, out.get(scan.slot), bounds
            )
        for cell in plan.cells:
            ptr = self._copies[cell] = Reg("copies", PTR)
            count = out.let("imul", self._lanes, cell.count)
            if cell in self._logs:
                count = out.let("select", self._logs[cell].wanted, Lit(0), count)
            elif self._turns is not None:
                count = out.let("select", self._turns.wanted, Lit(0), count)
            out.emit(Alloc(ptr, home.regions, count, cell.elem, cell.root))
        if self._turns is not None:
            self._turns.allocate(out, home.regions, home.root())
        self._parts = self._count_parts(out, chunks)
        self._make_logs(out, chunks)
        body = self._body(steps, chunks, before)
        merge = self._merge(steps, chunks)
        own = (home.regions + 1,) if plan.own else ()
        regions = (*plan.regions, *own)
        whole = Spread(self._chunk, chunks, self._lanes, body, merge, regions)
        parts = self._parts
        out.emit(replace(whole, part=self._part, parts=parts, recurs=recurs))
        for s in plan.sums:
            out.emit(Set(s.slot, out.get(self._merged[s])))
        for each in self._scans:
            last = out.let("iadd", chunks, Lit(-1))
            out.emit(Set(each.scan.slot, each.at(out, last)))
        if plan.sums or plan.cells or plan.scans:
            out.emit(Reset(home.regions))
        return out.stmts

    def _count_parts(self, out: Out, chunks: Atom) -> Atom:
        """In how many parts copies are merged; one chunk has nothing to merge."""
        counts = [cell.count for cell in self._plan.cells]
        least = 2 * PART
        if all(isinstance(n, Lit) and n.value < least for n in counts):
            return Lit(1)
        total = counts[0]
        for count in counts[1:]:
            total = out.let("iadd", total, count)
        some = out.let("imin", out.let("idiv", total, Lit(PART)), Lit(MOST_PARTS))
        several = out.let("ilt", Lit(1), chunks)
        if self._turns is not None:
            several = out.let("and", several, out.let("not", self._turns.wanted))
        parts = out.let("select", several, some, Lit(1))
        return out.let("imax", parts, Lit(1), name="parts")

    def _make_logs(self, out: Out, chunks: Atom) -> None:
        """Room for logs if there are several lanes."""
        if not self._logs:
            return
        lanes = self._lanes
        if not isinstance(lanes, Reg):
            # One lane, but not to LLVM, which is to make the same code of the steps.
            lanes = Reg("lanes", I64)
            out.emit(CallRuntime(lanes, "chad_lanes", (Lit(1),)))
        several = out.let("ilt", Lit(1), lanes)
        about = several, self._parts, self._home.regions, self._home.root
        for log in self._logs.values():
            log.allocate(out, chunks, lanes, *about)

    def _lane(self, out: Out) -> Atom:
        """The lane of a chunk."""
        if not isinstance(self._lanes, Reg):
            return Lit(0)
        return out.let("irem", self._chunk, self._lanes, name="lane")

    def _body(
        self, steps: Atom, chunks: Atom, before: dict[Slot, Reg]
    ) -> tuple[Stmt, ...]:
        """What a chunk does."""
        out, loop = Out(), self._plan.loop
        regs, roots = self._own(out)
        slots = {s: Slot(s.name, s.type) for s in self._slots()}
        first: Atom = Lit(True)
        lane: Atom = Lit(0)
        if self._plan.sums or self._plan.cells:
            first, lane = out.let("ieq", self._chunk, Lit(0)), self._lane(out)
            regs |= self._cells(out, first, lane)
        self._views(out, regs)
        for slot in self._plan.read:
            out.emit(Set(slots[slot], before[slot]))
        for s in self._plan.sums:
            start = out.let("select", first, before[s.slot], s.neutral)
            out.emit(Set(slots[s.slot], start))
        for each in self._scans:
            out.emit(Set(slots[each.scan.slot], each.at(out, self._chunk)))
        low, high = (self._begin(out, steps, chunks, more) for more in (0, 1))
        writing = Writing([*self._logs.values()], self._home.known)
        loop = writing.steps(out, lane, loop)
        loop = loop if self._turns is None else self._turns.steps(loop)
        if self._plan.reach > 1:
            first = out.let("ieq", self._chunk, Lit(0))
            later = out.let("iadd", low, Lit(self._plan.reach - 1))
            low = out.let("select", first, low, later)
        copy = copied(loop, Names(regs, slots, roots))
        out.emit(replace(copy, low=low, high=high))
        writing.end(out)
        for s, made in self._numbers.items():
            out.emit(Store(made.reg, lane, out.get(slots[s.slot]), made.root))
        for each in self._scans:
            each.ends(out, self._chunk, out.get(slots[each.scan.slot]))
        return tuple(out.stmts)

    def _slots(self) -> list[Slot]:
        """All slots of the loop."""
        body = everywhere((self._plan.loop,))
        return [*dict.fromkeys(slot for stmt in body for slot in slots_of(stmt))]

    def _bounds(self, steps: Atom, chunks: Atom) -> Bounds:
        """The first step of a chunk, and that of the one behind it."""

        def bounds(out: Out, chunk: Reg) -> tuple[Atom, Atom]:
            low, high = (self._begin(out, steps, chunks, k, chunk) for k in (0, 1))
            return low, high

        return bounds

    def _begin(
        self,
        out: Out,
        steps: Atom,
        chunks: Atom,
        more: int,
        chunk: Reg | None = None,
    ) -> Atom:
        """The first step of a chunk, or of one behind it."""
        number = out.let("iadd", chunk or self._chunk, Lit(more))
        part = _share(out, self._units, number, chunks)
        if isinstance(self._unit, Reg):
            part = out.let("imin", out.let("imul", part, self._unit), steps)
        return out.let("iadd", self._plan.loop.low, part)

    def _own(self, out: Out) -> tuple[dict[Reg, Reg], dict[int, int]]:
        """The buffers that a chunk has for itself: names of them and of their roots."""
        regs, roots = {}, {}
        home = self._home
        classes = {home.roots[made.root] for made in self._plan.own}
        for root, representative in enumerate(home.roots[:]):
            if representative in classes:
                roots[root] = home.root()
        for root in roots:  # They stay of one class.
            home.roots[roots[root]] = roots[home.roots[root]]
        for made in self._plan.own:
            regs[made.reg] = Reg(made.reg.name, PTR)
            new = replace(
                made, reg=regs[made.reg], region=home.regions + 1, root=roots[made.root]
            )
            out.emit(new)
        return regs, roots

    def _cells(self, out: Out, first: Atom, lane: Atom) -> dict[Reg, Reg]:
        """The copies that a chunk adds to; the first one adds to the cell itself."""
        names = {}
        for cell, copies in self._copies.items():
            mine, at = Reg("copy", PTR), out.let("imul", lane, cell.count)
            out.emit(Offset(mine, copies, at, cell.elem))
            direct = self._is_direct(out, cell, first)
            ptr = out.let("select", direct, cell.reg, mine)
            assert isinstance(ptr, Reg)
            names[cell.reg] = ptr
            clear = Clear(ptr, cell.count, cell.elem, cell.root)
            out.emit(Branch(direct, (), (clear,)))
        return names

    def _is_direct(self, out: Out, cell: Alloc, first: Atom) -> Atom:
        """Whether a chunk adds to the cell itself, if it adds at once."""
        if cell in self._logs:
            return out.let("or", first, self._logs[cell].wanted)
        if self._turns is not None:
            return out.let("or", first, self._turns.wanted)
        return first

    def _views(self, out: Out, names: dict[Reg, Reg]) -> None:
        """Parts of these buffers that were looked up in front of the loop."""
        whole = (self._plan.loop,)
        inside = {reg for stmt in everywhere(whole) for reg in assigned(stmt)}
        seen = dict.fromkeys(reg for stmt in everywhere(whole) for reg in used(stmt))
        for reg in seen:
            if reg not in inside:
                self._view(out, reg, names)

    def _view(self, out: Out, reg: Reg, names: dict[Reg, Reg]) -> None:
        pointers = self._home.known.pointers
        chain: list[Offset] = []
        base: Atom = reg
        while base not in names:
            part = pointers.get(base) if isinstance(base, Reg) else None
            if not isinstance(part, Offset):
                return
            chain.append(part)
            base = part.ptr
        for part in chain[::-1]:
            assert isinstance(part.ptr, Reg)
            new = Reg(part.reg.name, PTR)
            out.emit(replace(part, reg=new, ptr=names[part.ptr]))
            names[part.reg] = new

    def _merge(self, steps: Atom, chunks: Atom) -> tuple[Stmt, ...]:
        """What is done behind a chunk."""
        out = Out()
        if self._plan.reach > 1:
            return self._border(steps, chunks)
        if not self._plan.sums and not self._plan.cells:
            return ()
        first, lane = out.let("ieq", self._chunk, Lit(0)), self._lane(out)
        if cells := [cell for cell in self._copies if cell not in self._logs]:
            direct, more = self._is_direct(out, cells[0], first), Out()
            for cell in cells:
                self._add_part(more, cell, self._copies[cell], lane)
            out.emit(Branch(direct, (), tuple(more.stmts)))
        for cell, log in self._logs.items():
            alone, direct = Out(), self._is_direct(out, cell, first)
            self._add_part(alone, cell, self._copies[cell], lane)
            out.emit(Branch(direct, (), tuple(alone.stmts)))
            log.merge(out, lane, self._part)
        alone = out if self._parts == Lit(1) else Out()
        wins: dict[Best, Atom] = {}
        for s, made in self._numbers.items():
            number = Reg("number", s.slot.type)
            alone.emit(Load(number, made.reg, lane, made.root))
            before = alone.get(self._merged[s])
            if s.best is None:
                both = alone.let(s.op, before, number)
            else:
                if s.best not in wins:
                    wins[s.best] = s.best.better.emit(alone, before, number)
                both = alone.let("select", wins[s.best], number, before)
            new = alone.let("select", first, number, both)
            alone.emit(Set(self._merged[s], new))
        if alone is not out and alone.stmts:
            is_first = out.let("ieq", self._part, Lit(0))
            out.emit(Branch(is_first, tuple(alone.stmts)))
        return tuple(out.stmts)

    def _add_part(self, out: Out, cell: Alloc, copies: Reg, lane: Atom) -> None:
        """Add this part of a copy to the cell."""
        at, k = out.let("imul", lane, cell.count), Reg("k", I64)
        copy, value = Reg("copy", PTR), Reg("t", cell.elem)
        out.emit(Offset(copy, copies, at, cell.elem))
        low, high = (self._bound(out, cell.count, more) for more in (0, 1))
        load = Load(value, copy, k, cell.root)
        out.emit(For(k, low, high, (load, AddTo(cell.reg, k, value, cell.root))))

    def _bound(self, out: Out, count: Atom, more: int) -> Atom:
        """The first element of a part, or of the one behind it."""
        if self._parts == Lit(1):
            return count if more else Lit(0)
        number = out.let("iadd", self._part, Lit(more))
        return out.let("idiv", out.let("imul", count, number), self._parts)

    def _border(self, steps: Atom, chunks: Atom) -> tuple[Stmt, ...]:
        """The first steps of a chunk, which have places in common with the one before.

        Both are done by now. What the rest of the next one adds to is farther away.
        """
        out, more = Out(), Out()
        first = out.let("ieq", self._chunk, Lit(0))
        low = self._begin(more, steps, chunks, 0)
        high = more.let("iadd", low, Lit(self._plan.reach - 1))
        changed = set(self._slots()) - set(self._plan.read)
        slots = {s: Slot(s.name, s.type) for s in changed}
        copy = copied(self._plan.loop, Names({}, slots))
        more.emit(replace(copy, low=low, high=high))
        out.emit(Branch(first, (), tuple(more.stmts)))
        return tuple(out.stmts)
