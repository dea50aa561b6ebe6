"""The free variables of a term, in the order of their first use."""

from __future__ import annotations

from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.paper.deep import deep
from chadllvm.paper.terms import Call, Do, Lam, Let, Match, Ref, Term


def free_variables(term: Term) -> tuple[Var, ...]:
    """The free variables of a term: what a function captures."""
    found: dict[Var, None] = {}
    with deep():
        _collect(term, set(), found)
    return tuple(found)


def _collect(term: Term, bound: set[Var], found: dict[Var, None]) -> None:
    match term:
        case Ref(var):
            if var not in bound:
                found[var] = None
        case Let(var, value, body):
            _collect(value, bound, found)
            _under(var, body, bound, found)
        case Lam(var, body):
            _under(var, body, bound, found)
        case Match(arg, left, right):
            for part in (arg, left, right):
                _collect(part, bound, found)
        case Call(function, arg):
            _collect(function, bound, found)
            _collect(arg, bound, found)
        case Do(_, args):
            for arg in args:
                _collect(arg, bound, found)
        case _:
            assert_never(term)


def _under(var: Var, body: Term, bound: set[Var], found: dict[Var, None]) -> None:
    """What is free in a body under a binder, which may be one of an outer binder."""
    is_new = var not in bound
    bound.add(var)
    _collect(body, bound, found)
    if is_new:
        bound.discard(var)
