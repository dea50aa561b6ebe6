"""The programs of the tests, for the reports: the corpus, and random ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from tests.containers import leaves

TESTS = Path(__file__).resolve().parents[2] / "tests"


def corpus() -> list[Any]:
    """The programs of `tests/programs`, each a function with arguments to call it.

    Those that take derivatives themselves are left out: the paper has none.
    """
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    for path in sorted((TESTS / "programs").glob("[a-z]*.py")):
        if path.stem != "case":
            import_module(f"programs.{path.stem}")
    cases = import_module("programs.case").CASES
    return [c for c in cases if not c.has_derivatives]


def for_each(
    strategy: SearchStrategy[Any], count: int, check: Callable[[Any], None]
) -> None:
    """Run `check` on `count` random programs, the same ones every time."""
    health = [HealthCheck.too_slow, HealthCheck.large_base_example]

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=health,
    )
    @given(strategy)
    def run(case: Any) -> None:
        check(case)

    run()


def numbers(value: Any) -> list[float]:
    """The numbers in a container of Python's; None (no cotangent) is left out."""
    return [number for leaf in leaves(value) for number in np.ravel(leaf).tolist()]
