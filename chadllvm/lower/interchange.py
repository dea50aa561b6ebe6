"""Inner loops change places where only the innermost one reads memory with gaps.

    for i in 0 .. l:                      for i in 0 .. l:
      for j in 0 .. n:                      for k in 0 .. m:
        for k in 0 .. m:                      x = a[i * m + k]
          x = a[i * m + k]         →          for j in 0 .. n:
          y = b[k * n + j]                      y = b[k * n + j]
          c[i * n + j] += x * y                 c[i * n + j] += x * y

This is a product of matrices as it is written down, and the reverse of one. The loops
on the right read and write rows in order, so that they become vector code. An element
gets what is added to it in the same order as before, or sums have none. If n is small
the loops stay as they were, which is asked at run time; so the loops are there twice,
with the one around them, if that does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    AddTo,
    Atom,
    Branch,
    For,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Stmt,
)
from chadllvm.ir.statements import (
    Body,
    assigned,
    copied,
    everywhere,
    made,
    over_bodies,
    over_inner,
    over_statements,
    used,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64

# A loop with fewer steps is not worth to be the innermost one.
_FEW = 8

# How a place moves with an index: not at all, to its neighbour, or further.
_STAYS, _NEXT, _FAR = range(3)


def interchange(function: LoopFunction) -> LoopFunction:
    """Let the innermost loops of nests go through memory in order."""
    return over_bodies(function, _Changing(function.roots).body)


class _Changing:
    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots

    def body(self, body: Body) -> Body:
        """The statements of a body with its nests changed."""
        return over_statements(body, self._statement)

    def _statement(self, stmt: Stmt) -> Iterable[Stmt]:
        nest = self._nest(stmt) if isinstance(stmt, For) else None
        return nest.versions() if nest else [over_inner(stmt, self.body)]

    def _nest(self, loop: For) -> _Nest | None:
        """The loops of a nest that is to be changed."""
        second = _inside(loop)
        third = _inside(second) if second else None
        if second is None:
            return None
        nest = _Nest(loop, second, third) if third else _Nest(None, loop, second)
        may_be = self._only_adds(loop, nest.inner) and nest.is_rectangular()
        return nest if may_be and nest.has_gaps() else None

    def _only_adds(self, loop: For, inner: For) -> bool:
        """Whether all that a nest does is to add to what it does not read."""
        if not all(isinstance(s, Let | Load | Offset | AddTo) for s in inner.body):
            return False
        inside = list(everywhere((loop,)))
        reads = {self._roots[s.root] for s in inside if isinstance(s, Load)}
        adds = {self._roots[s.root] for s in inside if isinstance(s, AddTo)}
        return bool(adds) and reads.isdisjoint(adds)


def _inside(loop: For) -> For | None:
    """The loop in a loop that does nothing else but to look for it where it is."""
    *before, last = loop.body or (None,)
    plain = all(isinstance(stmt, Let | Load | Offset) for stmt in before)
    is_one = plain and isinstance(last, For) and last.go is None and loop.go is None
    return last if is_one and isinstance(last, For) else None


@dataclass(frozen=True)
class _Nest:
    """Loops that may change places, and the one around them, if there is one."""

    outer: For | None
    middle: For
    inner: For

    def is_rectangular(self) -> bool:
        """Whether the inner loops have the same steps in all steps around them."""
        whole = self.outer or self.middle
        local = {whole.index, *made(whole.body)}
        moving = (self.middle, self.inner) if self.outer else (self.inner,)
        ends = [end for loop in moving for end in (loop.low, loop.high)]
        plain = not (self.middle.private or self.inner.private)
        return plain and local.isdisjoint(ends)

    def has_gaps(self) -> bool:
        """Whether only the innermost loop goes through memory with gaps."""
        body = (*self.middle.body[:-1], *self.inner.body)
        now, then = _moves(body, self.inner.index), _moves(body, self.middle.index)
        return _FAR in now and _FAR not in then and _NEXT in then

    def versions(self) -> list[Stmt]:
        """The nest as it is to be, and as it was."""
        count, many = Reg("t", I64), Reg("many", BOOL)
        return [
            Let(count, "isub", (self.middle.high, self.middle.low)),
            Let(many, "ile", (Lit(_FEW), count)),
            Branch(many, (copied(self._changed()),), (self.outer or self.middle,)),
        ]

    def _changed(self) -> For:
        moving: set[Reg] = {self.middle.index}
        around: list[Stmt] = []
        inside: list[Stmt] = []
        for stmt in (*self.middle.body[:-1], *self.inner.body):
            if isinstance(stmt, AddTo) or not moving.isdisjoint(used(stmt)):
                moving.update(assigned(stmt))
                inside.append(stmt)
            else:
                around.append(stmt)
        poll = self.middle.poll
        last = replace(self.middle, body=tuple(inside), poll=self.inner.poll)
        loop = replace(self.inner, body=(*around, last), poll=poll)
        if self.outer is None:
            return loop
        return replace(self.outer, body=(*self.outer.body[:-1], loop))


def _moves(body: Iterable[Stmt], index: Reg) -> set[int]:
    """How the places that a body looks at move with an index."""
    kinds: dict[Atom, int] = {index: _NEXT}
    found = set()
    for stmt in body:
        match stmt:
            case Let(reg, op, args):
                kinds[reg] = _result(op, [kinds.get(arg, _STAYS) for arg in args])
            case Offset(reg, ptr, at):
                kinds[reg] = _place(kinds.get(ptr, _STAYS), kinds.get(at, _STAYS))
            case Load(reg, ptr, at):
                found.add(place := _place(kinds.get(ptr, 0), kinds.get(at, 0)))
                kinds[reg] = _FAR if place else _STAYS
            case AddTo(ptr, at):
                found.add(_place(kinds.get(ptr, 0), kinds.get(at, 0)))
            case _:
                pass
    return found


def _result(op: str, kinds: Sequence[int]) -> int:
    match op, kinds:
        case "iadd", [one, other]:
            return _place(one, other)
        case "isub", [kind, 0]:
            return kind
        case _:
            return _FAR if any(kinds) else _STAYS


def _place(one: int, other: int) -> int:
    """How a sum moves."""
    return max(one, other) if not one or not other else _FAR
