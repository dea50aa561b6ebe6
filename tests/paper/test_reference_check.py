"""The checker of the target language: D[·] preserves typing, what breaks a rule fails.

Γ ⊢ t : τ  ⟹  D[Γ]₁ ⊢ D[t] : D[τ]₁ × (D[τ]₂ → Env D[Γ]₂ or EVM D[Γ]₂ 1)
"""

from __future__ import annotations

import pytest

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Product, Sum
from chadllvm.paper.check import check
from chadllvm.paper.cost import gradient_term
from chadllvm.paper.linear import (
    AsCotangent,
    AsNumber,
    LinearCast,
    LinearInject,
    LinearPair,
    LinearPart,
    LinearUnit,
    Zero,
)
from chadllvm.paper.monad import Bind, Monadic, One, OpenScope, Pure, Run
from chadllvm.paper.naive import (
    Basic,
    EnvironmentOne,
    EnvironmentPlus,
    EnvironmentSplit,
    EnvironmentZero,
)
from chadllvm.paper.rules import Rules
from chadllvm.paper.terms import (
    TRUTH,
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    MakePair,
    MakeUnit,
    Match,
    Operation,
    Part,
    Primitive,
    Ref,
    Term,
    pair,
    unit,
)
from chadllvm.paper.types import (
    IllTyped,
    Scope,
    computation,
    cotangent,
    environment,
    product,
)
from tests.term_strategies import experiment

EXPERIMENTS = [experiment(seed, 150) for seed in range(250)]
FORMS: tuple[type[Rules], ...] = (Basic, Monadic)


def test_random_terms_are_well_typed() -> None:
    for e in EXPERIMENTS:
        assert check(e.term, e.scope) == e.type


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_are_well_typed(form: type[Rules]) -> None:
    for e in EXPERIMENTS:
        rules, scope = form(), Scope.of(e.scope)
        derived = rules.differentiate(scope, e.term)
        assert check(derived, scope) == rules.derived_type(scope, e.type)


def test_gradients_are_well_typed() -> None:
    for e in EXPERIMENTS:
        derived = Monadic().differentiate(e.scope, e.term)
        scope, gradient = gradient_term(derived, e.type, Scope.of(e.scope))
        cells = [cotangent(v.type) for v in e.scope]
        expected = UNIT if not cells else cells[0]
        for cell in cells[1:]:
            expected = product(expected, cell)
        assert check(gradient, scope) == product(UNIT, expected)


# One ill-typed term for each rule, by the rule's name.

X, K, P = Var("x", F64), Var("k", I64), Var("p", Product((F64, I64)))
EITHER = Sum((("left", F64), ("right", I64)))
S = Var("s", EITHER)
GAMMA = Scope.of((X, K))
INNER = GAMMA.and_(S)
D_X, D_K = Var("d", cotangent(F64)), Var("e", cotangent(I64))
D_P, D_S = Var("dp", cotangent(P.type)), Var("ds", cotangent(EITHER))
M = Var("m", computation(GAMMA, UNIT))
M_INNER = Var("n", computation(INNER, UNIT))
E = Var("env", environment(GAMMA))
E_INNER = Var("env2", environment(INNER))
VARIABLES = (X, K, P, S, D_X, D_K, D_P, D_S, M, M_INNER, E, E_INNER)


def do(op: Operation, *variables: Var) -> Term:
    return Do(op, tuple(map(Ref, variables)))


def lam(var: Var, body: Term) -> Lam:
    return Lam(var, body)


A, B = Var("a", F64), Var("b", I64)

ILL_TYPED: dict[str, tuple[str, Term]] = {
    "free variable": ("Ref", Ref(Var("y", F64))),
    "left its scope": ("Ref", pair(Let(A, Ref(X), Ref(A)), Ref(A))),
    "let": ("Let", Let(A, Ref(K), Ref(X))),
    "bound twice": ("Let", Let(X, Ref(X), Ref(X))),
    "parameter bound twice": ("Lam", Lam(X, Ref(X))),
    "call of no function": ("Call", Call(Ref(X), Ref(X))),
    "call with another argument": ("Call", Call(lam(A, Ref(A)), Ref(K))),
    "match of no sum": ("Match", Match(Ref(X), lam(A, Ref(A)), lam(B, Ref(X)))),
    "match of payloads": ("Match", Match(Ref(S), lam(B, Ref(X)), lam(A, Ref(X)))),
    "match, branches": (
        "Match, branches",
        Match(Ref(S), lam(A, Ref(A)), lam(B, Ref(B))),
    ),
    "unit": ("MakeUnit", do(MakeUnit(), X)),
    "pair": ("MakePair", do(MakePair(), X)),
    "part": ("Part", do(Part(0), X)),
    "inject": ("Inject", do(Inject(0, EITHER), K)),
    "literal": ("Literal", do(Literal(1.0), X)),
    "primitive": ("mul", do(Primitive(PRIMS["mul"]), P)),
    "test": ("flt", do(Primitive(PRIMS["flt"]), X)),
    "zero": ("Zero", do(Zero(F64), X)),
    "lunit": ("LinearUnit", do(LinearUnit(), X)),
    "lpair": ("LinearPair", do(LinearPair(), X, D_X)),
    "lfst of another": ("LinearPart", do(LinearPart(0, F64), D_S)),
    "lfst as another": ("LinearPart", do(LinearPart(0, I64), D_P)),
    "linl": ("LinearInject", do(LinearInject(0, EITHER), D_K)),
    "lcastl": ("LinearCast", do(LinearCast(0, EITHER), D_P)),
    "number of no number": ("AsNumber", do(AsNumber(), D_K)),
    "cotangent of no number": ("AsCotangent", do(AsCotangent(), K)),
    "cotangent of a cotangent": ("AsCotangent", do(AsCotangent(), D_X)),
    "return": ("Pure", do(Pure(GAMMA))),
    "bind of no computation": (
        "Bind",
        Do(Bind(), (Ref(X), lam(Var("u", UNIT), Ref(M)))),
    ),
    "bind, argument": ("Bind", Do(Bind(), (Ref(M), lam(A, Ref(M))))),
    "bind to no computation": (
        "Bind",
        Do(Bind(), (Ref(M), lam(Var("u", UNIT), unit()))),
    ),
    "bind, scopes": (
        "Bind, scopes",
        Do(Bind(), (Ref(M), lam(Var("u", UNIT), Ref(M_INNER)))),
    ),
    "one of another": ("One", do(One(GAMMA, 0, F64), D_K)),
    "one elsewhere": ("One", do(One(GAMMA, 1, F64), D_X)),
    "scope from another": ("OpenScope", do(OpenScope(INNER, EITHER), D_X, M_INNER)),
    "scope, scopes": ("OpenScope, scopes", do(OpenScope(INNER, EITHER), D_S, M)),
    "run, scopes": (
        "Run, scopes",
        Do(Run(GAMMA), (Ref(M_INNER), pair(Ref(D_X), Ref(D_K)))),
    ),
    "run, cells": ("Run", Do(Run(GAMMA), (Ref(M), pair(Ref(D_K), Ref(D_X))))),
    "environment, zero": ("EnvironmentZero", do(EnvironmentZero(GAMMA), X)),
    "environment, one": ("EnvironmentOne", do(EnvironmentOne(GAMMA, 1), D_X)),
    "environment, plus": ("EnvironmentPlus", do(EnvironmentPlus(GAMMA), E, E_INNER)),
    "environment, split": ("EnvironmentSplit", do(EnvironmentSplit(INNER), E)),
}


@pytest.mark.parametrize("name", ILL_TYPED)
def test_ill_typed_terms_are_refused(name: str) -> None:
    rule, term = ILL_TYPED[name]
    with pytest.raises(IllTyped, match=f"^{rule}: |^{rule}, arguments: "):
        check(term, VARIABLES)


WELL_TYPED: dict[str, Term] = {
    "let": Let(A, Ref(X), Ref(A)),
    "call": Call(lam(A, Ref(A)), Ref(X)),
    "match": Match(Ref(S), lam(A, Ref(A)), lam(B, Ref(X))),
    "lfst": do(LinearPart(0, F64), D_P),
    "lcastr": do(LinearCast(1, EITHER), D_S),
    "bind": Do(Bind(), (Ref(M), lam(Var("u", UNIT), Ref(M)))),
    "one": do(One(GAMMA, 1, I64), D_K),
    "scope": do(OpenScope(INNER, EITHER), D_S, M_INNER),
    "run": Do(Run(GAMMA), (Ref(M), pair(Ref(D_X), Ref(D_K)))),
    "plus": do(EnvironmentPlus(GAMMA), E, E),
    "split": do(EnvironmentSplit(INNER), E_INNER),
    "truth": Do(Inject(1, TRUTH), (unit(),)),
}


def told(term: Term) -> str:
    """What the checker says against a term."""
    try:
        check(term, VARIABLES)
    except IllTyped as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", WELL_TYPED)
def test_their_well_typed_neighbours_are_accepted(name: str) -> None:
    assert told(WELL_TYPED[name]) == ""


def test_the_message_shows_the_smallest_ill_typed_part() -> None:
    term = Let(A, Ref(X), pair(Ref(A), Do(Part(1), (Ref(A),))))
    with pytest.raises(IllTyped, match=r"expected a pair, found f64, at snd\(a\)$"):
        check(term, (X,))
