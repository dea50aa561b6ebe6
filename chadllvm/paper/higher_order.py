"""Naive CHAD of functions (§9), in the environment form.

    D[σ → τ]₁ = D[σ]₁ → D[τ]₁ × (D[τ]₂ → D[σ]₂)
    D[σ → τ]₂ = List (D[σ]₁ × D[τ]₂), with the zero [] and the sum ++

The cotangent of a function is a log of its calls: for each the argument, and the
cotangent of the result. From it comes what the captured variables receive: D[λx. t]
runs D[t] once more for each entry. So the backpropagator of a call goes through the
function twice, for the argument and for what is captured, and n calls within each other
take 2ⁿ steps. There are two implementations of the log, as ++ is not to blame for that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import Type
from chadllvm.paper.closed import FunctionRules
from chadllvm.paper.function_types import primal
from chadllvm.paper.linear import Linear, Monoid, Pay
from chadllvm.paper.naive import Basic, EnvironmentSplit
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Let,
    Operation,
    Ref,
    Term,
    fst,
    pair,
    snd,
)
from chadllvm.paper.types import (
    Scope,
    arrow,
    cotangent,
    is_function,
    product,
)
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine


class Log(Monoid):
    """D[σ → τ]₂: the calls of a function."""

    @abstractmethod
    def one(self, entry: Any) -> Any:
        """The log of one call."""

    @abstractmethod
    def entries(self, log: Any, pay: Pay) -> Iterator[Any]:
        """All calls, from the last to the first."""

    def numbers(self, linear: Linear, d: Any, ty: Type) -> list[float]:
        raise InternalError("reference: the cotangent of a function as numbers")

    def size(self, linear: Linear, d: Any, ty: Type) -> int:
        return 1 + sum(1 for _ in self.entries(d, lambda cost: None))


class Lists(Log):
    """A list; ++ takes a step for each entry of the first one."""

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Any:
        return ()

    def one(self, entry: Any) -> Any:
        return (entry,)

    def plus(self, linear: Linear, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        pay(1 + len(a))
        return (*a, *b)

    def entries(self, log: Any, pay: Pay) -> Iterator[Any]:
        for entry in reversed(log):
            pay(1)
            yield entry


@dataclass(frozen=True, slots=True)
class Both:
    """Two logs, one after the other."""

    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Entry:
    """The log of one call."""

    held: Any


class Bags(Log):
    """A tree of logs; ++ takes one step, and going through it one for each node."""

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Any:
        return None

    def one(self, entry: Any) -> Any:
        return Entry(entry)

    def plus(self, linear: Linear, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        pay(1)
        if a is None or b is None:
            return b if a is None else a
        return Both(a, b)

    def entries(self, log: Any, pay: Pay) -> Iterator[Any]:
        pending = [log]
        while pending:
            found = pending.pop()
            pay(1)
            if isinstance(found, Both):
                pending += (found.first, found.second)
            elif found is not None:
                yield found.held


@dataclass(frozen=True)
class LogOne(Operation):
    """[⟨a, d⟩] : D[σ → τ]₂"""

    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return _log(machine, self.type).one(args)

    def type_of(self, args: Sequence[Type]) -> Type:
        param, result = is_function(self.rule, self.type)
        self.takes(args, primal(param), cotangent(result))
        return cotangent(self.type)


@dataclass(frozen=True)
class LogFold(Operation):
    """fold v with ⟨z, acc⟩ → t from acc₀, for a v : D[σ → τ]₂"""

    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        log, step, accumulated = args
        for entry in _log(machine, self.type).entries(log, machine.pay):
            accumulated = machine.call(step, (entry, accumulated))
        return accumulated

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 3)
        taken = product(_entry(self.type), args[2])
        self.takes(args, cotangent(self.type), arrow(taken, args[2]), args[2])
        return args[2]


def _entry(ty: Type) -> Type:
    """D[σ]₁ × D[τ]₂"""
    param, result = is_function("log", ty)
    return product(primal(param), cotangent(result))


def _log(machine: Machine, ty: Type) -> Log:
    found = machine.linear.other(ty)
    if not isinstance(found, Log):
        raise InternalError("reference: linear types without cotangents of functions")
    return found


class HigherOrder(FunctionRules, Basic):
    """The rules of §9 for functions and calls."""

    def lam(self, scope: Scope, term: Lam) -> Term:
        inner = scope.and_(term.var)
        derived = self.derive(inner, term.body)
        function = Lam(self.target(term.var), self._for_argument(inner, term, derived))
        ty = self.type_of(term)
        bp = backpropagator(ty, lambda d: self._for_captured(inner, term, derived, d))
        return pair(function, bp)

    def _for_argument(self, inner: Scope, term: Lam, derived: Term) -> Term:
        """let p = D[t] in ⟨fst p, λd. snd (split (snd p d))⟩"""
        split = EnvironmentSplit(inner)
        ty = self.type_of(term.body)

        def result(p: Term) -> Term:
            bp = backpropagator(ty, lambda d: snd(Do(split, (Call(snd(p), d),))))
            return pair(fst(p), bp)

        return let_(self.derived_type(inner, ty), derived, result)

    def _for_captured(self, inner: Scope, term: Lam, derived: Term, d: Term) -> Term:
        """fold d with ⟨⟨x, y⟩, acc⟩ → acc + fst (split (snd D[t] y)) from 0"""
        outer = inner.outer
        assert outer is not None
        ty = self.type_of(term)
        step = Var("z", product(_entry(ty), self.contribution(outer)))
        entry, accumulated = fst(Ref(step)), snd(Ref(step))
        split = Do(EnvironmentSplit(inner), (Call(snd(derived), snd(entry)),))
        more = self.both(outer, accumulated, fst(split))
        body = Let(self.target(term.var), fst(entry), more)
        return Do(LogFold(ty), (d, Lam(step, body), self.nothing(outer)))

    def call(self, scope: Scope, term: Call) -> Term:
        """D[s t] = … ⟨z, λd. y' (z' d) + x' [⟨y, d⟩]⟩"""
        op = LogOne(self.type_of(term.function))

        def result(f: Term, a: Term, r: Term) -> Term:
            def contributions(d: Term) -> Term:
                logged = Do(op, (fst(a), d))
                to_argument = Call(snd(a), Call(snd(r), d))
                return self.both(scope, to_argument, Call(snd(f), logged))

            return pair(fst(r), backpropagator(self.type_of(term), contributions))

        return self.called(scope, term, result)
