"""Loops that clamp their index are split where the clamping begins and ends.

    for j in 0 .. n:                      p = min(1, n)
      k = j - 1                           q = max(min(m, n), p)
      l = max(k, 0)                       for j in 0 .. p: …
      r = j + 1                     →     for j in p .. q:
      s = min(r, m)                         k = j - 1
      … a[l] … a[s] …                       r = j + 1
                                            … a[k] … a[r] …
                                          for j in q .. n: …

This is how a grid's neighbours are looked up at its border. The loop in the middle reads
and writes memory in order, so that it becomes vector code. Where it only adds to memory,
at several distances from its index, it is run once for each distance, for the same
reason: sums into one place may be reassociated. Only innermost loops are split, so the
code grows by a constant factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace

from chadllvm.ir.loops import (
    AddTo,
    Atom,
    Branch,
    Check,
    For,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Stmt,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64

# Distances from the index, and clamping bounds, beyond these do not occur in arrays;
# within them nothing wraps around.
_FAR = 1 << 32
_LIMIT = (1 << 62) + (1 << 33)
# How many statements may be repeated for each distance.
_SMALL = 12


def split_loops(function: LoopFunction) -> LoopFunction:
    """Split the innermost loops whose index is clamped."""
    return replace(function, body=_body(function.body))


def _body(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    new: list[Stmt] = []
    for stmt in body:
        match stmt:
            case For() if not any(isinstance(s, For | Branch) for s in stmt.body):
                new += _split(stmt)
            case For():
                new.append(replace(stmt, body=_body(stmt.body)))
            case Branch(cond, then, orelse):
                new.append(Branch(cond, _body(then), _body(orelse)))
            case _:
                new.append(stmt)
    return tuple(new)


@dataclass
class _Clamps:
    """The clamped indices of a loop: what they are in the middle, and where that is."""

    loop: For
    inside: dict[Reg, Atom] = field(default_factory=dict)
    lower: list[tuple[Atom, int]] = field(default_factory=list)
    upper: list[tuple[Atom, int]] = field(default_factory=list)
    # The registers that are at a fixed distance from the index.
    distance: dict[Reg, int] = field(default_factory=dict)

    def find(self) -> bool:
        """Whether there are any."""
        self.distance[self.loop.index] = 0
        local = {r for s in self.loop.body if (r := _assigned(s))} | {self.loop.index}
        for stmt in self.loop.body:
            match stmt:
                case Let(reg, "iadd", (Reg() as x, Lit(int() as c))) if (
                    x in self.distance and abs(c) < _FAR
                ):
                    self.distance[reg] = self.distance[x] + c
                case Let(reg, ("imin" | "imax") as op, (Reg() as x, bound)) if (
                    x in self.distance and bound not in local
                ):
                    self.inside[reg] = x
                    side = self.lower if op == "imax" else self.upper
                    side.append((bound, self.distance[x]))
        return bool(self.inside)

    def middle(self, new: list[Stmt]) -> tuple[Atom, Atom]:
        """Compute where the middle begins and where it ends."""

        def let(op: str, *args: Atom) -> Atom:
            reg = Reg("t", I64)
            new.append(Let(reg, op, args))
            return reg

        def first(bound: Atom, distance: int) -> Atom:
            if not isinstance(bound, Lit):
                bound = let("imin", let("imax", bound, Lit(-_LIMIT)), Lit(_LIMIT))
            elif abs(int(bound.value)) < _LIMIT:
                return Lit(int(bound.value) - distance)
            return let("isub", bound, Lit(distance))

        low, high = self.loop.low, self.loop.high
        begin = low
        for bound, distance in self.lower:
            begin = let("imax", begin, first(bound, distance))
        begin = let("imin", begin, high)
        end = high
        for bound, distance in self.upper:
            end = let("imin", end, first(bound, distance - 1))
        return begin, let("imax", end, begin)


def _split(loop: For) -> Iterator[Stmt]:
    clamps = _Clamps(loop)
    if not clamps.find():
        yield loop
        return
    new: list[Stmt] = []
    begin, end = clamps.middle(new)
    yield from new
    yield _copied(loop, loop.body, loop.low, begin, {})
    middle = [s for s in loop.body if _assigned(s) not in clamps.inside]
    for part in _parts(middle, clamps) or [middle]:
        yield _copied(loop, part, begin, end, clamps.inside)
    yield replace(loop, low=end)


def _copied(
    loop: For, body: Sequence[Stmt], low: Atom, high: Atom, names: dict[Reg, Atom]
) -> For:
    """The loop over other indices, with registers of its own."""
    index = Reg(loop.index.name, I64)
    mapping: dict[object, object] = {**names, loop.index: index}
    copies = []
    for stmt in body:
        copy = {f.name: _renamed(getattr(stmt, f.name), mapping) for f in fields(stmt)}
        copies.append(replace(stmt, **copy))
    return For(index, low, high, tuple(copies), loop.poll)


def _renamed(value: object, mapping: dict[object, object]) -> object:
    raise NotImplementedError


def _assigned(stmt: Stmt) -> Reg | None:
    reg = getattr(stmt, "reg", None)
    return reg if isinstance(reg, Reg) else None
