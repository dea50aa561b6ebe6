"""What of a loop's body waits for other steps, and what may be made ahead of them.

    for i in 0 .. n:
      x = a[i]            waits for nothing: it is early
      f = x · x           likewise
      s' = s · f          waits for the step before
      s := s'

Early is what is made of the index, of what is there before the loop, and of memory and
slots that the loop does not write. It neither traps nor takes long in vain, so that it
may be computed whether it is looked at or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, everywhere, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64, is_float

# A loop that is known to make fewer steps fills no vectors.
_FEW = 16


@dataclass
class Waits:
    """Which registers of a loop wait for no step before: those that were noted.

    `made` are the registers of its steps, `written` and `changed` the slots and the
    roots of the memory that they write.
    """

    loop: For
    roots: Sequence[int]
    early: set[Reg] = field(default_factory=set)

    def __post_init__(self) -> None:
        inside = list(everywhere(self.loop.body))
        self.written = written(inside)
        self.changed = changed_roots(inside, self.roots)
        self.made = {reg for s in inside for reg in assigned(s)} | {self.loop.index}
        self.early.add(self.loop.index)

    def is_early(self, atom: Atom) -> bool:
        """Whether an atom is there before all steps, or waits for none."""
        return atom not in self.made or atom in self.early

    def is_fixed(self, atom: Atom) -> bool:
        """Whether an atom is the same in all steps."""
        return atom not in self.made

    def note(self, stmt: Stmt) -> bool:
        """Whether a statement waits for no other step: so do then its registers."""
        found = self._can_be_early(stmt) and all(map(self.is_early, used(stmt)))
        if found:
            self.early.update(assigned(stmt))
        return found

    def _can_be_early(self, stmt: Stmt) -> bool:
        match stmt:
            case Let():
                return stmt.code.is_plain
            case Get(_, slot):
                return slot not in self.written
            case Load(root=root):
                return self.roots[root] not in self.changed
            case Offset():
                return True
            case _:
                return False


def written(inside: Iterable[Stmt]) -> set[Slot]:
    """The slots that statements set or add to."""
    return {s.slot for s in inside if isinstance(s, Set | Accumulate)}


def changed_roots(inside: Iterable[Stmt], roots: Sequence[int]) -> set[int]:
    """The roots of the memory that statements write."""
    return {roots[s.root] for s in inside if isinstance(s, Store | AddTo)}


def is_short(loop: For) -> bool:
    """Whether it is known that a loop makes few steps."""
    if loop.few:
        return True
    if not isinstance(loop.low, Lit) or not isinstance(loop.high, Lit):
        return False
    return int(loop.high.value) - int(loop.low.value) < _FEW


def is_chain(
    inside: Iterable[Stmt],
    slots: Collection[Slot],
    changed: Collection[int],
    roots: Sequence[int],
) -> bool:
    """Whether steps read what others have written: these slots, or one array
    elsewhere."""
    places: dict[Atom, set[Atom]] = {}
    for stmt in inside:
        match stmt:
            case Get(_, slot) if slot in slots:
                return True
            case Load() | Store() | AddTo() if roots[stmt.root] in changed:
                places.setdefault(stmt.ptr, set()).add(stmt.index)
    return any(len(found) > 1 for found in places.values())


def acts(stmt: Stmt) -> bool:
    """Whether a statement writes slots or memory, itself or inside of it."""
    kinds = Set | Accumulate | Store | AddTo
    return any(isinstance(inner, kinds) for inner in everywhere([stmt]))


def reads(stmt: Stmt) -> set[Reg]:
    """The registers that are used by a statement, and inside of it."""
    return {reg for inner in everywhere([stmt]) for reg in used(inner)}


def touched(stmt: Stmt) -> dict[Slot, None]:
    """The slots that are used by a statement, and inside of it."""
    return {slot: None for inner in everywhere([stmt]) for slot in slots_of(inner)}


def needed(
    body: Sequence[Stmt], effects: Iterable[Stmt], known: Iterable[Reg]
) -> list[Stmt]:
    """Statements, and what they are computed from, but for what is known."""
    first, there = set(map(id, effects)), set(known)
    wanted: set[Reg] = set()
    found: list[Stmt] = []
    for stmt in reversed(body):
        if id(stmt) in first or not wanted.isdisjoint(set(assigned(stmt)) - there):
            found.append(stmt)
            wanted |= reads(stmt)
    return found[::-1]


def read_places(stmts: Iterable[Stmt]) -> set[Atom]:
    """Integers that statements read, and the places that are made of them."""
    found: set[Atom] = set()
    for stmt in stmts:
        match stmt:
            case Load(reg) if reg.type == I64:
                found.add(reg)
            case Let(reg) | Offset(reg) if not is_float(reg.type):
                if not found.isdisjoint(used(stmt)):
                    found.add(reg)
            case _:
                pass
    return found
