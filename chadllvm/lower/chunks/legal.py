"""Whether the steps of a loop may run at the same time, and what that takes.

Steps may have in common what they read, the places of a buffer of which each has its
own, and what they only add to. A buffer of which each step knows nothing at its start
is its own (`Alloc.each`); so is a slot that is set before it is read. What is added to
at places that are not known to be different ones becomes a cell for each chunk, and a
slot that all steps change by one and the same operation a number for each; if steps
look at it on their way, each chunk is told what it begins with (`scan.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement

from chadllvm.ir.loops import (
    RESULT,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Offset,
    Reg,
    Reset,
    Return,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, everywhere, used
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import I64, is_float
from chadllvm.lower.chunks.best import Best, bests
from chadllvm.lower.chunks.forms import ONE, Form, Forms, atoms, divided, plus
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.scan import Scan, scan_of

# The farthest that steps may be from each other and add to the same place, without a
# copy for each chunk.
_REACH = 4

# Operations that combine the numbers of chunks, and what changes no number.
_NEUTRAL: dict[str, float | int | bool] = {
    "add": 0.0,
    "iadd": 0,
    "imin": (1 << 63) - 1,
    "imax": -(1 << 63),
    **dict.fromkeys(("least", "lesser", "minimum"), math.inf),
    **dict.fromkeys(("largest", "greater", "maximum"), -math.inf),
    "and": True,
    "or": False,
}


class Refused(Exception):
    """Why steps of a loop need each other."""


@dataclass(frozen=True)
class Sum:
    """A slot that all steps change by this operation; `best`: it is one of those that
    change together, the first of which comes first."""

    slot: Slot
    op: str = ""
    best: Best | None = None

    @property
    def neutral(self) -> Lit:
        """What a chunk but the first begins with."""
        if self.best is None:
            return literal(_NEUTRAL[self.op], self.slot.type)
        if self.slot is self.best.slots[0]:
            return self.best.better.worst(self.slot.type)
        return literal(0, self.slot.type)


@dataclass(frozen=True)
class Plan:
    """What a loop needs to run in chunks.

    `read`: slots of the place around; `own`: buffers that each chunk makes for itself;
    `cells`: those that each chunk adds to a copy of. `regions` belong to the steps.
    Steps that are `reach` or more away from each other have no place in common; those
    that are nearer only add to the same one.
    """

    loop: For
    sums: tuple[Sum, ...]
    scans: tuple[Scan, ...]
    read: tuple[Slot, ...]
    own: tuple[Alloc, ...]
    cells: tuple[Alloc, ...]
    regions: tuple[int, ...]
    reach: int
    forms: Forms


def plan(loop: For, known: Known, forms: Forms) -> Plan:
    """What a loop takes to run in chunks; `forms`: what holds where it stands.

    Raises: Refused.
    """
    if loop.go is not None:
        raise Refused("its number of steps is not known before it")
    analysis = _Analysis(loop, known, forms)
    analysis.body(loop.body, analysis.forms, ())
    sums, scans, read = analysis.slots()
    reach = 1 if sums or scans or not analysis.is_plain else _REACH
    own, cells, reach = analysis.buffers(reach)
    if cells and reach > 1:
        own, cells, reach = analysis.buffers(1)
    regions = tuple(sorted(analysis.regions))
    return Plan(loop, sums, scans, read, own, cells, regions, reach, analysis.forms)


# Where a part of a buffer begins, and how many elements it has.
_Part = tuple[Form, Form]


@dataclass(frozen=True)
class _Access:
    """Places of a buffer: `form` from its start, in these loops inside of the loop.

    They are in all of the `parts`, whatever the form is.
    """

    kind: type[Stmt]
    base: Reg | Slot | None
    form: Form
    parts: tuple[_Part, ...]
    loops: tuple[For, ...]
    forms: Forms


def have_own_places(
    inner: For, plan: Plan, forms: Forms, known: Known, cells: Iterable[Alloc]
) -> bool:
    """Whether steps of an inner loop add to places of their own of these cells: others
    than all other steps, also those of its other runs. `forms`: what holds at it."""
    analysis = _Analysis(inner, known, forms, plan.loop)
    try:
        analysis.body(inner.body, analysis.forms, ())
    except Refused:
        return False
    return all(analysis.has_own_places(cell) for cell in cells)


@dataclass
class _Slot:
    """What the steps do with a slot; `exposed`: they read it before they set it."""

    exposed: bool = False
    stmts: list[Stmt] = field(default_factory=list)


class _Analysis:
    """A walk over the steps of one loop.

    Other steps are those of one run of the loop, or of one of the loop `around`.
    """

    def __init__(
        self, loop: For, known: Known, forms: Forms, around: For | None = None
    ) -> None:
        self.loop = loop
        self.known = known
        self.forms = forms.inside(loop)
        inside = [*everywhere(loop.body)]
        self._inside = inside
        other = around or loop
        varied = [*everywhere(other.body)] if around else inside
        self._local = {other.index, *(r for s in varied for r in assigned(s))}
        self._varying = {other.index}
        for stmt in varied:
            if not isinstance(stmt, Let) or not self._varying.isdisjoint(stmt.args):
                self._varying.update(assigned(stmt))
        loops = (loop, *(s for s in inside if isinstance(s, For)))
        self._private_roots = {root for s in loops for root in s.private}
        self.regions = {s.region for s in inside if isinstance(s, Reset)}
        self._slots: dict[Slot, _Slot] = {}
        self._set: set[Slot] = set()
        self._changed = {s.slot for s in inside if isinstance(s, Set | Accumulate)}
        self._accesses: dict[int, list[_Access]] = {}

    # The walk.

    def body(self, body: Iterable[Stmt], forms: Forms, loops: tuple[For, ...]) -> None:
        for stmt in body:
            self._statement(stmt, forms, loops)

    def _statement(self, stmt: Stmt, forms: Forms, loops: tuple[For, ...]) -> None:
        match stmt:
            case Get(slot=slot):
                self._read(slot, stmt)
            case Set(slot):
                self._slots.setdefault(slot, _Slot()).stmts.append(stmt)
                self._set.add(slot)
            case Accumulate(slot):
                self._read(slot, stmt)
            case For(go=go):
                if go is not None:
                    self._read(go, stmt)
                before = set(self._set)
                self.body(stmt.body, forms.inside(stmt), (*loops, stmt))
                self._set = before
            case Branch(_, then, orelse):
                before = set(self._set)
                self.body(then, forms, loops)
                after, self._set = self._set, before
                self.body(orelse, forms, loops)
                self._set &= after
            case CallRuntime() | Invoke() | Return() | Leave() | Spread():
                raise Refused("it calls what is not known to be independent")
            case _:
                self._memory(stmt, forms, loops)

    def _memory(self, stmt: Stmt, forms: Forms, loops: tuple[For, ...]) -> None:
        match stmt:
            case Alloc(region=region):
                if region == RESULT or region not in self.regions:
                    raise Refused("what a step makes outlives it")
            case Load(_, ptr, index, root):
                self._access(Load, ptr, index, root, forms, loops)
            case Store(ptr, index, _, root):
                self._access(Store, ptr, index, root, forms, loops)
            case AddTo(ptr, index, _, root):
                self._access(AddTo, ptr, index, root, forms, loops)
            case Clear(ptr, count, _, root):
                self._range(Store, ptr, count, root, forms, loops)
            case Copy(target, source, count, _, to, of):
                self._range(Store, target, count, to, forms, loops)
                self._range(Load, source, count, of, forms, loops)
            case _:
                pass

    def _read(self, slot: Slot, stmt: Stmt) -> None:
        found = self._slots.setdefault(slot, _Slot())
        found.stmts.append(stmt)
        found.exposed |= slot not in self._set

    def _range(
        self,
        kind: type[Stmt],
        ptr: Atom,
        count: Atom,
        root: int,
        forms: Forms,
        loops: tuple[For, ...],
    ) -> None:
        each = For(Reg("each", I64), Lit(0), count, ())
        inner = forms.inside(each)
        self._access(kind, ptr, each.index, root, inner, (*loops, each))

    def _access(
        self,
        kind: type[Stmt],
        ptr: Atom,
        index: Atom,
        root: int,
        forms: Forms,
        loops: tuple[For, ...],
    ) -> None:
        base, chain = ptr, list[Offset]()
        while isinstance(offset := self._pointer(base), Offset):
            base = offset.ptr
            chain.append(offset)
        if not isinstance(base, Reg):
            raise Refused("a place is not known")
        begin: Form = {}
        parts = []
        for offset in reversed(chain):
            begin = plus(begin, forms.of(offset.index))
            if offset.extent is not None:
                parts.append((begin, forms.of(offset.extent)))
        parts += [(plus(begin, f), n) for f, n in self.known.rows(index, forms)]
        form = plus(begin, forms.of(index))
        buffer = self._buffer(base)
        found = _Access(kind, buffer, form, tuple(parts), loops, forms)
        accesses = self._accesses.setdefault(self.known.function.roots[root], [])
        accesses.append(found)

    def _pointer(self, ptr: Atom) -> Offset | Get | None:
        return self.known.pointers.get(ptr) if isinstance(ptr, Reg) else None

    def _buffer(self, base: Reg) -> Reg | Slot | None:
        """What a pointer is to if it is no part of another; None: each step's own."""
        match self._pointer(base):
            case Get(_, slot) if base in self._local and slot not in self._changed:
                return slot
            case _:
                return base if base not in self._local else None

    # What the steps have in common.

    def slots(self) -> tuple[tuple[Sum, ...], tuple[Scan, ...], tuple[Slot, ...]]:
        """The slots that are combined, those on the way, and those that are read."""
        exposed = {s: f.stmts for s, f in self._slots.items() if f.exposed}
        changed = {s: stmts for s, stmts in exposed.items() if s in self._changed}
        found = bests(self.loop, changed, self.known.made, self._uses)
        sums = [Sum(slot, best=best) for best in found for slot in best.slots]
        known = {s.slot for s in sums}
        scans, read = [], []
        for slot, uses in self._slots.items():
            if slot not in self._changed:
                read.append(slot)
            elif slot in known:
                pass
            elif uses.exposed and (scan := self._scan(uses.stmts)):
                scans.append(scan)
            elif uses.exposed:
                sums.append(Sum(slot, self._operation(slot, uses.stmts)))
            elif self.known.uses[slot] > len(uses.stmts):
                raise Refused(f"steps hand on {slot.name}")
        return tuple(sums), tuple(scans), tuple(read)

    def _scan(self, stmts: Sequence[Stmt]) -> Scan | None:
        """The scan that a slot is with these uses, if steps look at it."""
        if not self.is_plain:
            return None
        return scan_of(stmts, self.loop, _NEUTRAL, self._is_written, self._count)

    def _is_written(self, root: int) -> bool:
        accesses = self._accesses[self.known.function.roots[root]]
        return any(a.kind is not Load for a in accesses)

    def _operation(self, slot: Slot, stmts: Sequence[Stmt]) -> str:
        if all(isinstance(s, Accumulate) for s in stmts) and is_float(slot.type):
            return "add"
        match stmts:
            case [Get(old), Set(_, Reg() as new)] if let := self.known.made.get(new):
                if self._count(new) > 1:
                    raise Refused(f"its steps look at {slot.name} on the way")
                alone = self._count(old) == 1 and old in let.args
                if let.op in _NEUTRAL and alone and len(set(let.args)) == 2:
                    return let.op
        raise Refused(f"each step needs {slot.name} of the one before")

    @cached_property
    def _uses(self) -> Counter[Reg]:
        """How often registers are used in the loop."""
        return Counter(reg for stmt in self._inside for reg in used(stmt))

    def _count(self, reg: Reg) -> int:
        return self._uses[reg]

    @property
    def is_plain(self) -> bool:
        """Whether a step cannot fail, and makes nothing."""
        return not any(isinstance(s, Check | Alloc) for s in self._inside)

    def buffers(self, most: int) -> tuple[tuple[Alloc, ...], tuple[Alloc, ...], int]:
        """The buffers of which chunks have their own, those that are cells, the reach.

        `most`: how far it may be.
        """
        reach = 1
        own: list[Alloc] = []
        cells: list[Alloc] = []
        for root, accesses in self._accesses.items():
            if all(a.kind is Load for a in accesses):
                continue
            private = self._private(root)
            if private is not None:
                own += private
                continue
            for base, found in self._by_base(root, accesses):
                if all(a.kind is Load for a in found):
                    continue
                near = self._reach(found, most)
                if near is None:
                    cells.append(self._cell(base, found))
                else:
                    reach = max(reach, near)
        return tuple(own), tuple(cells), reach

    def has_own_places(self, cell: Alloc) -> bool:
        """Whether steps add to different places of a cell."""
        accesses = self._accesses.get(self.known.function.roots[cell.root], ())
        return self._reach([a for a in accesses if a.base is cell.reg], 1) == 1

    def _private(self, root: int) -> list[Alloc] | None:
        """The buffers around the loop that are its steps' own, if the class is."""
        outside = []
        for made in self.known.classes.get(root, ()):
            if isinstance(made, Data):
                continue  # Nobody writes to a constant.
            if not isinstance(made, Alloc):
                return None
            if made.reg in self._local:
                continue
            if made.root not in self._private_roots:
                return None
            outside.append(made)
        return outside

    def _by_base(
        self, root: int, accesses: Sequence[_Access]
    ) -> Iterator[tuple[Reg | Slot | None, list[_Access]]]:
        """The accesses to each buffer; to all of them if they may be the same."""
        groups: dict[Reg | Slot | None, list[_Access]] = {}
        for access in accesses:
            groups.setdefault(access.base, []).append(access)
        written = {a.base for a in accesses if a.kind is not Load}
        for base in written:
            if not all(b == base or self._are_different(base, b) for b in groups):
                raise Refused("it may write what it reads elsewhere")
        yield from groups.items()

    def _are_different(self, base: Reg | Slot | None, other: Reg | Slot | None) -> bool:
        """Whether a buffer that is written is no part of another one."""
        if base is None or other is None:
            return False
        if other in self.known.inputs:  # They are never written to.
            return True
        for one, two in ((base, other), (other, base)):
            found = self.known.pointers.get(one) if isinstance(one, Reg) else None
            if isinstance(found, Get) and two in found.apart:
                return True
        return base in self.known.buffers and other in self.known.buffers

    def _reach(self, accesses: Sequence[_Access], most: int) -> int | None:
        """How far steps are from each other that have a place in common; None: any.

        If it is not 1 they only add to it.
        """
        if accesses[0].base is None:
            return None
        spans: dict[object, tuple[type[Stmt], list[_Span]]] = {}
        for access in accesses:
            key = frozenset(access.form.items()), access.loops, access.kind
            if key not in spans:
                spans[key] = access.kind, [*self._spans(access)]
        reach = 1
        for (x, a), (y, b) in combinations_with_replacement(spans.values(), 2):
            if x is y is Load:
                continue
            far = most if x is y is AddTo else 1
            near = (k for k in range(1, far + 1) if self._apart(a, b, k))
            found = next(near, None)
            if found is None:
                return None
            reach = max(reach, found)
        return reach

    def _apart(self, a: Sequence[_Span], b: Sequence[_Span], steps: int) -> bool:
        """Whether the places of steps so far from each other are never the same."""
        return any(
            _are_ordered(x, y, steps, forms)
            for x in a
            for y in b
            for forms in self._facts(x.forms, y.forms)
        )

    def _facts(self, one: Forms, other: Forms) -> Iterator[Forms]:
        """What is known in one of two steps, and of the other what never varies."""
        yield one.with_facts(other, self._varying)
        if other is not one:
            yield other.with_facts(one, self._varying)

    def _spans(self, access: _Access) -> Iterator[_Span]:
        """The places of a step: what they advance by, the first and the last one."""
        forms = access.forms
        for begin, extent in ((access.form, ONE), *access.parts):
            for least, most in forms.between(begin, access.loops):
                (slope, first), (other, last) = (
                    divided(form, self.loop.index) for form in (least, most)
                )
                last = plus(plus(last, extent), ONE, -1)
                regs = {*atoms(slope), *atoms(first), *atoms(last)}
                if slope == other and self._local.isdisjoint(regs):
                    yield _Span(slope, first, last, forms)

    def _cell(self, base: Reg | Slot | None, accesses: Sequence[_Access]) -> Alloc:
        """The buffer that chunks add to copies of."""
        if any(a.kind is not AddTo for a in accesses):
            raise Refused("steps may read or write the same element")
        found = self.known.buffers.get(base) if isinstance(base, Reg) else None
        if found is None or not is_float(found.elem):
            raise Refused("steps add to the same array, whose size is not known")
        return found


@dataclass(frozen=True)
class _Span:
    slope: Form
    first: Form
    last: Form
    forms: Forms


def _are_ordered(a: _Span, b: _Span, steps: int, forms: Forms) -> bool:
    """Whether the places of a step are all behind those of so many steps before."""
    if a.slope != b.slope:
        return False
    for slope in (a.slope, plus({}, a.slope, -1)):
        far = plus({}, slope, steps)
        if forms.is_count(slope) and all(
            forms.is_count(plus(plus(plus(far, x.first), y.last, -1), ONE, -1))
            for x, y in ((a, b), (b, a))
        ):
            return True
    return False
