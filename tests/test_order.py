"""The passes that rely on others run after them, in every sequence that there is."""

from __future__ import annotations

import pytest

from chadllvm.driver import passes
from chadllvm.driver.passes import AFTER, LOOPS, REORDERS

SEQUENCES = {
    "values": (*passes.VALUES, *passes.SOURCE, *passes.APART),
    "source": (*passes.NORMALISE, *passes.SOURCE, *passes.PRIMAL),
    "again": (*passes.DERIVATIVE, *passes.PLAIN),
    "derivative": (*passes.DERIVATIVE, *passes.TANGENTS, *passes.FINAL),
    "loops": LOOPS,
}


def names(sequence: str) -> list[str]:
    return [name for name, _ in SEQUENCES[sequence]]


def misplaced(order: list[str]) -> list[str]:
    """The passes that run before one that they rely on, where both are there."""
    first = {name: order.index(name) for name in order}
    return [
        name
        for name in first
        if any(first.get(other, -1) > first[name] for other in AFTER.get(name, ()))
    ]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_passes_run_after_those_that_they_rely_on(sequence: str) -> None:
    assert misplaced(names(sequence)) == []


def test_what_changes_places_is_found() -> None:
    order = names("loops")
    k, j = order.index("registers"), order.index("lanes")
    order[k], order[j] = order[j], order[k]
    assert misplaced(order) == ["lanes"]


def test_all_names_are_passes() -> None:
    known = {name for sequence in SEQUENCES for name in names(sequence)}
    assert {*AFTER, *(name for others in AFTER.values() for name in others)} <= known
    assert known >= REORDERS
