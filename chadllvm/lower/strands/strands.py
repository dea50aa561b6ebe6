"""Loops that do not need each other run at the same time, if they take long.

    for …: a := f(a)                 strands k in 0 .. 2:
    for …: b := g(b)          →        if k == 0: for …: a := f(a)
    z = a * b                          if k == 1: for …: b := g(b)
                                     z = a * b

The loops are those whose own steps run in order, so that this is all there is to do at
the same time: recurrences, `while`, and what their derivatives do backwards; but for
those that are nested two levels less than others, which hardly matter. Loops along an
array at each of their steps, which `parallel` has spread for the case that it is large,
run in order there. What runs first is the first strand; the others are left to whoever
has nothing to do, once it has taken some time, or follow it (`llvm/beside.py`). Which
strands there are depends on the program, so the results are the same bits for any
number of threads.

Such loops are looked for among the statements of the function, then in branches, and in
loops that are no strands themselves:

    for t in 0 .. m:                 for t in 0 .. m:
      for …: a := f(a)                 if there is much to do:
      for …: b := g(b)        →          strands k in 0 .. 2: …
                                       else:
                                         for …: a := f(a)
                                         for …: b := g(b)

There the loops are in the program twice, so only some are; only loops that run for a
number of steps known before them are long; and they leave no buffers behind.

What a strand only adds to, and one before it has to do with, it adds to a copy of: a
slot of its own, or a private cell, which is then added in the order of the strands. The
cells are copied if that is little beside the work, which depends on sizes alone; else,
and if there is little to do, the strands run in order and add to the cell itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir.loops import Branch, For, Invoke, LoopFunction, Spread, Stmt, bodies_of
from chadllvm.ir.statements import Body, everywhere, over_inner, over_statements
from chadllvm.lower.chunks import spread
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.parallel import depth_of, does_little
from chadllvm.lower.chunks.work import is_vector
from chadllvm.lower.effects import Calls, Opaque
from chadllvm.lower.strands.find import group
from chadllvm.lower.strands.make import Home, Making, Place, Refused, declared

# The tries to find strands; each looks at what follows a long loop.
_TRIES = 32

# How many statements may be in the program twice.
_MOST_TWICE = 400


def strands(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Find strands; without `threads` all of them run in order."""
    known = Known(function)
    plain = replace(function, body=_in_order(function.body, known))
    if not _may_have_strands(plain.body):
        return function
    walk = _Walk(Home(plain, threads), known, depth_of(plain.body) - 1)
    body = walk.body(function.body, Place(frozenset(), walk.home.known.forms))
    if not walk.count:
        return function
    return replace(function, body=body, regions=function.regions + 2)


def _in_order(body: Body, known: Known) -> Body:
    """A body in which loops that do little in each step are not spread."""

    def changed(stmt: Stmt) -> Sequence[Stmt]:
        if isinstance(stmt, Branch) and _is_light(stmt, known):
            return stmt.orelse
        return [_plain(stmt, known)]

    return over_statements(body, changed)


def _plain(stmt: Stmt, known: Known) -> Stmt:
    """A statement in whose loops those that do little in each step are not spread."""
    if not isinstance(stmt, For | Branch) or _is_light(stmt, known):
        return stmt
    return over_inner(stmt, lambda inner: _in_order(inner, known))


def _is_light(stmt: Stmt, known: Known) -> bool:
    """Whether this is such a loop, which is spread if it is large."""
    match stmt:
        case Branch(_, then, (For() as loop,)):
            spreads = any(isinstance(s, Spread) for s in then)
            return spreads and does_little(loop, known)
        case _:
            return False


def _may_have_strands(body: Sequence[Stmt]) -> bool:
    """Whether there are two loops in order in one body, of any depth."""
    if sum(map(_has_loops, body)) > 1:
        return True
    inner = (b for s in body if isinstance(s, For | Branch) for b in bodies_of(s))
    return any(map(_may_have_strands, inner))


def _has_loops(stmt: Stmt) -> bool:
    """Whether there are loops in a statement, and all of them run in order."""
    inside = [*everywhere((stmt,))]
    if any(isinstance(s, Spread | Invoke) for s in inside):
        return False
    return any(isinstance(s, For) for s in inside)


class _Walk:
    """A walk over a function; `depth`: how deep a loop must be nested at least."""

    def __init__(self, home: Home, known: Known, depth: int) -> None:
        self.count = 0
        self.home = home
        self._known = known
        self._calls = Calls(known.function)
        self._depth = depth
        self._long: dict[Stmt, bool] = {}
        self._tries = _TRIES
        self._twice = _MOST_TWICE

    def body(self, body: Sequence[Stmt], place: Place) -> tuple[Stmt, ...]:
        """A body with strands in it."""
        plain = [_plain(stmt, self._known) for stmt in body]
        new: list[Stmt] = []
        k = 0
        while k < len(body):
            stmts, end = self._made(plain, k, place)
            if end == k:
                stmts, end = [self._inside(body[k], place)], k + 1
            place = place.behind(declared(stmts))
            new += stmts
            k = end
        return tuple(new)

    def _inside(self, stmt: Stmt, place: Place) -> Stmt:
        """A statement that begins no strands, with those inside of it."""
        match stmt:
            case For():
                inner = place.inside(stmt)
            case Branch() if not _is_light(stmt, self._known):
                inner = place
            case _:
                return stmt
        if not any(map(_may_have_strands, bodies_of(stmt))):
            return stmt
        return over_inner(stmt, lambda body: self.body(body, inner))

    def _made(
        self, body: Sequence[Stmt], start: int, place: Place
    ) -> tuple[list[Stmt], int]:
        """The strands that begin at a place, and where they end: there if none do."""

        def is_long(stmt: Stmt) -> bool:
            if stmt not in self._long:
                self._long[stmt] = self._may_be_long(stmt, place)
            return self._long[stmt]

        if not self._tries or not is_long(body[start]):
            return [], start
        self._tries -= 1
        found = group(body, start, self._calls, is_long)
        if found is None:
            return [], start
        twice = 0
        if place.is_repeated:
            twice = sum(1 for s in found.strands for _ in everywhere(s.stmts))
        if twice > self._twice:
            return [], start
        try:
            stmts = Making(self.home, found, place).stmts()
        except Refused:
            return [], start
        self._twice -= twice
        self.count += 1
        return stmts, found.end

    def _may_be_long(self, stmt: Stmt, place: Place) -> bool:
        """Whether a statement may take long, for some sizes, beside all others."""
        if not _has_loops(stmt) or depth_of((stmt,)) < self._depth:
            return False
        if place.is_repeated and not self._goes_on(stmt):
            return False
        work = self.home.work((stmt,), set(), place)
        return any(work) or work.get((), 0.0) >= spread.GRAIN

    def _goes_on(self, stmt: Stmt) -> bool:
        """Whether this is a loop whose steps go on with what they had, and not one that
        only fills or sums what becomes vector code."""
        if not isinstance(stmt, For):
            return False
        if not is_vector(stmt):
            return True
        try:
            does = self._calls.effects((stmt,))
        except Opaque:
            return False
        return not does.read.isdisjoint(does.written)
