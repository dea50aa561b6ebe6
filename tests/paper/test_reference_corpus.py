"""The programs of the corpus by every form of the paper."""

from __future__ import annotations

import pytest
from programs.case import Case

from tests.array_reference import Example, agree, derivatives_are_well_typed
from tests.program_cases import REAL_CASES, source_of
from tests.sweep import swept

# The paper's forms are for programs without derivatives and recursion in them.
CORPUS = [
    case for case in REAL_CASES if not (case.has_derivatives or case.is_recursive)
]


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(CORPUS, 5, "forms of the paper"))
def test_every_program_of_the_corpus(case: Case) -> None:
    program = source_of(case)
    agree(program, case.args)
    derivatives_are_well_typed(Example.of(program, case.args))
