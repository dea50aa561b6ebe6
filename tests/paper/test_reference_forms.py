"""The paper's forms of CHAD: they agree with each other and with the compiler's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bench.paper.monads import forms_agree, primal_is_preserved, tried
from chadllvm.chad.gradient import value_and_gradient
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Program, Var
from chadllvm.ir.types import has_float
from chadllvm.ir.value import to_value
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.linear import Linear, free
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.naive import Dense, Tuples
from chadllvm.paper.source import read, to_binary
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import Term
from chadllvm.simplify.flatten import flatten
from tests.leaves import all_leaves
from tests.strategies import Case
from tests.sum_strategies import plain_cases
from tests.sweep import part
from tests.term_strategies import experiment

EXAMPLES = settings(
    max_examples=part(40, 2),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


def as_term(case: Case) -> tuple[tuple[Var, ...], Term, list[Any]]:
    """The scope, the term, and the values of the scope."""
    scope, term = read(case.program.entry)
    types = [p.type for p in case.program.entry.params]
    values = [
        to_binary(to_value(a, t), t) for a, t in zip(case.args, types, strict=True)
    ]
    return scope, term, values


def compiler(case: Case) -> list[float]:
    """The value and the gradient by the compiler's own transformation."""
    types = [p.type for p in case.program.entry.params]
    values = all_leaves(list(map(to_value, case.args, types)), types)
    entry = flatten(case.program).entry
    wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
    gradient = Program((value_and_gradient(entry, wrt),))
    return list(Interpreter(gradient).run(*values))


@EXAMPLES
@given(plain_cases())
def test_all_forms_agree_with_the_compiler(case: Case) -> None:
    scope, term, values = as_term(case)
    expected = compiler(case)
    assert run_term(term, scope, values)[0] == expected[0]
    dense, sparse = Dense(), Sparse()
    zeros = [sparse.zero(v.type, free) for v in scope]
    outcomes: list[tuple[Linear, Outcome]] = [
        (dense, run_basic(Tuples(dense), term, scope, values, 1.0)),
        (sparse, run_monadic(ArrayMonad(sparse), term, scope, values, 1.0, zeros)),
    ]
    for linear, outcome in outcomes:
        assert outcome.value == expected[0]
        pairs = zip(outcome.cotangents, scope, strict=True)
        found = [n for d, v in pairs for n in linear.numbers(d, v.type)]
        assert found == pytest.approx(expected[1:], rel=1e-9, abs=1e-12)


EXPERIMENTS = [experiment(seed, 100) for seed in range(part(100, 3))]


def test_forms_agree_exactly_on_any_types() -> None:
    """Results and cotangents of products and sums, in scopes of many variables."""
    assert tried(forms_agree, EXPERIMENTS).holds


def test_primal_is_preserved() -> None:
    assert tried(primal_is_preserved, EXPERIMENTS).holds


def test_dense_zeros_are_not_efficient() -> None:
    """Dense zeros cost the size of the scope, sparse ones and computations do not."""
    fields = ", ".join(["f64"] * 50)
    program = parse(f"def f(x: f64, p: ({fields})) {{ y = mul(x, x)  return y }}")
    scope, term, values = as_term(Case(program, (3.0, (1.0,) * 50)))
    dense, sparse = (
        run_basic(environments, term, scope, values, 1.0).cost
        for environments in (Tuples(Dense()), Trees(Sparse()))
    )
    zeros = [Sparse().zero(v.type, free) for v in scope]
    monadic = run_monadic(ArrayMonad(Sparse()), term, scope, values, 1.0, zeros).cost
    assert dense > 300
    assert sparse < 150
    assert monadic < 150
