"""What calls of a recursion collect for the reverse, when some may run elsewhere.

Calls collect in buffers that grow (`growing.py`, `kept.py`): slots around them hold the
pointers, the room, and how much is used. The number of a call is how much was used when
it began to write, or -1 minus that. Where another thread runs a call, all these slots
are the thread's own and begin empty, and the number is another one, which leads there
(`llvm/tasks.py`). So

- who collects may do nothing with the numbers of other calls but keep them, does not
  look at what others have kept, and adds a constant to what is used;
- who reads is given a number, of which it makes nothing but the place of the call's own
  row and the sign, and hands on the numbers that it finds there.

Room that the function itself makes in front of the outermost call is as good as none.
What does not look just like this is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from chadllvm.ir.loops import (
    PTR,
    Atom,
    Branch,
    CallRuntime,
    Check,
    Columns,
    Data,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
    Subroutine,
    Tape,
)
from chadllvm.ir.statements import everywhere, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64

EXTEND = "chad_arena_extend"


class Refused(Exception):
    """Calls of a subroutine have to run in order."""


class Tapes:
    """What the subroutines of one function collect, and read of that.

    `outside`: the statements outside of all; `inside`: those of each; `written`: the
    slots around a subroutine that it sets; `calls`: its invocations from outside.
    """

    def __init__(
        self,
        outside: Sequence[Stmt],
        inside: Mapping[str, Sequence[Stmt]],
        written: Callable[[str], list[Slot]],
        calls: Callable[[str], list[Invoke]],
    ) -> None:
        self._outside = outside
        self._inside = inside
        self._written = written
        self._calls = calls

    def pointers(self, name: str) -> set[Reg]:
        """Into what a subroutine collects."""
        slots, stmts = set(self._written(name)), self._inside[name]
        return _into(stmts, (s.reg for s in _gets(stmts, slots) if s.reg.type == PTR))

    def tape(self, subroutine: Subroutine) -> Tape | None:
        """What calls collect; None if they write no slot around them."""
        name = subroutine.name
        written = self._written(name)
        if not written:
            return None
        spared = self._reserved(set(written))
        begins = tuple((slot, self._begin(slot, spared)) for slot in written)
        slot, row, number = self._number(subroutine, written)
        self._check_numbers(subroutine, number, set(written))
        self._check_outside(name, number, set(written), spared)
        return Tape(begins, slot, row, Slot("below", I64), number)

    # In front of the outermost call.

    def _reserved(self, written: set[Slot]) -> set[Stmt]:
        """What makes room outside, if that is too little, and asks whether it is."""
        found: set[Stmt] = set()
        for stmt in self._outside:
            match stmt:
                case Branch(Reg() as cond, then, ()) if _reserves(then, written):
                    found.update(then)
                    found.update(_questions(self._outside, cond))
                case _:
                    pass
        return found

    def _begin(self, slot: Slot, spared: set[Stmt]) -> Lit | None:
        """What a slot holds at first; None: a pointer to nothing."""
        sets = [s for s in self._outside if isinstance(s, Set) and s.slot is slot]
        sets = [s for s in sets if s not in spared]
        if len(sets) != 1:
            raise Refused
        match sets[0].value:
            case Lit() as value:
                return value
            case reg if self._is_empty(reg):
                return None
            case _:
                raise Refused

    def _is_empty(self, reg: Reg) -> bool:
        data = (s for s in self._outside if isinstance(s, Data) and s.reg is reg)
        return any(s.value.size == 0 for s in data)

    # Who collects.

    def _number(
        self, subroutine: Subroutine, written: Sequence[Slot]
    ) -> tuple[Slot, int, int]:
        """The slot with how much is used, the most of one call, and the result that is
        a call's number."""
        stmts = self._inside[subroutine.name]
        (leave,) = (s for s in stmts if isinstance(s, Leave))
        made = {s.reg: s for s in stmts if isinstance(s, Let)}
        for k, value in enumerate(leave.values):
            place = _place_of(value, made)
            for get in _gets(stmts, set(written)):
                if get.reg is place:
                    row = _row(stmts, get, made)
                    if row is not None:
                        return get.slot, row, k
        raise Refused

    def _check_numbers(
        self, subroutine: Subroutine, number: int, written: set[Slot]
    ) -> None:
        """Numbers are only kept, and nobody looks at the tape but who is given one."""
        stmts = self._inside[subroutine.name]
        invokes = [s for s in stmts if isinstance(s, Invoke)]
        numbers = {s.regs[number] for s in invokes}
        pointers = self.pointers(subroutine.name)
        numbers |= self._passed_on(subroutine.name, numbers)
        for stmt in stmts:
            match stmt:
                case Set(slot, value) if value in numbers and slot not in written:
                    continue
                case Store(value=value, index=index) if index not in numbers:
                    continue
                case Get():
                    continue
                case Load(ptr=ptr) if ptr in pointers:
                    raise Refused
            if any(r in numbers for r in used(stmt)):
                raise Refused
        self._check_rows(stmts, written)

    def _check_rows(self, stmts: Sequence[Stmt], written: set[Slot]) -> None:
        """No check compares a call's rows with those of others."""
        seen = {s.reg for s in _gets(stmts, written)}
        for stmt in stmts:
            if isinstance(stmt, Let) and not seen.isdisjoint(used(stmt)):
                seen.add(stmt.reg)
            if isinstance(stmt, Check) and not seen.isdisjoint(used(stmt)):
                raise Refused

    def _check_outside(
        self, name: str, number: int, written: set[Slot], spared: set[Stmt]
    ) -> None:
        """The function itself hands the tape on to subroutines, and the number of the
        outermost call."""
        stmts = [s for s in self._outside if s not in spared]
        found = {s.reg for s in _gets(stmts, written)}
        last = {s.regs[number] for s in self._calls(name)}
        for stmt in stmts:
            if any(r in found for r in used(stmt)):
                raise Refused
            if not isinstance(stmt, Invoke) and not last.isdisjoint(used(stmt)):
                raise Refused
        others = (s for n, body in self._inside.items() if n != name for s in body)
        if any(slot in written for s in others for slot in slots_of(s)):
            raise Refused

    def _passed_on(self, name: str, numbers: set[Reg]) -> set[Reg]:
        """Registers that hold numbers by way of slots of the calls' own."""
        stmts = self._inside[name]
        slots = {s.slot for s in stmts if isinstance(s, Set) and s.value in numbers}
        return {s.reg for s in _gets(stmts, slots)}

    # Who reads.

    def columns(self, subroutine: Subroutine) -> Columns | None:
        """What calls read of the tape of others."""
        uses = {r for s in self._inside[subroutine.name] for r in used(s)}
        for writer in self._inside:
            if writer == subroutine.name:
                continue
            gets = _gets(self._outside, set(self._written(writer)))
            pointers = {g.reg: g.slot for g in gets}
            if uses.isdisjoint(pointers):
                continue
            number = self._given(subroutine, pointers)
            return Columns(writer, number, tuple(pointers.items()))
        return None

    def _given(self, subroutine: Subroutine, pointers: Mapping[Reg, Slot]) -> int:
        """The parameter that says where a call reads; it is for nothing else."""
        stmts = self._inside[subroutine.name]
        found = set(_indices(stmts, pointers))
        for k, param in enumerate(subroutine.params):
            if not found.isdisjoint(_places(stmts, param)):
                self._check_reads(subroutine, pointers, k)
                return k
        raise Refused

    def _check_reads(
        self, subroutine: Subroutine, pointers: Mapping[Reg, Slot], number: int
    ) -> None:
        """Calls read where they are told to, and tell others what they find there."""
        stmts = self._inside[subroutine.name]
        places = _places(stmts, subroutine.params[number])
        rows = _into(stmts, pointers) - set(pointers)
        read = {s.reg for s in stmts if isinstance(s, Load) and s.ptr in rows}
        read |= {s.reg for s in stmts if isinstance(s, Load) and s.ptr in pointers}
        given = {s.args[number] for s in stmts if isinstance(s, Invoke)}
        if not given <= read:
            raise Refused
        for stmt in stmts:
            match stmt:
                case Let(reg) if reg in places:
                    continue
                case Let(_, "ilt", (place, Lit(0))) if place in places:
                    continue
                case Offset(_, ptr, place) | Load(_, ptr, place) if ptr in pointers:
                    if place in places:
                        continue
                case Offset(_, ptr, Lit()) | Load(_, ptr, Lit()) if ptr in rows:
                    continue
                case Invoke(args=args):
                    rest = {*args[:number], *args[number + 1 :]}
                    if rest.isdisjoint(given | places | rows | set(pointers)):
                        continue
            own = (r in pointers or r in places or r in given or r in rows
                   for r in used(stmt))  # fmt: skip
            if any(own):
                raise Refused


def _gets(stmts: Iterable[Stmt], slots: set[Slot]) -> list[Get]:
    return [s for s in stmts if isinstance(s, Get) and s.slot in slots]


def _into(stmts: Iterable[Stmt], pointers: Iterable[Reg]) -> set[Reg]:
    """These pointers, and what leads into what they point to."""
    found = set(pointers)
    for stmt in stmts:
        if isinstance(stmt, Offset) and stmt.ptr in found:
            found.add(stmt.reg)
    return found


def _reserves(body: Sequence[Stmt], written: set[Slot]) -> bool:
    """Whether statements give tapes more room, and do nothing else."""
    for stmt in everywhere(body):
        match stmt:
            case Get(slot=slot) | Set(slot=slot) if slot in written:
                pass
            case Let() | CallRuntime(function="chad_arena_extend"):
                pass
            case _:
                return False
    return any(isinstance(s, CallRuntime) for s in body)


def _questions(stmts: Sequence[Stmt], cond: Reg) -> set[Stmt]:
    """What a condition is computed by, if that is for nothing else."""
    uses = [s for s in stmts if any(r is cond for r in used(s))]
    if len(uses) > 1:
        return set()
    return {s for s in stmts if isinstance(s, Let) and s.reg is cond}


def _place_of(number: Atom, made: Mapping[Reg, Let]) -> Atom:
    """The place that a number stands for: itself, or what is turned by a flag."""
    match made.get(number) if isinstance(number, Reg) else None:
        case Let(_, "select", (_, Reg() as turned, place)) if turned in made and _turns(
            made[turned], place
        ):
            return place
        case _:
            return number


def _turns(stmt: Let, place: Atom) -> bool:
    """Whether this is -1 - place."""
    return stmt.op == "isub" and stmt.args == (Lit(-1), place)


def _row(stmts: Sequence[Stmt], get: Get, made: Mapping[Reg, Let]) -> int | None:
    """The most that a call adds to what is used, if it adds constants."""
    most = 0
    for stmt in stmts:
        if isinstance(stmt, Set) and stmt.slot is get.slot:
            let = made.get(stmt.value) if isinstance(stmt.value, Reg) else None
            match let:
                case Let(_, "iadd", (place, Lit(int(words)))) if place is get.reg:
                    most = max(most, words)
                case _:
                    return None
    return most or None


def _indices(stmts: Iterable[Stmt], pointers: Mapping[Reg, Slot]) -> Iterable[Atom]:
    for stmt in stmts:
        match stmt:
            case Offset(_, ptr, index) | Load(_, ptr, index) if ptr in pointers:
                yield index
            case _:
                pass


def _places(stmts: Iterable[Stmt], number: Reg) -> set[Atom]:
    """What is a number, or the place that it stands for."""
    found: set[Atom] = {number}
    for stmt in stmts:
        match stmt:
            case Let(reg, "isub", (Lit(-1), turned)) if turned in found:
                found.add(reg)
            case Let(reg, "imax", (a, b)) if a in found and b in found:
                found.add(reg)
            case _:
                pass
    return found
