"""Arithmetic that waits for no other step is computed a strip ahead of a loop.

The reverse of a method of Runge and Kutta computes the stages of a step again, from the
state that was stored, in front of the chain of cotangents that needs the step before:

    for i in 0 .. n:                      for each strip of the loop:
      x = a[i]                              for i in the strip:
      f = x · x + p[0]                        x = a[i]
      if f < 0:                               f = x · x + p[0]
        y := f · f                            y = select(f < 0, f · f, f)
      else:                          →        q[i - first] = f
        y := f                                r[i - first] = y
      g = y                                 for i in the strip:
      if f < 0:                               f, g = q[i - first], r[i - first]
        s := s · f + g                        if f < 0:
                                                s := s · f + g

The first inner loop becomes vector code. Kept are the values that the late part reads;
what is cheap to compute from those is computed again. The late part is a chain, so that
its sums begin with what is first added (`begun.py`). A loop is left as it is if what
goes to the early part is not worth what is kept.

It stands in front of `ahead.py`, to which it leaves loops without branches that make
calls: what is cut once need not be cut again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
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
from chadllvm.ir.statements import assigned, everywhere, used
from chadllvm.ir.types import BOOL, I64, is_float
from chadllvm.lower.ahead import calls_ahead
from chadllvm.lower.begun import begun
from chadllvm.lower.choosing import Buffers, with_choices
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out
from chadllvm.lower.striped import Strips, each_strip
from chadllvm.lower.varying import CALLS
from chadllvm.lower.waiting import (
    Waits,
    acts,
    changed_roots,
    is_chain,
    is_short,
    needed,
    reads,
    written,
)

# Early work must be so many times what is kept of it, and worth two loops at all.
_WORTH = 4
_LEAST = 24
# The buffers of a strip are on the stack.
_MOST = 32
# What costs no more than this, in so many statements, is computed again rather than
# kept.
_CHEAP = 2
_SHORT = 16

_COSTS = {"div": 4, "sqrt": 4, **dict.fromkeys(CALLS, 20)}


def stages(function: LoopFunction) -> LoopFunction:
    """Compute arithmetic a strip ahead of the steps that need each other."""
    return _Stages.of(function)


class _Stages(Strips):
    """The arithmetic that is made ahead."""

    def __init__(self, roots: list[int], known: Buffers) -> None:
        super().__init__(roots)
        self._known = known

    @classmethod
    def making(cls, function: LoopFunction) -> Self:
        return cls([*function.roots], Buffers(function))

    def _inside(self) -> Self:
        return type(self)(self.roots, self._known)

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: there is not enough."""
        found = _plan(loop, self.roots, self._known)
        if found is None:
            return None
        out = Out([*found.front])
        count = out.let("span", loop.high, loop.low)
        strips = each_strip(found.loop, count, lambda first: self._parts(found, first))
        return [*out.stmts, *strips]

    def _parts(self, plan: _Plan, first: Atom) -> list[Sequence[Stmt]]:
        """What makes that which is kept, and all that has effects, without it."""
        body = plan.loop.body
        makers = [stmt for stmt in body if not plan.kept.isdisjoint(assigned(stmt))]
        place = Reg("place", I64)
        at = Let(place, "isub", (plan.loop.index, first))
        early = [*needed(body, makers, ()), at]
        late: list[Stmt] = [at]
        for reg in (reg for stmt in makers for reg in assigned(stmt)):
            ptr, root = self.buffer(reg.type)
            early.append(Store(ptr, place, reg, root))
            late.append(Load(reg, ptr, place, root))
        late += needed(body, filter(acts, body), plan.kept)
        return [early, begun(late)]


@dataclass(frozen=True)
class _Plan:
    """A loop whose early part makes what is `kept`, and what stands in front of it."""

    loop: For
    kept: frozenset[Reg]
    front: tuple[Stmt, ...]


def _plan(loop: For, roots: Sequence[int], known: Buffers) -> _Plan | None:
    """How a strip of a loop is computed ahead, if that is worth it."""
    if loop.commutes or is_short(loop) or not _is_simple(loop.body):
        return None
    if not _is_chain(loop.body, roots) or calls_ahead(loop, roots):
        return None
    chosen = with_choices(loop, roots, known)
    if chosen is None or not _is_chain(chosen.loop.body, roots):
        return None
    cut = _Cut(chosen.loop, roots)
    kept = cut.kept()
    least = max(_LEAST, _WORTH * len(kept))
    if not 0 < len(kept) <= _MOST or cut.saved(kept) < least:
        return None
    return _Plan(chosen.loop, frozenset(kept), chosen.front)


def _is_simple(body: Sequence[Stmt]) -> bool:
    kinds = Let | Get | Set | Accumulate | Offset | Load | Store | AddTo | Branch
    return all(isinstance(stmt, kinds) for stmt in everywhere(body))


def _is_chain(body: Sequence[Stmt], roots: Sequence[int]) -> bool:
    """Whether steps read what others have written."""
    inside = list(everywhere(body))
    changed = changed_roots(inside, roots)
    return is_chain(inside, _carried(body) & written(inside), changed, roots)


def _carried(body: Sequence[Stmt]) -> set[Slot]:
    """The slots that a step may read before it sets them."""
    found: set[Slot] = set()
    whole: set[Slot] = set()
    for stmt in body:
        for inner in everywhere([stmt]):
            if isinstance(inner, Get) and inner.slot not in whole:
                found.add(inner.slot)
        if isinstance(stmt, Set):
            whole.add(stmt.slot)
    return found


class _Cut:
    """Which early values are kept for the late part of a loop without choices."""

    def __init__(self, loop: For, roots: Sequence[int]) -> None:
        self._body = loop.body
        self._waits = Waits(loop, roots)
        self._effects = [stmt for stmt in self._body if acts(stmt)]
        # What makes an early register.
        self._maker: dict[Reg, Stmt] = {}
        # What is there in the late part without anything of weight.
        self._free: set[Reg] = {loop.index}
        for stmt in loop.body:
            if self._waits.note(stmt):
                self._note(stmt)

    def _note(self, stmt: Stmt) -> None:
        for reg in assigned(stmt):
            self._maker[reg] = stmt
            if _cost(stmt) == 0 and all(self._is_free(r) for r in used(stmt)):
                self._free.add(reg)

    def _is_free(self, reg: Reg) -> bool:
        return reg in self._free or self._waits.is_fixed(reg)

    def kept(self) -> set[Reg]:
        """The registers that are kept: what is read, but for what is cheap."""
        late = [
            stmt
            for stmt in needed(self._body, self._effects, ())
            if not self._is_early(stmt)
        ]
        kept = self._floats(reg for stmt in late for reg in reads(stmt))
        for stmt in reversed(self._body):
            for reg in assigned(stmt):
                if reg in kept:
                    kept.remove(reg)
                    if not self._is_cheap(reg, kept):
                        kept.add(reg)
        return kept

    def saved(self, kept: set[Reg]) -> int:
        """The work of the early part that the late part does not do again."""
        makers = [s for s in self._body if not kept.isdisjoint(assigned(s))]
        again = needed(self._body, self._effects, kept)
        work = sum(map(_cost, needed(self._body, makers, ())))
        return work - sum(_cost(stmt) for stmt in again if self._is_early(stmt))

    def _is_early(self, stmt: Stmt) -> bool:
        return any(reg in self._maker for reg in assigned(stmt))

    def _floats(self, regs: Iterable[Reg]) -> set[Reg]:
        """Registers, but what a boolean or a pointer is made of in its place."""
        seen: set[Reg] = set()
        waiting = list(regs)
        while waiting:
            reg = waiting.pop()
            if reg in seen or reg not in self._maker or reg in self._free:
                continue
            seen.add(reg)
            if not is_float(reg.type):
                waiting += used(self._maker[reg])
        return {reg for reg in seen if is_float(reg.type)}

    def _is_cheap(self, wanted: Reg, kept: set[Reg]) -> bool:
        """Whether little computes a register from those that are kept."""
        seen: set[Reg] = set()
        waiting, cost = [wanted], 0
        while waiting and cost <= _CHEAP and len(seen) <= _SHORT:
            reg = waiting.pop()
            if reg not in seen and reg not in kept and not self._is_free(reg):
                seen.add(reg)
                cost += _cost(self._maker[reg])
                waiting += used(self._maker[reg])
        return cost <= _CHEAP and len(seen) <= _SHORT


def _cost(stmt: Stmt) -> int:
    """The weight of arithmetic; loads and indices are made in either part."""
    match stmt:
        case Let(reg, op) if is_float(reg.type) or reg.type == BOOL:
            return _COSTS.get(op, 1)
        case _:
            return 0
