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

from collections.abc import Sequence

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
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, used
from chadllvm.ir.types import I64
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out
from chadllvm.lower.striped import Strips, each_strip
from chadllvm.lower.waiting import (
    acts,
    changed_roots,
    is_chain,
    is_short,
    needed,
    written,
)


def ahead(function: LoopFunction) -> LoopFunction:
    """Compute elementary functions a strip ahead of the steps that need each other."""
    return _Ahead.of(function)


class _Ahead(Strips):
    """The calls that are made ahead."""

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: there are none."""
        calls = calls_ahead(loop, self.roots)
        if not calls:
            return None
        out = Out()
        # The difference saturates: no number of steps is too large.
        count = out.let("span", loop.high, loop.low)
        strips = each_strip(loop, count, lambda first: self._parts(loop, calls, first))
        return [*out.stmts, *strips]

    def _parts(self, loop: For, calls: Sequence[Let], first: Atom) -> list[list[Stmt]]:
        """What makes the results of calls, and the rest, which reads them."""
        place = Reg("place", I64)
        at = Let(place, "isub", (loop.index, first))
        effects = [stmt for stmt in loop.body if acts(stmt)]
        late = needed(loop.body, effects, [call.reg for call in calls])
        wanted = {reg for stmt in late for reg in used(stmt)}
        kept = [call for call in calls if call.reg in wanted]
        early = [*needed(loop.body, kept, ()), at]
        loads: list[Stmt] = [at]
        for call in kept:
            ptr, root = self.buffer(call.reg.type)
            early.append(Store(ptr, place, call.reg, root))
            loads.append(Load(call.reg, ptr, place, root))
        return [early, [*loads, *late]]


def calls_ahead(loop: For, roots: Sequence[int]) -> list[Let]:
    """The calls that need no step before, in a loop whose steps need each other."""
    simple = Let | Get | Set | Accumulate | Offset | Load | Store | AddTo
    if loop.commutes or is_short(loop):
        return []
    if not all(isinstance(stmt, simple) for stmt in loop.body):
        return []
    slots, changed = written(loop.body), changed_roots(loop.body, roots)
    if not is_chain(loop.body, slots, changed, roots):
        return []
    early: set[Reg] = set()
    late: set[Reg] = set()
    for stmt in loop.body:
        waits = not late.isdisjoint(used(stmt))
        match stmt:
            case Get(slot=slot):
                waits |= slot in slots
            case Load(root=root):
                waits |= roots[root] in changed
        (late if waits else early).update(assigned(stmt))
    return [
        stmt
        for stmt in loop.body
        if isinstance(stmt, Let) and stmt.code.is_vector_call and stmt.reg in early
    ]
