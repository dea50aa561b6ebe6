"""Gradients of random programs: against central differences, within the cost law."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from chadllvm.chad.gradient import value_and_gradient
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import ArrayValue, to_value
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import inline
from tests.leaves import all_leaves
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases
from tests.sweep import part

STEP = 1e-6
# The paper's theorem has 34; this is above the largest ratio that random programs meet.
LARGEST_RATIO = 10.0

EXAMPLES = settings(
    max_examples=part(60, 2),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


def numbers(value: Any) -> list[float]:
    return value.data if isinstance(value, ArrayValue) else [value]


def moved(values: list[Any], which: int, place: int, step: float) -> list[Any]:
    """The arguments with one number of one of them moved by a step."""
    data = list(numbers(values[which]))
    data[place] += step
    old = values[which]
    new = ArrayValue(old.shape, data) if isinstance(old, ArrayValue) else data[0]
    return [*values[:which], new, *values[which + 1 :]]


def prepared(case: Case) -> tuple[Program, Program, list[int], list[Any]]:
    """The program without products and calls, its gradient, and what it is taken by."""
    params = case.program.entry.params
    types = [p.type for p in params]
    values = all_leaves(list(map(to_value, case.args, types)), types)
    program = inline(flatten(case.program))
    wrt = [k for k, p in enumerate(program.entry.params) if has_float(p.type)]
    gradient = Program((value_and_gradient(program.entry, wrt),))
    check(gradient, after="chad")
    return program, gradient, wrt, values


@EXAMPLES
@given(cases() | sum_cases())
def test_gradients_agree_with_differences(case: Case) -> None:
    program, gradient, wrt, values = prepared(case)
    (value,) = Interpreter(program).run(*values)
    primal, *cts = Interpreter(gradient).run(*values)
    assert primal == value
    for which, ct in zip(wrt, cts, strict=True):
        for place, found in enumerate(numbers(ct)):
            above = Interpreter(program).run(*moved(values, which, place, STEP))[0]
            below = Interpreter(program).run(*moved(values, which, place, -STEP))[0]
            expected = (above - below) / (2 * STEP)
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@EXAMPLES
@given(cases(size=20) | sum_cases(size=10))
def test_the_cost_law_holds(case: Case) -> None:
    program, gradient, _, values = prepared(case)
    primal, both = Interpreter(program), Interpreter(gradient)
    primal.run(*values)
    both.run(*values)
    size = sum(len(numbers(v)) for v in values)
    assert both.cost <= LARGEST_RATIO * (primal.cost + size)
