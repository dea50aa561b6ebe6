"""The compiler does not grow: its measures stay within their limits, which follow them.

`python -m tests.budget` prints the table, and with `--lower` moves the limits.
"""

from __future__ import annotations

import pytest

from tests import budget


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    return budget.measures()


def test_each_measure_has_a_limit(found: dict[str, int]) -> None:
    assert found.keys() == budget.budget().keys()


def test_no_measure_exceeds_its_limit(found: dict[str, int]) -> None:
    limits = {name: row["limit"] for name, row in budget.budget().items()}
    over = {
        name: (count, limits[name])
        for name, count in found.items()
        if budget.exceeded(name, count, limits[name])
    }
    assert over == {}


def test_limits_follow_what_became_smaller(found: dict[str, int]) -> None:
    limits = {name: row["limit"] for name, row in budget.budget().items()}
    loose = [n for n, count in found.items() if budget.is_loose(n, count, limits[n])]
    assert loose == [], "run `python -m tests.budget --lower`"


def test_what_is_counted_is_seen() -> None:
    """A measure that sees nothing has no ceiling that holds anything."""
    core, loops = budget.passes()
    assert {"cse", "hoist", "fuse"} <= core
    assert {"lanes", "parallel", "tasks"} <= loops
    tree = budget.parsed(
        "A = 1\n_B, C = 2, 1 << 4\nD = (3.0, x)\nE = 'no'\n"
        "COSTS = {'add': 1, 'div': 4, 'call': 9}\nNAMES = {'add': 'fadd', 'div': 'x'}\n"
        "MORE = {**dict.fromkeys(('exp', 'sqrt'), _CALL), 'x': 2 * _CALL}\n"
        "match A:\n    case P(): 1\n    case Q(): 2\n    case R(): 3\n"
    )
    assert budget.thresholds(tree) == 4
    assert budget.cost_tables(tree) == 2
    assert budget.walks(tree) == 1


@pytest.mark.parametrize(
    ("name", "found", "limit", "is_over", "is_loose"),
    [
        ("lines.all", 101, 100, True, False),
        ("lines.all", 100, 100, False, False),
        ("lines.all", 91, 100, False, False),
        ("lines.all", 80, 100, False, True),
        ("cost.tables", 4, 5, False, False),
        ("cost.tables", 3, 5, False, True),
        ("docstrings.percent", 79, 80, True, False),
        ("docstrings.percent", 95, 80, False, True),
    ],
)
def test_limits(
    name: str, found: int, limit: int, is_over: bool, is_loose: bool
) -> None:
    assert budget.exceeded(name, found, limit) is is_over
    assert budget.is_loose(name, found, limit) is is_loose
