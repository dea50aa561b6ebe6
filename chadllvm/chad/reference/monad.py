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

from chadllvm.chad.reference import sparse
from chadllvm.chad.reference.linear import Linear, Zero
from chadllvm.chad.reference.rules import Rules, Scope
from chadllvm.chad.reference.sparse import Map
from chadllvm.chad.reference.terms import (
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
from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Type

if TYPE_CHECKING:
    from chadllvm.chad.reference.machine import Machine

Pay = Callable[[int], None]

# A computation: given the state, its result, and the next state if states are passed.
Computation = Callable[..., Any]


class Monad(ABC):
    """The environment monad; every method pays when the computation is run."""

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    @abstractmethod
    def pure(self, value: Any, pay: Pay) -> Computation:
        """Does nothing, and gives the value."""

    @abstractmethod
    def bind(
        self, first: Computation, then: Callable[[Any], Computation], pay: Pay
    ) -> Computation:
        """Does the first, then what is made of its result."""

    @abstractmethod
    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Computation:
        """Adds to the cotangent of the variable at this place of the scope."""

    @abstractmethod
    def scope(
        self, index: int, ty: Type, initial: Any, inner: Computation, pay: Pay
    ) -> Computation:
        """Runs `inner` with one variable more; gives its cotangent and the result."""

    @abstractmethod
    def run(
        self, computation: Computation, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        """The result, and the cotangents after all that was added to these."""


class TreeMonad(Monad):
    """EVM Γ τ = Map → τ × Map"""

    def pure(self, value: Any, pay: Pay) -> Computation:
        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            return value, state

        return computation

    def bind(
        self, first: Computation, then: Callable[[Any], Computation], pay: Pay
    ) -> Computation:
        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            value, state = first(state)
            found: tuple[Any, Map] = then(value)(state)
            return found

        return computation

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Computation:
        def combine(key: int, new: Any, old: Any) -> Any:
            return self.linear.plus(new, old, ty, pay)

        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            return (), sparse.modify(state, index, cotangent, combine)

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Computation, pay: Pay
    ) -> Computation:
        def computation(state: Map) -> tuple[Any, Map]:
            pay(1)
            value, state = inner(sparse.modify(state, index, initial, _replaced))
            _, entry, _ = sparse.cut(state, index)
            assert entry
            return (entry.value, value), sparse.pop(state, index)

        return computation

    def run(
        self, computation: Computation, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        state: Map = None
        for index, cotangent in enumerate(cotangents):
            state = sparse.modify(state, index, cotangent, _replaced)
        value, state = computation(state)
        return value, tuple(found for _, found in sparse.entries(state))


def _replaced(key: int, new: Any, old: Any) -> Any:
    return new


class ArrayMonad(Monad):
    """EVM Γ τ = Array → τ: one array for all, as long as the scope."""

    def pure(self, value: Any, pay: Pay) -> Computation:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            return value

        return computation

    def bind(
        self, first: Computation, then: Callable[[Any], Computation], pay: Pay
    ) -> Computation:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            return then(first(cells))(cells)

        return computation

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Computation:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            cells[index] = self.linear.plus(cotangent, cells[index], ty, pay)
            return ()

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Computation, pay: Pay
    ) -> Computation:
        def computation(cells: list[Any]) -> Any:
            pay(1)
            assert len(cells) == index
            cells.append(initial)
            value = inner(cells)
            return cells.pop(), value

        return computation

    def run(
        self, computation: Computation, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        cells = list(cotangents)
        return computation(cells), tuple(cells)


@dataclass(frozen=True)
class Pure(Operation):
    """return t"""

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        return monad.pure(args[0], machine.pay)


@dataclass(frozen=True)
class Bind(Operation):
    """s >>= t"""

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        first, then = args
        return monad.bind(first, lambda value: machine.call(then, value), machine.pay)


@dataclass(frozen=True)
class Run(Operation):
    """run t ⟨d1, …, dn⟩"""

    count: int

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        machine.pay(1 + self.count)
        value, after = monad.run(args[0], components(args[1], self.count))
        return value, after


@dataclass(frozen=True)
class One(Operation):
    """one x t"""

    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        return monad.one(self.index, self.type, args[0], machine.pay)


@dataclass(frozen=True)
class OpenScope(Operation):
    """scope z t"""

    index: int
    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        monad: Monad = machine.effects
        initial, inner = args
        return monad.scope(self.index, self.type, initial, inner, machine.pay)


class Monadic(Rules):
    """Fig. 6: contributions are computations, which are done one after the other."""

    def nothing(self, scope: Scope) -> Term:
        return Do(Pure(), (unit(),))

    def both(self, scope: Scope, first: Term, second: Term) -> Term:
        """s >> t is let y = t in s >>= λ_. y: the function captures one variable."""
        y = Var("y", UNIT)
        bind = Do(Bind(), (first, function("u", UNIT, lambda _: Ref(y))))
        return Let(y, second, bind)

    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        return Do(One(scope.index(var), var.type), (cotangent,))

    def scoped(
        self, scope: Scope, var: Var, inner: Term, rest: Callable[[Term], Term]
    ) -> Term:
        opened = Do(OpenScope(len(scope), var.type), (Do(Zero(var.type)), inner))
        return Do(Bind(), (opened, function("r", UNIT, lambda r: rest(fst(r)))))
