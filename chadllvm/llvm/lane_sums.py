"""What all lanes add to memory, for several steps of an inner loop at once.

    for k in 0 .. n:               for k = 0, 4, …:
      x = …                          x0, x1, x2, x3 = … in four steps
      c[k] += the sum of x    →      c[k .. k + 4] += the sums of x0, x1, x2, x3
                                   for what is left: …

To add up the lanes of one vector takes as many shuffles as additions, for one number.
Those of four vectors are added up together in about the time that one takes, and what
comes out is a vector, which is added to memory at once. Until then nothing reads what
is added to: a loop in lanes only adds to what all its lanes add to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, made
from chadllvm.ir.types import Scalar, is_float
from chadllvm.llvm import control
from chadllvm.llvm.lane_memory import LaneMemory
from chadllvm.llvm.lane_values import element
from chadllvm.llvm.state import State
from chadllvm.llvm.types import BYTES, REGISTER
from chadllvm.lower.overlap import moved

# How many steps are taken at once, and the statements of a loop for which they are: the
# code is as many times as long.
STEPS = 4
_MOST = 24

# Of two vectors of four numbers: what is added so that sums of pairs of the first and
# of the second take turns, and what makes these the sums of all.
_PAIRS = (0, 4, 2, 6), (1, 5, 3, 7)
_HALVES = (0, 1, 4, 5), (2, 3, 6, 7)

_PLAIN = (Let, Load, Store, AddTo, Offset, Get, Set, Accumulate)


class LaneSums(LaneMemory):
    """The additions of one loop's lanes to what they have in common."""

    # What is being added in several steps: the vectors so far, and the first place.
    _waiting: dict[Stmt, tuple[str, list[str]]] | None = None

    def __init__(
        self, state: State, loop: For, emit: Callable[[State, Stmt], None]
    ) -> None:
        super().__init__(state, loop, emit)
        # The sums of the lanes of what totals are made of.
        self._totals: dict[Reg, Reg] = {}

    def steps(self, loop: For, low: str, high: str, body: Callable[[], None]) -> str:
        """Write an inner loop for most of its steps; where the rest of them begins.

        That is at `low` if this is nothing for it. `body` writes what is in it.
        """
        added = self.together(loop)
        if not added:
            return low
        state, out = self.state, self.state.out
        span = out.let(f"sub i64 {high}, {low}")
        some = out.let(f"call i64 @llvm.smax.i64(i64 {span}, i64 0)")
        turns = out.let(f"udiv i64 {some}, {STEPS}")
        turn = out.fresh("turn")

        def steps() -> None:
            done = out.let(f"mul nuw nsw i64 {turn}, {STEPS}")
            index = out.let(f"add nsw i64 {low}, {done}", loop.index.name)
            self._waiting = {stmt: ("", []) for stmt in added}
            for step in range(STEPS):
                text = f"add nsw i64 {index}, {step}"
                state.names[loop.index] = out.let(text, loop.index.name)
                body()
            waiting, self._waiting = self._waiting, None
            for stmt in added:
                self.add_waiting(stmt, *waiting[stmt])

        control.emit_loop(out, turn, ("0", turns), True, steps)
        left = out.let(f"mul nuw nsw i64 {turns}, {STEPS}")
        return out.let(f"add nsw i64 {low}, {left}")

    def waits(self, stmt: AddTo) -> bool:
        """Note what is added in one of several steps, if that is for later."""
        if self._waiting is None or stmt not in self._waiting:
            return False
        place, vectors = self._waiting[stmt]
        if not vectors:
            place = self.first_place(stmt)
        self._waiting[stmt] = place, [*vectors, self.vector(stmt.value)]
        return True

    def add_up(self, stmt: Stmt) -> None:
        """Add up the lanes of what a statement has made, if it is needed for totals."""
        for reg in assigned(stmt):
            if reg in self.varying.totals.factors:
                total = self._totals[reg] = Reg(reg.name, reg.type)
                self.state.names[total] = self.sum(self.vector(reg), reg.type)

    def add_total(self, stmt: AddTo) -> None:
        """Add the sum of all lanes to what is the same place for all."""
        total = self._total(stmt.value)
        self.emit_plain(AddTo(stmt.ptr, stmt.index, total, stmt.root))

    def _total(self, value: Atom) -> Atom:
        """The sum of a value over the lanes."""
        if isinstance(value, Reg) and value in self.varying.totals.regs:
            return value
        if isinstance(value, Reg) and value in self._totals:
            return self._totals[value]
        total = Reg("total", value.type)
        if isinstance(value, Reg) and self.differs(value):
            let = self.varying.totals.lets[value]
            args = [self._total(a) if self.differs(a) else a for a in let.args]
            self.emit_plain(Let(total, let.op, tuple(args)))
        else:
            self.state.names[total] = self.sum(self.vector(value), value.type)
        return total

    def first_place(self, stmt: AddTo) -> str:
        """Where a statement adds, in the first lane."""
        base, index = self.lane(stmt.ptr, 0), self.lane(stmt.index, 0)
        return element(self.state, base, index, stmt.value.type)

    def together(self, loop: For) -> list[AddTo]:
        """What of an inner loop that does nothing odd is added for several steps."""
        trips = control.trip_count(loop)
        if self.mask or len(loop.body) > _MOST or trips in range(STEPS):
            return []
        if not all(isinstance(stmt, _PLAIN) for stmt in loop.body):
            return []
        return self.added(loop)

    def added(self, loop: For) -> list[AddTo]:
        """What adds to one place after the other."""
        local = {loop.index, *made(loop.body)}
        return [
            stmt
            for stmt in loop.body
            if isinstance(stmt, AddTo)
            and is_float(stmt.value.type)
            and stmt.ptr not in local
            and moved(loop, stmt.index) == 1
            and not self.is_apart(stmt)
            and not self.is_common(stmt)
            and stmt not in self.varying.totals.adds
        ]

    def add_waiting(self, stmt: AddTo, place: str, vectors: Sequence[str]) -> None:
        """Add the vectors of several steps, the first of which is at this place."""
        ty, out = stmt.value.type, self.state.out
        of = f"<{STEPS} x {REGISTER[ty]}>"
        suffix = self.state.alias.suffix(stmt.root)
        where = f"ptr {place}, align {BYTES[ty]}{suffix}"
        total = self._plus(of, out.let(f"load {of}, {where}"), self._sums(vectors, ty))
        out.put(f"store {of} {total}, {where}")

    def _sums(self, vectors: Sequence[str], ty: Scalar) -> str:
        """The sums of the lanes of each of the four vectors, as a vector."""
        size = self.count
        while size > STEPS:
            size //= 2
            parts = range(size), range(size, 2 * size)
            vectors = [self._folded(v, v, 2 * size, ty, parts) for v in vectors]
        a, b, c, d = vectors
        first, second = (
            self._folded(*of, STEPS, ty, _PAIRS) for of in ((a, b), (c, d))
        )
        return self._folded(first, second, STEPS, ty, _HALVES)

    def _folded(
        self, a: str, b: str, size: int, ty: Scalar, parts: Sequence[Iterable[int]]
    ) -> str:
        """The sum of two parts of the numbers of both vectors, by their places."""
        of, out, names = f"<{size} x {REGISTER[ty]}>", self.state.out, []
        for places in map(list, parts):
            mask = ", ".join(f"i32 {place}" for place in places)
            text = f"shufflevector {of} {a}, {of} {b}, <{len(places)} x i32> <{mask}>"
            names.append(out.let(text))
            result = f"<{len(places)} x {REGISTER[ty]}>"
        return self._plus(result, *names)

    def _plus(self, of: str, a: str, b: str) -> str:
        return self.state.out.let(f"fadd {self.state.sum_flags}{of} {a}, {b}")
