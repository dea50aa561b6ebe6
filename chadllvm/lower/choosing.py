"""Branches of a loop that only choose values become `select`.

    for i in 0 .. n:                      there = k <u size of p
      f = a[i]                            q := 0.0
      if f < 0:                           if there:
        q = p[k]                            q := p[k]
        y := f · q                        for i in 0 .. n:
      else:                        →        f = a[i]
        y := f                              y = select(f < 0, f · q, f)
      s := s + y                            s := s + y

A branch does so if its condition and all that it computes is early (`waiting.py`), and
if the slots that it sets or adds to belong to the step: each step sets them before it
reads them, and nobody else knows them. What such a branch loads is the same in all
steps, so that it is loaded in front of the loop; but what no step reads need not be
there, and so the place is compared with the size of its buffer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    Alloc,
    ArrayParam,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    Local,
    LoopFunction,
    Reg,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.statements import (
    Names,
    assigned,
    copied,
    everywhere,
    slots_of,
    used,
    whole,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import BOOL, I64
from chadllvm.lower.waiting import Waits, read_places, touched

# A branch with more work than this, in additions, stays one.
_MOST = 192
# What branches that choose do to slots.
_CHANGES = Set | Accumulate
# How often a loop is tried without slots that turned out not to be of a step alone.
_ROUNDS = 8


class Buffers:
    """What is known of a function, once somebody asks."""

    def __init__(self, function: LoopFunction) -> None:
        self._function = function

    @cached_property
    def sizes(self) -> dict[Reg, tuple[Atom, ...]]:
        """The dimensions of buffers."""
        params = (p for p in self._function.params if isinstance(p, ArrayParam))
        found: dict[Reg, tuple[Atom, ...]] = {p.ptr: p.dims for p in params if p.dims}
        for stmt in whole(self._function):
            match stmt:
                case Alloc(reg, _, count):
                    found[reg] = (count,)
                case Local(reg, length):
                    found[reg] = (Lit(length),)
        return found

    @cached_property
    def read(self) -> set[Atom]:
        """Integers that are read, and what is made of them."""
        return read_places(whole(self._function))

    @cached_property
    def uses(self) -> Counter[Slot]:
        """How often slots are used."""
        stmts = whole(self._function)
        return Counter(slot for stmt in stmts for slot in _slots(stmt))


@dataclass(frozen=True)
class Chosen:
    """A loop with choices, and what stands in front of it."""

    loop: For
    front: tuple[Stmt, ...]


def with_choices(loop: For, roots: Sequence[int], known: Buffers) -> Chosen | None:
    """The loop with choices; None if it cannot be found out what they would be."""
    others: set[Slot] = set()
    for _ in range(_ROUNDS):
        found = _Choosing(loop, roots, known, others)
        if not found.others:
            flat = replace(loop, body=tuple(found.out))
            flat = copied(flat, Names(regs=found.instead))
            return Chosen(flat, tuple(found.front))
        others |= found.others
    return None


class _Choosing:
    """The body with choices. If `others` are found, they were taken for slots of a step
    alone, and the body is not right."""

    def __init__(
        self, loop: For, roots: Sequence[int], known: Buffers, others: set[Slot]
    ) -> None:
        self._waits = Waits(loop, roots)
        self._sizes = known.sizes
        self._own = _own_slots(loop.body, known) - others
        self.others: set[Slot] = set()
        # The values of such slots at this place.
        self._held: dict[Slot, Atom] = {}
        self.out: list[Stmt] = []
        self.front: list[Stmt] = []
        # What stands for the registers that were read from such slots.
        self.instead: dict[Reg, Atom] = {}
        for stmt in loop.body:
            self._top(stmt)

    def _top(self, stmt: Stmt) -> None:
        match stmt:
            case Branch() if self._can_choose(stmt):
                self._choose(stmt)
            case Get(reg, slot) if slot in self._held:
                self.instead[reg] = self._held[slot]
                self._waits.early.add(reg)
            case Set(slot, value) if slot in self._own and self._waits.is_early(value):
                self._held[slot] = value
            case Accumulate(slot, value) if slot in self._own and self._waits.is_early(
                value
            ):
                self._held[slot] = self._sum(self._held[slot], value)
            case Let() if self._is_fixed(stmt):
                self._before(stmt)
            case _:
                self._keep(stmt)

    def _keep(self, stmt: Stmt) -> None:
        """A statement stays as it is: its slots are no longer those of a step alone."""
        found = self._own.intersection(touched(stmt))
        self.others |= found
        self._own -= found
        self._waits.note(stmt)
        self.out.append(stmt)

    def _is_fixed(self, let: Let) -> bool:
        return let.code.is_cheap and all(map(self._waits.is_fixed, used(let)))

    def _before(self, let: Let | Get) -> None:
        """It stands in front of the loop."""
        self.front.append(let)
        self._waits.made.discard(let.reg)

    def _can_choose(self, branch: Branch) -> bool:
        """Whether all that a branch does is to compute early values, and choose."""
        stmts = list(everywhere((*branch.then, *branch.orelse)))
        if sum(map(_work, stmts)) > _MOST or not self._waits.is_early(branch.cond):
            return False
        early, fixed = set[Reg](), set[Reg]()
        for stmt in stmts:
            parts = list(used(stmt))
            if not all(reg in early or self._waits.is_early(reg) for reg in parts):
                return False
            same = all(reg in fixed or self._waits.is_fixed(reg) for reg in parts)
            if not ((same and self._is_known(stmt)) or self._is_quick(stmt)):
                return False
            early.update(assigned(stmt))
            fixed.update(assigned(stmt) if same else ())
        return True

    def _is_quick(self, stmt: Stmt) -> bool:
        match stmt:
            case Let(reg):
                return stmt.code.is_plain and reg.type != PTR
            case Set(slot) | Accumulate(slot):
                return slot in self._own and slot.type != PTR
            case _:
                return False

    def _is_known(self, stmt: Stmt) -> bool:
        """Whether this loads what the loop does not change from a buffer whose size is
        known."""
        match stmt:
            case Load(reg, ptr, _, root):
                changed = self._waits.roots[root] in self._waits.changed
                return ptr in self._sizes and not changed and reg.type != PTR
            case _:
                return False

    def _choose(self, branch: Branch) -> None:
        """The statements of both bodies, and the choices."""
        sides = self._side(branch.then), self._side(branch.orelse)
        for slot in {**sides[0], **sides[1]}:
            one, two = (s[slot] if slot in s else self._held[slot] for s in sides)
            reg = Reg(slot.name, slot.type)
            self.out.append(Let(reg, "select", (branch.cond, one, two)))
            self._waits.made.add(reg)
            self._waits.early.add(reg)
            self._held[slot] = reg

    def _side(self, body: Sequence[Stmt]) -> Mapping[Slot, Atom]:
        """What slots are set to; the rest of the body is computed in any case."""
        found: dict[Slot, Atom] = {}
        for stmt in body:
            match stmt:
                case Set(slot, value):
                    found[slot] = value
                case Accumulate(slot, value):
                    before = found[slot] if slot in found else self._held[slot]
                    found[slot] = self._sum(before, value)
                case Load():
                    self._load(stmt)
                case Let() if self._is_fixed(stmt):
                    self._before(stmt)
                case _:
                    self._waits.note(stmt)
                    self.out.append(stmt)
        return found

    def _sum(self, before: Atom, value: Atom) -> Atom:
        """What is in a slot that is added to; a sum begins with what is first added."""
        if isinstance(before, Lit) and before.value == 0.0:
            return value
        reg = Reg("sum", value.type)
        self.out.append(Let(reg, "add", (before, value)))
        self._waits.made.add(reg)
        self._waits.early.add(reg)
        return reg

    def _load(self, load: Load) -> None:
        """In front of the loop, a load that is made if its place is in the buffer."""
        assert isinstance(load.ptr, Reg)
        size, *others = self._sizes[load.ptr]
        for dim in others:
            product = Reg("size", I64)
            self.front.append(Let(product, "imul", (size, dim)))
            size = product
        inside, slot = Reg("inside", BOOL), Slot(load.reg.name, load.reg.type)
        there = Reg(load.reg.name, load.reg.type)
        self.front += [
            Let(inside, "iult", (load.index, size)),
            Set(slot, literal(0.0, slot.type)),
            Branch(inside, (replace(load, reg=there), Set(slot, there))),
        ]
        self._before(Get(load.reg, slot))


def _own_slots(body: Sequence[Stmt], known: Buffers) -> set[Slot]:
    """The slots that nobody but this body uses, by setting and reading them at its top
    or setting them in branches there, where each step sets them before it reads them,
    and a branch that sets them on one side only."""
    count: Counter[Slot] = Counter()
    other: set[Slot] = set()
    whole: set[Slot] = set()
    for stmt in body:
        here = touched(stmt)
        match stmt:
            case Set(slot):
                whole.add(slot)
            case Get(_, slot) | Accumulate(slot):
                other |= {slot} - whole
            case Branch(_, then, orelse):
                read = (s for s in everywhere([stmt]) if not isinstance(s, _CHANGES))
                other.update(slot for s in read for slot in slots_of(s))
                whole |= _definite(then) & _definite(orelse)
                other |= here.keys() - whole
            case _:
                other.update(here)
        count.update(slot for s in everywhere([stmt]) for slot in slots_of(s))
    alone = {slot for slot, n in count.items() if known.uses[slot] == n}
    return (whole & alone) - other


def _work(stmt: Stmt) -> int:
    return stmt.code.cycles if isinstance(stmt, Let) else 1


def _definite(body: Sequence[Stmt]) -> set[Slot]:
    return {stmt.slot for stmt in body if isinstance(stmt, Set)}


def _slots(stmt: Stmt) -> Iterator[Slot]:
    """The slots that a statement itself uses, also those of a loop or of strands."""
    yield from slots_of(stmt)
    yield from getattr(stmt, "results", ())
