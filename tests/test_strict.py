"""`strict=True`: values and gradients have the bits that the interpreter finds.

The interpreter runs the program as the frontend makes it, and its derivative as CHAD
makes that: everything later has to leave the order of operations alone.
"""

from __future__ import annotations

from typing import Any

import pytest
from containers import leaves
from programs.case import SINGLE_CASES, Case

import chadllvm as cl
from chadllvm.chad.derived import has_derivatives
from chadllvm.driver.pipeline import Compilation
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.value import from_value, to_value
from tests.interpreted_results import bits, flat, gradient_pairs
from tests.program_cases import CASES, real_params, source_of
from tests.sweep import swept

# Here `lgamma` or its derivative is called, which are not those of the interpreter.
OTHER_FUNCTIONS = (
    *("gammas", "beta_likelihood", "counts_likelihood", "unions_inside_of_unions"),
)
EXACT = [case for case in CASES if case.name not in OTHER_FUNCTIONS]


def interpreted(case: Case) -> Any:
    """The value by the interpreter."""
    program, types = source_of(case), [p.type for p in source_of(case).entry.params]
    args = case.args
    if any(has_derivatives(f.body) for f in program.functions):
        program = Compilation(cl.CompileOptions(strict=True)).normalised(program)
        args = tuple(flat(args, types))
    pairs = zip(args, program.entry.params, strict=True)
    (result,) = Interpreter(program).run(*(to_value(a, p.type) for a, p in pairs))
    return from_value(result, program.entry.body.types[0])


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("case", swept([*EXACT, *SINGLE_CASES], 6, "strict values"))
def test_a_value_has_the_bits_of_the_interpreter(case: Case) -> None:
    function = cl.jit(case.function.py_func, strict=True)
    found, right = leaves(function(*case.args)), leaves(interpreted(case))
    assert list(map(bits, found)) == list(map(bits, right))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(
    "case", swept([c for c in EXACT if real_params(c)], 6, "strict gradients")
)
def test_a_gradient_has_the_bits_of_the_interpreter(case: Case) -> None:
    params = real_params(case)
    function = cl.jit(case.function.py_func, strict=True)
    derivative = cl.value_and_grad(function, argnums=params)
    for right, given in gradient_pairs(derivative, params, case.args):
        assert bits(given) == bits(right)
