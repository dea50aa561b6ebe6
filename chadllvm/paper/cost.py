"""Running the reference forms, and what the theorem of §6 says of their cost.

    cost(run (snd D[t] d) ⟨0, …, 0⟩) ≤ 5 + 34 · cost(t) + 4 · |Γ| + size(d)

With the potential of §4.3, φ(d) = size(d), for the environment before (dᵢ) and after
(resᵢ) too:

    cost(D[t]) + cost(call) + cost(computation)
      - φ(d) - Σ φ(dᵢ) + Σ φ(resᵢ) - |Γ| ≤ 34 · cost(t)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import Type
from chadllvm.paper.linear import Zero
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import Monad, Monadic, Run
from chadllvm.paper.naive import Basic, Environments
from chadllvm.paper.rules import Rules
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.terms import Call, Do, Ref, Term, components, pairs, snd
from chadllvm.paper.types import Scope, cotangent

FACTOR, FIXED, PER_VARIABLE = 34, 5, 4

NAME = "a term"

Variables = Collection[Var]


def size(cotangent: Any, ty: Type) -> int:
    """The nodes of a sparse cotangent; a zero of a pair or a sum is one node."""
    return Sparse().size(cotangent, ty)


def potential(cotangents: Sequence[Any], scope: Variables) -> int:
    """Σ φ(dᵢ)"""
    return sum([size(d, v.type) for d, v in zip(cotangents, scope, strict=True)])


@dataclass(frozen=True)
class Outcome:
    """The value of a term, the cotangents of its scope, and the steps it took."""

    value: Any
    cotangents: tuple[Any, ...]
    cost: int


def run_term(
    term: Term, scope: Variables, values: Sequence[Any], name: str = NAME
) -> tuple[Any, int]:
    """The value of a term of the source, and its cost."""
    machine = Machine(Sparse(), name=name)
    with machine.running():
        value = machine.eval(term, dict(zip(scope, values, strict=True)))
    return value, machine.cost


def run_basic(
    environments: Environments,
    term: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    rules: Rules | None = None,
    name: str = NAME,
) -> Outcome:
    """D[t] by adding up environments (Fig. 2), and what it gives for a cotangent."""
    scope = Scope.of(variables)
    machine = Machine(environments.linear, environments, name)
    env = dict(zip(scope, values, strict=True))
    derived = (rules or Basic()).differentiate(scope, term)
    with machine.running():
        value, bp = machine.eval(derived, env)
        found = machine.call(bp, cotangent)
    return Outcome(value, environments.cotangents(scope, found), machine.cost)


def run_monadic(
    monad: Monad,
    term: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
    rules: Rules | None = None,
    name: str = NAME,
) -> Outcome:
    """D[t], the call of its function, and the computation on these cotangents."""
    derived = (rules or Monadic()).differentiate(variables, term)
    return run_derived(monad, derived, variables, values, cotangent, before, name)


def run_derived(
    monad: Monad,
    derived: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
    name: str = NAME,
) -> Outcome:
    """What `run_monadic` does, of a D[t] that is known."""
    machine = Machine(monad.linear, monad, name)
    env = dict(zip(variables, values, strict=True))
    with machine.running():
        value, bp = machine.eval(derived, env)
        computation = machine.call(bp, cotangent)
        _, after = monad.run(computation, before)
    machine.pay(1 + len(variables))
    return Outcome(value, after, machine.cost)


def gradient_term(derived: Term, ty: Type, scope: Scope) -> tuple[Scope, Term]:
    """run (snd D[t] d) ⟨0, …, 0⟩ for a t of this type, and its scope: t's, and d."""
    d = Var("d", cotangent(ty))
    computation = Call(snd(derived), Ref(d))
    zeros = pairs([Do(Zero(ty)) for ty in scope.types])
    return scope.and_(d), Do(Run(scope), (computation, zeros))


def run_gradient(
    monad: Monad,
    term: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    rules: Rules | None = None,
    name: str = NAME,
) -> Outcome:
    """run (snd D[t] d) ⟨0, …, 0⟩, as one term whose value is not asked for."""
    rules = rules or Monadic()
    derived = rules.differentiate(variables, term)
    ty = rules.type_of(term)
    return _run_gradient(monad, derived, ty, variables, values, cotangent, name)


def _run_gradient(
    monad: Monad,
    derived: Term,
    ty: Type,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    name: str,
) -> Outcome:
    scope, gradient = gradient_term(derived, ty, Scope.of(variables))
    machine = Machine(monad.linear, monad, name)
    env = dict(zip(scope, (*values, cotangent), strict=True))
    with machine.running():
        _, after = machine.eval(gradient, env)
    found = tuple(components(after, len(variables)))
    return Outcome(None, found, machine.cost)


@dataclass(frozen=True)
class Measured:
    """One experiment with the theorem.

    `source` is cost(t), `gradient` that of the gradient, of which `granted` is the part
    5 + 4·|Γ| + size(d) of the bound; `amortised` is the left side with the potential.
    """

    source: int
    gradient: int
    granted: int
    amortised: int

    @property
    def ratio(self) -> float:
        """What the factor of the theorem would have to be at least."""
        return (self.gradient - self.granted) / self.source

    @property
    def amortised_ratio(self) -> float:
        """The same for the statement with the potential."""
        return self.amortised / self.source

    @property
    def holds(self) -> bool:
        return max(self.ratio, self.amortised_ratio) <= FACTOR


def measure(
    monad: Monad,
    term: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
    name: str = NAME,
) -> Measured:
    """Both statements of the theorem for one term, cotangent, and cells before."""
    rules, scope = Monadic(), Scope.of(variables)
    derived = rules.differentiate(scope, term)
    ty = rules.type_of(term)
    _, source = run_term(term, scope, values, name)
    gradient = _run_gradient(monad, derived, ty, scope, values, cotangent, name)
    after = run_derived(monad, derived, scope, values, cotangent, before, name)
    paid = size(cotangent, ty) + potential(before, scope) + len(scope)
    return Measured(
        source,
        gradient.cost,
        FIXED + PER_VARIABLE * len(scope) + size(cotangent, ty),
        after.cost - paid + potential(after.cotangents, scope),
    )
