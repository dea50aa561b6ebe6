"""Which products that are added are part of a multiply-add.

    for i in 0 .. n:
      v = state                       x = fma(v, b, round(c · d))
      x = v · b + c · d          →    y = x + round(e · f)
      y = x + e · f
      state := y                      and not  fma(e, f, fma(c, d, round(v · b)))

Either of two products may be contracted with the addition, and LLVM takes the one that
it comes across first, which is the one known first. In a loop whose steps wait for each
other the time of a step is that of its longest chain, so there the product that is
known last goes into the multiply-add, which takes little longer than the multiplication
alone: the other one is written so that it may not be contracted. So is a product that
is known before what it is added to: an addition takes less time than a multiply-add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from chadllvm.ir.loops import (
    Accumulate,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Reg,
    Set,
    Slot,
    Spread,
    Stmt,
)
from chadllvm.ir.statements import everywhere, slots_of, used, whole

# About how many cycles the results of a loop inside take.
_LOOP = 40


def rounded(function: LoopFunction) -> frozenset[Reg]:
    """The products that are not contracted with the sums that they go into."""
    if not function.arithmetic.contract:
        return frozenset()
    loops = [
        stmt
        for stmt in whole(function)
        if isinstance(stmt, For) and stmt.lanes == 1 and not stmt.commutes
    ]
    chains = [(loop, carried) for loop in loops if (carried := _carried(loop.body))]
    if not chains:
        return frozenset()
    uses = Counter(reg for s in whole(function) for reg in used(s))
    return frozenset(
        reg for loop, carried in chains for reg in _Chain(carried, uses).early(loop)
    )


def _carried(body: Iterable[Stmt]) -> set[Slot]:
    """The slots that a step reads as the one before has left them."""
    read: set[Slot] = set()
    seen: set[Slot] = set()
    written: set[Slot] = set()
    for stmt in body:
        if isinstance(stmt, Get) and stmt.slot not in seen:
            read.add(stmt.slot)
        for inner in everywhere([stmt]):
            slots = set(slots_of(inner))
            seen |= slots
            if isinstance(inner, Set | Accumulate):
                written |= slots
    return read & written


class _Chain:
    """How many cycles after the step before things are known; what is not here is
    known before."""

    def __init__(self, carried: Iterable[Slot], uses: Counter[Reg]) -> None:
        self._uses = uses
        self._slots = dict.fromkeys(carried, 0)
        self._known: dict[Reg, int] = {}
        self._products: set[Reg] = set()

    def early(self, loop: For) -> Iterator[Reg]:
        """The products of a loop that are known before those that they are added to."""
        return self._body(loop.body)

    def _body(self, body: Iterable[Stmt]) -> Iterator[Reg]:
        for stmt in body:
            match stmt:
                case Let():
                    yield from self._let(stmt)
                case Get(reg, slot) if slot in self._slots:
                    self._known[reg] = self._slots[slot]
                case Load():
                    self._wait(stmt.reg, used(stmt), 5)
                case Set(slot, value) | Accumulate(slot, value):
                    if isinstance(value, Reg) and value in self._known:
                        found = self._known[value], self._slots.get(slot, 0)
                        self._slots[slot] = max(found)
                case Branch(_, then, orelse):
                    yield from self._body(then)
                    yield from self._body(orelse)
                case For() | Spread():
                    for inner in everywhere([stmt]):
                        self._slots |= dict.fromkeys(slots_of(inner), _LOOP)

    def _let(self, stmt: Let) -> Iterator[Reg]:
        if stmt.op == "mul" and self._uses[stmt.reg] == 1:
            self._products.add(stmt.reg)
        self._wait(stmt.reg, used(stmt), stmt.code.latency)
        if stmt.op in ("add", "sub"):
            yield from self._added(*stmt.args)

    def _added(self, a: Atom, b: Atom) -> Iterator[Reg]:
        """The product of two numbers that is known before the other one."""
        for one, other in ((a, b), (b, a)):
            early, late = self._time(one), self._time(other)
            are_products = other in self._products
            if one in self._products and late >= early + are_products and late >= 0:
                assert isinstance(one, Reg)
                yield one

    def _time(self, atom: Atom) -> int:
        return self._known.get(atom, -1) if isinstance(atom, Reg) else -1

    def _wait(self, reg: Reg, args: Iterable[Reg], cycles: int) -> None:
        waits = [self._known[arg] for arg in args if arg in self._known]
        if waits:
            self._known[reg] = max(waits) + cycles
