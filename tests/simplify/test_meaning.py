"""No pass changes what a program means, and none finds anything to do twice in vain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from corpus import CASES
from corpus import Case as Python
from frontend.meaning import type_of
from hypothesis import HealthCheck, given, settings
from leaves import all_leaves
from strategies import Case, cases
from sum_strategies import sum_cases

from chadllvm.chad.gradient import value_and_gradient
from chadllvm.closure.convert import convert_closures
from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import ArrayValue, to_value
from chadllvm.simplify.accumulate import accumulate
from chadllvm.simplify.bounds import bounds
from chadllvm.simplify.cells import cells
from chadllvm.simplify.columns import columns
from chadllvm.simplify.constants import fold_constants
from chadllvm.simplify.cse import cse
from chadllvm.simplify.dce import dce
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.hoist import hoist
from chadllvm.simplify.inline import inline
from chadllvm.simplify.recall import recall
from chadllvm.simplify.references import references, separate
from chadllvm.simplify.shapes import shapes
from chadllvm.simplify.sums import sums

PASSES: tuple[Callable[[Program], Program], ...] = (
    dce,
    cse,
    fold_constants,
    hoist,
    shapes,
    accumulate,
    cells,
    bounds,
    recall,
    references,
    separate,
    sums,
    columns,
)

EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


def numbers(values: tuple[Any, ...]) -> list[float]:
    """All numbers in values, after the shapes of the arrays among them."""
    found: list[float] = []
    for value in values:
        array = isinstance(value, ArrayValue)
        found += [*value.shape, *numbers(tuple(value.data))] if array else [value]
    return found


def outcome(program: Program, values: list[Any]) -> Any:
    """What a run gives: numbers, or the kind of failure."""
    try:
        results = Interpreter(program).run(*values)
    except ProgramError as error:
        return error.kind
    return numbers(results)


def agree(found: Any, expected: Any) -> bool:
    """The same failure, or the same numbers up to rounding."""
    if isinstance(found, type) or isinstance(expected, type):
        return bool(found is expected)
    return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True))


def passes_keep_meaning(program: Program, values: list[Any]) -> Program:
    """Run each pass after the others, twice; returns the program they leave."""
    expected = outcome(program, values)
    for run in PASSES * 2:
        new = run(program)
        check(new, after=run.__name__)
        if new is not program:
            assert agree(outcome(new, values), expected), run.__name__
        program = new
    return program


def flat(case: Case) -> tuple[Program, list[Any]]:
    """A program after `flatten` and `inline`, with the leaves of its arguments."""
    types = [p.type for p in case.program.entry.params]
    values = list(map(to_value, case.args, types))
    results = Interpreter(case.program).run(*values)
    expected = all_leaves(results, case.program.entry.body.types)
    program = inline(flatten(case.program))
    check(program, after="inline")
    arguments = all_leaves(values, types)
    assert outcome(program, arguments) == numbers(tuple(expected))
    return program, arguments


@EXAMPLES
@given(cases(single=False) | sum_cases(single=False))
def test_random_programs(case: Case) -> None:
    program, values = flat(case)
    simple = passes_keep_meaning(program, values)
    fast = bounds(simple, speculate=True)
    check(fast, after="bounds")
    expected, found = outcome(simple, values), outcome(fast, values)
    assert found is IndexError or agree(found, expected)


@pytest.mark.sweep
@EXAMPLES
@given(cases() | sum_cases())
def test_gradients_of_random_programs(case: Case) -> None:
    program, values = flat(case)
    wrt = [k for k, p in enumerate(program.entry.params) if has_float(p.type)]
    gradient = Program((value_and_gradient(program.entry, wrt),))
    for run in (dce, cse, fold_constants):
        check(run(gradient), after=run.__name__)
    passes_keep_meaning(convert_closures(gradient), values)


@EXAMPLES
@given(cases(single=False) | sum_cases(single=False))
def test_cost_does_not_grow(case: Case) -> None:
    program, values = flat(case)
    before = Interpreter(program)
    before.run(*values)
    for run in (dce, cse, fold_constants):
        after = Interpreter(run(program))
        after.run(*values)
        assert after.cost <= before.cost, run.__name__


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_corpus(case: Python) -> None:
    program = specialise(case.function, [type_of(a) for a in case.args])
    simple, values = flat(Case(program, case.args))
    simple = passes_keep_meaning(simple, values)
    fast = bounds(simple, speculate=True)
    check(fast, after="bounds")
    found = outcome(fast, values)
    assert found is IndexError or agree(found, outcome(simple, values))
