"""Exponents of times: the fit, and the table."""

from __future__ import annotations

import pytest

from tests.laws import exponents
from tests.laws.cost_sweep import PROGRAMS
from tests.laws.exponents import Grown, chosen, exponent, grown, table

SIZES = (10, 100, 1000)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power(power: float) -> None:
    times = [3e-9 * n**power for n in SIZES]
    assert exponent(SIZES, times) == pytest.approx(power)


def test_programs_are_from_all_parts_of_the_tables() -> None:
    names = [program.__name__ for program in chosen(30)]
    assert len(set(names)) == 30
    assert names[0] == PROGRAMS[0].__name__ and names[-1] == PROGRAMS[-1].__name__


def test_the_table_has_exponents_times_and_ratios() -> None:
    found = Grown("squares", (1e-5, 1e-4, 1e-3), (2e-5, 4e-4, 8e-3))
    *_, row = table([found], SIZES)
    assert row == "| `squares` | 1.00 | 1.30 | 1.000 ms | 2.0 … 8.0 |"


def test_times_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponents, "SAMPLES", 3)
    monkeypatch.setattr(exponents, "SECONDS", 1e-3)
    found = grown(PROGRAMS[0], (1000, 64_000))
    for small, large in (found.value, found.gradient):
        assert 0.0 < small < large
