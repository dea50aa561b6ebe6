"""The evaluator of terms, which counts cost as App. C does.

One step for each node, and one for each variable that a function captures; what an
operation pays besides is its own business. A monadic computation costs nothing until it
is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, assert_never

from chadllvm.ir.term import Var
from chadllvm.paper.deep import deep
from chadllvm.paper.linear import Linear
from chadllvm.paper.show import show
from chadllvm.paper.terms import Call, Do, Lam, Let, Match, Ref, Term
from chadllvm.support.diagnostic import InternalError


@dataclass(frozen=True, eq=False)
class Closure:
    """A function value with the values of the variables it uses."""

    function: Lam
    captured: dict[Var, Any]


class Machine:
    """Evaluates terms; `cost` grows.

    `linear` implements the linear types, `effects` environments or their monad (a term
    of the source needs neither). `name` is that of the program, for what goes wrong.
    """

    def __init__(self, linear: Linear, effects: Any = None, name: str = "a term"):
        self.linear = linear
        self.effects = effects
        self.name = name
        self.cost = 0
        self.at: Term | None = None
        self._free: dict[Term, frozenset[Var]] = {}

    def pay(self, cost: int) -> None:
        self.cost += cost

    @contextmanager
    def running(self) -> Iterator[None]:
        """For what is run in the `with`: deep recursion, and errors with their place.

        Raises:
            InternalError: that of an operation, with the program and the operation.
        """
        try:
            with deep():
                yield
        except InternalError as error:
            place = "" if self.at is None else f", at {show(self.at)}"
            raise InternalError(f"{error}, in {self.name}{place}") from error

    def eval(self, term: Term, env: dict[Var, Any]) -> Any:
        """The value of a term; variables bound on the way are added to `env`."""
        while True:
            match term:
                case Ref():
                    self.cost += 1
                    return env[term.var]
                case Do():
                    op = term.op
                    self.cost += op.steps
                    args = [self.eval(arg, env) for arg in term.args]
                    self.at = term
                    return op.run(self, *args)
                case Let():
                    self.cost += 1
                    env[term.var] = self.eval(term.bound, env)
                    term = term.body
                case Lam():
                    captured = self.free(term)
                    self.cost += 1 + len(captured)
                    return Closure(term, {v: env[v] for v in captured})
                case Call():
                    self.cost += 1
                    closure = self.eval(term.function, env)
                    return self.call(closure, self.eval(term.arg, env))
                case Match():
                    self.cost += 1
                    subject = self.eval(term.arg, env)
                    branch = term.right if subject.index else term.left
                    env[branch.var] = subject.value
                    term = branch.body
                case _:
                    assert_never(term)

    def placed(self, action: Callable[..., Any]) -> Callable[..., Any]:
        """A computation that is made here and run later: if it fails, it is here."""
        term = self.at

        def computation(*state: Any) -> Any:
            self.at = term
            return action(*state)

        return computation

    def call(self, closure: Closure, value: Any) -> Any:
        """The result of a function; its body is all that is paid for."""
        env = dict(closure.captured)
        env[closure.function.var] = value
        return self.eval(closure.function.body, env)

    def free(self, term: Term) -> frozenset[Var]:
        """The free variables of a term."""
        found = self._free.get(term)
        if found is None:
            found = self._free[term] = self._find_free(term)
        return found

    def _find_free(self, term: Term) -> frozenset[Var]:
        match term:
            case Ref(var):
                return frozenset((var,))
            case Let(var, bound, body):
                return self.free(bound) | (self.free(body) - {var})
            case Lam(var, body):
                return self.free(body) - {var}
            case Match(arg, left, right):
                return self.free(arg) | self.free(left) | self.free(right)
            case Call(function, arg):
                return self.free(function) | self.free(arg)
            case Do(_, args):
                found: frozenset[Var] = frozenset()
                for arg in args:
                    found |= self.free(arg)
                return found
            case _:
                assert_never(term)
