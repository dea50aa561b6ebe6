"""Arrays of functions, and loops that call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Fun, Type
from chadllvm.paper.array_linear import dense_arrays, sparse_arrays
from chadllvm.paper.array_types import array
from chadllvm.paper.arrays import Build, Dim, Index
from chadllvm.paper.check import check
from chadllvm.paper.closed import ClosedBasic, ClosedMonadic
from chadllvm.paper.closure import convert
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.defunctionalise import defunctionalise
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.higher_order import Bags, HigherOrder
from chadllvm.paper.linear import Linear, free
from chadllvm.paper.monad import ArrayMonad, Monadic, TreeMonad
from chadllvm.paper.naive import Basic, Tuples
from chadllvm.paper.packed import CLOSED
from chadllvm.paper.rules import Rules
from chadllvm.paper.sparse import Trees
from chadllvm.paper.terms import (
    Call,
    Do,
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
from chadllvm.paper.types import Scope, product
from chadllvm.support.diagnostic import InternalError
from tests.function_term_strategies import function

NUMBERS = function(F64, F64)
VALUES = (Elements([2.0, 3.0, 5.0]), 7.0)


def apply(name: str, *args: Term) -> Term:
    arg = args[0] if len(args) == 1 else pair(*args)
    return Do(Primitive(PRIMS[name]), (arg,))


def lam(ty: Type, body: Callable[[Term], Term]) -> Lam:
    var = Var("x", ty)
    return Lam(var, body(Ref(var)))


def let(bound: Term, body: Callable[[Term], Term]) -> Term:
    var = Var("v", type_of(bound))
    return Let(var, bound, body(Ref(var)))


def build(count: Term, body: Callable[[Term], Term]) -> Term:
    return Do(Build(), (count, lam(I64, body)))


def fold(ty: Type, items: Term, body: Callable[[Term, Term], Term]) -> Term:
    step = lam(product(ty, ty), lambda p: body(fst(p), snd(p)))
    return Do(Fold(), (step, items))


def total(items: Term) -> Term:
    return fold(F64, items, lambda x, y: apply("add", x, y))


def at(items: Term, index: Term) -> Term:
    return Do(Index(), (items, index))


def length(items: Term) -> Term:
    return Do(Dim(0), (items,))


def scales(a: Term) -> Term:
    """build n (i. λx. a!i x)"""

    def element(i: Term) -> Term:
        return let(at(a, i), lambda c: lam(F64, lambda x: apply("mul", c, x)))

    return build(length(a), element)


def calls(a: Term, y: Term) -> Term:
    """Σᵢ fᵢ (fᵢ y), of an array of functions"""

    def both(fs: Term) -> Term:
        def element(i: Term) -> Term:
            return Call(at(fs, i), Call(at(fs, i), y))

        return total(build(length(fs), element))

    return let(scales(a), both)


def captured(a: Term, y: Term) -> Term:
    """Σᵢ f aᵢ, of one function that a loop calls"""
    f = lam(F64, lambda x: apply("mul", apply("mul", x, x), y))
    return let(f, lambda f: total(build(length(a), lambda i: Call(f, at(a, i)))))


def chosen(a: Term, y: Term) -> Term:
    """Elements that are different functions, by their index."""

    def element(i: Term) -> Term:
        test = apply("ilt", i, Do(Literal(1), (unit(),)))
        other = lam(F64, lambda x: apply("add", x, at(a, i)))
        no, yes = Lam(Var("u", UNIT), other), Var("u", UNIT)
        return Match(test, no, Lam(yes, lam(F64, lambda x: apply("mul", x, x))))

    def both(fs: Term) -> Term:
        return total(build(length(fs), lambda i: Call(at(fs, i), y)))

    return let(build(length(a), element), both)


def composed(a: Term, y: Term) -> Term:
    """(f₁ ∘ … ∘ fₙ) y, of a fold that combines functions"""

    def compose(f: Term, g: Term) -> Term:
        return lam(F64, lambda x: Call(f, Call(g, x)))

    return Call(fold(NUMBERS, scales(a), compose), y)


# For a = [2, 3, 5] and y = 7: the value, the cotangents of a, and that of y.
EXPECTED: dict[Callable[[Term, Term], Term], Any] = {
    calls: (7.0 * 38, [28.0, 42.0, 70.0], 38.0),
    captured: (7.0 * 38, [28.0, 42.0, 70.0], 38.0),
    chosen: (49.0 + 10 + 12, [0.0, 1.0, 1.0], 16.0),
    composed: (210.0, [105.0, 70.0, 42.0], 30.0),
}


def scope() -> tuple[Var, Var]:
    return Var("a", array(F64)), Var("y", F64)


def linears() -> list[Linear]:
    """Dense and sparse linear types of arrays and functions."""
    found: list[Linear] = [dense_arrays(), sparse_arrays()]
    for linear in found:
        linear.others = {**linear.others, Fun: Bags(), **CLOSED}
    return found


def outcomes(
    linear: Linear, term: Term, variables: tuple[Var, ...], rules: Rules
) -> list[Outcome]:
    if isinstance(rules, Basic):
        return [
            run_basic(environments, term, variables, VALUES, 1.0, rules)
            for environments in (Tuples(linear), Trees(linear))
        ]
    zeros = [linear.zero(var.type, free) for var in variables]
    return [
        run_monadic(monad, term, variables, VALUES, 1.0, zeros, rules)
        for monad in (TreeMonad(linear), ArrayMonad(linear))
    ]


def agrees(
    make: Callable[[Term, Term], Term],
    variables: tuple[Var, Var],
    term: Term,
    form: type[Rules],
) -> None:
    """What a form of CHAD gives for a term is as expected."""
    value, a_ct, y_ct = EXPECTED[make]
    derived = form().differentiate(variables, term)
    assert check(derived, variables) == form().derived_type(Scope.of(variables), F64)
    for linear in linears():
        for outcome in outcomes(linear, term, variables, form()):
            assert outcome.value == value
            found = [
                linear.numbers(d, var.type)
                for d, var in zip(outcome.cotangents, variables, strict=True)
            ]
            # Elements behind the last one that anything was added to are not there.
            rest = [0.0] * (len(a_ct) - len(found[0]))
            assert [*found[0], *rest] == a_ct
            assert found[1] == [y_ct]


@pytest.mark.parametrize("make", EXPECTED)
def test_naively(make: Callable[[Term, Term], Term]) -> None:
    variables = scope()
    term = make(*map(Ref, variables))
    assert check(term, variables) == F64
    assert run_term(term, variables, VALUES)[0] == EXPECTED[make][0]
    agrees(make, variables, term, HigherOrder)


@pytest.mark.parametrize("form", [ClosedBasic, ClosedMonadic])
@pytest.mark.parametrize("make", EXPECTED)
def test_closure_converted(
    make: Callable[[Term, Term], Term], form: type[Rules]
) -> None:
    variables = scope()
    term = convert(make(*map(Ref, variables)))
    assert check(term, variables) == F64
    agrees(make, variables, term, form)


@pytest.mark.parametrize("form", [Basic, Monadic])
@pytest.mark.parametrize("make", [calls, captured, chosen])
def test_defunctionalised(
    make: Callable[[Term, Term], Term], form: type[Rules]
) -> None:
    variables = scope()
    term = defunctionalise(variables, make(*map(Ref, variables)))
    assert check(term, variables) == F64
    agrees(make, variables, term, form)


def test_functions_in_the_state_of_a_loop_are_not_defunctionalised() -> None:
    """Each step wraps the function of the last one: the layout would be recursive."""
    variables = scope()
    with pytest.raises(InternalError, match="a function in the state of a loop"):
        defunctionalise(variables, composed(*map(Ref, variables)))


def test_arrays_of_different_functions_are_not_joined() -> None:
    a, y = scope()
    squares = build(length(Ref(a)), lambda i: lam(F64, lambda x: apply("mul", x, x)))
    test = apply("flt", Ref(y), Do(Literal(0.0), (unit(),)))
    no, yes = Lam(Var("u", UNIT), scales(Ref(a))), Lam(Var("u", UNIT), squares)
    first = Do(Literal(0), (unit(),))
    term = Call(at(Match(test, no, yes), first), Ref(y))
    assert run_term(convert(term), (a, y), VALUES)[0] == 14.0
    with pytest.raises(InternalError, match="arrays of different functions"):
        defunctionalise((a, y), term)
