"""Loops that do not need each other run at the same time, if they take long.

    for …: a := f(a)                 a0 = a, b0 = b
    for …: b := g(b)                 strands k in 0 .. 2:
    z = a * b                →         if k == 0: c := a0; for …: c := f(c); x := c
                                       if k == 1: d := b0; for …: d := g(d); y := d
                                     a := x, b := y
                                     z = a * b

The loops are those whose own steps run in order, so that this is all there is to do at
the same time: recurrences, `while`, and what their derivatives do backwards; but for
those that are nested two levels less than others, which hardly matter. Loops along an
array at each of their steps, which `parallel` has spread for the case that it is large,
run in order there. What runs first is the first strand; the others are left to whoever
has nothing to do, once it has taken some time, or follow it (`llvm/beside.py`). Which
strands there are depends on the program, so the results are the same bits for any
number of threads.

What a strand only adds to, and one before it has to do with, it adds to a copy of: a
slot of its own, or a private cell, which is then added in the order of the strands. The
cells are copied if that is little beside the work, which depends on sizes alone; else,
and if there is little to do, the strands run in order and add to the cell itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
    Invoke,
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
    bodies_of,
)
from chadllvm.ir.statements import (
    Body,
    Names,
    copied,
    everywhere,
    made,
    over_inner,
    over_statements,
    slots_of,
    used,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import I64, is_float
from chadllvm.lower import tasks
from chadllvm.lower.chunks import spread
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.parallel import depth_of, does_little
from chadllvm.lower.chunks.work import Estimate, Work
from chadllvm.lower.strands.find import Group, Strand, group

# What is done for each element of a copied cell is at most this part of the work.
_SHARE = 8

# The tries to find strands; each looks at what follows a long loop.
_TRIES = 32


def strands(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Find strands; without `threads` all of them run in order."""
    if function.subroutines:
        return function
    plain = replace(function, body=_in_order(function.body, Known(function)))
    if sum(map(_has_loops, plain.body)) < 2:
        return function
    making = _Making(plain, threads)
    body = making.body(plain.body)
    if not making.count:
        return function
    return replace(
        function,
        body=body,
        regions=function.regions + 2,
    )


def _in_order(body: Body, known: Known) -> Body:
    """A body in whose loops those that do little in each step are not spread."""

    def changed(stmt: Stmt) -> list[Stmt]:
        match stmt:
            case Branch(_, then, (For() as loop,)) if any(
                isinstance(s, Spread) for s in then
            ) and does_little(loop, known):
                return [loop]
            case For() | Branch():
                return [over_inner(stmt, lambda inner: _in_order(inner, known))]
            case _:
                return [stmt]

    return over_statements(body, changed)


def _has_loops(stmt: Stmt) -> bool:
    """Whether there are loops in a statement, and all of them run in order."""
    inside = [*everywhere((stmt,))]
    if any(isinstance(s, Spread | Invoke) for s in inside):
        return False
    return any(isinstance(s, For) for s in inside)


@dataclass(frozen=True)
class _Cell:
    """A buffer that a strand adds to a copy of."""

    made: Alloc
    copy: Reg


class _Refused(Exception):
    """The strands have something in common."""


class _Making:
    """The making of all strands of a function.

    There are two regions: one for what is there as long as strands are running, and
    the next for what they make that outlives them.
    """

    def __init__(self, function: LoopFunction, threads: bool) -> None:
        self.count = 0
        self.threads = threads
        self.known = Known(function)
        self.region, self.kept = function.regions, function.regions + 1
        self.reads = _reads(function.body)
        self.uses = _uses(function.body)
        self._depth = depth_of(function.body) - 1
        self._long: dict[Stmt, bool] = {}
        self._tries = _TRIES

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        new: list[Stmt] = []
        place, declared = 0, set[Slot]()
        while place < len(body):
            stmts, end = self._made(body, place, declared)
            for stmt in body[place:end]:
                declared.update(_declared(stmt))
            new += stmts
            place = end
        return tuple(new)

    def _made(
        self, body: Sequence[Stmt], place: int, declared: set[Slot]
    ) -> tuple[list[Stmt], int]:
        """The strands that begin at a place, or its statement, and where they end."""
        alone = [body[place]], place + 1
        if not self._tries or not self._is_long(body[place]):
            return alone
        self._tries -= 1
        found = group(body, place, self.known.function.roots, self._is_long)
        if found is None:
            return alone
        try:
            stmts = _Strands(self, found, declared).stmts()
        except _Refused:
            return alone
        self.count += 1
        return stmts, found.end

    def _is_long(self, stmt: Stmt) -> bool:
        """Whether a statement may take long, for some sizes, beside all others."""
        if stmt not in self._long:
            self._long[stmt] = self._may_be_long(stmt)
        return self._long[stmt]

    def _may_be_long(self, stmt: Stmt) -> bool:
        if not _has_loops(stmt) or depth_of((stmt,)) < self._depth:
            return False
        work = self.work((stmt,), set())
        return any(work) or work.get((), 0.0) >= spread.GRAIN

    def work(self, stmts: Sequence[Stmt], local: set[Reg]) -> Work:
        """The work of statements, by registers that are not of these."""
        once = For(Reg("once", I64), Lit(0), Lit(1), ())
        estimate = Estimate(once, lambda reg: reg not in local)
        return estimate.of(stmts, self.known.forms, ())


class _Strands:
    """The making of the strands of one group; `declared`: the slots set before it."""

    def __init__(self, home: _Making, found: Group, declared: set[Slot]) -> None:
        self._home, self._group = home, found
        self._declared = declared | {s for x in found.front for s in _declared(x)}
        self._local = {reg for s in found.strands for reg in s.effects.made}
        self._cells = [[*self._cells_of(k)] for k in range(len(found.strands))]
        self._sums = [self._shared(k) for k in range(len(found.strands))]
        self._is_large: Atom = Lit(True)
        self._keeps = False
        self._results: list[Slot] = []
        self._regions: set[int] = set()
        self._before, self._behind = Out([*found.front]), Out()

    def stmts(self) -> list[Stmt]:
        """The statements of the whole group."""
        before, strands = self._before, self._group.strands
        self._is_large = self._decide(before)
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
        about = regions, tasks.PATIENCE, self._keeps, tuple(self._results)
        whole = Spread(chunk, count, lanes, tuple(body.stmts), (), *about)
        if any(self._cells):
            self._add_cells()
            self._behind.emit(Reset(self._home.region))
        return [*before.stmts, whole, *self._behind.stmts, *self._group.behind]

    # What strands have in common.

    def _shared(self, k: int) -> set[Slot]:
        """The slots that a strand adds to and one before has to do with."""
        return {p for p in self._added_apart(k) if isinstance(p, Slot)}

    def _added_apart(self, k: int) -> set[Slot | int]:
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
                raise _Refused
        if reg in self._local or count in self._local:
            raise _Refused
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
                raise _Refused
            ptr = found.ptr

    # How much there is to do.

    def _decide(self, out: Out) -> Atom:
        """Whether all but the longest strand have enough to do to leave them to others,
        and to copy cells for it."""
        works = [self._home.work(s.stmts, self._local) for s in self._group.strands]
        least = float(spread.GRAIN)
        if all(not term for work in works for term in work):
            known = [work.get((), 0.0) for work in works]
            if sum(known) - max(known) < least:
                raise _Refused
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
        once = For(Reg("once", I64), Lit(0), Lit(1), tuple(out.stmts))
        own = {slot: Slot(slot.name, slot.type) for slot in slots}
        regs = {cell.made.reg: cell.copy for cell in self._cells[k]}
        yield from copied(once, Names(regs, own)).body

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
        home, inside = self._home, _uses(strand.stmts)
        for reg in dict.fromkeys(made(strand.stmts)):
            if home.uses[reg] > inside[reg]:
                self._behind.emit(self._hand_on(out, reg, reg))
        reads, does = _reads(strand.stmts), strand.effects
        for slot in slots:
            if slot in does.written | does.added and home.reads[slot] > reads[slot]:
                found = Reg(slot.name, slot.type)
                self._behind.emit(self._hand_on(out, out.get(slot), found))
                value: Atom = found
                if slot in self._sums[k]:
                    value = self._behind.let("add", self._behind.get(slot), found)
                self._behind.emit(Set(slot, value))

    def _hand_on(self, out: Out, value: Reg, found: Reg) -> Get:
        """Put a value where it is found again."""
        slot = Slot(value.name, value.type)
        out.emit(Set(slot, value))
        self._results.append(slot)
        self._keeps |= value.type == PTR
        return Get(found, slot)

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


def _reads(body: Sequence[Stmt]) -> Counter[Slot]:
    """How often slots are looked at."""
    looks = (s for s in everywhere(body) if not isinstance(s, Set))
    return Counter(slot for stmt in looks for slot in slots_of(stmt))


def _uses(body: Sequence[Stmt]) -> Counter[Reg]:
    """How often registers are used."""
    return Counter(reg for stmt in everywhere(body) for reg in used(stmt))


def _declared(stmt: Stmt) -> set[Slot]:
    """The slots that are surely set behind a statement."""
    match stmt:
        case Set(slot):
            return {slot}
        case Branch(_, then, orelse):
            both = ({s for x in body for s in _declared(x)} for body in (then, orelse))
            return set.intersection(*both)
        case _:
            return {
                slot for body in bodies_of(stmt) for x in body for slot in _declared(x)
            }
