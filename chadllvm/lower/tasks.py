"""Calls of a recursion that do not need each other may run at the same time.

    a = f(x)                           y = …
    y = …                    →         a = f(x) beside
    b = f(y)                           b = f(y)

What the second call needs is moved in front of the first, if it can be, and what else
stands between them behind the second, if it cannot fail: so the calls are *together*.
The first levels of calls are a version of the function of its own (`llvm/tasks.py`),
which leaves the second call to whoever has nothing to do; below them the function is as
it was. How many levels there are depends on no time and no thread, so the results are
the same bits whoever runs what.

What calls write must then be theirs:

- what a call *collects* (the tape, `tapes.py`). Where another thread runs a call, that
  has slots of its own for it, and its number says where they are. Only calls of the
  reverse may look at numbers.
- *nodes* in segments (`segments.py`). Where another thread runs a call, it begins with
  no room, and makes its own.
- *cells* around the recursion, buffers or slots. All but the first of calls that are
  together add to a copy, which is added to the cell in their order. Copies are cleared
  and added; levels have them as long as that is little beside the work of all calls.

A function that writes anything else, or returns arrays, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Alloc,
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
    LoopFunction,
    Offset,
    Private,
    Reg,
    Reset,
    Set,
    Slot,
    Stmt,
    Store,
    Subroutine,
    Tape,
    Tasks,
    bodies_of,
)
from chadllvm.ir.statements import assigned, everywhere, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import is_float
from chadllvm.lower.chunks.work import cost
from chadllvm.lower.segments import SEGMENT, new_rows
from chadllvm.lower.tapes import EXTEND, Refused, Tapes

# How many levels of calls are tasks: enough that some are left when the largest of them
# is done, and few enough that a short call is not long because of them.
LEVELS = 6

# A call is left alone for so long, in nanoseconds: it takes as much to wake a thread.
PATIENCE = 50_000


def tasks(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Put calls together; without `threads` all run in order, as they would on one."""
    if not function.subroutines:
        return function
    found = _Tasks(function, PATIENCE if threads else -1)
    return found.function()


class _Tasks:
    """What is found out about the subroutines of one function."""

    def __init__(self, function: LoopFunction, patience: int) -> None:
        self._function = function
        self._patience = patience
        self._outside = [*everywhere(function.body)]
        self._inside = {s.name: [*everywhere(s.body)] for s in function.subroutines}
        self._below: list[Slot] = []
        self._rooms = {room for s in function.segments for room in s.rooms}
        self._tapes = Tapes(
            self._outside, self._inside, self._written, self._outermost_calls
        )

    def function(self) -> LoopFunction:
        """The function, in which calls are together where they may be."""
        new: dict[str, Subroutine] = {}
        for subroutine in self._function.subroutines:
            try:
                new[subroutine.name] = self._subroutine(subroutine)
            except Refused:
                continue
        self._without_partners(new)
        if not new:
            return self._function
        begin = [Set(slot, Lit(0)) for slot in self._below]
        made = (new.get(s.name, s) for s in self._function.subroutines)
        return replace(
            self._function,
            body=(*begin, *self._function.body),
            subroutines=tuple(made),
            regions=self._function.regions + 1,
        )

    def _without_partners(self, new: dict[str, Subroutine]) -> None:
        """Who collects needs all who read it to know of it, and they need who does."""
        for name in [*new]:
            readers = [r for r, s in new.items() if _reads(s, name)]
            if _collects(new[name]) and readers != self._readers(name):
                del new[name]
        for name in [*new]:
            tasks = new[name].tasks
            if tasks and tasks.columns and tasks.columns.writer not in new:
                del new[name]

    def _readers(self, writer: str) -> list[str]:
        """The subroutines that read what another has collected."""
        slots = set(self._written(writer))
        regs = {s.reg for s in self._outside if isinstance(s, Get) and s.slot in slots}
        return [
            name
            for name, stmts in self._inside.items()
            if name != writer and any(r in regs for s in stmts for r in used(s))
        ]

    def _subroutine(self, subroutine: Subroutine) -> Subroutine:
        name = subroutine.name
        if subroutine.buffers or not self._is_outermost(name):
            raise Refused
        body = _together(subroutine.body, name, self._writes(name))
        if not any(isinstance(s, Invoke) and s.together for s in everywhere(body)):
            raise Refused
        tape = self._tapes.tape(subroutine)
        cells = self._cells(subroutine)
        columns = self._tapes.columns(subroutine)
        rooms = self._makes_nodes(name)
        self._check_writes(subroutine, tape, cells, bool(rooms))
        if (tape is not None or columns is None) and cells:
            raise Refused
        if columns is not None and (tape is not None or rooms):
            raise Refused
        if tape is not None:
            self._below.append(tape.below)
        work = sum(_cost(s) for s in everywhere(body)) // 2
        found = Tasks(
            LEVELS,
            self._patience,
            self._function.regions,
            tape,
            columns,
            cells,
            work,
            rooms,
        )
        return replace(subroutine, body=body, tasks=found)

    def _is_outermost(self, name: str) -> bool:
        """Whether it is invoked by the function, once, and else by itself only."""
        for other, stmts in self._inside.items():
            for stmt in stmts:
                if isinstance(stmt, Invoke) and (stmt.subroutine == name) != (
                    other == name
                ):
                    return False
        return len(self._outermost_calls(name)) == 1

    def _outermost_calls(self, name: str) -> list[Invoke]:
        return self._calls(name, self._function.body)

    def _calls(self, name: str, body: Sequence[Stmt]) -> list[Invoke]:
        """The invocations of a subroutine outside of loops."""
        found: list[Invoke] = []
        for stmt in body:
            match stmt:
                case Invoke(subroutine=called) if called == name:
                    found.append(stmt)
                case Branch(_, then, orelse):
                    found += self._calls(name, then) + self._calls(name, orelse)
                case _:
                    pass
        return found

    # What calls write.

    def _around(self, name: str) -> set[Slot]:
        """The slots that are used elsewhere, too."""
        others = [s for n, stmts in self._inside.items() if n != name for s in stmts]
        return {slot for s in (*self._outside, *others) for slot in slots_of(s)}

    def _written(self, name: str) -> list[Slot]:
        """The slots around a subroutine that it sets, but for rooms of nodes."""
        return [slot for slot in self._set(name) if slot not in self._rooms]

    def _makes_nodes(self, name: str) -> tuple[Slot, ...]:
        """The rooms that a subroutine makes nodes in."""
        found = set(self._set(name))
        used = (s.rooms for s in self._function.segments if found & {*s.rooms})
        return tuple(room for rooms in used for room in rooms)

    def _set(self, name: str) -> list[Slot]:
        """The slots around a subroutine that it sets."""
        around, sums = self._around(name), self._sums(name)
        stmts = (s for s in self._inside[name] if isinstance(s, Set | Accumulate))
        found = dict.fromkeys(s.slot for s in stmts if s.slot in around)
        return [slot for slot in found if slot not in sums]

    def _sums(self, name: str) -> list[Slot]:
        """The slots around a subroutine that it only adds to."""
        around, added, other = self._around(name), dict[Slot, None](), set[Slot]()
        for stmt in self._inside[name]:
            if isinstance(stmt, Accumulate) and is_float(stmt.slot.type):
                added[stmt.slot] = None
            else:
                other.update(slots_of(stmt))
        return [slot for slot in added if slot in around and slot not in other]

    def _writes(self, name: str) -> _Writes:
        roots = self._function.roots
        inside = self._inside[name]
        others = self._around(name).difference(self._sums(name))
        return _Writes(
            frozenset(self._set(name)),
            frozenset(roots[r] for s in inside for r in _targets(s)),
            frozenset(slot for s in inside for slot in slots_of(s) if slot in others),
            frozenset(roots[r] for s in inside for r in _sources(s)),
            roots,
        )

    def _made(self, name: str) -> set[Reg]:
        """Pointers to the buffers that a run makes, and to parts of them."""
        made: set[Reg] = set()
        for stmt in self._inside[name]:
            match stmt:
                case Alloc(reg):
                    made.add(reg)
                case Offset(reg, ptr) if ptr in made:
                    made.add(reg)
                case _:
                    pass
        return made

    def _check_writes(
        self,
        subroutine: Subroutine,
        tape: Tape | None,
        cells: Sequence[Private],
        makes_nodes: bool,
    ) -> None:
        """All that calls write is their own, the tape's, a new node's, or added to
        cells."""
        made = self._made(subroutine.name)
        made |= new_rows(self._inside[subroutine.name], self._function.segments)
        own = {p.ptr for p in cells}
        if tape is not None:
            made |= self._tapes.pointers(subroutine.name)
        for stmt in self._inside[subroutine.name]:
            match stmt:
                case Store(ptr=ptr) | Clear(ptr=ptr) | Copy(target=ptr):
                    if ptr not in made:
                        raise Refused
                case AddTo(ptr=ptr):
                    if ptr not in made and ptr not in own:
                        raise Refused
                case Alloc(region=region):
                    is_own = region in subroutine.regions
                    if not is_own and (tape is None or region < 0):
                        raise Refused
                case Reset(region):
                    if region not in subroutine.regions:
                        raise Refused
                case CallRuntime(function=called):
                    is_known = tape is not None and called == EXTEND
                    if not is_known and not (makes_nodes and called == SEGMENT):
                        raise Refused
                case (
                    Let() | Get() | Set() | Accumulate() | Data() | Offset() | Load()
                    | For() | Branch() | Check() | Invoke() | Leave()
                ):  # fmt: skip
                    pass
                case _:
                    raise Refused

    # Cells.

    def _cells(self, subroutine: Subroutine) -> tuple[Private, ...]:
        """The buffers and slots around that calls add to; they do not read or write
        them."""
        made = self._made(subroutine.name)
        stmts = self._inside[subroutine.name]
        adds = [s for s in stmts if isinstance(s, AddTo) and s.ptr not in made]
        ptrs = dict.fromkeys(s.ptr for s in adds)
        cells = tuple(self._cell(ptr) for ptr in ptrs)
        for stmt in stmts:
            if isinstance(stmt, AddTo):
                continue
            if any(r in ptrs for r in used(stmt)):
                raise Refused
        roots = self._function.roots
        own = {roots[c.root] for c in cells}
        if len(own) < len(cells) or any(
            roots[s.root] in own for s in stmts if isinstance(s, Load)
        ):
            raise Refused
        sums = self._sums(subroutine.name)
        return (*cells, *(Private(slot, Lit(1), slot.type, -1) for slot in sums))

    def _cell(self, ptr: object) -> Private:
        for stmt in self._outside:
            match stmt:
                case Alloc(reg, _, count, elem, root) if reg is ptr and is_float(elem):
                    return Private(reg, count, elem, root)
                case _:
                    pass
        raise Refused


def _cost(stmt: Stmt) -> int:
    """Of a call's statements about half are run, for most are in branches."""
    return cost(stmt.op) if isinstance(stmt, Let) else 1


def _collects(subroutine: Subroutine) -> bool:
    return bool(subroutine.tasks and subroutine.tasks.tape)


def _reads(subroutine: Subroutine, writer: str) -> bool:
    tasks = subroutine.tasks
    return bool(tasks and tasks.columns and tasks.columns.writer == writer)


def _sources(stmt: Stmt) -> Iterator[int]:
    """The roots that a statement itself reads."""
    match stmt:
        case Load(root=root) | Copy(source_root=root):
            yield root
        case _:
            pass


def _targets(stmt: Stmt) -> Iterator[int]:
    """The roots that a statement itself writes to."""
    match stmt:
        case Store(root=root) | AddTo(root=root) | Clear(root=root):
            yield root
        case Copy(target_root=root):
            yield root
        case _:
            pass


# Putting calls together.


@dataclass(frozen=True)
class _Writes:
    """What calls write: slots around them, and representatives of roots.

    `known`: the slots around them with which they do more than add; `read`: the roots
    that they read.
    """

    slots: frozenset[Slot]
    written: frozenset[int]
    known: frozenset[Slot]
    read: frozenset[int]
    roots: Sequence[int]

    def may_pass(self, stmt: Stmt) -> bool:
        """Whether a statement may as well stand in front of a call it does not need."""
        match stmt:
            case Let() | Offset() | Data():
                return True
            case Get(slot=slot):
                return slot not in self.slots
            case Load(root=root):
                return self.roots[root] not in self.written
            case _:
                return False


def _together(body: Iterable[Stmt], name: str, writes: _Writes) -> tuple[Stmt, ...]:
    """A body in which calls are together where they may be."""
    new: list[Stmt] = []
    last = -1  # Where the call is that the next may be together with.
    for stmt in body:
        match stmt:
            case Invoke():
                moved = None if last < 0 else _before(stmt, new, last, writes)
                if moved is None:
                    new.append(stmt)
                    last = len(new) - 1
                else:
                    _join(new, last, stmt, moved)
                    last += len(moved) + 1
            case For() | Branch():
                new.append(_inside(stmt, name, writes))
                if _can_fail(stmt):
                    last = -1
            case _:
                new.append(stmt)
                if _can_fail(stmt):
                    last = -1
    return tuple(new)


def _inside(stmt: For | Branch, name: str, writes: _Writes) -> Stmt:
    if isinstance(stmt, For):
        return replace(stmt, body=_together(stmt.body, name, writes))
    then, orelse = (_together(b, name, writes) for b in (stmt.then, stmt.orelse))
    return replace(stmt, then=then, orelse=orelse)


def _can_fail(stmt: Stmt) -> bool:
    """Whether it has to stay in front of the calls behind it."""
    if isinstance(stmt, Check | Invoke | Leave | Reset):
        return True
    return any(map(_can_fail, (s for body in bodies_of(stmt) for s in body)))


def _needed(
    call: Invoke, between: Sequence[Stmt], results: set[Reg], writes: _Writes
) -> list[Stmt] | None:
    """What a call needs of the statements in front of it; None if it cannot be moved
    in front of the calls before, which give `results`."""
    wanted = {a for a in call.args if isinstance(a, Reg)}
    moved: list[Stmt] = []
    if not wanted.isdisjoint(results):
        return None
    for stmt in reversed(between):
        if wanted.isdisjoint(assigned(stmt)):
            continue
        if not writes.may_pass(stmt):
            return None
        moved.insert(0, stmt)
        wanted.update(used(stmt))
        if not wanted.isdisjoint(results):
            return None
    gets = {s.slot for s in moved if isinstance(s, Get)}
    inner = [*everywhere(between)]
    rest = (s for s in inner if s not in moved)
    if any(isinstance(s, Get) and s.slot in writes.slots for s in rest):
        return None
    changed = {s.slot for s in inner if isinstance(s, Set | Accumulate)}
    if not changed.isdisjoint(gets | writes.known):
        return None
    # The call has to find what is written in front of it.
    written = {writes.roots[r] for s in inner for r in _targets(s)}
    if not written.isdisjoint(writes.read):
        return None
    if any(isinstance(s, Load) and writes.roots[s.root] in written for s in moved):
        return None
    return moved


def _before(
    call: Invoke, new: Sequence[Stmt], last: int, writes: _Writes
) -> list[Stmt] | None:
    """The same for all calls that end with the one at `last`."""
    first = _first(new, last)
    results = {r for s in new[first : last + 1] for r in assigned(s)}
    return _needed(call, new[last + 1 :], results, writes)


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
