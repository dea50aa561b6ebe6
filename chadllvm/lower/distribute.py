"""Elementary functions between inner loops are computed for a strip of steps at once.

    for i in 0 .. n:                        for each strip of the loop:
      z := 0                                  for i in the strip:
      for j in 0 .. m:                          z := 0
        z += x[i, j] · w[j]                     for j in 0 .. m: …
      y = z                                     y = z
      e = exp(y)                       →        q[i - first] = y
      for j in 0 .. m:                        for i in the strip:
        g[j] += e · x[i, j]                     r[i - first] = exp(q[i - first])
                                              for i in the strip:
                                                e = r[i - first]
                                                for j in 0 .. m: …

That is how the loss of a linear model looks with its reverse. LLVM makes vectors of the
steps of innermost loops only: on the left each exponential is a call of its own, and on
the right the loop in the middle becomes vector code. Steps that may be run in any
order, and at the same time, may be run in parts, too. Nothing goes from part to part
but the numbers that are kept: no slot, and no buffer that each step fills anew. Only
the first part may fail, so that the first error in order is the same one. Strips are
short: what a step reads in the first part is still near by in the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

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
    LoopFunction,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, everywhere, used
from chadllvm.ir.types import I64, is_float
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out
from chadllvm.lower.striped import Strips, each_strip
from chadllvm.lower.waiting import is_short, reads, touched

# A number that is kept is written and read again: so many cycles at least. The part in
# the middle has a call in it.
_KEPT = 2

# What is kept is on the stack, which programs may not fill.
_MOST = 64

# What loops that become vector code have in them, and what else there may be.
_SIMPLE = Let | Get | Set | Accumulate | Offset | Load | Store
_OTHER = AddTo | Clear | Copy | Check | Branch | For

Part = Sequence[Stmt]


def distribute(function: LoopFunction) -> LoopFunction:
    """Make loops of their own for elementary functions between inner loops."""
    return _Distributing.of(function)


class _Distributing(Strips):
    """The loops that become several."""

    steps = 32

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: it stays whole."""
        flow = _plan(loop, self.roots)
        if flow is None:
            return None
        out = Out()
        count = out.let("span", loop.high, loop.low)
        strips = each_strip(
            loop, count, lambda first: self._parts(flow, first), self.steps
        )
        return [*out.stmts, *strips]

    def _parts(self, flow: _Flow, first: Atom) -> list[list[Stmt]]:
        """The parts, with what hands on the numbers that are kept."""
        buffers = {reg: self.buffer(reg.type) for reg in flow.kept}
        bodies: list[list[Stmt]] = []
        for number, part in enumerate(flow.parts):
            place = Reg("place", I64)
            body: list[Stmt] = [Let(place, "isub", (flow.index, first))]
            for reg in flow.read[number]:
                ptr, root = buffers[reg]
                body.append(Load(reg, ptr, place, root))
            body += [*flow.again[number], *part]
            for reg in (reg for stmt in part for reg in assigned(stmt)):
                if reg in buffers:
                    ptr, root = buffers[reg]
                    body.append(Store(ptr, place, reg, root))
            bodies.append(body)
        return bodies


class _Flow:
    """What goes from part to part: for each of them what it reads of what is `kept`,
    and what it computes `again`, as that is cheap."""

    def __init__(self, loop: For, parts: Sequence[Part]) -> None:
        self.index, self.parts = loop.index, parts
        self._stmts = [stmt for part in parts for stmt in part]
        # Which part makes a register, and which of all statements.
        numbers = (number for number, part in enumerate(parts) for _ in part)
        self._maker = {
            reg: (number, place)
            for place, (number, stmt) in enumerate(
                zip(numbers, self._stmts, strict=True)
            )
            for reg in assigned(stmt)
        }
        self.read: list[list[Reg]] = []
        self.again: list[list[Stmt]] = []
        for number in range(len(parts)):
            self._find(number)
        self.kept = [*dict.fromkeys(reg for read in self.read for reg in read)]

    def _find(self, number: int) -> None:
        seen: set[Reg] = set()
        read: list[tuple[int, Reg]] = []
        again: list[int] = []
        waiting = [reg for stmt in self.parts[number] for reg in reads(stmt)]
        while waiting:
            reg = waiting.pop()
            found = self._maker.get(reg)
            if reg in seen or found is None or found[0] >= number:
                continue
            seen.add(reg)
            place = found[1]
            if _is_cheap(self._stmts[place]):
                again.append(place)
                waiting += used(self._stmts[place])
            else:
                read.append((place, reg))
        self.read.append([reg for _, reg in sorted(read, key=lambda item: item[0])])
        self.again.append([self._stmts[place] for place in sorted(again)])

    @property
    def pays(self) -> bool:
        """Whether what becomes vector code is worth it, and fits on the stack."""
        if len(self.kept) > _MOST:
            return False
        worth = sum(_cost(s) for part in self.parts if _is_middle(part) for s in part)
        return worth >= _KEPT * len(self.kept)


def _is_cheap(stmt: Stmt) -> bool:
    """Whether a register is made where it is needed: places, and what is asked."""
    match stmt:
        case Offset():
            return True
        case Let(reg):
            return stmt.code.is_cheap and not is_float(reg.type)
        case _:
            return False


def _cost(stmt: Stmt) -> int:
    match stmt:
        case Let(reg) if is_float(reg.type):
            return stmt.code.cycles
        case _:
            return 0


def _plan(loop: For, roots: Sequence[int]) -> _Flow | None:
    """How a loop becomes several, if it may and if that pays."""
    if not loop.commutes or is_short(loop) or not any(map(_is_call, loop.body)):
        return None
    inside = [*everywhere(loop.body)]
    loops = [stmt for stmt in inside if isinstance(stmt, For)]
    if not all(isinstance(stmt, _SIMPLE | _OTHER) for stmt in inside):
        return None
    if any(inner.lanes > 1 or _plan(inner, roots) for inner in loops):
        return None
    parts = [*_cut(loop.body)] if loops else []
    if len(parts) < 2 or not _are_apart(loop, parts, roots):
        return None
    flow = _Flow(loop, parts)
    return flow if flow.pays else None


def _cut(body: Part) -> Iterator[Part]:
    """The parts of a body: those in the middle, behind all checks, and what is around
    them."""
    around: list[Stmt] = []
    failing = [k for k, stmt in enumerate(body) if _may_fail(stmt)]
    low, checked = 0, max(failing, default=-1)
    users = _users(body)
    for is_simple, group in groupby(body, lambda stmt: isinstance(stmt, _SIMPLE)):
        run = [*group]
        high = low + len(run)
        if is_simple and low > checked:
            first, end = _middle(run, users)
            if first < end:
                around += run[:first]
                if around:
                    yield around
                yield run[first:end]
                around, run = [], run[end:]
        around += run
        low = high
    if around:
        yield around


def _users(body: Part) -> Counter[Slot]:
    """How many statements touch each slot, themselves or inside of them."""
    return Counter(slot for stmt in body for slot in touched(stmt))


def _middle(run: Part, users: Counter[Slot]) -> tuple[int, int]:
    """Where a middle part begins and ends among simple statements: it holds the first
    call, and touches no slot that others do."""
    calls = [k for k, stmt in enumerate(run) if _is_call(stmt)]
    if not calls:
        return 0, 0
    here = _users(run)
    shared = [
        k
        for k, stmt in enumerate(run)
        if any(users[slot] > here[slot] for slot in touched(stmt))
    ]
    first = max((k + 1 for k in shared if k < calls[0]), default=0)
    return first, min((k for k in shared if k > calls[0]), default=len(run))


def _may_fail(stmt: Stmt) -> bool:
    return any(isinstance(inner, Check) for inner in everywhere([stmt]))


def _is_call(stmt: Stmt) -> bool:
    return isinstance(stmt, Let) and stmt.code.is_vector_call


def _is_middle(part: Part) -> bool:
    return all(isinstance(stmt, _SIMPLE) for stmt in part) and any(map(_is_call, part))


def _are_apart(loop: For, parts: Sequence[Part], roots: Sequence[int]) -> bool:
    """Whether parts have no slot and no buffer of a step in common."""
    private = {roots[root] for root in loop.private}
    slots = Counter(slot for part in parts for slot in _slots(part))
    buffers = Counter(
        root for part in parts for root in private & _touched(part, roots)
    )
    return max([*slots.values(), *buffers.values()], default=0) <= 1


def _slots(part: Part) -> set[object]:
    return {slot for stmt in part for slot in touched(stmt)}


def _touched(part: Part, roots: Sequence[int]) -> set[int]:
    """The memory that a part reads or writes."""
    found: set[int] = set()
    for stmt in everywhere(part):
        match stmt:
            case (
                Load(root=root) | Store(root=root) | AddTo(root=root) | Clear(root=root)
            ):
                found.add(roots[root])
            case Copy(target_root=target, source_root=source):
                found |= {roots[target], roots[source]}
            case _:
                pass
    return found
