"""Calls of a recursion that do not need each other may run at the same time.

    a = f(x)                           y = …
    y = …                    →         a = f(x) beside
    b = f(y)                           b = f(y)

Calls that do not need each other, nor what is between them, are put *together*
(`together.py`), also those of two branches where both are made (`meeting.py`). The
first levels of calls are a version of the function of its own (`llvm/tasks.py`), which
leaves the second call to whoever has nothing to do; below them the function is as it
was. How many there are (`llvm/levels.py`) depends on no time and no thread, so the
results are the same bits whoever runs what.

What calls write must then be theirs:

- what a call *collects* (the tape, `tapes.py`). Where another thread runs a call, that
  has slots of its own for it, and its number says where they are. Only calls of the
  reverse may look at numbers.
- *nodes* in segments (`segments.py`). Where another thread runs a call, it begins with
  no room, and makes its own.
- *cells* around the recursion, buffers or slots. All but the first of calls that are
  together add to a copy, which is added to the cell in their order. Copies are cleared
  and added; levels have them as long as that is little beside the work of all calls.
- buffers that calls make, and those that they are given to add to, if calls that are
  together are given different ones (`reached.py`). Arrays that a call returns are
  copied to whom it was called by, if another thread has run it.

A function that writes anything else stays as it is. Runs before the passes that change
loops: the buffers that these make do not keep calls apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

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
    LoopFunction,
    Offset,
    Private,
    Reset,
    Set,
    Slot,
    Stmt,
    Store,
    Subroutine,
    Tape,
    Tasks,
)
from chadllvm.ir.statements import everywhere, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import Box, is_float
from chadllvm.lower.meeting import Meeting
from chadllvm.lower.reached import Reached
from chadllvm.lower.segments import SEGMENT, new_rows
from chadllvm.lower.tapes import EXTEND, Refused, Tapes
from chadllvm.lower.together import Around, Together

# How many levels of calls are tasks wherever they go: enough that some are left when
# the largest of them is done, and few enough that a short call is not long for them.
LEVELS = 6

# A call is left alone for so long, in nanoseconds: it takes as much to wake a thread.
PATIENCE = 50_000


def tasks(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Put calls together; without `threads` all run in order, as they would on one."""
    return _Tasks(function, PATIENCE if threads else -1).function()


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
        if any(isinstance(b.elem, Box) for b in subroutine.buffers):
            raise Refused
        if not self._is_outermost(name):
            raise Refused
        reached = self._reached(subroutine)
        together = Together(reached, self._what_calls_do(name, reached))
        body = Meeting(together).body(together.body(subroutine.body))
        if not any(isinstance(s, Invoke) and s.together for s in everywhere(body)):
            raise Refused
        tape = self._tapes.tape(subroutine)
        cells = self._cells(subroutine, reached)
        columns = self._tapes.columns(subroutine)
        rooms = self._makes_nodes(name)
        self._check_writes(subroutine, reached, tape, cells, bool(rooms))
        if (tape is not None or columns is None) and cells:
            raise Refused
        if columns is not None and (tape is not None or rooms):
            raise Refused
        if (tape is not None or rooms) and 0 in subroutine.regions:
            raise Refused  # There is what is kept.
        if tape is not None:
            self._below.append(tape.below)
        work = sum(_cost(s) for s in self._inside[name]) // 2
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

    def _reached(self, subroutine: Subroutine) -> Reached:
        name, roots = subroutine.name, self._function.roots
        return Reached(subroutine, self._inside[name], self._around(name), roots)

    def _what_calls_do(self, name: str, reached: Reached) -> Around:
        inside, roots = self._inside[name], self._function.roots
        others = self._around(name).difference(self._sums(name))
        return Around(
            frozenset(self._set(name)),
            frozenset(slot for s in inside for slot in slots_of(s) if slot in others),
            frozenset(roots[r] for p, r in _writes(inside) if not reached.is_own(p)),
        )

    def _check_writes(
        self,
        subroutine: Subroutine,
        reached: Reached,
        tape: Tape | None,
        cells: Sequence[Private],
        makes_nodes: bool,
    ) -> None:
        """All that calls write is their own, the tape's, a new node's, or added to
        cells."""
        kept = new_rows(self._inside[subroutine.name], self._function.segments)
        own = {p.ptr for p in cells}
        if tape is not None:
            kept |= self._tapes.pointers(subroutine.name)
        for stmt in self._inside[subroutine.name]:
            match stmt:
                case Store(ptr=ptr) | Clear(ptr=ptr) | Copy(target=ptr):
                    if ptr not in kept and not reached.is_own_or_given(ptr):
                        raise Refused
                case AddTo(ptr=ptr):
                    if ptr not in own and not reached.is_own_or_given(ptr):
                        raise Refused
                case Alloc(region=region):
                    is_own = region in subroutine.regions or region < RESULT
                    if not is_own and (tape is None or region == RESULT):
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

    def _cells(self, subroutine: Subroutine, reached: Reached) -> tuple[Private, ...]:
        """The buffers and slots around that calls add to; they do not read or write
        them. Those that they are given to add to are others."""
        stmts = self._inside[subroutine.name]
        adds = [s.ptr for s in stmts if isinstance(s, AddTo)]
        ptrs = dict.fromkeys(p for p in adds if not reached.is_own_or_given(p))
        cells = tuple(self._cell(ptr) for ptr in ptrs)
        for stmt in stmts:
            if isinstance(stmt, AddTo):
                continue
            if any(r in ptrs for r in used(stmt)):
                raise Refused
        roots = self._function.roots
        own = {roots[c.root] for c in cells}
        if len(own) < len(cells) or not own.isdisjoint(reached.changed):
            raise Refused
        if any(roots[s.root] in own for s in stmts if isinstance(s, Load)):
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
    return stmt.code.cycles if isinstance(stmt, Let) else 1


def _collects(subroutine: Subroutine) -> bool:
    return bool(subroutine.tasks and subroutine.tasks.tape)


def _reads(subroutine: Subroutine, writer: str) -> bool:
    tasks = subroutine.tasks
    return bool(tasks and tasks.columns and tasks.columns.writer == writer)


def _writes(stmts: Iterable[Stmt]) -> Iterator[tuple[Atom, int]]:
    """The pointers and roots through which statements write; not where they add."""
    for stmt in stmts:
        match stmt:
            case Store(ptr, root=root) | Clear(ptr, root=root):
                yield ptr, root
            case Copy(target, target_root=root):
                yield target, root
            case _:
                pass
