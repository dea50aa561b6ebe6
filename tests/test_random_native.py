"""Random programs in machine code: a few; `random_native` runs thousands."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import sampled_from

from chadllvm.ir.parse import parse
from tests.array_strategies import array_cases
from tests.native import WAYS, Disagreement, check_case, compare
from tests.regressions import REGRESSIONS
from tests.strategies import Case, cases

EXAMPLES = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.optimised
@EXAMPLES
@given(cases(single=False), sampled_from(WAYS))
def test_machine_code_agrees_with_the_interpreter(case: Case, way: str) -> None:
    check_case(case, [way])


@pytest.mark.optimised
@EXAMPLES
@given(array_cases(), sampled_from(WAYS))
def test_machine_code_over_arrays_agrees(case: Case, way: str) -> None:
    check_case(case, [way])


@pytest.mark.parametrize("name", REGRESSIONS)
def test_what_was_wrong_once(name: str) -> None:
    check_case(REGRESSIONS[name])


@pytest.mark.parametrize("way", WAYS)
def test_failures_agree(way: str) -> None:
    """Which of two failures comes first is the same everywhere."""
    program = parse(
        "def main(x: f64, k: i64) { t = imod(k, k)  i = bound(t, 0)  return x }"
    )
    check_case(Case(program, (0.5, 0)), [way])
    check_case(Case(program, (0.5, 3)), [way])


def test_a_difference_is_noticed() -> None:
    with pytest.raises(Disagreement, match="result 1"):
        compare("here", [1.0, 2.0], [1.0, 2.5])
    with pytest.raises(Disagreement, match="ValueError"):
        compare("here", ValueError, [1.0])
