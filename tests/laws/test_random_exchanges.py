"""Random programs that exchange arrays and update them: right, and within the law."""

from __future__ import annotations

import pytest

from tests.laws.checked import check_derivatives
from tests.laws.cost_sweep import measured, violations
from tests.laws.random_exchanges import program
from tests.sweep import part

SIZES = (150, 600, 2400)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(part(200, 20)))
def test_work_and_memory_are_linear(seed: int) -> None:
    assert list(violations([*measured(program(seed), SIZES)], SIZES)) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(200, 20)))
def test_derivatives(seed: int) -> None:
    check_derivatives(program(seed), level=2)


@pytest.mark.parametrize("seed", range(part(60, 20)))
def test_derivatives_without_optimisation(seed: int) -> None:
    check_derivatives(program(seed), level=0)
