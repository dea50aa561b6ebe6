"""Whether the iterations of a loop may be run side by side, statement by statement.

They commute, by what made the loop; what is asked here is whether each statement can be
run for all of them before the next one is. So nothing is kept from one iteration for
the next one: slots and buffers that are written to belong to an iteration, or to all,
which then do nothing but add to them or write to places of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from chadllvm.ir.loops import (
    PTR,
    RESULT,
    ROW_DONE,
    ROW_TURN,
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
    Let,
    Load,
    Offset,
    Reg,
    Reset,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.lower.varying import NEXT, Varying


class Legality:
    """Whether the iterations of a loop may be run side by side; `holds`.

    `apart`: for pointers, others that point to other buffers.
    """

    def __init__(
        self,
        loop: For,
        varying: Varying,
        roots: Sequence[int],
        uses: Counter[tuple[Slot, type]],
        allocs: Sequence[Alloc],
        apart: Mapping[Reg, Sequence[Reg]],
    ) -> None:
        self._varying, self._roots, self._apart = varying, roots, apart
        self._all = list(everywhere(loop.body))
        alone = [s for a in varying.alone for s in everywhere([a])]
        self._alone = set(alone)
        self._buffers = {alloc.reg for alloc in allocs}
        self._moves = self._growing()
        self._pointers = {
            s.reg for s in self._all if isinstance(s, Get) and s.slot in self._moves
        }
        self._offsets = {s.reg for s in self._all if isinstance(s, Offset)}
        self._accesses: dict[int, list[Load | Store | AddTo]] = {}
        for stmt in self._all:
            match stmt:
                case Load(root=root) | Store(root=root) | AddTo(root=root):
                    self._accesses.setdefault(roots[root], []).append(stmt)
                case _:
                    pass
        self.holds = (
            all(self._statement(stmt) for stmt in self._all)
            and self._slots(loop, uses)
            and varying.pointers <= self._buffers | self._offsets | self._pointers
        )

    def _growing(self) -> set[Slot]:
        """The slots that hold the buffers of an iteration, and have moved for all lanes
        if they have moved for one."""
        made = {s.reg for s in self._all if isinstance(s, Alloc)}
        made |= {s.reg for s in self._all if isinstance(s, Data) and not s.value.size}
        sets = [s for s in self._all if isinstance(s, Set) and s.slot.type == PTR]
        others = {stmt.slot for stmt in sets if stmt.value not in made}
        return {stmt.slot for stmt in sets} - others - self._varying.slots

    def _slots(self, loop: For, uses: Counter[tuple[Slot, type]]) -> bool:
        """Slots belong to an iteration, or are sums of all, or are not written to."""
        here = Counter(slot_uses(self._all))
        for slot in {slot for slot, _ in here}:
            if here[slot, Set]:
                if any(here[slot, kind] != uses[slot, kind] for kind in (Get, Set)):
                    return False
            elif here[slot, Accumulate] and slot not in self._varying.sums:
                return False
        return True

    def _statement(self, stmt: Stmt) -> bool:
        kind, owns = self._varying.kind, self._varying.owns
        match stmt:
            case Let(reg) | Load(reg):
                return reg.type != PTR
            case Get(_, slot) | Set(slot):
                return slot.type != PTR or slot in self._moves
            case Alloc(region=region, count=count):
                return region != RESULT and not kind(count) and stmt not in self._alone
            case Reset():
                return stmt not in self._alone
            case Accumulate() | Offset() | Branch() | Data():
                return True
            case For():
                return stmt.lanes == 1
            case Check():
                return stmt not in self._alone
            case CallRuntime(_, name, (_, row, step)) if name in (ROW_TURN, ROW_DONE):
                # All lanes are at a row together, and their steps follow each other.
                return not kind(row) and kind(step) == NEXT and stmt not in self._alone
            case Store(ptr, index, value, root):
                return value.type != PTR and self._may_write(stmt, ptr, index, root)
            case AddTo(root=root):
                alike = self._accesses[self._roots[root]]
                is_alone = all(isinstance(access, AddTo) for access in alike)
                return self._varying.is_private(root) or is_alone
            case Clear(ptr, _, _, root):
                if owns(root):
                    return stmt not in self._alone
                return self._varying.is_private(root) or kind(ptr) > 0
            case Copy(target, _, _, _, root, other):
                if owns(root) or owns(other):
                    return owns(root) and owns(other) and stmt not in self._alone
                return self._varying.is_private(root) or kind(target) > 0
            case _:
                return False

    def _may_write(self, stmt: Store, ptr: Atom, index: Atom, root: int) -> bool:
        """Whether a store is into the lane's own buffer, or at a place of its own."""
        if self._varying.is_private(root):
            return True
        apart = self._apart.get(ptr, ()) if isinstance(ptr, Reg) else ()
        is_apart = all(
            isinstance(access, Store)
            or (isinstance(access, Load) and access.ptr in apart)
            for access in self._accesses[self._roots[root]]
        )
        return is_apart and self._varying.place(ptr, index) > 0


def begins_again(loop: For, varying: Varying) -> bool:
    """Whether an iteration may be left and run again from its beginning, wherever that
    may be asked for: until then it has changed nothing for good."""

    def leaves(stmt: Stmt) -> bool:
        if isinstance(stmt, For) and stmt.go is not None:
            return stmt in varying.masked and bool(varying.unsure)
        return isinstance(stmt, Alloc) or stmt in varying.unsure

    def changes(stmt: Stmt) -> bool:
        match stmt:
            case Accumulate(slot):
                return slot in varying.sums
            case AddTo(root=root):
                return not varying.is_private(root)
            case _:
                return isinstance(stmt, CallRuntime)

    changed = False
    for stmt in loop.body:
        inside = list(everywhere([stmt]))
        changed = changed or any(map(changes, inside))
        if changed and any(map(leaves, inside)):
            return False
    return True


def slot_uses(stmts: Iterable[Stmt]) -> Iterator[tuple[Slot, type]]:
    """Each use of a slot: what it is used by."""
    for stmt in stmts:
        match stmt:
            case Get(_, slot) | Set(slot) | Accumulate(slot):
                yield slot, type(stmt)
            case For(go=Slot() as slot):
                yield slot, Get
            case _:
                pass
