"""Makes the statements of strands.

    for …: a := f(a)                 strands k in 0 .. 2:
    for …: b := g(b)          →        if k == 0: c := a; for …: c := f(c); x := c
                                       if k == 1: d := b; for …: d := g(d); y := d
                                     a := x, b := y

What is run again and again is there twice: it may do little each time, and then it is
as it was, one loop behind the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Alloc,
    Atom,
    Branch,
    Clear,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Reset,
    Set,
    Slot,
    Spread,
    Stmt,
)
from chadllvm.ir.statements import (
    Names,
    copied,
    everywhere,
    made,
    slots_of,
    used,
    whole,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import I64, is_float
from chadllvm.lower import tasks
from chadllvm.lower.chunks import spread
from chadllvm.lower.chunks.forms import Forms
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.work import Certain, Estimate, Work
from chadllvm.lower.strands.find import Group, Strand

# What is done for each element of a copied cell is at most this part of the work.
_SHARE = 8


class Refused(Exception):
    """The strands have something in common, or too little to do."""


@dataclass(frozen=True)
class Place:
    """Where a body is: the slots that are set before it, what is known of registers
    there, and whether it is run again and again."""

    declared: frozenset[Slot]
    forms: Forms
    is_repeated: bool = False

    def behind(self, declared: Iterable[Slot]) -> Place:
        """Behind statements that set these slots."""
        return replace(self, declared=self.declared.union(declared))

    def inside(self, loop: For) -> Place:
        """In the body of a loop."""
        return Place(self.declared, self.forms.inside(loop), is_repeated=True)


class Home:
    """What strands know of their function.

    There are two regions: one for what is there as long as strands are running, and
    the next for what they make that outlives them.
    """

    def __init__(self, function: LoopFunction, threads: bool) -> None:
        self.threads = threads
        self.known = Known(function)
        self.region, self.kept = function.regions, function.regions + 1
        self.reads = _reads(whole(function))
        self.uses = _uses(whole(function))

    def work(self, stmts: Sequence[Stmt], local: set[Reg], place: Place) -> Work:
        """The work of statements, by registers that are not of these.

        What is run again and again may be short each time: what is not sure to be done
        does not count there.
        """
        estimate = Certain if place.is_repeated else Estimate
        found = estimate(_once(()), lambda reg: reg not in local)
        return found.of(stmts, place.forms, ())


@dataclass(frozen=True)
class _Cell:
    """A buffer that a strand adds to a copy of."""

    made: Alloc
    copy: Reg


@dataclass(frozen=True)
class _Result:
    """A register that others use, and the slot that a strand leaves it in."""

    strand: int
    reg: Reg
    slot: Slot


class Making:
    """The making of the strands of one group, at a place."""

    def __init__(self, home: Home, found: Group, place: Place) -> None:
        self._home, self._group, self._place = home, found, place
        self._declared = place.declared | declared(found.front)
        self._local = {reg for s in found.strands for reg in s.effects.made}
        self._cells = [[*self._cells_of(k)] for k in range(len(found.strands))]
        self._sums = [self._shared(k) for k in range(len(found.strands))]
        self._is_large: Atom = Lit(True)
        self._keeps = False
        self._results: list[_Result] = []
        self._slots: list[Slot] = []
        self._regions: set[int] = set()
        self._before, self._behind = Out(), Out()

    def stmts(self) -> list[Stmt]:
        """The statements of the whole group."""
        front = Out([*self._group.front])
        self._is_large = self._decide(front)
        stmts = self._together()
        if self._place.is_repeated:
            if self._keeps:  # It would be kept as often as this is run.
                raise Refused
            stmts = [Branch(self._is_large, tuple(stmts), tuple(self._one_by_one()))]
        results = [Get(result.reg, result.slot) for result in self._results]
        return [*front.stmts, *stmts, *results, *self._group.behind]

    def _together(self) -> list[Stmt]:
        """All strands, and what they have added."""
        before, strands = self._before, self._group.strands
        count = Lit(len(strands))
        lanes: Atom = Lit(1)
        if self._home.threads:
            lanes = before.let("select", self._is_large, count, Lit(1), name="lanes")
        self._allocate(before)
        chunk, body = Reg("strand", I64), Out()
        for k, strand in enumerate(strands):
            mine = tuple(self._strand(k, strand))
            body.emit(Branch(body.let("ieq", chunk, Lit(k)), mine))
        regions = tuple(sorted(self._regions))
        if self._keeps:
            regions = (self._home.kept, *regions)
        slots = tuple([*[r.slot for r in self._results], *self._slots])
        about = regions, tasks.PATIENCE, self._keeps, slots
        whole = Spread(chunk, count, lanes, tuple(body.stmts), (), *about)
        if any(self._cells):
            self._add_cells()
            self._behind.emit(Reset(self._home.region))
        return [*before.stmts, whole, *self._behind.stmts]

    def _one_by_one(self) -> Iterator[Stmt]:
        """The strands as they were, one behind the other."""
        for k, strand in enumerate(self._group.strands):
            results = [r for r in self._results if r.strand == k]
            stmts = [*strand.stmts, *[Set(r.slot, r.reg) for r in results]]
            yield from copied(_once(stmts)).body

    # What strands have in common.

    def _shared(self, k: int) -> set[Slot]:
        """The slots that a strand adds to and one before has to do with."""
        return {p for p in self._added_apart(k) if isinstance(p, Slot)}

    def _added_apart(self, k: int) -> set[Slot | int | Reg]:
        earlier = (s.effects.touched for s in self._group.strands[:k])
        return self._group.strands[k].effects.sums & set().union(*earlier)

    def _cells_of(self, k: int) -> Iterator[_Cell]:
        for place in self._added_apart(k):
            if isinstance(place, int):
                yield _Cell(self._cell(k, place), Reg("copy", PTR))

    def _cell(self, k: int, root: int) -> Alloc:
        """The buffer of a class of roots, which a strand only adds to."""
        known, roots = self._home.known, self._home.known.function.roots
        match known.classes.get(root):
            case [Alloc(reg, _, count, elem) as whole] if is_float(elem):
                pass
            case _:
                raise Refused
        if reg in self._local or count in self._local:
            raise Refused
        for stmt in everywhere(self._group.strands[k].stmts):
            if isinstance(stmt, AddTo) and roots[stmt.root] == root:
                self._check_base(stmt.ptr, reg, k)
        return whole

    def _check_base(self, ptr: Atom, base: Reg, k: int) -> None:
        """A strand finds all places of a cell by itself."""
        own = self._group.strands[k].effects.made
        while ptr is not base:
            found = self._home.known.pointers.get(ptr) if isinstance(ptr, Reg) else None
            if ptr not in own or not isinstance(found, Offset):
                raise Refused
            ptr = found.ptr

    # How much there is to do.

    def _decide(self, out: Out) -> Atom:
        """Whether all but the longest strand have enough to do to leave them to others,
        and to copy cells for it."""
        works = [*map(self._work, self._group.strands)]
        least = float(spread.GRAIN)
        if all(not term for work in works for term in work):
            known = [work.get((), 0.0) for work in works]
            if sum(known) - max(known) < least:
                raise Refused
        numbers = [out.work(work) for work in works]
        total, longest = numbers[0], numbers[0]
        for number in numbers[1:]:
            total = out.let("add", total, number)
            longest = out.let("greater", longest, number)
        need: Atom = Lit(least)
        for cell in (c for cells in self._cells for c in cells):
            size = out.let("to_float", cell.made.count)
            need = out.let("add", need, out.let("mul", size, Lit(float(_SHARE))))
        rest = out.let("sub", total, longest)
        return out.let("fle", need, rest, name="is_large")

    def _work(self, strand: Strand) -> Work:
        return self._home.work(strand.stmts, self._local, self._place)

    # What is copied.

    def _allocate(self, out: Out) -> None:
        for cell in (c for cells in self._cells for c in cells):
            whole, ptr = cell.made, Reg("private", PTR)
            count = out.let("select", self._is_large, whole.count, Lit(0))
            out.emit(Alloc(ptr, self._home.region, count, whole.elem, whole.root))
            out.emit(Let(cell.copy, "select", (self._is_large, ptr, whole.reg)))

    def _add_cells(self) -> None:
        """Add the copies to their cells, in the order of the strands."""
        out = self._behind
        for cell in (c for cells in self._cells for c in cells):
            whole, k, more = cell.made, Reg("k", I64), Out()
            value = Reg("t", whole.elem)
            more.emit(Load(value, cell.copy, k, whole.root))
            more.emit(AddTo(whole.reg, k, value, whole.root))
            count = out.let("select", self._is_large, whole.count, Lit(0))
            out.emit(For(k, Lit(0), count, tuple(more.stmts)))

    # One strand.

    def _strand(self, k: int, strand: Strand) -> Iterator[Stmt]:
        """The statements of a strand, with registers and slots of its own."""
        slots = [
            *dict.fromkeys(s for x in everywhere(strand.stmts) for s in slots_of(x))
        ]
        out = Out([*self._begin(k, slots)])
        out.stmts += self._own(strand)
        self._end(k, strand, slots, out)
        own = {slot: Slot(slot.name, slot.type) for slot in slots}
        regs = {cell.made.reg: cell.copy for cell in self._cells[k]}
        yield from copied(_once(out.stmts), Names(regs, own)).body

    def _begin(self, k: int, slots: Sequence[Slot]) -> Iterator[Stmt]:
        """What a strand's slots hold when it begins, and its copies of cells."""
        for slot in slots:
            if slot in self._sums[k]:
                yield Set(slot, literal(0.0, slot.type))
            elif slot in self._declared:
                yield Set(slot, self._before.get(slot))
        for cell in self._cells[k]:
            whole = cell.made
            clear = Clear(cell.copy, whole.count, whole.elem, whole.root)
            yield Branch(self._is_large, (clear,))

    def _end(self, k: int, strand: Strand, slots: Sequence[Slot], out: Out) -> None:
        """Hand on what others use."""
        home, inside = self._home, _uses(everywhere(strand.stmts))
        for reg in dict.fromkeys(made(strand.stmts)):
            if home.uses[reg] > inside[reg]:
                self._results.append(_Result(k, reg, self._hand_on(out, reg)))
        for slot in slots:
            if self._is_handed_on(slot, strand):
                left = self._hand_on(out, out.get(slot))
                self._slots.append(left)
                value: Atom = self._behind.get(left)
                if slot in self._sums[k]:
                    value = self._behind.let("add", self._behind.get(slot), value)
                self._behind.emit(Set(slot, value))

    def _is_handed_on(self, slot: Slot, strand: Strand) -> bool:
        """Whether others read a slot, or the same strand when it is run again."""
        if slot not in strand.effects.written | strand.effects.added:
            return False
        was_set = slot in self._declared
        if not was_set and slot not in declared(strand.stmts):
            return False
        if self._place.is_repeated and was_set:
            return True
        return self._home.reads[slot] > _reads(everywhere(strand.stmts))[slot]

    def _hand_on(self, out: Out, value: Reg) -> Slot:
        """Put a value where it is found again."""
        slot = Slot(value.name, value.type)
        out.emit(Set(slot, value))
        self._keeps |= value.type == PTR
        return slot

    def _own(self, strand: Strand) -> Iterator[Stmt]:
        """The statements, whose buffers are in regions of the strand's own: those that
        it does not give back outlive it."""
        inside = [*everywhere(strand.stmts)]
        given = {s.region for s in inside if isinstance(s, Reset)}
        self._regions |= given
        self._keeps |= any(
            isinstance(s, Alloc) and s.region not in given for s in inside
        )

        def moved(stmt: Stmt) -> Stmt:
            match stmt:
                case Alloc(region=region) if region not in given:
                    return replace(stmt, region=self._home.kept)
                case For(body=body):
                    return replace(stmt, body=tuple(map(moved, body)))
                case Branch(cond, then, orelse):
                    return Branch(
                        cond, tuple(map(moved, then)), tuple(map(moved, orelse))
                    )
                case _:
                    return stmt

        yield from map(moved, strand.stmts)


def _reads(stmts: Iterable[Stmt]) -> Counter[Slot]:
    """How often slots are looked at."""
    looks = (s for s in stmts if not isinstance(s, Set))
    return Counter(slot for stmt in looks for slot in slots_of(stmt))


def _uses(stmts: Iterable[Stmt]) -> Counter[Reg]:
    """How often registers are used."""
    return Counter(reg for stmt in stmts for reg in used(stmt))


def declared(body: Sequence[Stmt]) -> set[Slot]:
    """The slots that are surely set behind statements."""
    found = set[Slot]()
    for stmt in body:
        match stmt:
            case Set(slot):
                found.add(slot)
            case Branch(_, then, orelse):
                found |= declared(then) & declared(orelse)
            case Spread(results=results):
                found.update(results)
            case _:
                pass
    return found


def _once(stmts: Sequence[Stmt]) -> For:
    """A loop that holds statements, which can be copied with it."""
    return For(Reg("once", I64), Lit(0), Lit(1), tuple(stmts))
