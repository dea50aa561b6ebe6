"""Buffers of which only the sums over all lanes are needed: one serves all of them.

    for i in 0 .. n:  # 8 lanes            for i = 0, 8, …:
      d[0 .. m] = 0                          d[0 .. m] = 0
      for row in 0 .. m:                     for row in 0 .. m:
        t = …                                  t = …
                                       →       all = the sum of the lanes of t
        for k in 0 .. row:                     for k in 0 .. row:
          y = t * b[row, k]                      d[k] += all * b[row, k]
          d[k] += y
      for k in 0 .. m:                       for k in 0 .. m:
        c[k] += -d[k]                          c[k] += -d[k]

What differs between the lanes is in `t` alone, and all that is done with `d` is linear:
its elements, multiplied by what is the same in all lanes, are added to what the lanes
have in common. So `d` may hold the sums over the lanes, its *totals*, from the
beginning. It takes a vector's part of the memory and of the additions, as long as the
innermost loops need no sum of lanes for it. Cotangents are such buffers: nothing else
is done with them in reverse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chadllvm.ir.loops import (
    AddTo,
    Atom,
    Branch,
    Clear,
    Copy,
    For,
    Let,
    Load,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere, made, used
from chadllvm.ir.types import is_float

if TYPE_CHECKING:
    from chadllvm.lower.varying import Varying


@dataclass(frozen=True)
class Totals:
    """The buffers that hold totals.

    `classes`: those of their roots. `regs`: registers that hold totals. `adds`: what
    adds to these buffers, or adds totals to others. `factors`: the registers whose
    lanes are added up where they are made; `lets` make other values of them.
    """

    classes: frozenset[int] = frozenset()
    regs: frozenset[Reg] = frozenset()
    adds: frozenset[Stmt] = frozenset()
    factors: frozenset[Reg] = frozenset()
    lets: Mapping[Reg, Let] = field(default_factory=dict)


def totals(loop: For, roots: Sequence[int], varying: Varying) -> Totals:
    """What of the buffers that each lane has may hold totals."""
    search = _Search(loop, roots, varying)
    search.run()
    return search.found()


# A statement that the lanes run together, with the innermost loop around it and how
# deep that is.
_Place = tuple[Stmt, For, int]


def _together(loop: For, varying: Varying) -> Iterator[_Place]:
    """What is run for all lanes at once, and by all of them."""
    apart = varying.alone | varying.masked

    def walk(body: Sequence[Stmt], inner: For, depth: int) -> Iterator[_Place]:
        for stmt in body:
            yield stmt, inner, depth
            match stmt:
                case For(body=inside) if stmt not in apart:
                    yield from walk(inside, stmt, depth + 1)
                case Branch(cond, then, orelse) if not varying.kind(cond):
                    yield from walk(then, inner, depth)
                    yield from walk(orelse, inner, depth)
                case _:
                    pass

    yield from walk(loop.body, loop, 0)


class _Search:
    """The search for such buffers: at first all may be, then less and less."""

    def __init__(self, loop: For, roots: Sequence[int], varying: Varying) -> None:
        self._roots, self._varying = roots, varying
        self._places = list(_together(loop, varying))
        together = {stmt for stmt, _, _ in self._places}
        self._others = [s for s in everywhere(loop.body) if s not in together]
        self._lets = {s.reg: s for s in together if isinstance(s, Let)}
        self._classes = set(varying.buffers)
        # The buffers that a total is made of.
        self._of: dict[Reg, set[int]] = {}
        self._local: dict[For, set[Reg]] = {}

    def run(self) -> None:
        """Leave out what is not used as totals are, and what gains nothing."""
        spoilt: set[int] = {-1}
        while spoilt:
            self._of.clear()
            spoilt = set()
            for stmt, _, _ in self._places:
                spoilt |= self._spoilt(stmt)
            for stmt in self._others:
                spoilt |= self._touched(stmt)
            self._classes -= spoilt
            if not spoilt:
                here = self._here()
                spoilt = {c for c in self._classes if not self._pays(c, here[c])}
                self._classes -= spoilt

    def found(self) -> Totals:
        adds = [
            (s, loop)
            for s, loop, _ in self._places
            if isinstance(s, AddTo) and self._touched(s)
        ]
        factors = {self._factor(s.value, loop) for s, loop in adds}
        return Totals(
            frozenset(self._classes),
            frozenset(self._of),
            frozenset(s for s, _ in adds),
            frozenset(f for f in factors if f is not None),
            self._lets,
        )

    def _class(self, root: int) -> set[int]:
        """The class of a root, if it may be one of totals."""
        return {self._roots[root]} & self._classes

    def _touched(self, stmt: Stmt) -> set[int]:
        """The buffers that a statement itself works on, and those of its totals."""
        found = {c for reg in used(stmt) for c in self._of.get(reg, ())}
        match stmt:
            case Load(root=root) | Store(root=root) | AddTo(root=root):
                found |= self._class(root)
            case Clear(root=root):
                found |= self._class(root)
            case Copy(target_root=root, source_root=other):
                found |= self._class(root) | self._class(other)
            case _:
                pass
        return found

    def _spoilt(self, stmt: Stmt) -> set[int]:
        """The buffers that cannot hold totals because of this statement."""
        kind, touched = self._varying.kind, self._touched(stmt)
        if not touched:
            return touched
        match stmt:
            case Load(reg, ptr, index, _):
                if not self._varying.place(ptr, index) and is_float(reg.type):
                    self._of[reg] = touched
                    return set()
            case Let(reg, op, args) if self._is_linear(op, args):
                self._of[reg] = touched
                return set()
            case AddTo(ptr, index, value, root):
                shared = not self._varying.is_private(root) or self._class(root)
                same = not self._varying.place(ptr, index)
                if shared and same and is_float(value.type):
                    return set()
            case Clear(ptr, count, _, _) if not kind(ptr) and not kind(count):
                return set()
            case _:
                pass
        return touched

    def _is_linear(self, op: str, args: Sequence[Atom]) -> bool:
        """Whether the instruction makes the total of what it does for each lane."""
        match op, args:
            case "neg", _:
                return True
            case "mul", (a, b):
                return not self._varying.kind(a) or not self._varying.kind(b)
            case "div", (_, b):
                return not self._varying.kind(b)
            case (("add" | "sub"), _):
                return all(isinstance(arg, Reg) and arg in self._of for arg in args)
            case _:
                return False

    def _factor(self, value: Atom, inner: For) -> Reg | None:
        """What of a value is to be added up over the lanes; None if nothing is."""
        if inner not in self._local:
            self._local[inner] = set(made(inner.body))
        local = self._local[inner]
        while self._varying.kind(value) and value not in self._of:
            assert isinstance(value, Reg)
            let = self._lets.get(value) if value in local else None
            if let is None or let.op not in ("neg", "mul", "div"):
                return value
            if not self._is_linear(let.op, let.args):
                return value
            value = next(arg for arg in let.args if self._varying.kind(arg))
        return None

    def _here(self) -> dict[int, list[_Place]]:
        """The places that work on each of the buffers."""
        found: dict[int, list[_Place]] = {c: [] for c in self._classes}
        for place in self._places:
            for buffer in self._touched(place[0]):
                found[buffer].append(place)
        return found

    def _pays(self, buffer: int, here: Sequence[_Place]) -> bool:
        """Whether innermost loops add nothing up, and each lane begins with zeros."""
        adds = [
            (self._factor(s.value, loop), loop, depth)
            for s, loop, depth in here
            if isinstance(s, AddTo) and self._class(s.root) == {buffer}
        ]
        deepest = max((depth for _, _, depth in adds), default=0)
        inner = [(f, loop) for f, loop, depth in adds if depth == deepest]
        return (
            any(isinstance(stmt, Clear) for stmt, _, _ in here)
            and any(factor is not None for factor, _ in inner)
            and all(factor not in self._local[loop] for factor, loop in inner)
        )
