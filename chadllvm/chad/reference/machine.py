"""The evaluator of terms, which counts cost as App. C does.

One step for each node, and one for each variable that a function captures; what an
operation pays besides is its own business. A monadic computation costs nothing until it
is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from chadllvm.chad.reference.linear import Linear
from chadllvm.chad.reference.terms import Call, Do, Lam, Let, Match, Ref, Term
from chadllvm.ir.term import Var


@dataclass(frozen=True, eq=False)
class Closure:
    """A function value with the values of the variables it uses."""

    function: Lam
    captured: dict[Var, Any]


class Machine:
    """Evaluates terms; `cost` grows.

    `linear` implements the linear types, `effects` environments or their monad (a term
    of the source needs neither).
    """

    def __init__(self, linear: Linear, effects: Any = None) -> None:
        self.linear = linear
        self.effects = effects
        self.cost = 0
        self._free: dict[Term, frozenset[Var]] = {}

    def pay(self, cost: int) -> None:
        self.cost += cost

    def eval(self, term: Term, env: dict[Var, Any]) -> Any:
        """The value of a term; variables bound on the way are added to `env`."""
        while True:
            self.cost += 1
            match term:
                case Ref(var):
                    return env[var]
                case Let(var, bound, body):
                    env[var] = self.eval(bound, env)
                    term = body
                case Match(arg, left, right):
                    subject = self.eval(arg, env)
                    branch = right if subject.index else left
                    env[branch.var] = subject.value
                    term = branch.body
                case Lam():
                    captured = self.free(term)
                    self.cost += len(captured)
                    return Closure(term, {v: env[v] for v in captured})
                case Call(function, arg):
                    closure = self.eval(function, env)
                    return self.call(closure, self.eval(arg, env))
                case Do(op, args):
                    return op.run(self, *[self.eval(a, env) for a in args])
                case _:
                    assert_never(term)

    def call(self, closure: Closure, value: Any) -> Any:
        """The result of a function; its body is all that is paid for."""
        env = dict(closure.captured)
        env[closure.function.var] = value
        return self.eval(closure.function.body, env)

    def free(self, term: Term) -> frozenset[Var]:
        """The free variables of a term."""
        found = self._free.get(term)
        if found is None:
            found = self._free[term] = frozenset(self._free_in(term))
        return found

    def _free_in(self, term: Term) -> Iterator[Var]:
        match term:
            case Ref(var):
                yield var
            case Let(var, bound, body):
                yield from self.free(bound)
                yield from self.free(body) - {var}
            case Lam(var, body):
                yield from self.free(body) - {var}
            case Match(arg, left, right):
                for part in (arg, left, right):
                    yield from self.free(part)
            case Call(function, arg):
                yield from self.free(function)
                yield from self.free(arg)
            case Do(_, args):
                for part in args:
                    yield from self.free(part)
            case _:
                assert_never(term)
