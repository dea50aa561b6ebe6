"""Calls of a recursion that do not need each other are put together.

    a = f(x)                           q = buffer f64[n]
    q = buffer f64[n]                  for i in 0 .. n: q[i] = x[i + m]
    for i in 0 .. n: q[i] = x[i + m]   a = f(x) beside
    s = a + …                   →      b = f(q)
    b = f(q)                           s = a + …

What the second call needs goes in front of the first, and with it whatever has to stay
in front of that; the rest goes behind the second. Nothing passes what can fail, or what
gives back buffers. `reached.py` says what calls touch of what is around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Alloc,
    Branch,
    Check,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Invoke,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
    bodies_of,
)
from chadllvm.ir.statements import assigned, everywhere, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.lower.effects import Effects
from chadllvm.lower.reached import Reached


@dataclass(frozen=True)
class Around:
    """What calls do with what is around the recursion.

    `set`: the slots that they set; `known`: those with which they do more than add;
    `written`: the classes of roots of the memory that they write, but for cells.
    """

    set: frozenset[Slot]
    known: frozenset[Slot]
    written: frozenset[int]


class Together:
    """The putting together of the calls of one subroutine."""

    def __init__(self, reached: Reached, around: Around) -> None:
        self._reached = reached
        self._around = around

    def body(self, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """A body in which calls are together where they may be."""
        new: list[Stmt] = []
        last = -1  # Where the call is that the next may be together with.
        for stmt in body:
            match stmt:
                case Invoke():
                    moved = None if last < 0 else self._before(stmt, new, last)
                    if moved is None:
                        new.append(stmt)
                        last = len(new) - 1
                    else:
                        _join(new, last, stmt, moved)
                        last += len(moved) + 1
                case For() | Branch():
                    new.append(self._inside(stmt))
                    if stays(stmt):
                        last = -1
                case _:
                    new.append(stmt)
                    if stays(stmt):
                        last = -1
        return tuple(new)

    def _inside(self, stmt: For | Branch) -> Stmt:
        if isinstance(stmt, For):
            return replace(stmt, body=self.body(stmt.body))
        return replace(stmt, then=self.body(stmt.then), orelse=self.body(stmt.orelse))

    def _before(
        self, call: Invoke, new: Sequence[Stmt], last: int
    ) -> list[Stmt] | None:
        """What has to be moved in front of the calls that end with the one at `last`,
        for this one to be together with them; None if that cannot be."""
        calls = [s for s in new[_first(new, last) : last + 1] if isinstance(s, Invoke)]
        if any(c.hands_on != call.hands_on for c in calls):
            return None  # They have other turns.
        moved: list[Stmt] = []
        moving = Effects()
        whole = self._of_call(call)
        for stmt in reversed(new[last + 1 :]):
            does = self._effects(stmt)
            is_needed = does.needed_by(whole) or does.needed_by(moving)
            if is_needed or isinstance(stmt, Check):
                moved.insert(0, stmt)
                moving.include(does)
        if any(self._of_call(c).needed_by(moving) for c in calls):
            return None
        if any(self._given(c).needed_by(self._given(call)) for c in calls):
            return None
        if _makes_buffers(moved) and not all(map(self._reached.has_own, calls)):
            return None
        return moved

    # What statements do.

    def _given(self, call: Invoke) -> Effects:
        """What a call does with what it is given, and with what it finds."""
        does = Effects()
        does.made.update(call.regs)
        does.used.update(arg for arg in call.args if isinstance(arg, Reg))
        does.read |= self._reached.read_by(call)
        does.written |= self._reached.changed_by(call)
        return does

    def _of_call(self, call: Invoke) -> Effects:
        """What a call does; what it adds to cells around is of no importance."""
        does = self._given(call)
        does.read |= self._around.known
        does.written |= self._around.set | self._around.written
        return does

    def does(self, stmt: Stmt) -> Effects:
        """What a statement does, and the calls in it; not what these add to cells."""
        whole = self._effects(stmt)
        for inner in everywhere((stmt,)):
            if isinstance(inner, Invoke):
                whole.include(self._of_call(inner))
        return whole

    def _effects(self, stmt: Stmt) -> Effects:
        does = Effects()
        for inner in everywhere((stmt,)):
            does.made.update(assigned(inner))
            does.used.update(used(inner))
            self._touch(inner, does)
        return does

    def _touch(self, stmt: Stmt, does: Effects) -> None:
        memory = self._reached.memory
        match stmt:
            case Set(slot) | Accumulate(slot):
                does.written.add(slot)
            case Load(_, ptr, root=root):
                does.read |= memory(ptr, root)
            case Store(ptr, root=root) | AddTo(ptr, root=root) | Clear(ptr, root=root):
                does.written |= memory(ptr, root)
            case Copy(target, source, target_root=to, source_root=root):
                does.written |= memory(target, to)
                does.read |= memory(source, root)
            case For(go=go, resume=resume):
                does.read.update(slot for slot in (go, resume) if slot is not None)
                does.written.update(() if resume is None else (resume,))
            case _:
                does.read.update(slots_of(stmt))


def _makes_buffers(stmts: Iterable[Stmt]) -> bool:
    """Whether buffers are made of any size. Calls in front of which they are made have
    to have some, too: so not every run of a deep recursion has more than it had."""
    inside = everywhere(stmts)
    return any(isinstance(s, Alloc) and not isinstance(s.count, Lit) for s in inside)


def stays(stmt: Stmt) -> bool:
    """Whether no call passes a statement, for it can fail, or more. What makes a buffer
    can fail as well: so may the question whether one can be that large."""
    match stmt:
        case Check(failure=failure):
            return failure.own or failure.kind != "MemoryError"
        case For() | Branch():
            inside = [s for body in bodies_of(stmt) for s in body]
            return any(isinstance(s, Check) or stays(s) for s in inside)
        case (
            Let() | Get() | Set() | Accumulate() | Alloc() | Data() | Offset() | Load()
            | Store() | AddTo() | Clear() | Copy()
        ):  # fmt: skip
            return False
        case _:
            return True


def _first(new: Sequence[Stmt], last: int) -> int:
    """Where the calls begin that are together with the one at `last`."""
    first = last
    while first > 0 and _is_beside(new[first - 1]):
        first -= 1
    return first


def _join(new: list[Stmt], last: int, call: Invoke, moved: Sequence[Stmt]) -> None:
    """Put a call behind the one at `last`, and what it needs in front of all that it
    is then together with."""
    first, before = _first(new, last), new[last]
    assert isinstance(before, Invoke)
    rest = [s for s in new[last + 1 :] if s not in moved]
    together = [*new[first:last], replace(before, together=True)]
    new[first:] = [*moved, *together, call, *rest]


def _is_beside(stmt: Stmt) -> bool:
    return isinstance(stmt, Invoke) and stmt.together
