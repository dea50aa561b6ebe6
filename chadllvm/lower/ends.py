"""Rows that are no whole number of vectors: the vectors at both ends overlap others.

    for j in 0 .. n:          →           for j in 0 .. n:  # 8 lanes, ends overlap
      x = a[j]                              x = a[j]
      p[j] = 2 · x                          p[j] = 2 · x

LLVM makes vectors from the first step on and takes the steps that are left one by one,
six of 14. Here the last vector ends where the row does, and takes some steps again that
the one before it has taken. So does the first one of a long row, so that those between
begin at multiples of their size: processors take longer to store vectors that lie in
two lines of the cache.

    j = 1 … 8,   8 … 15,  16 … 23, …, 48 … 55,   55 … 62

What a step reads, it must find as it was: both ends are computed in front of all the
others, and stored behind them (`llvm/lanes.py`). That is right if no step reads or
writes what another step writes (`places.py`), and if a step does not come back to what
it has written. Where vectors overlapped, what is read right behind them is not there
yet, and a processor waits for it. So this is for loops that take long, and for those
over a row of an array if what stands around them reads nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Atom,
    Branch,
    Clear,
    Copy,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    Body,
    copied,
    everywhere,
    over_bodies,
    over_inner,
    over_statements,
    whole,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64, is_float
from chadllvm.lower.legality import slot_uses
from chadllvm.lower.linear import Known
from chadllvm.lower.places import Access, Pointers, by_class
from chadllvm.lower.varying import (
    ANY,
    NEXT,
    Varying,
    is_simple,
)

# The bytes of a vector, or of several where they are smaller, and its numbers.
_BYTES, _LANES = 64, 8

# Loops of no more steps, as at the border of a grid, are worth no vectors.
_FEW = 4

# What a loop must do: of elementary functions and divisions, in additions; else of all
# that it does with floats, and then it must make so many steps.
_HEAVY, _MUCH, _LONG = 8, 12, 48

# Loops of more instructions take LLVM long: they are there three times.
_MOST = 96


def ends(function: LoopFunction) -> LoopFunction:
    """Let the ends of innermost loops overlap."""
    making = _Making(function)
    return over_bodies(function, making.body)


class _Making:
    """What is changed in the bodies of a function."""

    def __init__(self, function: LoopFunction) -> None:
        self._roots = function.roots
        self._pointers = Pointers(function)
        self._uses = Counter(slot_uses(whole(function)))
        self._few = {s.reg for s in whole(function) if _is_little(s)}

    def body(self, body: Body, around: For | None = None) -> Body:
        """The statements of a body, which is in a loop over rows, or in none."""
        return over_statements(body, lambda stmt: self._statement(stmt, around))

    def _statement(self, stmt: Stmt, around: For | None) -> Iterable[Stmt]:
        match stmt:
            case For() if stmt.lanes != 1:
                return [stmt]
            case For() if self._is_short(stmt):
                return [replace(stmt, few=True)]
            case For() if self._may_overlap(stmt):
                if sum(map(_weight, everywhere(stmt.body))) >= _HEAVY:
                    return [_overlapping(stmt)]
                return _if_long(stmt) if self._is_alone(stmt, around) else [stmt]
            case For():
                rows = stmt if stmt.commutes else None
                return [over_inner(stmt, lambda body: self.body(body, rows))]
            case _:
                return [over_inner(stmt, lambda body: self.body(body, around))]

    def _may_overlap(self, loop: For) -> bool:
        inside = list(everywhere(loop.body))
        if loop.go is not None or loop.private:
            return False
        if not all(map(_is_plain, inside)) or self._is_whole(loop):
            return False
        varying = Varying(loop, self._roots, ())
        if not _is_in_rows(inside, varying):
            return False
        return (
            sum(_differs(stmt, varying) for stmt in inside) <= _MOST
            and self._has_slots(loop)
            and self._is_independent(loop)
        )

    def _is_alone(self, loop: For, around: For | None) -> bool:
        """Whether nothing else in a loop over rows reads what this loop over a row
        writes to, or writes to what it reads; and it does much with each element."""
        if around is None or not loop.commutes or len(_numbers(loop)) < _MUCH:
            return False
        mine = set(everywhere((loop,)))
        others = [s for s in everywhere(around.body) if s not in mine]
        read, written = self._bases(mine)
        other_read, other_written = self._bases(others)
        return read.isdisjoint(other_written) and written.isdisjoint(other_read)

    def _bases(self, stmts: Iterable[Stmt]) -> tuple[set[Atom], set[Atom]]:
        """The buffers that statements read and write."""
        base = self._pointers.base
        read, written = set[Atom](), set[Atom]()
        for stmt in stmts:
            match stmt:
                case Load(_, ptr):
                    read.add(base(ptr))
                case Store(ptr) | Clear(ptr):
                    written.add(base(ptr))
                case AddTo(ptr):
                    read.add(base(ptr))
                    written.add(base(ptr))
                case Copy(target, source):
                    read.add(base(source))
                    written.add(base(target))
                case _:
                    pass
        return read, written

    def _is_short(self, loop: For) -> bool:
        """Whether an innermost loop is known to make few steps, or none."""
        match loop.low, loop.high:
            case Lit(low), high if low >= 0 and high in self._few:
                return not any(isinstance(stmt, For) for stmt in everywhere(loop.body))
            case _:
                return False

    def _is_whole(self, loop: For) -> bool:
        """Whether the steps are known to be few, or whole vectors."""
        match loop.low, loop.high:
            case Lit(low), Lit(high):
                lanes = _lanes(loop)
                return high - low <= lanes or (high - low) % lanes == 0
            case _:
                return False

    def _has_slots(self, loop: For) -> bool:
        """Whether the slots that are written to are a step's own."""
        here = Counter(slot_uses(everywhere(loop.body)))
        written = {slot for slot, kind in here if kind is Set}
        return (loop.commutes or not written) and all(
            here[slot, kind] == self._uses[slot, kind]
            for slot in written
            for kind in (Get, Set)
        )

    def _is_independent(self, loop: For) -> bool:
        """Whether steps may be taken again, by what they read and write.

        If they commute none sees what others store; what they add may go to one place.
        """
        pointers, known = self._pointers, Known()
        unsure = AddTo if loop.commutes else Store | AddTo
        for accesses in by_class(loop.body, self._roots):
            asks = any(isinstance(access, unsure) for access in accesses)
            if asks and not pointers.are_independent(accesses, loop, known):
                return False
            if pointers.comes_back(accesses, loop, known):
                return False
        return True


def _is_in_rows(inside: Iterable[Stmt], varying: Varying) -> bool:
    """Whether all that is read or written lies next to each other, or is the same in
    all steps, and something is written."""
    writes = False
    for stmt in inside:
        match stmt:
            case Load(_, ptr, index):
                if varying.place(ptr, index) not in (0, NEXT):
                    return False
            case Store(ptr, index) | AddTo(ptr, index):
                if varying.place(ptr, index) != NEXT:
                    return False
                writes = True
            case _:
                pass
    return writes


def _differs(stmt: Stmt, varying: Varying) -> bool:
    """Whether a statement is an instruction on vectors."""
    match stmt:
        case Let(reg) | Load(reg):
            return varying.kind(reg) == ANY
        case Store() | AddTo():
            return True
        case _:
            return False


def _overlapping(loop: For) -> For:
    return replace(loop, lanes=_lanes(loop), ends=True)


def _if_long(loop: For) -> list[Stmt]:
    """Both: few vectors gain nothing by where they are stored."""
    steps, is_long = Reg("steps", I64), Reg("long", BOOL)
    return [
        Let(steps, "isub", (loop.high, loop.low)),
        Let(is_long, "ile", (Lit(_LONG), steps)),
        Branch(is_long, (_overlapping(copied(loop)),), (loop,)),
    ]


def _numbers(loop: For) -> list[Stmt]:
    """What reads, computes and writes floats."""
    return [
        stmt
        for stmt in everywhere(loop.body)
        if isinstance(stmt, Let | Load | Store | AddTo)
        and is_float(stmt.reg.type if isinstance(stmt, Let | Load) else stmt.value.type)
    ]


def _weight(stmt: Stmt) -> int:
    """What a statement takes that is longer than an addition."""
    cycles = stmt.code.cycles if isinstance(stmt, Let) else 1
    return cycles if cycles > 1 else 0


def _is_plain(stmt: Stmt) -> bool:
    """Whether a statement does nothing but read, compute, choose and write."""
    match stmt:
        case Let(reg):
            return reg.type != PTR and stmt.code.is_plain
        case AddTo():
            return not stmt.exact
        case Load(reg) | Get(reg):
            return reg.type != PTR
        case Branch():
            return is_simple(stmt)
        case Set(Slot() as slot):
            return slot.type != PTR
        case Store() | Offset():
            return True
        case _:
            return False


def _is_little(stmt: Stmt) -> TypeGuard[Let]:
    """Whether it computes a number that is no larger than a few."""
    match stmt:
        case Let(_, "imin", (Lit(most), _) | (_, Lit(most))):
            return most <= _FEW
        case _:
            return False


def _lanes(loop: For) -> int:
    """As many numbers as a vector of the widest of them holds."""
    types = [
        s.reg.type if isinstance(s, Load) else s.value.type
        for s in loop.body
        if isinstance(s, Access)
    ]
    return _BYTES // 4 if all(ty == F32 for ty in types) else _LANES
