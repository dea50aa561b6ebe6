"""Array operations in the monad: `sequence`, `unTree`, and the reverse of a loop.

They run computations whose number is known at run time only, one after the other. In
the environment forms a computation is its contributions with its value (`effects`), and
the contributions are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from chadllvm.ir.types import Type
from chadllvm.paper.array_types import (
    array,
    difference_list,
    is_array,
    is_list,
    is_tree,
)
from chadllvm.paper.elements import Elements
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad, Monad, TreeMonad
from chadllvm.paper.naive import Environments
from chadllvm.paper.span import Forks, SpanMachine
from chadllvm.paper.terms import Operation
from chadllvm.paper.tree import un_tree
from chadllvm.paper.types import (
    Computation,
    Scope,
    computation,
    expect,
    is_function,
    is_product,
    product,
)

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine

T = TypeVar("T")

# Yields computations, is sent their values.
Steps = Generator[Any, Any, T]


@dataclass(frozen=True)
class Sequenced(Operation):
    """sequence : Array (M Γ τ) → M Γ (Array τ): one step for each when it is run.

    `backwards`: the last one first. That gives the same, but for rounding (§8).
    """

    scope: Scope
    backwards: bool = False

    def run(self, machine: Machine, *args: Any) -> Any:
        items: Sequence[Any] = args[0].items

        if isinstance(machine, SpanMachine):
            forks: Forks = machine.effects
            together = forks.together(machine, self.scope, items)
            return forks.bind(
                together, lambda found: forks.pure(Elements(found), free), free
            )

        def steps() -> Steps[Elements]:
            found: list[Any] = []
            for item in reversed(items) if self.backwards else items:
                machine.pay(1)
                found.append((yield item))
            return Elements(found[::-1] if self.backwards else found)

        return perform(machine, self.scope, steps)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        held = value_type(self.rule, self.scope, is_array(self.rule, args[0]))
        return effect(is_array(self.rule, args[0]), self.scope, array(held))


@dataclass(frozen=True)
class UnTree(Operation):
    """unTree : (D × f → M Γ (D × D)) → D → Tree a f → M Γ (List D → List D)

    `right_first`: the second of the two calls of Fig. 9 is made first.
    """

    scope: Scope
    right_first: bool = False

    def run(self, machine: Machine, *args: Any) -> Any:
        g, d, tree = args

        def step(cotangent: Any, bp: Any) -> Any:
            return machine.call(g, (cotangent, bp))

        if isinstance(machine, SpanMachine):
            forks: Forks = machine.effects
            return forks.un_tree(machine, self.scope, step, d, tree)

        def steps() -> Steps[Any]:
            return un_tree(step, d, tree, machine.pay, self.right_first)

        return perform(machine, self.scope, steps)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 3)
        param, result = is_function(self.rule, args[0])
        bp = is_tree(self.rule, args[2])[1]
        expect(self.rule, product(args[1], bp), param)
        both = value_type(self.rule, self.scope, result)
        expect(self.rule, product(args[1], args[1]), both)
        return effect(result, self.scope, difference_list(args[1]))


@dataclass(frozen=True)
class UnLoop(Operation):
    """The steps' backpropagators from the last to the first.

    unLoop : (D × E × f → M Γ D) → D → Array E → List f → M Γ D takes the cotangents of
    the last state and of every step's output.
    """

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        g, last, outputs, bps = args

        def steps() -> Steps[Any]:
            d, rest = last, bps
            for output in reversed(outputs.items):
                machine.pay(1)
                bp, rest = rest
                d = yield machine.call(g, ((d, output), bp))
            return d

        return perform(machine, self.scope, steps)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 4)
        param, result = is_function(self.rule, args[0])
        output, bp = is_array(self.rule, args[2]), is_list(self.rule, args[3])
        expect(self.rule, product(product(args[1], output), bp), param)
        expect(self.rule, args[1], value_type(self.rule, self.scope, result))
        return result


def value_type(rule: str, scope: Scope, ty: Type) -> Type:
    """The τ of M Γ τ."""
    if isinstance(ty, Computation):
        expect(rule, scope, ty.scope)
        found: Type = ty.result
        return found
    return is_product(rule, ty)[1]


def effect(example: Type, scope: Scope, value: Type) -> Type:
    """M Γ τ, in the form of another M."""
    if isinstance(example, Computation):
        return computation(scope, value)
    return product(is_product("M", example)[0], value)


def perform(machine: Machine, scope: Scope, steps: Callable[[], Steps[Any]]) -> Any:
    """The M Γ τ that does one thing after the other."""
    effects = machine.effects
    if isinstance(effects, Monad):
        return _computation(effects, steps)
    assert isinstance(effects, Environments)
    environment = effects.zero(scope, machine.pay)
    running, sent = steps(), None
    while True:
        try:
            contributions, sent = running.send(sent)
        except StopIteration as stop:
            return environment, stop.value
        environment = effects.plus(scope, environment, contributions, machine.pay)


def _computation(monad: Monad, steps: Callable[[], Steps[Any]]) -> Any:
    """Iterative where the monad is known; else bind by bind."""
    match monad:
        case TreeMonad():
            return _passing(steps)
        case ArrayMonad():
            return _writing(steps)
        case _:
            first = monad.pure(None, free)
            return monad.bind(first, lambda _: _bound(monad, steps(), None), free)


def _bound(monad: Monad, running: Steps[Any], value: Any) -> Any:
    try:
        found = running.send(value)
    except StopIteration as stop:
        return monad.pure(stop.value, free)
    return monad.bind(found, lambda v: _bound(monad, running, v), free)


def _passing(steps: Callable[[], Steps[Any]]) -> Any:
    """The state goes from each computation to the next."""

    def computation(state: Any) -> tuple[Any, Any]:
        running, sent = steps(), None
        while True:
            try:
                following = running.send(sent)
            except StopIteration as stop:
                return stop.value, state
            sent, state = following(state)

    return computation


def _writing(steps: Callable[[], Steps[Any]]) -> Any:
    """All write to the same cells."""

    def computation(cells: Any) -> Any:
        running, sent = steps(), None
        while True:
            try:
                following = running.send(sent)
            except StopIteration as stop:
                return stop.value
            sent = following(cells)

    return computation
