"""What the proof of §6 rests on: laws of cotangents and of the environment monad.

Each law is tried on random programs of the first-order language (`tests/
term_strategies.py`), whose numbers are small integers: equal means equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from bench.paper.claim import Claim, Report
from chadllvm.ir.types import F64, Type
from chadllvm.paper.cost import (
    Outcome,
    run_basic,
    run_derived,
    run_monadic,
    run_term,
)
from chadllvm.paper.laws import (
    bind_excess,
    consumptions,
    densified,
    is_monoid,
    unpaid,
)
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad, Monadic, TreeMonad
from chadllvm.paper.naive import Dense, Tuples
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.support.diagnostic import InternalError
from tests.term_strategies import Experiment, TermWriter, experiment

PROGRAMS, QUICK_PROGRAMS = 1_000, 60
SIZE = 120

# A law: whether it holds for an experiment, and a number that it is about.
Law = Callable[[Experiment, Random], tuple[bool, float]]


def report(quick: bool) -> Report:
    """Claims of §4.2, §4.3, §5, §6 and §8 other than the theorem."""
    count = QUICK_PROGRAMS if quick else PROGRAMS
    found = [experiment(seed, SIZE) for seed in range(count)]
    return Report(tuple(tried(law, found) for law in LAWS))


def tried(law: Law, experiments: list[Experiment]) -> Claim:
    """A claim about all experiments; the measured number is the largest one."""
    says, place, number = LAWS[law]
    results = [law(e, Random(k)) for k, e in enumerate(experiments)]
    worst = max(value for _, value in results)
    held = sum(holds for holds, _ in results)
    measured = f"{held} of {len(results)} programs; {number.format(worst)}"
    return Claim(says, place, measured, held == len(results))


def cotangents(found: Experiment, rng: Random) -> list[tuple[Type, list[Any]]]:
    """Three cotangents of every variable's value."""
    writer = TermWriter(rng)
    return [
        (v.type, [writer.cotangent(value, v.type) for _ in range(3)])
        for value, v in zip(found.values, found.scope, strict=True)
    ]


def sums_are_paid_for(found: Experiment, rng: Random) -> tuple[bool, float]:
    rest = [unpaid(a, b, ty) for ty, (a, b, _) in cotangents(found, rng)]
    worst = max(rest, default=0)
    return worst <= 0, worst


def cotangents_are_monoids(found: Experiment, rng: Random) -> tuple[bool, float]:
    triples = cotangents(found, rng)
    good = all(is_monoid(Sparse(), *abc, ty) for ty, abc in triples)
    dense = [(ty, [densified(d, ty, free) for d in abc]) for ty, abc in triples]
    good = good and all(is_monoid(Dense(), *abc, ty) for ty, abc in dense)
    return good, len(triples)


def cotangents_are_affine(found: Experiment, rng: Random) -> tuple[bool, float]:
    most = consumptions(
        found.term, found.scope, found.values, found.cotangent, found.before
    )
    return most <= 1, most


def bind_costs_what_it_runs(found: Experiment, rng: Random) -> tuple[bool, float]:
    other = TermWriter(rng).term(list(found.scope), F64, 40)
    excess = {
        bind_excess(
            monad(Sparse()),
            (found.term, other),
            found.scope,
            found.values,
            (found.cotangent, 1.0),
            found.before,
        )
        for monad in (ArrayMonad, TreeMonad)
    }
    return excess == {2}, max(excess)


def primal_is_preserved(found: Experiment, rng: Random) -> tuple[bool, float]:
    value, _ = run_term(found.term, found.scope, found.values)
    values = [form.value for form in _all_forms(found)]
    return all(repr(v) == repr(value) for v in values), len(values)


def forms_agree(found: Experiment, rng: Random) -> tuple[bool, float]:
    results = [_numbers(form.cotangents, found) for form in _all_forms(found)]
    return all(r == results[0] for r in results), len(results)


def _numbers(cotangents: Sequence[Any], found: Experiment) -> list[str]:
    """All numbers in cotangents; NaNs are equal, and so are both zeros."""
    return [
        repr(number + 0.0)
        for d, v in zip(cotangents, found.scope, strict=True)
        for number in Dense().numbers(densified(d, v.type, free), v.type)
    ]


def order_does_not_matter(found: Experiment, rng: Random) -> tuple[bool, float]:
    results = [
        run_monadic(
            ArrayMonad(Sparse()),
            found.term,
            found.scope,
            found.values,
            found.cotangent,
            found.before,
            Monadic(swapped),
        ).cotangents
        for swapped in (False, True)
    ]
    return repr(results[0]) == repr(results[1]), len(found.scope)


def casts_are_those_of_the_value(found: Experiment, rng: Random) -> tuple[bool, float]:
    """No error: a cotangent never meets the other constructor (Fig. 4's error)."""
    try:
        forms = _all_forms(found)
    except InternalError:
        return False, 0
    return True, len(forms)


def dense_results_cost_their_size(found: Experiment, rng: Random) -> tuple[bool, float]:
    """§5: to return dense cotangents costs Σ size(τ) more, however sparse they are."""
    derived = Monadic().differentiate(found.scope, found.term)
    after = run_derived(
        ArrayMonad(Sparse()),
        derived,
        found.scope,
        found.values,
        found.cotangent,
        found.before,
    ).cotangents
    steps: list[int] = []
    dense = [
        densified(d, v.type, steps.append)
        for d, v in zip(after, found.scope, strict=True)
    ]
    sizes = [Dense().size(d, v.type) for d, v in zip(dense, found.scope, strict=True)]
    return sum(steps) == sum(sizes), sum(steps)


# The claims: what a law says, its place, and what its number means.
LAWS: dict[Law, tuple[str, str, str]] = {
    primal_is_preserved: (
        "the first half of D[t] is the value of t, in every form",
        "§2, §6.1",
        "exactly equal in {:.0f} forms",
    ),
    forms_agree: (
        "dense, sparse, and monadic forms give the same cotangents",
        "§2, §4, §5",
        "exactly equal in {:.0f} forms",
    ),
    casts_are_those_of_the_value: (
        "no cast meets a cotangent of the other constructor",
        "§2, Fig. 4",
        "in {:.0f} forms",
    ),
    cotangents_are_monoids: (
        "every D[τ]₂ is a commutative monoid, sparse and dense",
        "§2, §4.1",
        "up to {:.0f} types in a program",
    ),
    sums_are_paid_for: (
        "cost(a + b) ≤ |a| + |b| - |a + b|",
        "§4.3, amortisation law",
        "largest difference {:.0f}",
    ),
    cotangents_are_affine: (
        "cotangents are used affinely: each is consumed at most once",
        "§4.3",
        "at most {:.0f} times",
    ),
    bind_costs_what_it_runs: (
        "cost(run (a >>= λx. b) e) = O(1) + cost(run a e) + cost(run b e') - |Γ|",
        "§6.1, bind-cost lemma",
        "O(1) is {:.0f}, the variables that λx. b captures",
    ),
    dense_results_cost_their_size: (
        "returning dense cotangents costs Σ size(τ) more",
        "§5",
        "up to {:.0f} steps",
    ),
    order_does_not_matter: (
        "either order of >> gives exactly the same cotangents",
        "§8",
        "scopes of up to {:.0f} variables",
    ),
}


def _all_forms(found: Experiment) -> list[Outcome]:
    """The value and the cotangents by each form, from cells that hold zero."""
    term, scope, values = found.term, found.scope, found.values
    dense = densified(found.cotangent, found.type, free)
    forms: list[Outcome] = []
    for linear, d in ((Dense(), dense), (Sparse(), found.cotangent)):
        zeros = [linear.zero(v.type, free) for v in scope]
        forms += [
            run_basic(Tuples(linear), term, scope, values, d),
            run_basic(Trees(linear), term, scope, values, d),
            run_monadic(TreeMonad(linear), term, scope, values, d, zeros),
            run_monadic(ArrayMonad(linear), term, scope, values, d, zeros),
        ]
    return forms
