"""Work and span of a gradient, and of what it is the gradient of: see `span`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.ir.term import Var
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.cost import run_monadic, run_term
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad, Monadic
from chadllvm.paper.span import Forks, SpanMachine
from chadllvm.paper.terms import Term


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
