"""Defunctionalised programs, and what programs with functions cost by each route."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import cos, sin
from typing import Any

import pytest

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Fun, Sum, Type
from chadllvm.paper.check import check
from chadllvm.paper.closed import ClosedBasic, ClosedMonadic
from chadllvm.paper.closure import convert
from chadllvm.paper.cost import run_basic, run_gradient, run_monadic, run_term
from chadllvm.paper.defunctionalise import defunctionalise
from chadllvm.paper.function_types import has_function
from chadllvm.paper.higher_order import Bags, HigherOrder, Lists, Log
from chadllvm.paper.monad import ArrayMonad, Monadic
from chadllvm.paper.naive import Basic, Tuples
from chadllvm.paper.packed import CLOSED
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    fst,
    pair,
    snd,
    type_of,
    unit,
)
from tests.function_term_strategies import (
    Program,
    chain,
    function,
    named,
    nested,
    programs,
    subterms,
    wide,
)

NUMBERS = function(F64, F64)


def apply(name: str, *args: Term) -> Term:
    arg = args[0] if len(args) == 1 else pair(*args)
    return Do(Primitive(PRIMS[name]), (arg,))


def lam(ty: Type, body: Callable[[Term], Term]) -> Term:
    var = Var("x", ty)
    return Lam(var, body(Ref(var)))


def let(bound: Term, body: Callable[[Term], Term]) -> Term:
    var = Var("v", type_of(bound))
    return Let(var, bound, body(Ref(var)))


def either(k: Term, no: Term, yes: Term) -> Term:
    """`yes` if k < 0, else `no`."""
    test = apply("ilt", k, Do(Literal(0), (unit(),)))
    return Match(test, Lam(Var("u", UNIT), no), Lam(Var("u", UNIT), yes))


def scaled(x: Term) -> Term:
    return lam(F64, lambda y: apply("mul", x, y))


def added(x: Term) -> Term:
    return lam(F64, lambda y: apply("add", x, y))


def twice(ty: Type) -> Term:
    """λf. λx. f (f x)"""
    return lam(function(ty, ty), lambda f: lam(ty, lambda x: Call(f, Call(f, x))))


def branches(k: Term, x: Term) -> Term:
    """A function chosen by a branch, of which one captures more."""
    both = lam(F64, lambda y: apply("add", apply("mul", x, x), apply("mul", x, y)))
    return Call(either(k, scaled(x), both), number(3.0))


def pairs(k: Term, x: Term) -> Term:
    """A pair of functions, its components chosen separately."""
    p = pair(either(k, scaled(x), added(x)), either(k, added(x), scaled(x)))
    return let(p, lambda p: Call(fst(p), Call(snd(p), number(3.0))))


def sums(k: Term, x: Term) -> Term:
    """A sum with a function in one constructor, which one case knows nothing of."""
    ty = Sum((("left", NUMBERS), ("right", F64)))
    s = either(k, Do(Inject(0, ty), (scaled(x),)), Do(Inject(1, ty), (x,)))
    f, y = Var("f", NUMBERS), Var("y", F64)
    call = Lam(f, Call(Ref(f), Call(Ref(f), number(1.0))))
    return Match(s, call, Lam(y, apply("mul", Ref(y), number(7.0))))


def results(k: Term, x: Term) -> Term:
    """A function that returns functions, which capture its parameter."""
    maker = lam(F64, lambda y: either(k, scaled(y), added(y)))
    return let(maker, lambda m: Call(Call(m, x), Call(Call(m, number(2.0)), x)))


def arguments(k: Term, x: Term) -> Term:
    """Functions of functions, at several types: (twice twice) (scale x), … (1)"""
    outer = Call(twice(NUMBERS), twice(F64))
    return Call(Call(outer, either(k, scaled(x), added(x))), number(1.0))


def wraps(k: Term, x: Term) -> Term:
    """A function chosen between two that wrap another choice."""
    inner = either(k, scaled(x), added(x))

    def wrap(f: Term) -> Term:
        outer = lam(F64, lambda y: apply("sin", Call(f, y)))
        return Call(either(k, outer, f), number(0.5))

    return let(inner, wrap)


def number(value: float) -> Term:
    return Do(Literal(value), (unit(),))


# What the programs of a k and an x give, and their derivatives by x, for k = 1 and -1.
EXPECTED: dict[Callable[[Term, Term], Term], Any] = {
    branches: (lambda x: (3 * x, 3.0), lambda x: (x * x + 3 * x, 2 * x + 3)),
    pairs: (lambda x: (x * (x + 3), 2 * x + 3), lambda x: (x + 3 * x, 4.0)),
    sums: (lambda x: (x * x, 2 * x), lambda x: (7 * x, 7.0)),
    results: (lambda x: (2 * x * x, 4 * x), lambda x: (x + 2 + x, 2.0)),
    arguments: (lambda x: (x**4, 4 * x**3), lambda x: (4 * x + 1, 4.0)),
    wraps: (
        lambda x: (sin(x / 2), cos(x / 2) / 2),
        lambda x: (x + 0.5, 1.0),
    ),
}


def scope() -> tuple[Var, Var]:
    return Var("k", I64), Var("x", F64)


@pytest.mark.parametrize("make", EXPECTED)
@pytest.mark.parametrize("k", [1, -1])
def test_functions_as_values(make: Callable[[Term, Term], Term], k: int) -> None:
    variables = scope()
    term = make(*map(Ref, variables))
    expected = EXPECTED[make][k < 0](1.5)
    values = [k, 1.5]
    assert run_term(term, variables, values)[0] == pytest.approx(expected[0])
    first_order = defunctionalise(variables, term)
    assert check(first_order, variables) == F64
    zeros = [(), 0.0]
    linear = Sparse({Fun: Lists(), **CLOSED})
    monad = ArrayMonad(linear)
    outcomes = (
        run_basic(Trees(linear), term, variables, values, 1.0, HigherOrder()),
        run_monadic(
            monad, convert(term), variables, values, 1.0, zeros, ClosedMonadic()
        ),
        run_monadic(monad, first_order, variables, values, 1.0, zeros, Monadic()),
    )
    for outcome in outcomes:
        assert outcome.value == pytest.approx(expected[0], rel=1e-14)
        assert outcome.cotangents[1] == pytest.approx(expected[1], rel=1e-14)


def test_defunctionalised_programs_are_first_order() -> None:
    """No functions, no calls, and no variable that holds a function."""
    for program in programs(30, seed=2):
        term = defunctionalise(program.scope, program.term)
        assert not subterms(term, Lam) and not subterms(term, Call)
        assert not any(has_function(t.var.type) for t in subterms(term, Let))


# Costs.


def naive(program: Program, log: Log) -> int:
    environments = Trees(Sparse({Fun: log, **CLOSED}))
    rules = HigherOrder()
    return run_basic(
        environments, program.term, program.scope, program.values, 1.0, rules
    ).cost


def gradient(program: Program, term: Term, rules: Monadic) -> int:
    monad = ArrayMonad(Sparse(CLOSED))
    return run_gradient(monad, term, program.scope, program.values, 1.0, rules).cost


@pytest.mark.parametrize("family", [nested, named])
@pytest.mark.parametrize("log", [Lists(), Bags()])
def test_naively_nested_calls_take_exponential_time(
    family: Callable[[int], Program], log: Log
) -> None:
    steps = [naive(family(n), log) for n in range(2, 11)]
    assert all(b / a > 1.95 for a, b in pairwise(steps))
    assert steps[-1] > 2**10


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("family", [nested, named, chain])
def test_closures_take_linear_time(family: Callable[[int], Program]) -> None:
    found = [family(n) for n in range(2, 31, 4)]
    environments = Trees(Sparse(CLOSED))
    ways: list[Callable[[Program], int]] = [
        lambda p: gradient(p, convert(p.term), ClosedMonadic()),
        lambda p: gradient(p, defunctionalise(p.scope, p.term), Monadic()),
        lambda p: (
            run_basic(
                environments, convert(p.term), p.scope, p.values, 1.0, ClosedBasic()
            ).cost
        ),
    ]
    for way in ways:
        steps = [way(program) for program in found]
        assert len({b - a for a, b in pairwise(steps)}) == 1


def test_defunctionalised_programs_have_one_scope() -> None:
    """As tuples, environments of all nested variables take quadratic time (§4)."""
    found = [nested(n) for n in (10, 20, 40)]
    steps = [
        run_basic(
            Tuples(Sparse()), defunctionalise(p.scope, p.term), p.scope, [2.0], 1.0,
            Basic(),
        ).cost
        for p in found
    ]  # fmt: skip
    assert steps[2] - steps[1] > 3 * (steps[1] - steps[0])


def test_calls_do_not_pay_for_what_is_captured() -> None:
    """Calls of a function that captures n variables take log n steps, not n."""
    each: list[float] = []
    for n in (8, 64):
        program = wide(n)
        steps = run_term(convert(program.term), program.scope, program.values)[1]
        each.append(steps / n)
    assert each[1] - each[0] < 5


def test_a_log_of_many_calls_takes_linear_time_in_bags_only() -> None:
    def more(log: Log) -> list[int]:
        steps = [naive(wide(n), log) - naive(wide(n), Bags()) for n in (8, 16, 32)]
        return [b - a for a, b in pairwise(steps)]

    assert more(Bags()) == [0, 0]
    assert more(Lists())[1] > 1.9 * more(Lists())[0] != 0
