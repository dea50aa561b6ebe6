"""Running the reference forms, and what the theorem of §6 says of their cost.

    cost(run (snd D[t] d) ⟨0, …, 0⟩) ≤ 5 + 34 · cost(t) + 4 · |Γ| + size(d)

With the potential of §4.3, φ(d) = size(d), for the environment before (dᵢ) and after
(resᵢ) too:

    cost(D[t]) + cost(call) + cost(computation)
      - φ(d) - Σ φ(dᵢ) + Σ φ(resᵢ) - |Γ| ≤ 34 · cost(t)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.chad.reference.linear import Zero
from chadllvm.chad.reference.machine import Machine
from chadllvm.chad.reference.monad import Monad, Monadic, Run
from chadllvm.chad.reference.naive import Basic, Environments
from chadllvm.chad.reference.rules import Scope
from chadllvm.chad.reference.sparse import Sparse, Trees, entries
from chadllvm.chad.reference.terms import Call, Do, Ref, Term, pairs, snd
from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Product, Sum, Type

FACTOR, FIXED, PER_VARIABLE = 34, 5, 4


def size(cotangent: Any, ty: Type) -> int:
    """The nodes of a sparse cotangent; a zero of a pair or a sum is one node."""
    match ty:
        case Product((first, second)) if cotangent is not None:
            return 1 + size(cotangent[0], first) + size(cotangent[1], second)
        case Sum() if cotangent is not None:
            return 1 + size(cotangent.value, ty.payloads[cotangent.index])
        case _:
            return 1


def potential(cotangents: Sequence[Any], scope: Scope) -> int:
    """Σ φ(dᵢ)"""
    return sum(size(d, v.type) for d, v in zip(cotangents, scope, strict=True))


@dataclass(frozen=True)
class Outcome:
    """The value of a term, the cotangents of its scope, and the steps it took."""

    value: Any
    cotangents: tuple[Any, ...]
    cost: int


def run_term(term: Term, scope: Scope, values: Sequence[Any]) -> tuple[Any, int]:
    """The value of a term of the source, and its cost."""
    machine = Machine(Sparse())
    value = machine.eval(term, dict(zip(scope, values, strict=True)))
    return value, machine.cost


def run_basic(
    environments: Environments,
    term: Term,
    scope: Scope,
    values: Sequence[Any],
    cotangent: Any,
) -> Outcome:
    """D[t] by adding up environments (Fig. 2), and what it gives for a cotangent."""
    machine = Machine(environments.linear, environments)
    env = dict(zip(scope, values, strict=True))
    value, bp = machine.eval(Basic().derive(scope, term), env)
    found = machine.call(bp, cotangent)
    if isinstance(environments, Trees):
        present = dict(entries(found))
        zeros = [machine.linear.zero(v.type, lambda cost: None) for v in scope]
        found = tuple(present.get(k, zero) for k, zero in enumerate(zeros))
    return Outcome(value, found, machine.cost)


def run_monadic(
    monad: Monad,
    term: Term,
    scope: Scope,
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
) -> Outcome:
    """D[t], the call of its function, and the computation on these cotangents."""
    machine = Machine(monad.linear, monad)
    env = dict(zip(scope, values, strict=True))
    value, bp = machine.eval(Monadic().derive(scope, term), env)
    computation = machine.call(bp, cotangent)
    _, after = monad.run(computation, before)
    machine.pay(1 + len(scope))
    return Outcome(value, after, machine.cost)


def run_gradient(
    monad: Monad, term: Term, scope: Scope, values: Sequence[Any], cotangent: Any
) -> Outcome:
    """run (snd D[t] d) ⟨0, …, 0⟩, as one term whose value is not asked for."""
    machine = Machine(monad.linear, monad)
    d = Var("d", UNIT)
    env = dict(zip((*scope, d), (*values, cotangent), strict=True))
    computation = Call(snd(Monadic().derive(scope, term)), Ref(d))
    zeros = pairs([Do(Zero(v.type)) for v in scope])
    _, after = machine.eval(Do(Run(len(scope)), (computation, zeros)), env)
    return Outcome(None, after, machine.cost)
