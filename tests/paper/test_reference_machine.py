"""The evaluator: the costs of App. C and of the monad, deep programs, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, UNIT, Product, Sum
from chadllvm.ir.value import Injected
from chadllvm.paper.check import check
from chadllvm.paper.cost import (
    run_basic,
    run_derived,
    run_gradient,
    run_monadic,
    run_term,
)
from chadllvm.paper.linear import (
    LinearCast,
    LinearInject,
    LinearPair,
    LinearPart,
    LinearUnit,
    Zero,
)
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import (
    ArrayMonad,
    Bind,
    Monadic,
    One,
    OpenScope,
    Pure,
    Run,
    TreeMonad,
)
from chadllvm.paper.naive import Dense, Tuples
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    Match,
    Operation,
    Primitive,
    Ref,
    Term,
    fst,
    pair,
    pairs,
    snd,
    unit,
)
from chadllvm.paper.types import Scope, computation, cotangent
from chadllvm.support.diagnostic import InternalError

X, Y, P = Var("x", F64), Var("y", F64), Var("p", Product((F64, F64)))
EITHER = Sum((("left", F64), ("right", F64)))
S = Var("s", EITHER)
D, DP, DS = Var("d", cotangent(F64)), Var("dp", cotangent(P.type)), Var("ds", UNIT)
VALUES = {X: 2.0, Y: 3.0, P: (2.0, 3.0), S: Injected(1, 4.0), D: 5.0}
GAMMA = Scope.of((X, P))
INNER = GAMMA.and_(Y)


def do(op: Operation, *args: Term) -> Term:
    return Do(op, args)


def prim(name: str, *args: Term) -> Term:
    return do(Primitive(PRIMS[name]), pairs(list(args)))


def cost(term: Term, **values: Any) -> int:
    """The cost of a term; `dp` and `ds` are the cotangents of a pair and of a sum."""
    machine = Machine(Sparse(), ArrayMonad(Sparse()))
    env = {**VALUES, DP: values.get("dp"), DS: values.get("ds")}
    machine.eval(term, env)
    return machine.cost


# App. C, line by line. A variable costs one step.
TERMS: dict[str, tuple[Term, int]] = {
    "variable": (Ref(X), 1),
    "let": (Let(Y, Ref(X), Ref(Y)), 3),
    "closed function": (Lam(Y, Ref(Y)), 1),
    "function with two captures": (Lam(Y, pair(Ref(X), pair(Ref(P), Ref(X)))), 3),
    "call": (Call(Lam(Y, Ref(Y)), Ref(X)), 1 + 1 + 1 + 1),
    "operation": (prim("neg", Ref(X)), 2),
    "operation of a pair": (prim("mul", Ref(X), Ref(X)), 4),
    "literal": (do(Literal(1.0), unit()), 2),
    "unit": (unit(), 1),
    "pair": (pair(Ref(X), Ref(X)), 3),
    "fst": (fst(Ref(P)), 2),
    "snd": (snd(Ref(P)), 2),
    "inl": (do(Inject(0, EITHER), Ref(X)), 2),
    "case": (Match(Ref(S), Lam(X, Ref(X)), Lam(Y, pair(Ref(Y), Ref(Y)))), 1 + 1 + 3),
    "lunit": (do(LinearUnit()), 1),
    "lpair": (do(LinearPair(), Ref(D), Ref(D)), 3),
    "linl": (do(LinearInject(0, EITHER), Ref(D)), 2),
    "zero of a pair": (do(Zero(P.type)), 1),
    "zero of a sum": (do(Zero(EITHER)), 1),
    "zero of unit": (do(Zero(UNIT)), 1),
    "zero of a number": (do(Zero(F64)), 2),
    "return": (do(Pure(GAMMA), Ref(X)), 2),
    "bind": (do(Bind(), do(Pure(GAMMA), Ref(X)), Lam(Y, do(Pure(GAMMA), Ref(Y)))), 4),
    "one": (do(One(GAMMA, 0, F64), Ref(D)), 2),
    "scope": (do(OpenScope(INNER, F64), Ref(D), do(Pure(INNER), Ref(X))), 4),
}


@pytest.mark.parametrize("name", TERMS)
def test_costs_of_terms(name: str) -> None:
    term, expected = TERMS[name]
    assert cost(term) == expected


def test_costs_of_sparse_parts() -> None:
    """One step more where a zero is taken apart."""
    first, cast = do(LinearPart(0, F64), Ref(DP)), do(LinearCast(1, EITHER), Ref(DS))
    assert (cost(first, dp=(1.0, 2.0)), cost(first, dp=None)) == (2, 3)
    assert (cost(cast, ds=Injected(1, 2.0)), cost(cast, ds=None)) == (2, 3)


def run_cost(term: Term, before: Sequence[Any]) -> tuple[Any, Sequence[Any], int]:
    """What running a computation gives and costs, beyond making it; `dp` is zero."""
    monad = ArrayMonad(Sparse())
    machine = Machine(Sparse(), monad)
    computation = machine.eval(term, {**VALUES, DP: (1.0, 1.0)})
    made = machine.cost
    value, after = monad.run(computation, before)
    return value, after, machine.cost - made


def test_costs_of_computations() -> None:
    ret = do(Pure(GAMMA), Ref(X))
    assert run_cost(ret, (0.0, None)) == (2.0, (0.0, None), 1)
    one = do(One(GAMMA, 0, F64), Ref(D))
    assert run_cost(one, (1.0, None)) == ((), (6.0, None), 1 + 1)
    pair_one = do(One(GAMMA, 1, P.type), Ref(DP))
    assert run_cost(pair_one, (0.0, None)) == ((), (0.0, (1.0, 1.0)), 1 + 1)
    assert run_cost(pair_one, (0.0, (2.0, 3.0)))[2] == 1 + 3
    then = do(Bind(), ret, Lam(Y, one))
    assert run_cost(then, (1.0, None)) == ((), (6.0, None), 1 + 1 + 2 + 2)
    inner = do(OpenScope(INNER, F64), Ref(D), do(One(INNER, 2, F64), Ref(D)))
    assert run_cost(inner, (0.0, None)) == ((10.0, ()), (0.0, None), 1 + 2)


def test_the_cost_of_run() -> None:
    """Making it, running it, and the length of the scope."""
    cells = pair(do(Zero(F64)), do(Zero(P.type)))
    run = do(Run(GAMMA), do(One(GAMMA, 0, F64), Ref(D)), cells)
    making, zeros = 1 + 2 + 4, len(GAMMA)
    assert cost(run) == making + 1 + zeros + (1 + 1)


# Deep programs.

DEPTH, VARIABLES = 3000, 50


def deep_lets() -> tuple[tuple[Var, ...], Term]:
    """Additions of what was named lately and of inputs, each under a name."""
    rng = Random(0)
    scope = tuple(Var(f"x{k}", F64) for k in range(VARIABLES))
    names = [*scope]
    lets: list[tuple[Var, Term]] = []
    for k in range(DEPTH):
        args = [Ref(rng.choice(names[-3:])), Ref(rng.choice(scope))]
        lets.append((Var(f"y{k}", F64), prim("add", *args)))
        names.append(lets[-1][0])
    term: Term = Ref(names[-1])
    for var, bound in reversed(lets):
        term = Let(var, bound, term)
    return scope, term


@pytest.mark.sweep
def test_thousands_of_lets_in_fifty_variables() -> None:
    scope, term = deep_lets()
    values = (1.0,) * VARIABLES
    value, _ = run_term(term, scope, values)
    derived = Monadic().differentiate(scope, term)
    result = Monadic().derived_type(Scope.of(scope), F64)
    assert check(derived, scope) == result
    zeros = (0.0,) * VARIABLES
    array, tree = (
        run_derived(monad, derived, scope, values, 1.0, zeros)
        for monad in (ArrayMonad(Sparse()), TreeMonad(Sparse()))
    )
    assert array.value == tree.value == value == sum(array.cotangents)
    assert tree.cotangents == array.cotangents


@pytest.mark.sweep
def test_operations_nested_thousands_of_times() -> None:
    """Deep in the bound terms of lets, in arguments, and in sums of environments."""
    nested: Term = Ref(X)
    for _ in range(DEPTH // 2):
        y = Var("y", F64)
        nested = prim("neg", Let(y, nested, fst(pair(Ref(y), unit()))))
    zeros = (0.0,)
    found = run_monadic(ArrayMonad(Sparse()), nested, (X,), (2.0,), 1.0, zeros)
    assert (found.value, found.cotangents) == (2.0, (1.0,))
    summed = run_basic(Trees(Sparse()), nested, (X,), (2.0,), 1.0)
    assert summed.cotangents == (1.0,)


# What goes wrong says where.


def test_constructors_do_not_mix() -> None:
    left, right = Injected(0, 1.0), Injected(1, 1.0)
    for linear in (Dense(), Sparse()):
        with pytest.raises(InternalError, match="other constructor"):
            linear.plus(left, right, EITHER, int)
        assert linear.cast(None, 1, F64, int) == 0.0


def test_a_cast_of_the_other_constructor_names_the_program_and_the_term() -> None:
    term = do(Inject(0, EITHER), Ref(X))
    wrong = Injected(1, 1.0)
    match = r"other constructor, in tilt, at LinearCast\(d\)"
    with pytest.raises(InternalError, match=match):
        run_basic(Tuples(Sparse()), term, (X,), (2.0,), wrong, name="tilt")
    with pytest.raises(InternalError, match=match):
        run_gradient(ArrayMonad(Sparse()), term, (X,), (2.0,), wrong, name="tilt")


def test_a_sum_of_both_constructors_names_the_contribution() -> None:
    """It goes wrong when the computation is run, but where the computation was made."""
    before = (Injected(0, 1.0),)
    args = (Ref(S), (S,), (Injected(1, 4.0),), Injected(1, 1.0), before)
    with pytest.raises(InternalError, match=r"other constructor, in sway, at One\(d\)"):
        run_monadic(ArrayMonad(Sparse()), *args, name="sway")


def test_functions_and_operations_of_the_target_are_not_in_the_source() -> None:
    for term, message in (
        (Lam(Y, Ref(Y)), "a function in the source"),
        (Call(Lam(Y, Ref(Y)), Ref(X)), "a call in the source"),
        (do(Zero(F64)), "Zero in the source"),
    ):
        with pytest.raises(InternalError, match=message):
            Monadic().differentiate((X,), term)


def test_a_variable_outside_the_scope() -> None:
    with pytest.raises(InternalError, match="y is not in the scope"):
        Monadic().differentiate((X,), Ref(Y))
    assert computation(GAMMA, UNIT) == computation(Scope.of((X, P)), UNIT)
    assert computation(GAMMA, UNIT) != computation(Scope.of((P, X)), UNIT)


def test_scopes_find_their_variables() -> None:
    variables = [Var(f"v{k}", F64) for k in range(200)]
    scope = Scope.of(variables)
    assert [scope.index(v) for v in variables] == list(range(200))
    other = Scope.of(variables[:3]).and_(variables[150])
    assert other.index(variables[150]) == 3
    assert scope.index(variables[150]) == 150
