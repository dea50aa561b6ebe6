"""The span of a term (§8): the steps of its longest chain, given machines enough.

What the steps of a term count is work. Here the same counter is a clock: what may run
at the same time starts at the same time, and the clock then shows when the last of it
ended. Elements of a `build`, a `map` and a `zipWith` run at the same time, and so do
the combinations of one level of a balanced fold, the computations of a `sequence`, and
unTree's two calls. What copies an array takes one step; `collect` takes one for each
BPlus on the longest way down.

What adds to the same cell may not do so at the same time: each computation of several
adds to cells of its own, and these are added up two by two (`Forks`). So are the
contributions that `scatter` finds for one element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from chadllvm.ir.types import Type
from chadllvm.paper.linear import Pay
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import Action, Monad
from chadllvm.paper.tree import (
    Composed,
    Cons,
    DifferenceList,
    Leaf,
    Tree,
)
from chadllvm.paper.types import Scope

S = TypeVar("S")
T = TypeVar("T")

Cells = dict[int, Any]


class SpanMachine(Machine):
    """A machine whose `cost` is a clock."""

    def each(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """The function of all items at the same time."""
        start = end = self.cost
        results: list[T] = []
        for item in items:
            self.cost = start + 1
            results.append(function(item))
            end = max(end, self.cost)
        self.cost = end
        return results


def copying(machine: Machine) -> Pay:
    """How to pay for what copies an array: its length, or one step of the clock."""
    if isinstance(machine, SpanMachine):
        return lambda cost: machine.pay(1)
    return machine.pay


def each(machine: Machine, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """The function of every item, in no particular order: one step more for each."""
    if isinstance(machine, SpanMachine):
        return machine.each(function, items)
    results: list[T] = []
    for item in items:
        machine.pay(1)
        results.append(function(item))
    return results


class Forks(Monad):
    """EVM Γ τ = Cells → τ × Cells, the cells by their place in the scope.

    Computations of a `sequence` start with no cells: theirs are added up afterwards.
    """

    def pure(self, value: Any, pay: Pay) -> Action:
        def computation(cells: Cells) -> tuple[Any, Cells]:
            pay(1)
            return value, cells

        return computation

    def bind(self, first: Action, then: Callable[[Any], Action], pay: Pay) -> Action:
        def computation(cells: Cells) -> tuple[Any, Cells]:
            pay(1)
            value, cells = first(cells)
            found: tuple[Any, Cells] = then(value)(cells)
            return found

        return computation

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Action:
        def computation(cells: Cells) -> tuple[Any, Cells]:
            pay(1)
            sum = cotangent
            if index in cells:
                sum = self.linear.plus(cotangent, cells[index], ty, pay)
            return (), {**cells, index: sum}

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Action, pay: Pay
    ) -> Action:
        def computation(cells: Cells) -> tuple[Any, Cells]:
            pay(1)
            value, after = inner({**cells, index: initial})
            rest = {k: v for k, v in after.items() if k != index}
            return (after[index], value), rest

        return computation

    def run(
        self, computation: Action, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        value, cells = computation(dict(enumerate(cotangents)))
        return value, tuple([cells[k] for k in range(len(cotangents))])

    def together(
        self, machine: SpanMachine, scope: Scope, actions: Sequence[Action]
    ) -> Action:
        """All at the same time; gives their values."""

        def added(a: Cells, b: Cells) -> Cells:
            return self._added(machine, scope, a, b)

        def computation(cells: Cells) -> tuple[list[Any], Cells]:
            done = machine.each(lambda action: action({}), actions)
            parts = [cells, *machine.each(lambda part: part[1], done)]
            whole = in_rounds(
                machine, lambda a, b: self._added(machine, scope, a, b), parts
            )
            return [value for value, _ in done], whole

        return computation

    def un_tree(
        self,
        machine: SpanMachine,
        scope: Scope,
        g: Callable[[Any, Any], Action],
        d: Any,
        tree: Tree,
    ) -> Action:
        """Fig. 9, its two calls at the same time."""
        if isinstance(tree, Leaf):
            return self.pure(Cons(d), machine.pay)
        left, right = tree.left, tree.right

        def both(parts: tuple[Any, Any]) -> Action:
            calls = zip(parts, (left, right), strict=True)
            actions = [self.un_tree(machine, scope, g, x, t) for x, t in calls]
            return self.bind(
                self.together(machine, scope, actions),
                lambda lists: self.pure(Composed(*lists), machine.pay),
                machine.pay,
            )

        return self.bind(g(d, tree.bp), both, machine.pay)

    def _added(self, machine: SpanMachine, scope: Scope, a: Cells, b: Cells) -> Cells:
        """The cells of both; what both have is added at the same time."""
        shared = [k for k in a if k in b]
        sums = machine.each(
            lambda k: self.linear.plus(a[k], b[k], scope.type_at(k), machine.pay),
            shared,
        )
        return {**a, **b, **dict(zip(shared, sums, strict=True))}


def in_rounds(machine: Machine, combine: Callable[[T, T], T], items: list[T]) -> T:
    """Neighbours are combined until one is left; those of a round at the same time."""
    while len(items) > 1:
        pairs = list(zip(items[::2], items[1::2], strict=False))
        odd = items[len(items) - len(items) % 2 :]
        items = each(machine, lambda pair: combine(*pair), pairs) + odd
    return items[0]


def scattered_at_once(
    machine: SpanMachine,
    base: Sequence[Any],
    pairs: Sequence[tuple[int, Any]],
    ty: Type,
) -> list[Any]:
    """The base with the contributions added, those to one element in rounds."""
    linear = machine.linear
    found = [[x] for x in base]
    for index, cotangent in pairs:
        found[index].append(cotangent)
    return machine.each(
        lambda parts: in_rounds(
            machine, lambda a, b: linear.plus(a, b, ty, machine.pay), parts
        ),
        found,
    )


def list_depth(difference: DifferenceList) -> int:
    """The longest chain of calls of a difference list, all others at the same time."""
    deepest, pending = 0, [(difference, 1)]
    while pending:
        node, above = pending.pop()
        deepest = max(deepest, above)
        if isinstance(node, Composed):
            pending += ((node.first, above + 1), (node.second, above + 1))
    return deepest
