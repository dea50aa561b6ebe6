"""Random programs with lists of arrays: right, and within the cost law."""

from __future__ import annotations

import pytest

import chadllvm as cl
from tests.laws.checked import check_derivatives
from tests.laws.cost_sweep import arguments, measured, violations
from tests.laws.random_lists import program
from tests.sweep import part

SIZES = (150, 600, 2400)
# What refers to an array that may be another one by then is refused.
REFUSED = {"CL0804"}


def is_refused(seed: int) -> bool:
    try:
        cl.jit(program(seed)).report(*arguments(12))
    except cl.CompileError as error:
        return error.diagnostics[0].code in REFUSED
    return False


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(part(100, 10)))
def test_derivatives_and_work(seed: int) -> None:
    if is_refused(seed):
        pytest.skip("another name is read")
    check_derivatives(program(seed), level=2)
    assert list(violations(list(measured(program(seed), SIZES)), SIZES)) == []
