"""The programs of the corpus that take arrays."""

from __future__ import annotations

from tests.laws.sweeping.scaled import is_scaled
from tests.program_cases import CASES
from tests.sweep import named


def names() -> list[str]:
    """Their names, by which a worker finds them."""
    pairs = zip(named(CASES), CASES, strict=True)
    return [name for name, case in pairs if is_scaled(case.args)]
