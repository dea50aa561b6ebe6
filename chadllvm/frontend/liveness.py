"""Which variables each branch and loop must hand on: one walk back over a function.

A variable is *live* at a place if its value there may still be read. A branch hands on
the variables that it assigns and that are live after it. A loop carries the variables
that its body assigns and that are live after it or read by a later step before they are
assigned. Behind an exit, only that is live which is live where the exit leads to.

Blocks are walked with a live set that stores only its difference to the set outside, so
the whole costs a lookup per variable and level of nesting, not a copy of a set per
branch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.frontend.free import free_names
from chadllvm.frontend.surface import (
    Assign,
    Branch,
    Break,
    Continue,
    For,
    Loop,
    Raise,
    Return,
    Statement,
    While,
    target_names,
    target_parts,
)


@dataclass(frozen=True)
class Liveness:
    """Per branch and loop: the names handed on, and all that are assigned inside.

    Per loop also the names assigned in its `else`, and which of all of these are live
    after the loop.
    """

    handed_on: dict[Branch | Loop, tuple[str, ...]] = field(default_factory=dict)
    assigned: dict[Branch | Loop, tuple[str, ...]] = field(default_factory=dict)
    in_else: dict[Loop, tuple[str, ...]] = field(default_factory=dict)
    after: dict[Loop, tuple[str, ...]] = field(default_factory=dict)
    locals: set[str] = field(default_factory=set)


def liveness(statements: Sequence[Statement], params: Iterable[str]) -> Liveness:
    """What the branches and loops of a function hand on."""
    result = Liveness()
    walk = _Walk(result)
    result.locals.update(params, walk.collect(statements))
    walk.block(statements, _LiveSet(), None)
    return result


class _LiveSet:
    """A set of names as a difference to another, which must not change meanwhile."""

    def __init__(self, outer: _LiveSet | None = None) -> None:
        self.outer = outer
        self.known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        at: _LiveSet | None = self
        while at is not None:
            if name in at.known:
                return at.known[name]
            at = at.outer
        return False

    def mark(self, names: Iterable[str], live: bool) -> None:
        self.known.update(dict.fromkeys(names, live))

    def become(self, other: _LiveSet | None, names: Iterable[str]) -> None:
        """Be the other set, or empty, as far as these names go."""
        self.known = {name: other is not None and name in other for name in names}


@dataclass(frozen=True)
class _Targets:
    """What is live where a `break` and a `continue` lead to."""

    after: _LiveSet
    head: _LiveSet


class _Walk:
    """`collect` finds what is assigned, `block` what is live."""

    def __init__(self, result: Liveness) -> None:
        self.result = result
        self.first_reads: dict[Loop, tuple[str, ...]] = {}

    def collect(self, statements: Sequence[Statement]) -> dict[str, None]:
        """The names assigned in a block, in order; notes them for all inside it."""
        names: dict[str, None] = {}
        for statement in statements:
            match statement:
                case Assign(target):
                    names.update(dict.fromkeys(target_names(target)))
                case Branch(_, then, orelse):
                    inside = self.collect(then) | self.collect(orelse)
                    self.result.assigned[statement] = tuple(inside)
                    names |= inside
                case For() | While():
                    inside = dict.fromkeys(_targets(statement))
                    inside |= self.collect(statement.body)
                    self.result.assigned[statement] = tuple(inside)
                    later = self.collect(statement.orelse)
                    self.result.in_else[statement] = tuple(later)
                    names |= inside | later
                case Return() | Break() | Continue() | Raise():
                    pass
                case _:
                    assert_never(statement)
        return names

    def block(
        self,
        statements: Sequence[Statement],
        live: _LiveSet,
        targets: _Targets | None,
    ) -> None:
        """Go backwards; `live` is the set after the block, then the set before it."""
        for statement in reversed(statements):
            match statement:
                case Assign(target, value):
                    live.mark(target_names(target), False)
                    live.mark(target_reads(target) | free_names(value), True)
                case Branch():
                    self._branch(statement, live, targets)
                case For() | While():
                    self._loop(statement, live, targets)
                case Return() | Raise():
                    live.become(None, self.result.locals)
                    live.mark(exit_reads(statement), True)
                case Break():
                    assert targets is not None
                    live.become(targets.after, self.result.locals)
                case Continue():
                    assert targets is not None
                    live.become(targets.head, self.result.locals)
                case _:
                    assert_never(statement)

    def _branch(self, branch: Branch, live: _LiveSet, targets: _Targets | None) -> None:
        assigned = self.result.assigned[branch]
        self.result.handed_on[branch] = tuple(n for n in assigned if n in live)
        sides = [_LiveSet(live), _LiveSet(live)]
        self.block(branch.then, sides[0], targets)
        self.block(branch.orelse, sides[1], targets)
        for name in {**sides[0].known, **sides[1].known}:
            live.known[name] = any(name in side for side in sides)
        live.mark(free_names(branch.test), True)

    def _loop(self, loop: Loop, after: _LiveSet, targets: _Targets | None) -> None:
        """A step may be followed by another step or by what comes after the loop.

        Where there is an `else`, there is a `break`, which leads behind it.
        """
        end = _LiveSet(after)
        self.block(loop.orelse, end, targets)
        head = _LiveSet(end)
        head.mark(self._first_reads(loop), True)
        assigned = self.result.assigned[loop]
        left = (*assigned, *self.result.in_else[loop])
        self.result.after[loop] = tuple(n for n in dict.fromkeys(left) if n in after)
        head.mark([n for n in end.known if n in after], True)
        self.result.handed_on[loop] = tuple(n for n in assigned if n in head)
        self.block(loop.body, _LiveSet(head), _Targets(after, head))
        for name in {**end.known, **head.known}:
            after.known[name] = name in head
        if isinstance(loop, For):
            after.mark(free_names(loop.iterable), True)

    def _first_reads(self, loop: Loop) -> tuple[str, ...]:
        """The names that a step reads before it assigns them."""
        if loop not in self.first_reads:
            reads = self._exposed(loop.body)[0] - set(_targets(loop))
            if isinstance(loop, While):
                reads |= free_names(loop.test)
            self.first_reads[loop] = tuple(reads)
        return self.first_reads[loop]

    def _exposed(
        self, statements: Sequence[Statement]
    ) -> tuple[set[str], set[str] | None]:
        """What a block reads before assigning it, and what it assigns on every path.

        The latter is None if no path reaches its end.
        """
        reads: set[str] = set()
        assigned: set[str] = set()
        for statement in statements:
            match statement:
                case Assign(target, value):
                    reads |= (target_reads(target) | free_names(value)) - assigned
                    assigned.update(target_names(target))
                case Branch(test, then, orelse):
                    sides = [self._exposed(then), self._exposed(orelse)]
                    for names in (free_names(test), *(side[0] for side in sides)):
                        reads |= names - assigned
                    ends = [names for _, names in sides if names is not None]
                    if not ends:
                        return reads, None
                    assigned |= set.intersection(*ends)
                case For() | While():
                    if isinstance(statement, For):
                        reads |= free_names(statement.iterable) - assigned
                    reads |= set(self._first_reads(statement)) - assigned
                    reads |= self._exposed(statement.orelse)[0] - assigned
                case Return() | Raise():
                    return reads | (exit_reads(statement) - assigned), None
                case Break() | Continue():
                    return reads, None
                case _:
                    assert_never(statement)
        return reads, assigned


def _targets(loop: Loop) -> Iterator[str]:
    """The names that each step of a loop assigns first."""
    if isinstance(loop, For):
        yield from target_names(loop.target)


def exit_reads(statement: Return | Raise) -> set[str]:
    """The names that an exit reads."""
    match statement:
        case Return(value) | Raise(_, ast.expr() as value):
            return free_names(value)
        case _:
            return set()


def target_reads(target: ast.expr) -> set[str]:
    """The names that an assignment to this target reads: `a[i] = v` reads a and i."""
    elements = (p for p in target_parts(target) if isinstance(p, ast.Subscript))
    return {name for element in elements for name in free_names(element)}
