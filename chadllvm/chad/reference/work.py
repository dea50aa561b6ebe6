"""Work and span of a gradient, and of what it is the gradient of: see `span`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.chad.reference.array_linear import sparse_arrays
from chadllvm.chad.reference.cost import run_monadic, run_term
from chadllvm.chad.reference.linear import free
from chadllvm.chad.reference.monad import ArrayMonad, Monadic
from chadllvm.chad.reference.span import Forks, SpanMachine
from chadllvm.chad.reference.terms import Term
from chadllvm.ir.term import Var


@dataclass(frozen=True)
class Measured:
    """What a gradient takes one step at a time, and on machines enough."""

    work: int
    span: int
    primal_work: int
    primal_span: int
    cotangents: tuple[Any, ...]


def work_and_span(
    term: Term, variables: Collection[Var], values: Sequence[Any], cotangent: Any
) -> Measured:
    """Of D[t] with the call of its function; and of t. `cotangent` is sparse."""
    linear = sparse_arrays()
    before = [linear.zero(v.type, free) for v in variables]
    work = run_monadic(ArrayMonad(linear), term, variables, values, cotangent, before)
    _, primal_work = run_term(term, variables, values)
    env = dict(zip(variables, values, strict=True))
    primal = SpanMachine(linear)
    primal.eval(term, dict(env))
    forks = Forks(linear)
    machine = SpanMachine(linear, forks)
    derived = Monadic().differentiate(variables, term)
    with machine.running():
        _, bp = machine.eval(derived, env)
        _, after = forks.run(machine.call(bp, cotangent), before)
    machine.pay(1 + len(variables))
    return Measured(work.cost, machine.cost, primal_work, primal.cost, after)
