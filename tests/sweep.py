"""Long sweeps, of which ordinary runs check a fixed part; `pytest --whole` runs all.

What is checked most closely runs for every program of the corpus, always. The rest,
where one program in several finds what all would find but for luck, runs for a part
that is different for each sweep; and so do random programs.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest
from programs.case import Case

# `conftest.py` says so before the tests are read.
is_whole = False


def part(count: int, share: int) -> int:
    """How many of so many random programs are run: one in `share`."""
    return count if is_whole else count // share


def marks(name: str, share: int, sweep: str) -> list[pytest.MarkDecorator]:
    """None for one program in `share`, by its name alone; the others are `whole`."""
    is_chosen = zlib.crc32(f"{sweep}: {name}".encode()) % share == 0
    return [] if is_chosen else [pytest.mark.whole]


def named(cases: Sequence[Case]) -> list[str]:
    """The programs' names, with a number where there are several arguments."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for case in cases:
        count = seen[case.name] = seen.get(case.name, 0) + 1
        names.append(case.name if count == 1 else f"{case.name}-{count}")
    return names


def swept(cases: Sequence[Case], share: int, sweep: str) -> list[object]:
    """All cases as parameters of a test; those outside of the part are `whole`."""
    return [
        pytest.param(case, id=name, marks=marks(name, share, sweep))
        for case, name in zip(cases, named(cases), strict=True)
    ]
