"""The theorem of §6 with arrays and loops, and how far a program is from its bound.

The costs of the source's operations are in `arrays` and `loops`, those of the linear
types in `bag`: what the derivatives use (§7) is linear in what it is given, and paid
for element by element. The theorem stays as it is, with the same constants:

    cost(run (snd D[t] d) ⟨0, …, 0⟩) ≤ 5 + 34 · cost(t) + 4 · |Γ| + size(d)

and so does its form with potential (`cost`), where the size of a bag, which is its
potential too, is what it takes to use it up: to collect it, and to put its
contributions in their places.

    φ(BEmpty) = 1                   φ(BPlus a b) = φ(a) + φ(b) - 1
    φ(BOne ⟨i, d⟩) = 3 + φ(d)       φ(BArray ds) = 2 + Σ (3 + φ(d))

BPlus takes a step, which its operands have in store, so that the amortisation law holds
for bags as it does for pairs: cost(a + b) ≤ φ(a) + φ(b) - φ(a + b). BArray may be
inflated to the length of its array, since it stands in the place of that many BOne.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.ir.term import Var
from chadllvm.paper.cost import (
    FIXED,
    PER_VARIABLE,
    run_gradient,
    run_monadic,
    run_term,
)
from chadllvm.paper.monad import Monad
from chadllvm.paper.rules import Rules
from chadllvm.paper.terms import Term, type_of


@dataclass(frozen=True)
class Ratios:
    """What stands before cost(t) in the theorem and in its form with potential."""

    cost: int
    plain: float
    amortised: float


def ratios(
    monad: Monad,
    term: Term,
    variables: Collection[Var],
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
    rules: Rules | None = None,
) -> Ratios:
    """The ratios of a program: no more than 34, says the theorem.

    `before` are cotangents of the variables to start with, in the form with potential.
    """
    linear = monad.linear
    given = linear.size(cotangent, type_of(term))
    _, cost = run_term(term, variables, values)
    whole = run_gradient(monad, term, variables, values, cotangent, rules)
    parts = run_monadic(monad, term, variables, values, cotangent, before, rules)
    plain = whole.cost - FIXED - PER_VARIABLE * len(variables) - given
    stored = potential(monad, before, variables)
    left = potential(monad, parts.cotangents, variables)
    amortised = parts.cost - given - stored + left - len(variables)
    return Ratios(cost, plain / cost, amortised / cost)


def potential(
    monad: Monad, cotangents: Sequence[Any], variables: Collection[Var]
) -> int:
    """Σ φ(dᵢ)"""
    pairs = zip(cotangents, variables, strict=True)
    return sum([monad.linear.size(d, v.type) for d, v in pairs])
