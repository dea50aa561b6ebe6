"""What statements use and change, calls included, and what has to stay behind them.

    def f(k):                    a call reads n, a and the class of p, adds to the
      x = p[k] in n                class of q, and uses p, q and its operands
      q[k] += x            →
      a := f(k - 1)

Buffers are told apart by their classes of roots. What is only added to is kept apart
from what is written otherwise: a strand may add to a copy of its own. Calls do whatever
the subroutines do that they may reach in the call graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.loops import (
    RESULT,
    Accumulate,
    AddTo,
    Alloc,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    For,
    Get,
    Invoke,
    Leave,
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
    Store,
)
from chadllvm.ir.statements import assigned, everywhere, slots_of, used
from chadllvm.ir.types import is_float

# A slot, a class of roots, or a buffer that is told apart from those (`reached.py`).
Place = Slot | int | Reg


class Opaque(Exception):
    """It is not known what a statement does, or it has to stay where it is."""


@dataclass
class Effects:
    """What some statements do, those inside of them included.

    `made`: the registers they assign; `used`: those they use; `read`, `written` and
    `added`: the places they read, write, and only add to. `calls`: subroutines are
    invoked, which look at the place where that stands.
    """

    made: set[Reg] = field(default_factory=set)
    used: set[Reg] = field(default_factory=set)
    read: set[Place] = field(default_factory=set)
    written: set[Place] = field(default_factory=set)
    added: set[Place] = field(default_factory=set)
    can_fail: bool = False
    calls: bool = False

    def include(self, other: Effects) -> None:
        """These statements, and others."""
        self.made |= other.made
        self.used |= other.used
        self.read |= other.read
        self.written |= other.written
        self.added |= other.added
        self.can_fail |= other.can_fail
        self.calls |= other.calls

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


class Calls:
    """What the calls in a function do, by its call graph: a summary of each subroutine.

    A subroutine that calls itself does what the others do that it reaches, and itself.
    """

    def __init__(self, function: LoopFunction) -> None:
        self._roots = function.roots
        self._subroutines = {s.name: s for s in function.subroutines}
        self._inside = {s.name: [*everywhere(s.body)] for s in function.subroutines}
        self._reached = self._graph()
        self._found: dict[str, Effects | None] = {}

    def _graph(self) -> dict[str, set[str]]:
        """The subroutines that a call of each may run, to a fixed point."""
        found = {
            name: {name, *(s.subroutine for s in stmts if isinstance(s, Invoke))}
            for name, stmts in self._inside.items()
        }
        size = -1
        while size != (size := sum(map(len, found.values()))):
            for reached in found.values():
                reached.update(*(found[name] for name in [*reached]))
        return found

    def run_by(self, stmts: Iterable[Stmt]) -> Iterator[Stmt]:
        """All that may be run: what is in statements, and in what they call."""
        called: dict[str, None] = {}
        for stmt in everywhere(stmts):
            if isinstance(stmt, Invoke):
                called.update(dict.fromkeys(sorted(self._reached[stmt.subroutine])))
            yield stmt
        for name in called:
            yield from self._inside[name]

    def ask_for_memory(self, call: Invoke) -> bool:
        """Whether a call makes buffers, or may be divided among threads, which do."""
        reached = self._reached[call.subroutine]
        return any(self._subroutines[name].tasks for name in reached) or any(
            isinstance(stmt, Alloc | Reset | CallRuntime | Spread)
            for stmt in self.run_by((call,))
        )

    def set_by(self, call: Invoke) -> set[Slot]:
        """The slots that a call may set."""
        inside = self.run_by((call,))
        return {s.slot for s in inside if isinstance(s, Set | Accumulate)}

    def effects(self, stmts: Iterable[Stmt]) -> Effects:
        """What statements do. What loops in them give back is what they have made.

        Raises: Opaque.
        """
        found, stmts = Effects(), tuple(stmts)
        if any(isinstance(stmt, Reset) for stmt in stmts):
            raise Opaque
        for stmt in everywhere(stmts):
            found.made.update(assigned(stmt))
            found.used.update(used(stmt))
            if isinstance(stmt, Invoke):
                found.include(self._of_call(stmt))
            else:
                _places(stmt, found, self._roots)
        found.used -= found.made
        return found

    def _of_call(self, call: Invoke) -> Effects:
        """What a call does besides; its operands and results are those of the call."""
        name = call.subroutine
        if name not in self._found:
            self._found[name] = self._summary(name)
        found = self._found[name]
        if found is None or RESULT in call.into:
            raise Opaque
        return found

    def _summary(self, name: str) -> Effects | None:
        """What a call of a subroutine does to what is around; None: nobody knows."""
        called = [self._subroutines[other] for other in self._reached[name]]
        own = {region for s in called for region in s.regions}
        made = {reg for s in called for reg in (s.turn, *s.params)}
        found = Effects(can_fail=True, calls=True)
        for stmt in (stmt for s in called for stmt in self._inside[s.name]):
            made.update(assigned(stmt))
            found.used.update(used(stmt))
            match stmt:
                case Reset(region) if region not in own:
                    return None
                case Reset() | Alloc() | Invoke() | Leave():
                    pass
                case _:
                    try:
                        _places(stmt, found, self._roots)
                    except Opaque:
                        return None
        found.used -= made
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
        case For(resume=resume):
            found.read.update(slots_of(stmt))
            found.written.update(() if resume is None else (resume,))
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
