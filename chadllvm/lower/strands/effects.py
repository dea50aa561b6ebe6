"""What a statement uses and changes, and whether another has to stay behind it.

Buffers are told apart by their classes of roots. What is only added to is kept apart
from what is written otherwise: a strand may add to a copy of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.loops import (
    RESULT,
    Accumulate,
    AddTo,
    Alloc,
    Branch,
    Check,
    Clear,
    Copy,
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
from chadllvm.ir.statements import assigned, everywhere, slots_of, used
from chadllvm.ir.types import is_float

# A slot, or a class of roots.
Place = Slot | int


class Opaque(Exception):
    """It is not known what a statement does, or it has to stay where it is."""


@dataclass
class Effects:
    """What some statements do, those inside of them included.

    `made`: the registers they assign; `used`: those they use; `read`, `written` and
    `added`: the places they read, write, and only add to.
    """

    made: set[Reg] = field(default_factory=set)
    used: set[Reg] = field(default_factory=set)
    read: set[Place] = field(default_factory=set)
    written: set[Place] = field(default_factory=set)
    added: set[Place] = field(default_factory=set)
    can_fail: bool = False

    def include(self, other: Effects) -> None:
        """These statements, and others."""
        self.made |= other.made
        self.used |= other.used
        self.read |= other.read
        self.written |= other.written
        self.added |= other.added
        self.can_fail |= other.can_fail

    @property
    def touched(self) -> set[Place]:
        """All places that they have to do with."""
        return self.read | self.written | self.added

    @property
    def sums(self) -> set[Place]:
        """The places that they do nothing with but add to them."""
        return self.added - self.read - self.written

    def needed_by(self, later: Effects, *, apart: bool = False) -> bool:
        """Whether statements behind these have to stay there; `apart`: what they only
        add to they add to copies."""
        copies = later.sums if apart else set[Place]()
        changed = (later.written | later.added) - copies
        return not (
            self.made.isdisjoint(later.used)
            and self.read.isdisjoint(changed)
            and self.written.isdisjoint(changed | later.read)
            and self.added.isdisjoint(changed | later.read)
        )


def effects(stmts: Iterable[Stmt], roots: Sequence[int]) -> Effects:
    """What statements do. What loops in them give back is what they have made.

    Raises: Opaque.
    """
    found, stmts = Effects(), tuple(stmts)
    if any(isinstance(stmt, Reset) for stmt in stmts):
        raise Opaque
    for stmt in everywhere(stmts):
        found.made.update(assigned(stmt))
        found.used.update(used(stmt))
        _places(stmt, found, roots)
    found.used -= found.made
    return found


def _places(stmt: Stmt, found: Effects, roots: Sequence[int]) -> None:
    match stmt:
        case Let() | Offset() | Branch() | Reset():
            pass
        case Alloc(region=region):
            if region == RESULT:
                raise Opaque
        case Check():
            found.can_fail = True
        case For():
            found.read.update(slots_of(stmt))
        case Get(slot=slot):
            found.read.add(slot)
        case Set(slot):
            found.written.add(slot)
        case Accumulate(slot) if is_float(slot.type):
            found.added.add(slot)
        case Load(root=root):
            found.read.add(roots[root])
        case Store(root=root) | Clear(root=root):
            found.written.add(roots[root])
        case AddTo(root=root, value=value) if is_float(value.type):
            found.added.add(roots[root])
        case Copy(target_root=target, source_root=source):
            found.written.add(roots[target])
            found.read.add(roots[source])
        case _:
            raise Opaque
