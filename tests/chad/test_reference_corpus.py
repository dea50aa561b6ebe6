"""Every program of the corpus by every form of the paper."""

from __future__ import annotations

import pytest
from programs import arrays, control, models, scalars
from programs.case import CASES, Case

from chadllvm.frontend import specialise
from chadllvm.ir.term import Program
from tests.array_reference import Example, agree, derivatives_are_well_typed
from tests.test_programs import real_params

assert arrays and control and models and scalars
# The paper's forms are for programs that have no derivatives in them.
CORPUS = [case for case in CASES if real_params(case) and not case.has_derivatives]


def core(case: Case) -> Program:
    """The program that the frontend makes of a case of the corpus."""
    return specialise(case.function.py_func, case.function._types(case.args))


@pytest.mark.parametrize(
    "case", CORPUS, ids=[f"{c.name}-{k}" for k, c in enumerate(CORPUS)]
)
def test_every_program_of_the_corpus(case: Case) -> None:
    program = core(case)
    agree(program, case.args)
    derivatives_are_well_typed(Example.of(program, case.args))
