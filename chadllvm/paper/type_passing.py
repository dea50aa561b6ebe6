"""Hidden types made values, which the operations that need them are given.

In the scope of an unpack, the zero of a type that mentions α depends on what is hidden:

    let x = unpack t in … zero of D[α × σ]₂ …
      ⟶  let p = t in let α = tag p in let x = unpack p in … zero of D[α × σ]₂ at α …

Only what a type is needed for when the program runs is changed. A program without
unpacks, or one that calls its closures and does nothing else with them, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import Type
from chadllvm.paper.deep import deep
from chadllvm.paper.free import free_variables
from chadllvm.paper.function_types import (
    TYPE,
    instantiated,
    instantiated_scope,
    scope_tags,
    tags,
)
from chadllvm.paper.linear import LinearCast, LinearPart, Zero
from chadllvm.paper.monad import One
from chadllvm.paper.naive import (
    EnvironmentOne,
    EnvironmentPlus,
    EnvironmentSplit,
    EnvironmentZero,
)
from chadllvm.paper.packed import (
    ClosedFunction,
    LinearPack,
    LinearUnpack,
    Pack,
    TagOf,
    Unpack,
)
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Let,
    Match,
    Operation,
    Ref,
    Term,
    Typing,
)
from chadllvm.paper.types import IllTyped, Scope, expect

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine

# The attributes that hold types (or scopes) which operations use at run time.
_NEEDED: dict[type[Operation], tuple[str, ...]] = {
    Zero: ("type",),
    LinearPart: ("type",),
    LinearCast: ("type",),
    One: ("type",),
    EnvironmentZero: ("scope",),
    EnvironmentOne: ("scope",),
    EnvironmentPlus: ("scope",),
    EnvironmentSplit: ("scope",),
    Pack: ("tag",),
    LinearPack: ("tag",),
    LinearUnpack: ("tag", "type"),
}


@dataclass(frozen=True)
class Instantiated(Operation):
    """An operation at the types that its last arguments are."""

    op: Operation
    variables: tuple[Var, ...]

    def run(self, machine: Machine, *args: Any) -> Any:
        count = len(args) - len(self.variables)
        known = dict(zip(self.variables, args[count:], strict=True))
        changes: dict[str, Any] = {}
        for name in _NEEDED[type(self.op)]:
            held = getattr(self.op, name)
            is_scope = isinstance(held, Scope)
            change: Any = instantiated_scope if is_scope else instantiated
            changes[name] = change(held, known)
        op: Any = self.op
        return replace(op, **changes).run(machine, *args[:count])

    def type_of(self, args: Sequence[Type]) -> Type:
        count = len(args) - len(self.variables)
        for ty in args[count:]:
            expect(self.rule, TYPE, ty)
        return self.op.type_of(args[:count])


def pass_types(term: Term) -> Term:
    """The term with the hidden types passed on.

    Raises:
        IllTyped: if an unpack's type is known outside of it, or it is not bound by let.
    """
    with deep():
        return _Pass().term(term)


class _Pass:
    def __init__(self) -> None:
        self._type_of = Typing().of

    def term(self, term: Term) -> Term:
        match term:
            case Ref():
                return term
            case Let(var, Do(Unpack() as op, (arg,)), body):
                return self._unpack(var, op, arg, body)
            case Let(var, value, body):
                return Let(var, self.term(value), self.term(body))
            case Lam():
                return self._lam(term)
            case Call(function, arg):
                return Call(self.term(function), self.term(arg))
            case Match(arg, left, right):
                return Match(self.term(arg), self._lam(left), self._lam(right))
            case Do(op, args):
                return self._do(op, [self.term(arg) for arg in args])
            case _:
                assert_never(term)

    def _lam(self, term: Lam) -> Lam:
        return Lam(term.var, self.term(term.body))

    def _do(self, op: Operation, args: list[Term]) -> Term:
        match op:
            case ClosedFunction(function):
                return Do(ClosedFunction(self._lam(function)))
            case Unpack():
                raise IllTyped("Unpack: not bound by a let")
            case _:
                needed = _needed(op)
                if not needed:
                    return Do(op, tuple(args))
                passed = [Ref(var) for var in needed]
                return Do(Instantiated(op, needed), (*args, *passed))

    def _unpack(self, var: Var, op: Unpack, arg: Term, body: Term) -> Term:
        if op.alpha in tags(self._type_of(body)):
            raise IllTyped(f"Unpack: {op.alpha.name} is known outside of it")
        packed, inner = self.term(arg), self.term(body)
        if op.alpha not in free_variables(inner):
            return Let(var, Do(op, (packed,)), inner)
        whole = Var("packed", self._type_of(arg))
        inner = Let(var, Do(op, (Ref(whole),)), inner)
        return Let(whole, packed, Let(op.alpha, Do(TagOf(), (Ref(whole),)), inner))


def _needed(op: Operation) -> tuple[Var, ...]:
    """The variables that hold the types an operation needs."""
    found: dict[Var, None] = {}
    for name in _NEEDED.get(type(op), ()):
        held = getattr(op, name)
        variables = scope_tags(held) if isinstance(held, Scope) else tags(held)
        found.update(dict.fromkeys(variables))
    return tuple(found)
