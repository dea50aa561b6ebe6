"""Iterations that have loops of their own are run side by side, in vectors.

    for i in 0 .. n:                      m = n / 8 * 8
      s := 0.0                            for i in 0 .. m:  # 8 lanes
      for k in 0 .. terms:                  s := 0.0
        s := s * x[i] + c[k]      →         for k in 0 .. terms:
      total += s * s                          s := s * x[i] + c[k]
                                            total += s * s
                                          for i in m .. n: …

LLVM makes vectors of the steps of innermost loops only. That fails where each step
needs the one before, and is not worth it where there are few steps. If the iterations
around them are independent of each other, the same statement of eight of them is one
vector instruction (`llvm/lanes.py`), as long as they go through their loops in step.
What each iteration has in a buffer of its own takes eight times the memory, so that
this is done for small ones only, which is asked at run time; so it is where inner loops
would be vectorised if they were long. This stands behind all that makes the loops, and
in front of what splits innermost ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    Check,
    Clear,
    Copy,
    Data,
    Failure,
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
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64
from chadllvm.lower.gain import Gain, inner_loops
from chadllvm.lower.varying import Varying, statements

# Buffers of the lanes are not larger than this, in elements: it stays in the cache.
_MOST = 1 << 15

# What is said of a check that fails or not, by how numbers are rounded.
_UNSURE = "whether this is an error depends on how numbers are rounded"

# Loops with as many steps are better vectorised themselves, if they can be.
_SHORT = 16


def lanes(function: LoopFunction) -> LoopFunction:
    """Run iterations side by side where it pays."""
    if function.subroutines:
        return function
    making = _Making(function)
    body = making.body(function.body)
    return replace(function, body=making.allocations(body)) if making.made else function


@dataclass(frozen=True)
class _Buffer:
    """A buffer that each lane has; `fits`: whether it is small enough for that."""

    alloc: Alloc
    count: int
    fits: Atom


class _Making:
    def __init__(self, function: LoopFunction) -> None:
        self.made = False
        self._roots = function.roots
        self._allocs = [s for s in statements(function.body) if isinstance(s, Alloc)]
        self._uses = Counter(_slot_uses(function.body))
        self._buffers: dict[Stmt, _Buffer] = {}

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For():
                    new += self._loop(stmt)
                case Branch(cond, then, orelse):
                    new.append(Branch(cond, self.body(then), self.body(orelse)))
                case _:
                    new.append(stmt)
        return tuple(new)

    def _loop(self, loop: For) -> list[Stmt]:
        private = self._private(loop)
        loop = replace(loop, private=private)
        if loop.commutes and loop.go is None and inner_loops(loop.body):
            varying = Varying(loop, self._roots, [self._roots[r] for r in private])
            legal = _Legality(loop, varying, self._roots, self._uses, self._allocs)
            if legal.holds:
                gain = Gain(loop, varying)
                if gain.always or gain.if_short:
                    return self._side_by_side(loop, varying, gain)
        return [replace(loop, body=self.body(loop.body))]

    def _private(self, loop: For) -> tuple[int, ...]:
        """The roots of buffers of one iteration that are not mixed with others."""
        inside = set(loop.private)
        mixed = {self._roots[r] for r in range(len(self._roots)) if r not in inside}
        return tuple(r for r in loop.private if self._roots[r] not in mixed)

    def _side_by_side(self, loop: For, varying: Varying, gain: Gain) -> list[Stmt]:
        self.made = True
        out: list[Stmt] = []

        def let(ty: Any, op: str, *args: Atom) -> Reg:
            reg = Reg("t", ty)
            out.append(Let(reg, op, args))
            return reg

        count = Lit(gain.lanes)
        whole = let(
            I64,
            "imul",
            let(I64, "idiv", let(I64, "isub", loop.high, loop.low), count),
            count,
        )
        conds = [b.fits for b in self._owned(varying, gain.lanes)]
        if not gain.always:
            conds += [let(BOOL, "ile", n, Lit(_SHORT)) for n in gain.trips]
        for cond in conds:
            if isinstance(cond, Reg):
                whole = let(I64, "select", cond, whole, Lit(0))
        middle = let(I64, "iadd", loop.low, whole)
        together = replace(loop, high=middle, lanes=gain.lanes)
        rest = replace(copied(loop), low=middle)
        if failure := _first_failure(loop, varying):
            return [*out, *_checked(together, rest, failure)]
        return [*out, together, rest]

    def _owned(self, varying: Varying, lanes: int) -> Iterator[_Buffer]:
        for alloc in self._allocs:
            if not varying.owns(alloc.root):
                continue
            fits: Atom = Lit(True)
            if isinstance(alloc.count, Reg) or alloc.count.value * lanes > _MOST:
                fits = Reg("fits", BOOL)
            self._buffers[alloc] = _Buffer(alloc, lanes, fits)
            yield self._buffers[alloc]

    def allocations(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """Make room for all lanes."""
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Alloc() if stmt in self._buffers:
                    new += _larger(self._buffers[stmt])
                case For():
                    new.append(replace(stmt, body=self.allocations(stmt.body)))
                case Branch(cond, then, orelse):
                    then, orelse = self.allocations(then), self.allocations(orelse)
                    new.append(Branch(cond, then, orelse))
                case _:
                    new.append(stmt)
        return tuple(new)


def _first_failure(loop: For, varying: Varying) -> Failure | None:
    """What the first check that differs between lanes raises, if there is one."""
    for stmt in statements(loop.body):
        match stmt:
            case Check(cond, failure, values):
                if any(map(varying.kind, (cond, *values))):
                    return failure
            case _:
                pass
    return None


def _checked(together: For, rest: For, failure: Failure) -> Iterator[Stmt]:
    """The loops with a way from the one to the other.

    It is the rest that fails then, for it does the same again. But numbers may be
    rounded in another way there, so that it does not: then all of it fails.
    """
    resume, low, good = Slot("resume", I64), Reg("low", I64), Reg("good", BOOL)
    yield Set(resume, together.high)
    yield replace(together, resume=resume)
    yield Get(low, resume)
    yield replace(rest, low=low)
    yield Let(good, "ieq", (low, together.high))
    yield Check(good, Failure(failure.kind, _UNSURE, failure.span))


def _larger(buffer: _Buffer) -> Iterator[Stmt]:
    count, all_lanes = buffer.alloc.count, Reg("all", I64)
    yield Let(all_lanes, "imul", (count, Lit(buffer.count)))
    if isinstance(buffer.fits, Reg):
        yield Let(buffer.fits, "ile", (count, Lit(_MOST // buffer.count)))
        chosen = Reg("room", I64)
        yield Let(chosen, "select", (buffer.fits, all_lanes, count))
        all_lanes = chosen
    yield replace(buffer.alloc, count=all_lanes)


class _Legality:
    """Whether the iterations of a loop may be run side by side; `holds`."""

    def __init__(
        self,
        loop: For,
        varying: Varying,
        roots: Sequence[int],
        uses: Counter[tuple[Slot, type]],
        allocs: Sequence[Alloc],
    ) -> None:
        self._varying, self._roots = varying, roots
        self._all = list(statements(loop.body))
        alone = [s for a in varying.alone for s in statements([a])]
        self._alone = set(alone)
        self._buffers = {alloc.reg for alloc in allocs}
        self._offsets = {s.reg for s in self._all if isinstance(s, Offset)}
        self._accesses: dict[int, set[type]] = {}
        for stmt in self._all:
            match stmt:
                case Load(root=root) | Store(root=root) | AddTo(root=root):
                    self._accesses.setdefault(roots[root], set()).add(type(stmt))
                case _:
                    pass
        self.holds = (
            all(self._statement(stmt) for stmt in self._all)
            and self._slots(loop, uses)
            and varying.pointers <= self._buffers | self._offsets
        )

    def _slots(self, loop: For, uses: Counter[tuple[Slot, type]]) -> bool:
        """Slots belong to an iteration, or are sums of all, or are not written to."""
        here = Counter(_slot_uses(loop.body))
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
            case Let(reg) | Load(reg) | Get(reg):
                return reg.type != PTR
            case Set(slot):
                return slot.type != PTR
            case Accumulate() | Offset() | Branch() | Data():
                return True
            case For():
                return stmt.lanes == 1
            case Check():
                return stmt not in self._alone
            case Store(ptr, index, value, root):
                return value.type != PTR and self._may_write(stmt, ptr, index, root)
            case AddTo(root=root):
                shared = self._accesses[self._roots[root]] - {AddTo}
                return self._varying.is_private(root) or not shared
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
        alike = self._accesses[self._roots[root]] == {Store}
        return alike and self._varying.place(ptr, index) > 0


def _slot_uses(body: Sequence[Stmt]) -> Iterator[tuple[Slot, type]]:
    """Each use of a slot: what it is used by."""
    for stmt in statements(body):
        match stmt:
            case Get(_, slot) | Set(slot) | Accumulate(slot):
                yield slot, type(stmt)
            case For(go=Slot() as slot):
                yield slot, Get
            case _:
                pass


def copied(loop: For) -> For:
    """The same loop with registers of its own."""
    names: dict[Reg, Reg] = {}
    for stmt in statements([loop]):
        reg = stmt.index if isinstance(stmt, For) else getattr(stmt, "reg", None)
        if isinstance(reg, Reg):
            names[reg] = Reg(reg.name, reg.type)

    def renamed(value: Any) -> Any:
        match value:
            case Reg():
                return names.get(value, value)
            case tuple():
                return tuple([renamed(part) for part in value])
            case Slot() | Lit():
                return value
            case _ if isinstance(value, Stmt):
                new = {f.name: renamed(getattr(value, f.name)) for f in fields(value)}
                return replace(value, **new)
            case _:
                return value

    new = renamed(loop)
    assert isinstance(new, For)
    return new
