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

Elements of a mesh, springs of a net and pairs of atoms take part in a loop whose steps
gather, compute and scatter: the places are numbers that were read, so that they are
checked, and what is added may meet. All checks of a strip go first, and the additions
last, in their order. In between, the steps are vector code:

    for e in 0 .. n:                      for each strip of the loop:
      i = k[e]                              for e in the strip:
      check i <u size of x                    check k[e] <u size of x
      y = f(x[i])                           for e in the strip:
      g[i] += y                      →        q[e - first] = f(x[k[e]])
                                            for e in the strip:
                                              g[k[e]] += q[e - first]

An error leaves the function, so that nobody sees what has been added by then; the first
check that fails is still the first one in order.
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
    CallRuntime,
    Check,
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
from chadllvm.ir.statements import assigned, copied, everywhere, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, is_float
from chadllvm.lower.begun import begun
from chadllvm.lower.choosing import Buffers, with_choices
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out
from chadllvm.lower.striped import Strips, each_strip
from chadllvm.lower.waiting import (
    Waits,
    acts,
    changed_roots,
    is_chain,
    is_short,
    needed,
    read_places,
    reads,
    written,
)

# Early work must be so many times what is kept of it, and what vectors pay more for
# elements from here and there; and it must be worth two loops at all, as a call of exp
# is.
_WORTH = 4
_GATHER = 2
_LEAST = 11
# The steps of a strip, and how many buffers it may have, which are on the stack.
STEPS = 64
_MOST = 32
# Fewer steps than this are not worth a strip.
_FEW = 8
# What costs no more than this, in so many statements, is computed again rather than
# kept.
_CHEAP = 2
_SHORT = 16


def stages(function: LoopFunction) -> LoopFunction:
    """Compute arithmetic a strip ahead of the steps that need each other."""
    return _Stages.of(function)


class _Stages(Strips):
    """The arithmetic that is made ahead."""

    steps = STEPS

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
        strips = each_strip(
            found.loop, count, lambda first: self._parts(found, first), self.steps
        )
        if self._known.read.isdisjoint((loop.low, loop.high)):
            return [*out.stmts, *strips]
        # A row of a list of neighbours, say, may be shorter than a vector.
        few = out.let("ilt", count, Lit(_FEW))
        out.emit(Branch(few, (copied(loop),), tuple(strips)))
        return out.stmts

    def _parts(self, plan: _Plan, first: Atom) -> list[Sequence[Stmt]]:
        """The checks, what makes that which is kept, and all that has effects."""
        checks = [stmt for stmt in plan.loop.body if isinstance(stmt, Check)]
        body = [stmt for stmt in plan.loop.body if not isinstance(stmt, Check)]
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
        parts = [early, begun(late)]
        return [needed(plan.loop.body, checks, ()), *parts] if checks else parts


@dataclass(frozen=True)
class _Plan:
    """A loop whose early part makes what is `kept`, and what stands in front of it."""

    loop: For
    kept: frozenset[Reg]
    front: tuple[Stmt, ...]


def _plan(loop: For, roots: Sequence[int], known: Buffers) -> _Plan | None:
    """How a strip of a loop is computed ahead, if that is worth it."""
    if is_short(loop) or not _is_simple(loop.body):
        return None
    if not _waits(loop, roots):
        return None
    chosen = with_choices(loop, roots, known)
    if chosen is None or not _waits(chosen.loop, roots):
        return None
    cut = _Cut(chosen.loop, roots)
    if not cut.asks_early:
        return None
    kept = cut.kept()
    price = _WORTH * len(kept) + _GATHER * _gathers(chosen.loop.body)
    if not 0 < len(kept) <= _MOST or cut.saved(kept) < max(_LEAST, price):
        return None
    return _Plan(chosen.loop, frozenset(kept), chosen.front)


def _is_simple(body: Sequence[Stmt]) -> bool:
    """Whether a body has nothing but arithmetic, checks and effects in it."""
    kinds = Let | Get | Set | Accumulate | Offset | Load | Store | AddTo | Branch
    inner = kinds | For | CallRuntime
    inside = everywhere([stmt for stmt in body if isinstance(stmt, Branch)])
    return all(isinstance(stmt, kinds | Check) for stmt in body) and all(
        isinstance(stmt, inner) for stmt in inside
    )


def _waits(loop: For, roots: Sequence[int]) -> bool:
    """Whether steps have to be run one after the other, if only for their effects."""
    body = loop.body
    return (
        any(isinstance(stmt, Check) for stmt in body)
        or _scatters(body)
        or (not loop.commutes and _is_chain(body, roots))
    )


def _scatters(body: Sequence[Stmt]) -> bool:
    """Whether something is written where numbers that were read say."""
    read = read_places(everywhere(body))
    return any(
        isinstance(stmt, AddTo | Store) and not read.isdisjoint((stmt.ptr, stmt.index))
        for stmt in everywhere(body)
    )


def _gathers(body: Sequence[Stmt]) -> int:
    """How many elements are read where numbers that were read say."""
    read = read_places(everywhere(body))
    return sum(
        isinstance(stmt, Load) and not read.isdisjoint((stmt.ptr, stmt.index))
        for stmt in body
    )


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

    @property
    def asks_early(self) -> bool:
        """Whether all checks are of what waits for no other step."""
        checks = [stmt for stmt in self._body if isinstance(stmt, Check)]
        return all(self._waits.is_early(reg) for stmt in checks for reg in used(stmt))

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
        case Let(reg) if is_float(reg.type) or reg.type == BOOL:
            return stmt.code.cycles
        case _:
            return 0
