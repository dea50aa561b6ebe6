"""Slots that keep the best of all steps, and what belongs to it.

    for i in 0 .. n:                      each chunk but the first begins with the worst
      x = …                               …
      wins = best < x                     behind a chunk, in order:
      best := select(wins, x, best)  →      wins = best of all < best of the chunk
      at := select(wins, i, at)             best of all := select(wins, …, …)
                                            at of all := select(wins, …, …)

What a comparison finds better is seen by trying it: where all that it looks at are the
two numbers, it depends on nothing but their order, and on which of them are NaN. One
that also holds in the first step, whatever the numbers are, takes what is there first.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from chadllvm.ir.loops import (
    PTR,
    Atom,
    For,
    Get,
    Let,
    Reg,
    Set,
    Slot,
    Stmt,
    bodies_of,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import Scalar, is_float
from chadllvm.lower.chunks.out import Out

_OPERATIONS: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(("flt", "ilt"), operator.lt),
    **dict.fromkeys(("fle", "ile"), operator.le),
    **dict.fromkeys(("feq", "ieq"), operator.eq),
    **dict.fromkeys(("fne", "ine"), operator.ne),
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.not_,
}

_FLOATS = (math.nan, -math.inf, -1.0, 1.0, math.inf)
_INTEGERS = (-(1 << 63), -1, 1, (1 << 63) - 1)


@dataclass(frozen=True)
class Better:
    """Which of two numbers is kept: a larger one or a smaller one, the first of equal
    ones; `nan`: the first NaN, if there is one."""

    more: bool
    nan: bool

    def holds(self, old: float, new: float) -> bool:
        """Whether a new number takes the place of an old one."""
        wins = old < new if self.more else new < old
        return wins or (self.nan and new != new and old == old)

    def emit(self, out: Out, old: Atom, new: Atom) -> Atom:
        """The same as instructions."""
        kind = "f" if is_float(old.type) else "i"
        pair = (old, new) if self.more else (new, old)
        wins = out.let(f"{kind}lt", *pair)
        if not self.nan:
            return wins
        first = out.let("and", out.let("fne", new, new), out.let("feq", old, old))
        return out.let("or", wins, first)

    def worst(self, ty: Scalar) -> Lit:
        """What loses against all others."""
        if is_float(ty):
            return literal(-math.inf if self.more else math.inf, ty)
        return Lit(-(1 << 63) if self.more else (1 << 63) - 1)


_KINDS = [Better(more, nan) for nan in (False, True) for more in (False, True)]


@dataclass(frozen=True)
class Best:
    """Slots that change together: the first one is what is compared."""

    slots: tuple[Slot, ...]
    better: Better


@dataclass(frozen=True)
class _Choice:
    """slot := select(cond, new, old), or the other way around if not `takes`."""

    begin: Get
    end: Set
    cond: Reg
    new: Atom
    takes: bool

    @property
    def slot(self) -> Slot:
        return self.end.slot

    @property
    def old(self) -> Reg:
        return self.begin.reg


def bests(
    loop: For,
    slots: Mapping[Slot, Sequence[Stmt]],
    made: Mapping[Reg, Let],
    uses: Counter[Reg],
) -> Iterator[Best]:
    """Those of a loop, whose steps do these things with its slots.

    `made`: the instructions of all registers; `uses`: how often a step uses them.
    """
    found = (_choice(slot, stmts, made, uses) for slot, stmts in slots.items())
    choices = [choice for choice in found if choice is not None]
    homes = _homes(loop) if choices else {}
    together: dict[tuple[Reg, int], list[_Choice]] = {}
    for choice in choices:
        if homes[choice.begin] == homes[choice.end]:
            together.setdefault((choice.cond, homes[choice.end]), []).append(choice)
    for (cond, _), group in together.items():
        if uses[cond] != len(group):
            continue
        for first in group:
            comparison = _Comparison(loop, first, made)
            if comparison.alone(uses) and (better := comparison.better()):
                others = [c for c in group if c is not first]
                if all(uses[c.old] == 1 for c in others):
                    yield Best((first.slot, *(c.slot for c in others)), better)
                    break


def _homes(loop: For) -> Mapping[Stmt, int]:
    """The number of the body that a statement is in."""
    found: dict[Stmt, int] = {}
    bodies = [loop.body]
    for number, body in enumerate(bodies):
        found.update(dict.fromkeys(body, number))
        bodies += (inner for stmt in body for inner in bodies_of(stmt))
    return found


def _choice(
    slot: Slot,
    stmts: Sequence[Stmt],
    made: Mapping[Reg, Let],
    uses: Counter[Reg],
) -> _Choice | None:
    match stmts:
        case [Get(old) as begin, Set(_, Reg() as kept) as end] if (
            slot.type != PTR and uses[kept] == 1
        ):
            let = made.get(kept)
        case _:
            return None
    match let.op if let else "", let.args if let else ():
        case "select", (Reg() as cond, one, two) if (one is old) != (two is old):
            takes = two is old
            return _Choice(begin, end, cond, one if takes else two, takes)
        case _:
            return None


class _Comparison:
    """What decides a choice."""

    def __init__(self, loop: For, choice: _Choice, made: Mapping[Reg, Let]) -> None:
        self._loop, self._choice, self._made = loop, choice, made
        # The registers that depend on the old number, and how often this looks at them.
        self._looks: Counter[Reg] = Counter()
        self._depends(choice.cond)

    def _depends(self, atom: Atom) -> bool:
        """Whether something depends on the old number; what does so is counted."""
        if atom is self._choice.old:
            self._looks[self._choice.old] += 1
            return True
        let = self._made.get(atom) if isinstance(atom, Reg) else None
        if let is None or let.op not in _OPERATIONS:
            return False
        if not any([self._depends(arg) for arg in let.args]):
            return False
        self._looks[let.reg] += 1
        return True

    def alone(self, uses: Counter[Reg]) -> bool:
        """Whether nothing else in a step depends on the old number."""
        choice = self._choice
        mine = self._looks - Counter([choice.cond])
        mine[choice.old] += 1
        return self._looks[choice.old] > 0 and all(
            uses[reg] == count for reg, count in mine.items()
        )

    def better(self) -> Better | None:
        """What it finds better, if that is an order."""
        values = _FLOATS if is_float(self._choice.old.type) else _INTEGERS
        pairs = [*product(values, repeat=2)]
        found = [self._holds(self._choice.cond, old, new) for old, new in pairs]
        if None in found:
            return None
        wins = [one is self._choice.takes for one in found]
        for kind in _KINDS:
            if wins == [kind.holds(*pair) for pair in pairs]:
                return kind
        return None

    def _holds(self, atom: Atom, old: float, new: float) -> float | None:
        """What it is of two numbers, behind the first step; None if of others too."""
        if atom is self._choice.old:
            return old
        if atom is self._choice.new:
            return new
        let = self._made.get(atom) if isinstance(atom, Reg) else None
        if let is None or let.op not in _OPERATIONS:
            return None
        if let.op == "ieq" and let.args == (self._loop.index, self._loop.low):
            return False
        parts = [self._holds(arg, old, new) for arg in let.args]
        return None if None in parts else _OPERATIONS[let.op](*parts)
