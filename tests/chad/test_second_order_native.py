"""Second derivatives by reverse mode in machine code, against the interpreter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from
from programs.case import Case as ProgramCase

import chadllvm as cl
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.types import has_float
from chadllvm.ir.value import from_value, to_value
from tests.array_strategies import array_cases
from tests.chad.test_forward import directions
from tests.chad.test_random_programs import numbers, prepared
from tests.chad.test_second_order import (
    FEW,
    LOOPS,
    check_against_forward,
    derivatives,
)
from tests.leaves import leaf_types
from tests.native import CHEAP, OPTIONS
from tests.program_cases import REAL_CASES, flat_arguments, source_of
from tests.second_order import (
    arguments,
    gradient_of,
    gradient_of_source,
    native,
)
from tests.strategies import Case, cases
from tests.sweep import swept


def check_native(case: Case, options: cl.CompileOptions) -> None:
    _, _, wrt, values = prepared(case)
    second = gradient_of_source(case.program, wrt, options).next
    args = [*values, *directions(values, wrt)]
    types = second.program.entry.body.types
    function = native(second, CHEAP)
    try:
        expected = Interpreter(second.program).run(*args)
    except ProgramError as failure:
        with pytest.raises(failure.kind):
            function(*arguments(second, args))
        return
    found = function(*arguments(second, args))
    for a, b, ty in zip(found, expected, types, strict=True):
        np.testing.assert_allclose(a, from_value(b, ty), rtol=1e-9, atol=1e-9)


@FEW
@given(cases(single=False), sampled_from(sorted(OPTIONS)))
def test_machine_code_agrees(case: Case, name: str) -> None:
    check_native(case, OPTIONS[name])


@FEW
@given(array_cases(), sampled_from(sorted(OPTIONS)))
def test_machine_code_over_arrays_agrees(case: Case, name: str) -> None:
    check_native(case, OPTIONS[name])


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(REAL_CASES, 10, "reverse over reverse"))
def test_machine_code_of_the_corpus(case: ProgramCase) -> None:
    # Speculation may fail where the program does not; the call is repeated then.
    options = cl.CompileOptions(speculate=False)
    source = source_of(case)
    params = source.entry.params
    types = [leaf for p in params for leaf in leaf_types(p.type)]
    wrt = [k for k, ty in enumerate(types) if has_float(ty)]
    first = gradient_of_source(source, wrt, options)
    values = flat_arguments(case, source)
    check_against_forward(first, values)
    args = [*values, *directions(values, wrt)]
    expected = Interpreter(first.next.program).run(*args)
    found = native(first.next, CHEAP)(*arguments(first.next, args))
    results = first.next.program.entry.body.types
    for a, b, ty in zip(found, expected, results, strict=True):
        np.testing.assert_allclose(a, from_value(b, ty), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_in_machine_code(name: str) -> None:
    first = gradient_of(parse(LOOPS[name]), [0])
    x = np.array([0.3, 0.9, 0.5, 0.7])
    values = [to_value(x, first.program.entry.params[0].type), 60]
    check_against_forward(first, values)
    expected = derivatives(first.next, [*values, values[0]])
    *_, found = native(first.next)(x, 60, x)
    np.testing.assert_allclose(found, numbers(expected[0]), rtol=1e-10)


@cl.jit
def roots(x: cl.f64[:]) -> float:
    ys = [math.sqrt(v) for v in x]
    return ys[0] * ys[0] * ys[0]


def test_unused_elements_stay_out() -> None:
    """The second derivative of a root at 0 is infinite, but nobody asked for it."""
    source = source_of(ProgramCase(roots, (np.array([4.0, 0.0]),)))
    first = gradient_of_source(source, [0], cl.CompileOptions())
    *_, found = native(first.next)(np.array([4.0, 0.0]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(found, [0.375, 0.0])
