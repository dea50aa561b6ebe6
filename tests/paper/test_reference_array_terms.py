"""Terms with nested and ragged arrays: exact derivatives, in any order of addition."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from chadllvm.ir.types import F64, Array, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper import bag
from chadllvm.paper.array_affine import CountingArrays
from chadllvm.paper.array_linear import dense_arrays, sparse_arrays
from chadllvm.paper.check import check
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold, Shape
from chadllvm.paper.linear import Linear, free
from chadllvm.paper.monad import ArrayMonad, Monadic, TreeMonad
from chadllvm.paper.naive import Basic, Tuples
from chadllvm.paper.recognise import gathered
from chadllvm.paper.sparse import Trees
from chadllvm.paper.spread import spread
from chadllvm.paper.terms import Do, Ref, Term, function, pair, snd, type_of
from chadllvm.paper.types import Scope
from tests.array_term_strategies import array_experiment
from tests.array_terms import (
    PAIR,
    A,
    X,
    added,
    build,
    cheap_terms,
    experiment,
    index,
    length,
    loop,
    number,
    prim,
)
from tests.dual import EXACT, largest, moving, primal, product
from tests.sweep import part
from tests.term_strategies import Experiment

PROGRAMS = part(150, 3)


def outcomes(e: Experiment) -> Iterator[tuple[str, Linear, Outcome]]:
    """What every form gives, and the monadic one in the other order too."""
    sparse = sparse_arrays()
    scope = e.scope, e.values, e.cotangent
    yield "sparse", sparse, run_basic(Trees(sparse), e.term, *scope)
    zeros = [sparse.zero(v.type, free) for v in e.scope]
    for monad in (TreeMonad(sparse), ArrayMonad(sparse)):
        for swapped in (False, True):
            outcome = run_monadic(monad, e.term, *scope, zeros, Monadic(swapped))
            yield f"{type(monad).__name__} {swapped}", sparse, outcome


def laid_out(linear: Linear, e: Experiment, outcome: Outcome) -> list[Any]:
    triples = zip(outcome.cotangents, e.values, e.scope, strict=True)
    return [spread(linear, d, value, v.type) for d, value, v in triples]


def exact(seed: int) -> tuple[Experiment, Any, list[Any]] | None:
    """An experiment, its value and arguments with tangents, if all is exact."""
    e = array_experiment(seed)
    rng = Random(seed)
    pairs = zip(e.values, e.scope, strict=True)
    values = [moving(rng, value, v.type) for value, v in pairs]
    result, _ = run_term(e.term, e.scope, values)
    return (e, result, values) if largest(result, e.type) < EXACT else None


def test_cotangents_are_those_of_dual_numbers() -> None:
    """⟨d, tangent of the value⟩ = Σ ⟨cotangent, tangent⟩, exactly."""
    met = 0
    for seed in range(PROGRAMS):
        found = exact(seed)
        if found is None:
            continue
        e, result, values = found
        sparse = sparse_arrays()
        value = primal(result, e.type)
        expected = product(spread(sparse, e.cotangent, value, e.type), result, e.type)
        for name, linear, outcome in outcomes(e):
            assert outcome.value == value
            triples = zip(laid_out(linear, e, outcome), values, e.scope, strict=True)
            total = sum([product(d, x, v.type) for d, x, v in triples])
            assert total == expected, (seed, name)
        met += 1
    assert met > 0.9 * PROGRAMS


def test_the_order_of_additions_changes_nothing() -> None:
    """Either order of >>, of `sequence`, and of unTree's two calls (§8)."""
    for seed in range(PROGRAMS):
        found = exact(seed)
        if found is None:
            continue
        e = found[0]
        results = [laid_out(linear, e, o) for _, linear, o in outcomes(e)]
        assert all(result == results[0] for result in results), seed


def test_the_naive_form_agrees() -> None:
    """Dense cotangents, where those that come in can be made dense."""
    for seed in range(PROGRAMS):
        e = array_experiment(seed, 40)
        sparse, dense = sparse_arrays(), dense_arrays()
        value, _ = run_term(e.term, e.scope, e.values)
        given = spread(sparse, e.cotangent, value, e.type)
        d = as_dense(dense, given, e.type)
        naive = run_basic(Tuples(dense), e.term, e.scope, e.values, d)
        first = next(outcomes(e))[2]
        assert naive.value == first.value
        found = laid_out(dense, e, naive)
        expected = laid_out(sparse, e, first)
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9, nan_ok=True)


def as_dense(linear: Linear, laid_out: Any, ty: Type) -> Any:
    """A cotangent in the naive form, from one that is laid out."""
    match ty:
        case Product((first, second)):
            a, b = laid_out
            return as_dense(linear, a, first), as_dense(linear, b, second)
        case Sum():
            held = as_dense(linear, laid_out.value, ty.payloads[laid_out.index])
            return Injected(laid_out.index, held)
        case Array(elem, 1):
            return tuple([as_dense(linear, x, elem) for x in laid_out.items])
        case _:
            return laid_out if ty == F64 else ()


def numbers(value: Any) -> list[float]:
    """All numbers in a laid out cotangent."""
    if isinstance(value, Elements):
        return [n for item in value.items for n in numbers(item)]
    if isinstance(value, tuple | list):
        return [n for part in value for n in numbers(part)]
    return [value] if isinstance(value, float | int) else numbers(value.value)


def test_derivatives_are_well_typed() -> None:
    for seed in range(PROGRAMS):
        e = array_experiment(seed)
        scope = Scope.of(e.scope)
        for term in (e.term, gathered(e.term)):
            assert check(term, scope) == e.type
            for rules in (Basic(), Monadic()):
                derived = rules.differentiate(scope, term)
                assert check(derived, scope) == rules.derived_type(scope, e.type)


def test_cheap_terms_are_well_typed() -> None:
    scope = Scope.of((X, A))
    for term in cheap_terms(3).values():
        for rules in (Basic(), Monadic()):
            derived = rules.differentiate(scope, term)
            assert check(derived, scope) == rules.derived_type(scope, type_of(term))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_every_order_of_a_fold_has_the_same_derivative(n: int) -> None:
    """For an associative function: here x + y + x · y."""
    found = []
    shapes: tuple[Shape, ...] = ("balanced", "left", "right")
    for shape in shapes:
        term = Do(Fold(shape), (function("p", PAIR, circled), _halves()))
        e = experiment(term, n, 0.0)
        (_, linear, outcome), *_ = outcomes(e)
        found.append((outcome.value, laid_out(linear, e, outcome)))
    assert found[0] == found[1] == found[2]


def circled(p: Term) -> Term:
    """x + y + x · y"""
    return prim("add", pair(added(p), prim("mul", p)))


def _halves() -> Term:
    return build(length(), lambda i: prim("mul", pair(index(i), number(0.5))))


def test_cotangents_are_used_at_most_once() -> None:
    """By every operation that consumes cotangents, bags too, over whole runs."""
    most = 0
    for seed in range(PROGRAMS):
        e = array_experiment(seed)
        counting = CountingArrays()
        d = counting.counted(e.cotangent)
        before = [counting.counted(one) for one in e.before]
        run_monadic(ArrayMonad(counting), e.term, e.scope, e.values, d, before)
        most = max(most, counting.most)
    assert most == 1


def test_a_bag_that_is_used_twice_is_counted_twice() -> None:
    counting = CountingArrays()
    ty = Array(F64, 1)
    twice = counting.zero(ty, free)
    counting.plus(twice, twice, ty, free)
    assert counting.most == 2


def test_outputs_of_a_loop_have_their_own_cotangents() -> None:
    """The k-th output is x^(k + 1), and its cotangent is 10^k."""
    term = snd(
        loop(
            number(4),
            F64,
            Ref(X),
            lambda s: pair(prim("mul", pair(snd(s), Ref(X))), snd(s)),
        )
    )
    weights = bag.of_array([10.0**k for k in range(4)], None, free)
    e = experiment(term, 1, None, weights)
    expected = sum(10.0**k * (k + 1) * 2.0**k for k in range(4))
    for _, linear, outcome in outcomes(e):
        assert outcome.value == Elements([2.0, 4.0, 8.0, 16.0])
        assert laid_out(linear, e, outcome)[0] == expected
