"""Elementary functions that wait for nothing are computed a strip ahead of a loop.

    for i in 0 .. n:                      for each strip of the loop:
      x = a[i]                              for i in the strip:
      e = exp(x)                              x = a[i]
      s' = s · e                    →         e = exp(x)
      s := s'                                 q[i - first] = e
                                            for i in the strip:
                                              e = q[i - first]
                                              s' = s · e
                                              s := s'

A loop whose steps need each other is no vector code, and so each of its exponentials is
a call of its own. Those that are made of nothing that the loop writes need no step
before: the first inner loop becomes vector code, at a fifth of the time. What is cheap
is computed in either loop rather than kept. This stands behind all that makes vector
code of a whole loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
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
from chadllvm.ir.statements import assigned, slots_of, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.linear import Known
from chadllvm.lower.striped import Out, Strips, each_strip
from chadllvm.lower.varying import CALLS

# A loop that is known to make fewer steps fills no vectors.
_FEW = 16


def ahead(function: LoopFunction) -> LoopFunction:
    """Compute elementary functions a strip ahead of the steps that need each other."""
    return _Ahead.of(function)


class _Ahead(Strips):
    """The calls that are made ahead."""

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: there are none."""
        calls = _calls(loop, self.roots)
        if not calls:
            return None
        out = Out()
        # The difference saturates: no number of steps is too large.
        count = out.let("span", loop.high, loop.low)
        strips = each_strip(loop, count, lambda first: self._parts(loop, calls, first))
        return [*out.out, *strips]

    def _parts(self, loop: For, calls: Sequence[Let], first: Atom) -> list[list[Stmt]]:
        """What makes the results of calls, and the rest, which reads them."""
        place = Reg("place", I64)
        at = Let(place, "isub", (loop.index, first))
        late = [stmt for stmt in loop.body if _has_effect(stmt)]
        late = _needed(loop.body, late, calls)
        wanted = {reg for stmt in late for reg in used(stmt)}
        kept = [call for call in calls if call.reg in wanted]
        early = [*_needed(loop.body, kept, ()), at]
        loads: list[Stmt] = [at]
        for call in kept:
            ptr, root = self.buffer(call.reg.type)
            early.append(Store(ptr, place, call.reg, root))
            loads.append(Load(call.reg, ptr, place, root))
        return [early, [*loads, *late]]


def _calls(loop: For, roots: Sequence[int]) -> list[Let]:
    """The calls that need no step before, in a loop whose steps need each other."""
    simple = Let | Get | Set | Accumulate | Offset | Load | Store | AddTo
    if loop.commutes or _is_short(loop):
        return []
    if not all(isinstance(stmt, simple) for stmt in loop.body):
        return []
    written = {slot for stmt in loop.body for slot in _sets(stmt)}
    changed = {roots[s.root] for s in loop.body if isinstance(s, Store | AddTo)}
    if not _is_chain(loop.body, written, changed, roots):
        return []
    early: set[Reg] = set()
    late: set[Reg] = set()
    for stmt in loop.body:
        waits = not late.isdisjoint(used(stmt))
        match stmt:
            case Get(slot=slot):
                waits |= slot in written
            case Load(root=root):
                waits |= roots[root] in changed
        (late if waits else early).update(assigned(stmt))
    return [
        stmt
        for stmt in loop.body
        if isinstance(stmt, Let) and stmt.op in CALLS and stmt.reg in early
    ]


def _is_short(loop: For) -> bool:
    """Whether it is known that a loop makes few steps."""
    if not isinstance(loop.low, Lit) or not isinstance(loop.high, Lit):
        return False
    return int(loop.high.value) - int(loop.low.value) < _FEW


def _is_chain(
    body: Sequence[Stmt],
    written: set[Slot],
    changed: set[int],
    roots: Sequence[int],
) -> bool:
    """Whether steps read what others have written: slots, or one array elsewhere."""
    if any(isinstance(stmt, Get) and stmt.slot in written for stmt in body):
        return True
    places: dict[Atom, set[Atom]] = {}
    for stmt in body:
        if isinstance(stmt, Load | Store | AddTo) and roots[stmt.root] in changed:
            places.setdefault(stmt.ptr, set()).add(stmt.index)
    return any(len(found) > 1 for found in places.values())


def _sets(stmt: Stmt) -> Iterator[Slot]:
    if isinstance(stmt, Set | Accumulate):
        yield from slots_of(stmt)


def _has_effect(stmt: Stmt) -> bool:
    return isinstance(stmt, Set | Accumulate | Store | AddTo)


def _needed(
    body: Sequence[Stmt], effects: Sequence[Stmt], known: Sequence[Let]
) -> list[Stmt]:
    """Statements, and what they are computed from, but for what is known."""
    effects_of = set(map(id, effects))
    there = {call.reg for call in known}
    wanted: set[Reg] = set()
    found: list[Stmt] = []
    for stmt in reversed(body):
        made = set(assigned(stmt)) - there
        if id(stmt) in effects_of or not wanted.isdisjoint(made):
            found.append(stmt)
            wanted.update(used(stmt))
    return found[::-1]
