"""What the proof rests on: each law on random programs, and that it can fail."""

from __future__ import annotations

from typing import Any

import pytest

from bench.paper.monads import LAWS, Law, tried
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.cost import run_monadic, size
from chadllvm.paper.laws import consumptions, densified, is_monoid, unpaid
from chadllvm.paper.linear import Pay, free
from chadllvm.paper.monad import ArrayMonad, Monadic
from chadllvm.paper.naive import Dense
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.terms import Ref, Term, pair
from chadllvm.paper.types import Scope
from tests.term_strategies import experiment

EXPERIMENTS = [experiment(seed, 100) for seed in range(150)]

# Those that run every form have tests of their own.
SLOW = ("forms_agree", "primal_is_preserved", "casts_are_those_of_the_value")


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("name", [law.__name__ for law in LAWS])
def test_law(name: str) -> None:
    law: Law = {law.__name__: law for law in LAWS}[name]
    found = tried(law, EXPERIMENTS[:40] if name in SLOW else EXPERIMENTS)
    assert found.holds, found.measured


X = Var("x", Product((F64, F64)))


class Twice(Monadic):
    """A wrong rule: the cotangent of a variable is contributed twice."""

    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        once = super().one(scope, var, cotangent)
        return self.both(scope, once, super().one(scope, var, cotangent))


def test_counting_notices_a_second_use() -> None:
    args = (Ref(X), (X,), ((1.0, 2.0),), (1.0, 0.0), (None,))
    assert consumptions(*args) == 1
    assert consumptions(*args, rules=Twice()) == 2
    both = (pair(Ref(X), Ref(X)), (X,), ((1.0, 2.0),), ((1.0, 0.0), None), (None,))
    assert consumptions(*both) == 1


def test_halves_of_a_pair_are_consumed_one_by_one() -> None:
    """lfst d and lsnd d use each half of d once."""
    args = (pair(Ref(X), Ref(X)), (X,), ((1.0, 2.0),), None, (None,))
    assert consumptions(*args) == 1


class Greedy(Sparse):
    """A wrong addition: it goes through all of the second argument."""

    def plus(self, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        pay(size(b, ty))
        return super().plus(a, b, ty, pay)


def test_an_addition_of_what_only_one_has_is_not_paid_for() -> None:
    ty = Product((F64, Product((F64, F64))))
    a, b = (1.0, None), (2.0, (3.0, 4.0))
    assert unpaid(a, b, ty) == 0 == unpaid(None, b, ty)
    steps: list[int] = []
    Greedy().plus(a, b, ty, steps.append)
    assert sum(steps) > size(a, ty) + size(b, ty) - size(b, ty)


def test_monoids_of_nested_sums() -> None:
    inner = Sum((("left", F64), ("right", Product((F64, F64)))))
    ty = Product((inner, F64))
    abc: list[Any] = [
        (Injected(1, (1.0, 2.0)), 1.0),
        (None, 2.0),
        (Injected(1, None), -4.0),
    ]
    assert is_monoid(Sparse(), *abc, ty)
    assert is_monoid(Dense(), *[densified(d, ty, free) for d in abc], ty)
    total = Sparse().plus(abc[0], abc[2], ty, free)
    assert total == (Injected(1, (1.0, 2.0)), -3.0)


def test_a_sum_that_is_not_associative_is_noticed() -> None:
    class Halving(Sparse):
        def plus(self, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
            return super().plus(a, b, ty, pay) / 2.0

    assert is_monoid(Sparse(), 1.0, 2.0, 4.0, F64)
    assert not is_monoid(Halving(), 1.0, 2.0, 4.0, F64)


def test_dense_results_are_as_large_as_their_types() -> None:
    ty = Product((F64, Product((F64, F64))))
    steps: list[int] = []
    assert densified(None, ty, steps.append) == (0.0, (0.0, 0.0))
    assert sum(steps) == 5 == Dense().size((0.0, (0.0, 0.0)), ty)


class Watched(Sparse):
    """Notes the types that are added at, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Type] = []

    def plus(self, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        self.seen.append(ty)
        return super().plus(a, b, ty, pay)


@pytest.mark.parametrize("swapped", [False, True])
def test_swapped_rules_do_swap(swapped: bool) -> None:
    """The claim about the order of >> compares two different programs."""
    a, k = Var("a", F64), Var("k", I64)
    watched, term = Watched(), pair(Ref(a), Ref(k))
    rules = Monadic(swapped)
    args = (term, (a, k), (2.0, 3), (1.0, ()), (0.0, ()))
    run_monadic(ArrayMonad(watched), *args, rules=rules)
    assert watched.seen == ([I64, F64] if swapped else [F64, I64])
