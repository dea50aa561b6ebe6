"""CHAD in the environment monad (§4.2, Fig. 6), over monads to be interchanged.

A computation adds to the cotangents of a scope, whatever these are at the time: nothing
is added up on the way. `TreeMonad` passes a persistent tree from one computation to the
next, in logarithmic time for each; `ArrayMonad` writes to an array that grows with the
scope (§5), in constant time. What they cost is what the proof assumes (App. C).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Type
from chadllvm.paper import maps
from chadllvm.paper.linear import Linear, Pay, Zero, free
from chadllvm.paper.maps import Map
from chadllvm.paper.rules import Rules
from chadllvm.paper.terms import (
    Do,
    Let,
    Operation,
    Ref,
    Term,
    components,
    fst,
    function,
    unit,
)
from chadllvm.paper.types import (
    Computation,
    IllTyped,
    Scope,
    computation,
    cotangent,
    expect,
    is_function,
    product,
    products,
)

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine

# A computation: given the state, its result, and the next state if states are passed.
Action = Callable[..., Any]


class Monad(ABC):
    """The environment monad; every method pays when the computation is run."""

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    @abstractmethod
    def pure(self, value: Any, pay: Pay) -> Action:
        """Does nothing, and gives the value."""

    @abstractmethod
    def bind(self, first: Action, then: Callable[[Any], Action], pay: Pay) -> Action:
        """Does the first, then what is made of its result."""

    @abstractmethod
    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Action:
        """Adds to the cotangent of the variable at this place of the scope."""

    @abstractmethod
    def scope(
        self, index: int, ty: Type, initial: Any, inner: Action, pay: Pay
    ) -> Action:
        """Runs `inner` with one variable more; gives its cotangent and the result."""

    @abstractmethod
    def run(
        self, computation: Action, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        """The result, and the cotangents after all that was added to these."""


class TreeMonad(Monad):
    """EVM Γ τ = Map → τ × Map

    With `finding`, a step is paid for each node of a map that is visited; without,
    cells are found for nothing, as the proof assumes.
    """

    def __init__(self, linear: Linear, finding: bool = False) -> None:
        super().__init__(linear)
        self.finding = finding

    def pure(self, value: Any, pay: Pay) -> Action:
        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            return value, state

        return computation

    def bind(self, first: Action, then: Callable[[Any], Action], pay: Pay) -> Action:
        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            value, state = first(state)
            found: tuple[Any, Map] = then(value)(state)
            return found

        return computation

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Action:
        visit = pay if self.finding else free

        def combine(key: int, new: Any, old: Any) -> Any:
            return self.linear.plus(new, old, ty, pay)

        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            return (), maps.modify(state, index, cotangent, combine, visit)

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Action, pay: Pay
    ) -> Action:
        visit = pay if self.finding else free

        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            pushed = maps.modify(state, index, initial, _replaced, visit)
            value, state = inner(pushed)
            found = maps.get(state, index, visit)
            return (found, value), maps.pop(state, index, visit)

        return computation

    def run(
        self, computation: Action, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        state: Map = None
        for index, initial in enumerate(cotangents):
            state = maps.modify(state, index, initial, _replaced)
        value, state = computation(state)
        return value, tuple(found for _, found in maps.entries(state))


def _replaced(key: int, new: Any, old: Any) -> Any:
    return new


class ArrayMonad(Monad):
    """EVM Γ τ = Array → τ: one array for all, as long as the scope."""

    def pure(self, value: Any, pay: Pay) -> Action:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            return value

        return computation

    def bind(self, first: Action, then: Callable[[Any], Action], pay: Pay) -> Action:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            return then(first(cells))(cells)

        return computation

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Action:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            cells[index] = self.linear.plus(cotangent, cells[index], ty, pay)
            return ()

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Action, pay: Pay
    ) -> Action:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            assert len(cells) == index
            cells.append(initial)
            value = inner(cells)
            return cells.pop(), value

        return computation

    def run(
        self, computation: Action, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        cells = list(cotangents)
        return computation(cells), tuple(cells)


# The operations. Bind's function gives a computation.


@dataclass(frozen=True)
class Pure(Operation):
    """return t : EVM Γ τ"""

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        return monad.pure(args[0], machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return computation(self.scope, args[0])


@dataclass(frozen=True)
class Bind(Operation):
    """s >>= t"""

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        first, then = args
        return monad.bind(first, lambda value: machine.call(then, value), machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        first = is_computation(self.rule, args[0])
        param, result = is_function(self.rule, args[1])
        expect(self.rule, first.result, param)
        then = is_computation(self.rule, result)
        expect(f"{self.rule}, scopes", first.scope, then.scope)
        return result


@dataclass(frozen=True)
class Run(Operation):
    """run t ⟨d1, …, dn⟩ : τ × ET Γ"""

    scope: Scope

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        count = len(self.scope)
        machine.pay(1 + count)
        value, after = monad.run(args[0], components(args[1], count))
        return value, nested(after)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        first = is_computation(self.rule, args[0])
        expect(f"{self.rule}, scopes", self.scope, first.scope)
        cells = products([cotangent(ty) for ty in self.scope.types])
        expect(self.rule, cells, args[1])
        return product(first.result, cells)


@dataclass(frozen=True)
class One(Operation):
    """one x t : EVM Γ 1"""

    scope: Scope
    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        action = monad.one(self.index, self.type, args[0], machine.pay)
        return machine.placed(action)

    def type_of(self, args: Sequence[Type]) -> Type:
        expect(self.rule, self.scope.type_at(self.index), self.type)
        self.takes(args, cotangent(self.type))
        return computation(self.scope, UNIT)


@dataclass(frozen=True)
class OpenScope(Operation):
    """scope z t : EVM Γ (D[τ]₂ × σ), of a computation in Γ, x : τ, which is `scope`."""

    scope: Scope
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        initial, inner = args
        index = len(self.scope) - 1
        return monad.scope(index, self.type, initial, inner, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        expect(self.rule, cotangent(self.type), args[0])
        inner = is_computation(self.rule, args[1])
        expect(f"{self.rule}, scopes", self.scope, inner.scope)
        assert self.scope.outer is not None
        return computation(self.scope.outer, product(args[0], inner.result))


def is_computation(rule: str, ty: Type) -> Computation:
    """The type of a computation."""
    if not isinstance(ty, Computation):
        raise IllTyped(f"{rule}: expected a computation, found {ty}")
    return ty


def nested(values: Sequence[Any]) -> Any:
    """⟨v1, …, vn⟩ as `terms.pairs` nests it."""
    if not values:
        return ()
    found = values[0]
    for value in values[1:]:
        found = (found, value)
    return found


class Monadic(Rules):
    """Fig. 6: contributions are computations, which are done one after the other.

    `swapped`: the second of two is done first. As all they do is add, it is the same.
    """

    def __init__(self, swapped: bool = False) -> None:
        super().__init__()
        self.swapped = swapped

    def contribution(self, scope: Scope) -> Type:
        return computation(scope, UNIT)

    def nothing(self, scope: Scope) -> Term:
        return Do(Pure(scope), (unit(),))

    def both(self, scope: Scope, first: Term, second: Term) -> Term:
        """s >> t is let y = t in s >>= λ_. y: the function captures one variable."""
        if self.swapped:
            first, second = second, first
        y = Var("y", computation(scope, UNIT))
        bind = Do(Bind(), (first, function("u", UNIT, lambda _: Ref(y))))
        return Let(y, second, bind)

    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        return Do(One(scope, scope.index(var), var.type), (cotangent,))

    def scoped(self, inner: Scope, term: Term, rest: Callable[[Term], Term]) -> Term:
        assert inner.var is not None
        ty = inner.var.type
        opened = Do(OpenScope(inner, ty), (Do(Zero(ty)), term))
        result = product(cotangent(ty), UNIT)
        return Do(Bind(), (opened, function("r", result, lambda r: rest(fst(r)))))
