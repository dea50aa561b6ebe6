"""What it is worth to run a loop's iterations side by side, by a count of instructions.

The same count is made for the loop as it is, once as if its innermost loops had few
steps, so that nothing is gained by vectors of them, and once as if they had many. Most
of the time is spent in the deepest ones, so that the others may be long if that hardly
matters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    Check,
    Clear,
    Copy,
    For,
    Get,
    Let,
    Load,
    Set,
    Slot,
    Stmt,
    Store,
    bodies_of,
)
from chadllvm.ir.statements import everywhere, made
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL
from chadllvm.lower.overlap import overlaps
from chadllvm.lower.varying import FAR, NEXT, Varying

# The steps of an innermost loop that has few or many, and what it takes to begin one
# that runs in vectors, and to add these up.
_FEW, _MANY, _BEGIN = 8, 32, 10

# What places in memory are computed by. LLVM unrolls loops of a few steps, whose number
# is known: places in them are constants beside a pointer.
_PLACES = frozenset(("iadd", "isub", "imul"))

# The numbers in a vector register that are computed at once, as far as this goes.
_AT_ONCE = 4

# What the end of a loop that ends itself takes, which the processor does not foresee.
_UNFORESEEN = 12

# It must be worth it.
_ENOUGH = 0.8

# The lanes, and those for short loops: more instructions are under way at a time. The
# shortest ones that add to memory have most, if the loop around is known to have steps
# for them: what lanes add to one place is summed up first, which is done less often.
# Blocks that are no longer than many lanes are run at once.
_LANES, _MANY_LANES, _FEW_REGISTERS = 8, 16, 8
_MOST_LANES, _FEWEST_REGISTERS = 32, 4


@dataclass(frozen=True)
class _Cost:
    """Of one iteration: side by side, and one after the other."""

    lanes: float = 0.0
    alone: float = 0.0

    def plus(self, other: _Cost, times: float = 1.0) -> _Cost:
        """The sum, with several times the other one."""
        return _Cost(self.lanes + times * other.lanes, self.alone + times * other.alone)


class Gain:
    """Whether lanes are worth it `always`, or only `if_short`: if the innermost loops
    that matter, whose numbers of steps are `trips`, have few steps.

    `near`: what is loaded from far apart, but will be next to each other; `longest`:
    the most steps of the loop, 0 if that is not known; `keeps`: each lane has a table
    of its own. `share` is the part of its time that the loop takes then, if inner loops
    are short.
    """

    def __init__(
        self,
        loop: For,
        varying: Varying,
        near: Collection[Stmt],
        longest: int,
        keeps: bool,
    ) -> None:
        self.lanes = _number(loop, longest, keeps)

        def share(is_long: Callable[[For], bool]) -> float:
            cost = _Counting(self.lanes, varying, near, is_long).body(loop.body)
            return cost.lanes / cost.alone if cost.alone else 1.0

        inside = set(made((loop,)))
        inner = [
            (s, depth)
            for s, depth in _loops(loop.body)
            if _is_vectorised(s) and s.high not in inside
        ]
        most = max((depth for _, depth in inner), default=0)
        deepest = {s for s, depth in inner if depth == most}
        if_long, if_short = share(lambda s: True), share(lambda s: False)
        self.always = if_long < _ENOUGH
        self.if_short = bool(inner) and if_short < _ENOUGH
        self.share = if_short if inner else if_long
        if self.if_short and share(lambda s: s not in deepest) < _ENOUGH:
            inner = [(s, depth) for s, depth in inner if s in deepest]
        self.trips = list(dict.fromkeys(s.high for s, _ in inner))


class _Counting:
    """Counts as if the innermost loops for which `is_long` holds were long."""

    def __init__(
        self,
        lanes: int,
        varying: Varying,
        near: Collection[Stmt],
        is_long: Callable[[For], bool],
    ) -> None:
        self._lanes, self._varying = lanes, varying
        self._near, self._is_long = near, is_long
        self._unrolled = self._partial = False

    def body(self, body: Sequence[Stmt]) -> _Cost:
        total = _Cost()
        for stmt in body:
            total = total.plus(self._statement(stmt))
        return total

    def _statement(self, stmt: Stmt) -> _Cost:
        match stmt:
            case Let(reg):
                return self._instruction(stmt, self._varying.kind(reg))
            case Accumulate(slot):
                own = slot in self._varying.slots or slot in self._varying.sums
                return _Cost(1 / (_AT_ONCE if own else self._lanes), 1)
            case Load() if stmt in self._near:
                return _Cost(1 / _AT_ONCE, 1)
            case Load(_, ptr, index, root) | Store(ptr, index, _, root):
                return self._access(ptr, index, root, 1.0, 1 / self._lanes)
            case AddTo(ptr, index, _, root):
                return self._access(ptr, index, root, 2.0, 0.25 + 6 / self._lanes)
            case For():
                return self._loop(stmt)
            case Branch(then=then, orelse=orelse):
                inner = self.body(then).plus(self.body(orelse))
                if stmt in self._varying.alone:
                    return _Cost(inner.alone + 4, inner.alone + 1)
                return _Cost(inner.lanes + 0.5, inner.alone / 2 + 1)
            case Check(cond) if self._varying.kind(cond):
                return _Cost(1, 1)
            case Clear() | Copy():
                return _Cost(2, 1)
            case _:
                return _Cost()

    def _instruction(self, let: Let, kind: int) -> _Cost:
        cost = let.code.cycles
        if kind <= FAR and let.op in _PLACES and self._unrolled:
            return _Cost()
        if kind <= FAR:
            return _Cost(cost / self._lanes, cost)
        return _Cost(cost / _AT_ONCE if let.code.has_vectors else cost + 2, cost)

    def _access(
        self, ptr: Atom, index: Atom, root: int, cost: float, same: float
    ) -> _Cost:
        kind = self._varying.place(ptr, index)
        if kind == NEXT or (self._varying.owns(root) and not kind):
            return _Cost(cost / _AT_ONCE, cost)
        # Lanes that are not here have to be kept from it.
        apart = cost + (4 if self._partial else 0.5)
        return _Cost(apart if kind else same, cost)

    def _loop(self, loop: For) -> _Cost:
        vectors = self._is_long(loop) and _is_vectorised(loop)
        times = _trips(loop, _MANY if vectors else _FEW)
        outer = self._unrolled, self._partial
        self._unrolled = _trips(loop, _MANY) <= _FEW
        self._partial = self._partial or loop in self._varying.masked
        inner = self.body(loop.body)
        self._unrolled, self._partial = outer
        alone = times * inner.alone
        if vectors:
            alone = alone / _AT_ONCE + _BEGIN
        by_rows = vectors and overlaps(loop, self._varying)
        if by_rows or loop in self._varying.alone:
            return _Cost(alone + 1, alone)
        lanes = times * inner.lanes
        if loop in self._varying.masked:
            lanes += times * (1 + _kept(loop) / _AT_ONCE) + _UNFORESEEN
            alone += _UNFORESEEN
        return _Cost(lanes, alone)


def _kept(loop: For) -> int:
    """How many numbers lanes that are done have to keep."""
    sets = [stmt for stmt in everywhere(loop.body) if isinstance(stmt, Set)]
    return sum(stmt.slot.type != BOOL for stmt in sets)


def _trips(loop: For, unknown: int) -> float:
    if loop.go is None and isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
        return max(float(loop.high.value) - float(loop.low.value), 1.0)
    return unknown


def share_of(loop: For, varying: Varying) -> float:
    """The part of its time that a loop takes in lanes, if no loop is in it."""
    cost = _Counting(loop.lanes, varying, (), lambda inner: False).body(loop.body)
    return cost.lanes / cost.alone if cost.alone else 1.0


def _loops(body: Sequence[Stmt], depth: int = 0) -> Iterator[tuple[For, int]]:
    """The loops of a body, and in how many others of it they are."""
    for stmt in body:
        if isinstance(stmt, For):
            yield stmt, depth
        for inner in bodies_of(stmt):
            yield from _loops(inner, depth + isinstance(stmt, For))


def inner_loops(body: Sequence[Stmt]) -> bool:
    """Whether there are loops in a body."""
    return any(isinstance(stmt, For) for stmt in everywhere(body))


def _is_vectorised(loop: For) -> bool:
    """Whether LLVM may make vectors of the steps of a loop."""
    if loop.go is not None:
        return False
    got: set[Slot] = set()
    for stmt in loop.body:
        match stmt:
            case Get(_, slot):
                got.add(slot)
            case Set(slot) if slot in got:
                return False
            case For() | Branch():
                return False
            case _:
                pass
    return True


def _number(loop: For, longest: int, keeps: bool) -> int:
    """How many lanes: more where little is held in registers, and where no table for
    each of them takes the memory."""
    most = 0
    for stmt in everywhere(loop.body):
        if isinstance(stmt, For) and not inner_loops(stmt.body):
            lets = [s for s in stmt.body if isinstance(s, Let | Load)]
            is_long = any(isinstance(s, Let) and s.code.is_vector_call for s in lets)
            most = max(most, 2 * _FEW_REGISTERS if is_long else len(lets))
    adds = any(isinstance(stmt, AddTo) for stmt in everywhere(loop.body))
    fits = longest > 0 and longest % _MOST_LANES == 0
    if adds and fits and most <= _FEWEST_REGISTERS:
        return _MOST_LANES
    if longest == _MANY_LANES and not keeps:
        return _MANY_LANES
    return _MANY_LANES if most <= _FEW_REGISTERS else _LANES
