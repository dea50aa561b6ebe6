"""Which variables each branch and loop must hand on: one walk back over a function.

A variable is *live* at a place if its value there may still be read. A branch hands on
the variables that it assigns and that are live after it. A loop carries the variables
that its body assigns and that are live after it or read by a later step before they are
assigned.

Blocks are walked with a live set that stores only its difference to the set outside, so
the whole costs a lookup per variable and level of nesting, not a copy of a set per
branch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chadllvm.frontend.surface import (
    Assign,
    Branch,
    Loop,
    Return,
    Statement,
    target_names,
    target_parts,
)


@dataclass(frozen=True)
class Liveness:
    """Per branch and loop: the names handed on, and all that are assigned inside."""

    handed_on: dict[Branch | Loop, tuple[str, ...]] = field(default_factory=dict)
    assigned: dict[Branch | Loop, tuple[str, ...]] = field(default_factory=dict)
    locals: set[str] = field(default_factory=set)


def liveness(statements: Sequence[Statement], params: Iterable[str]) -> Liveness:
    """What the branches and loops of a function hand on."""
    result = Liveness()
    walk = _Walk(result)
    result.locals.update(params, walk.collect(statements))
    walk.block(statements, _LiveSet())
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
                case Loop(target, _, body):
                    inside = dict.fromkeys(target_names(target)) | self.collect(body)
                    self.result.assigned[statement] = tuple(inside)
                    names |= inside
                case Return():
                    pass
        return names

    def block(self, statements: Sequence[Statement], live: _LiveSet) -> None:
        """Go backwards; `live` is the set after the block, then the set before it."""
        for statement in reversed(statements):
            match statement:
                case Assign(target, value):
                    live.mark(target_names(target), False)
                    live.mark(target_reads(target) | free_names(value), True)
                case Branch():
                    self._branch(statement, live)
                case Loop():
                    self._loop(statement, live)
                case Return(value):
                    live.mark(free_names(value), True)

    def _branch(self, branch: Branch, live: _LiveSet) -> None:
        assigned = self.result.assigned[branch]
        self.result.handed_on[branch] = tuple(n for n in assigned if n in live)
        sides = [_LiveSet(live), _LiveSet(live)]
        self.block(branch.then, sides[0])
        self.block(branch.orelse, sides[1])
        for name in {**sides[0].known, **sides[1].known}:
            live.known[name] = any(name in side for side in sides)
        live.mark(free_names(branch.test), True)

    def _loop(self, loop: Loop, live: _LiveSet) -> None:
        """A step may be followed by another step or by what comes after the loop."""
        live.mark(self._first_reads(loop), True)
        assigned = self.result.assigned[loop]
        self.result.handed_on[loop] = tuple(n for n in assigned if n in live)
        self.block(loop.body, _LiveSet(live))
        live.mark(free_names(loop.iterable), True)

    def _first_reads(self, loop: Loop) -> tuple[str, ...]:
        """The names that a step reads before it assigns them."""
        if loop not in self.first_reads:
            reads = self._exposed(loop.body)[0] - set(target_names(loop.target))
            self.first_reads[loop] = tuple(reads)
        return self.first_reads[loop]

    def _exposed(self, statements: Sequence[Statement]) -> tuple[set[str], set[str]]:
        """What a block reads before assigning it, and what it assigns on every path."""
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
                    assigned |= sides[0][1] & sides[1][1]
                case Loop(_, iterable):
                    reads |= free_names(iterable) - assigned
                    reads |= set(self._first_reads(statement)) - assigned
                case Return(value):
                    reads |= free_names(value) - assigned
        return reads, assigned


def target_reads(target: ast.expr) -> set[str]:
    """The names that an assignment to this target reads: `a[i] = v` reads a and i."""
    elements = (p for p in target_parts(target) if isinstance(p, ast.Subscript))
    return {name for element in elements for name in free_names(element)}


def free_names(expression: ast.expr) -> set[str]:
    """The names an expression reads, without those its comprehensions bind."""
    names: set[str] = set()
    stack: list[tuple[ast.AST, frozenset[str]]] = [(expression, frozenset())]
    while stack:
        node, bound = stack.pop()
        if isinstance(node, ast.Name):
            names |= {node.id} - bound
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            stack += _comprehension_parts(node, bound)
        elif isinstance(node, ast.Lambda):
            parameters = (*node.args.posonlyargs, *node.args.args)
            stack.append((node.body, bound | {p.arg for p in parameters}))
        else:
            stack += [(child, bound) for child in ast.iter_child_nodes(node)]
    return names


def _comprehension_parts(
    node: ast.ListComp | ast.GeneratorExp, bound: frozenset[str]
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The first iterable is read outside; all the rest sees the targets."""
    first = node.generators[0].iter
    targets = {n for g in node.generators for n in target_names(g.target)}
    inside = bound | targets
    yield first, bound
    yield node.elt, inside
    for generator in node.generators:
        yield from ((test, inside) for test in generator.ifs)
        if generator.iter is not first:
            yield generator.iter, inside
