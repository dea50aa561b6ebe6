"""The type checker of the language, source and target alike.

Γ ⊢ t : τ by the rules of Figs. 1 and 3 and those of the environment monad. A term that
breaks a rule is refused with the rule's name. That D[·] preserves typing is a test:

    Γ ⊢ t : τ  ⟹  D[Γ]₁ ⊢ D[t] : D[τ]₁ × (D[τ]₂ → Env D[Γ]₂ or EVM D[Γ]₂ 1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import Sum, Type
from chadllvm.paper.deep import deep
from chadllvm.paper.show import show
from chadllvm.paper.terms import Call, Do, Lam, Let, Match, Ref, Term
from chadllvm.paper.types import IllTyped, arrow, expect, is_function


def check(term: Term, variables: Collection[Var] = ()) -> Type:
    """The type of a term whose free variables are among these.

    Raises:
        IllTyped: the rule that the term breaks, and the smallest part that does.
    """
    with deep():
        return _Checker(set(variables)).infer(term)


class _Checker:
    """Infers types; `_bound` are the variables in scope."""

    def __init__(self, bound: set[Var]) -> None:
        self._bound = bound

    def infer(self, term: Term) -> Type:
        """The type of a term; loops over the lets of a body."""
        entered: list[Var] = []
        while isinstance(term, Let):
            found = self.infer(term.bound)
            with _at(term):
                expect("Let", term.var.type, found)
            self._bind(term.var, "Let")
            entered.append(term.var)
            term = term.body
        result = self._infer(term)
        self._bound.difference_update(entered)
        return result

    def _infer(self, term: Ref | Lam | Call | Match | Do) -> Type:
        match term:
            case Ref(var):
                if var not in self._bound:
                    raise IllTyped(f"Ref: {var.name} is not in scope")
                return var.type
            case Do(op, args):
                types = [self.infer(arg) for arg in args]
                with _at(term):
                    return op.type_of(types)
            case Lam(var, body):
                return arrow(var.type, self._under(var, body))
            case Call(function, arg):
                found = self.infer(function)
                given = self.infer(arg)
                with _at(term):
                    param, result = is_function("Call", found)
                    expect("Call", param, given)
                return result
            case Match(arg, left, right):
                return self._match(term, self.infer(arg), (left, right))
            case _:
                assert_never(term)

    def _match(self, term: Match, subject: Type, branches: tuple[Lam, Lam]) -> Type:
        results: list[Type] = []
        for branch, payload in zip(branches, _payloads(subject, term), strict=True):
            with _at(term):
                expect("Match", payload, branch.var.type)
            results.append(self._under(branch.var, branch.body))
        with _at(term):
            expect("Match, branches", results[0], results[1])
        return results[0]

    def _under(self, var: Var, body: Term) -> Type:
        self._bind(var, "Lam")
        result = self.infer(body)
        self._bound.discard(var)
        return result

    def _bind(self, var: Var, rule: str) -> None:
        if var in self._bound:
            raise IllTyped(f"{rule}: {var.name} is bound twice")
        self._bound.add(var)


def _payloads(subject: Type, term: Term) -> tuple[Type, ...]:
    with _at(term):
        if not isinstance(subject, Sum) or len(subject.constructors) != 2:
            raise IllTyped(f"Match: expected a sum, found {subject}")
    return subject.payloads


@contextmanager
def _at(term: Term) -> Iterator[None]:
    """Adds the place to what is refused."""
    try:
        yield
    except IllTyped as error:
        raise IllTyped(f"{error}, at {show(term)}") from None
