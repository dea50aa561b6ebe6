"""The `for` and `if` clauses of a comprehension, in one of two forms.

In a nest there is a loop for each `for`, in which a branch stands for each `if`. What
the loops are is up to the user of the nest (`comprehension.py`):

    sum(e for x in a if p     →   fold[add](n) { i ->
          for y in b)               if p { fold[add](m) { j -> e } } else { 0 } }

In the flat form there is one loop, whose number of steps is known before it begins. It
is that of clauses that do not depend on each other, and of a single one with tests:

    e for x in a for y in b        →   n * m steps, the k-th for a[k // m], b[k % m]
    e for x in a if p              →   as many as there are `places` in a where p holds
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from chadllvm.errors import name_errors
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import delayed, number_of, unravelled
from chadllvm.frontend.free import free_names
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.narrowing import assume
from chadllvm.frontend.places import true_places
from chadllvm.frontend.scope import Unusable
from chadllvm.frontend.surface import target_names
from chadllvm.frontend.targets import bind_target
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    If,
    Lambda,
    Lit,
    Operand,
    Var,
    nested,
)
from chadllvm.ir.types import I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate

Comprehension = ast.ListComp | ast.GeneratorExp

# Emits what one step gives, into the current block.
Leaf = Callable[[], Operand]
# The same in a nest, where there may be several values; it is given the indices.
Inmost = Callable[[Sequence[Var]], Sequence[Operand]]


def bind_item(cx: Context, target: ast.expr, source: Items, index: Operand) -> None:
    """Make the target stand for the element at the index, inside the body."""
    since = len(cx.builder.bindings)
    value = source.element(cx.at(target), index)
    bind_target(cx, target, value, since)


def new_index(target: ast.expr, source: Items) -> Var:
    """The variable for the position in a loop over this target."""
    if source.is_count and isinstance(target, ast.Name):
        return Var(target.id, I64)
    return Var("i", I64)


# ---- a loop for each `for` -------------------------------------------------------


class Nest(Protocol):
    """What the loops of a nest are; the outermost one has depth 0."""

    def skipped(self, depth: int, values: Sequence[Operand]) -> Sequence[Operand]:
        """What a step gives whose test fails, where others give such values."""

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Sequence[Operand]:
        """Emit the loop of these steps."""


@dataclass(frozen=True)
class Step:
    """The body of a loop, without its end, and the values that it gives."""

    builder: Builder
    values: Sequence[Operand]

    def block(self) -> Block:
        return self.builder.block(self.values)


def in_nest(
    cx: Context, node: Comprehension, source: Items, leaf: Inmost, nest: Nest
) -> Sequence[Operand]:
    """A loop for each clause, the first one over this source; the leaf is inmost."""
    return _loops(cx, node, source, leaf, nest, ())


def _loops(
    cx: Context,
    node: Comprehension,
    source: Items,
    leaf: Inmost,
    nest: Nest,
    outer: tuple[Var, ...],
) -> Sequence[Operand]:
    """Emit the loops inside of those with the indices `outer`."""
    depth, last = len(outer), len(node.generators) - 1
    clause = node.generators[depth]
    index = new_index(clause.target, source)

    def rest() -> Sequence[Operand]:
        indices = (*outer, index)
        if depth == last:
            return leaf(indices)
        inner = items(cx, node.generators[depth + 1].iter)
        return _loops(cx, node, inner, leaf, nest, indices)

    with cx.nested() as b:
        if depth == 0:
            _forget(cx, node)
        bind_item(cx, clause.target, source, index)
        values = _tested(cx, clause.ifs, rest, partial(nest.skipped, depth))
    step = Step(b, values)
    return nest.loop(cx.at(clause.iter), depth, source.length, index, step)


def _forget(cx: Context, node: Comprehension) -> None:
    """The targets are the comprehension's own: no value from outside is seen."""
    for clause in node.generators:
        for name in target_names(clause.target):
            error = partial(name_errors.used_before_assignment, name=name)
            cx.scope.bind(name, Unusable(error))


def _tested(
    cx: Context,
    tests: Sequence[ast.expr],
    leaf: Callable[[], Sequence[Operand]],
    skipped: Callable[[Sequence[Operand]], Sequence[Operand]],
) -> Sequence[Operand]:
    """What the leaf gives where all tests hold; a test is made if those before hold."""
    if not tests:
        return leaf()
    test = condition(cx, tests[0])
    with cx.nested() as b:
        assume(cx, tests[0], True)
        values = _tested(cx, tests[1:], leaf, skipped)
    other = cx.builder.child().block(skipped(values))
    return cx.at(tests[0]).emit(If(test, b.block(values), other))


def bind_step(
    cx: Context, node: Comprehension, source: Items, places: Sequence[Operand]
) -> None:
    """Make the targets stand for what they are at these indices of a nest's loops.

    It is a step in which the tests hold.
    """
    for clause, place in zip(node.generators, places, strict=True):
        if clause is not node.generators[0]:
            source = items(cx, clause.iter)
        bind_item(cx, clause.target, source, place)
        for test in clause.ifs:
            assume(cx, test, True)


# ---- one loop --------------------------------------------------------------------


@dataclass(frozen=True)
class Flat:
    """`bind(k)` makes the targets stand for what they are in step k of `count`."""

    count: Operand
    bind: Callable[[Operand], None]
    name: str = "i"

    def body(self, cx: Context, leaf: Leaf) -> Lambda:
        """The step of the loop."""
        index = Var(self.name, I64)
        with cx.nested() as b:
            self.bind(index)
            return Lambda((index,), b.block([leaf()]))


def flat(cx: Context, node: Comprehension) -> Flat | None:
    """The clauses as one loop, if they can be."""
    tests = node.generators[-1].ifs
    if len(node.generators) > 1 and any(clause.ifs for clause in node.generators):
        return None
    sources = _independent(cx, node)
    if sources is None:
        return None
    every = _product(cx, node, sources)
    return _selected(cx, tests, every) if tests else every


def _independent(cx: Context, node: Comprehension) -> list[Items] | None:
    """What the clauses run over, computed here; None if only a nest may do that.

    Behind the first clause this is done in each step of those before it, and perhaps
    not at all: what may fail, or not end, is not to be done here.
    """
    first, *others = node.generators
    targets = {n for clause in node.generators for n in target_names(clause.target)}
    if any(free_names(clause.iter) & targets for clause in others):
        return None
    with cx.nested() as b:
        rest = [items(cx, clause.iter) for clause in others]
    if not all(map(_is_harmless, b.bindings)):
        return None
    sources = [items(cx, first.iter), *rest]
    cx.builder.bindings += b.bindings
    return sources


def _is_harmless(binding: Binding) -> bool:
    """Whether this ends, and cannot fail: rows of an array may differ in size."""
    expr = binding.expr
    match expr:
        case Call() | Apply(Iterate() | Fold()):
            return False
        case Apply(op) if op.can_fail:
            return False
        case Apply(Build()) if any(_has_rows(var) for var in binding.vars):
            return False
        case _:
            blocks = [block for _, block in nested(expr)]
            return all(_is_harmless(b) for block in blocks for b in block.bindings)


def _has_rows(var: Var) -> bool:
    return isinstance(var.type, Array) and var.type.rank > 1


def _product(cx: Context, node: Comprehension, sources: Sequence[Items]) -> Flat:
    """All combinations of the elements, those of the last clause changing fastest."""
    targets = [clause.target for clause in node.generators]
    if len(sources) == 1:
        (target,), (source,) = targets, sources
        name = new_index(target, source).name
        return Flat(source.length, partial(bind_item, cx, target, source), name)
    shape = tuple(_size(cx.at(node), source.length) for source in sources)

    def bind(index: Operand) -> None:
        places = unravelled(cx.at(node), index, shape)
        for target, source, place in zip(targets, sources, places, strict=True):
            bind_item(cx, target, source, place)

    return Flat(number_of(cx.at(node), shape), bind)


def _size(b: Builder, length: Operand) -> Operand:
    """The product of two negative lengths is none."""
    if isinstance(length, Lit):
        return Lit(max(length.value, 0))
    return b.prim("imax", length, Lit(0))


def _selected(cx: Context, tests: Sequence[ast.expr], every: Flat) -> Flat:
    """The steps in which the tests hold."""
    *others, last = tests

    def holds() -> Operand:
        (held,) = _tested(cx, others, lambda: (condition(cx, last),), _never)
        return held

    b = cx.at(tests[0])
    mask = b.apply(Build(), [every.count], [every.body(cx, holds)])[0]
    (places,) = true_places(cx, tests[0], delayed(cx, tests[0], mask))

    def bind(index: Operand) -> None:
        every.bind(places.element(cx.builder, [index]))
        for test in tests:
            assume(cx, test, True)

    return Flat(places.shape[0], bind)


def _never(values: Sequence[Operand]) -> Sequence[Operand]:
    return (Lit(False),)
