"""An operation is one row: one from outside of the package is all that others are."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chadllvm.backend.jit import host_target

ROOT = Path(__file__).parents[2]
XS = np.linspace(-1.0, 1.0, 37)
LN10 = math.log(10.0)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    code = "from tests.ops.own_operation import report; report()"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_it_is_called(found: dict[str, Any]) -> None:
    assert found["value"] == pytest.approx(10.0**2.5, rel=1e-14)
    assert found["single"] == pytest.approx(10.0**2.5, rel=1e-6)
    assert found["total"] == pytest.approx(np.power(10.0, XS).sum(), rel=1e-13)
    y = XS
    for _ in range(3):
        y = 0.5 * np.sin(y) + 0.01 * np.power(10.0, y)
    assert found["steps"] == pytest.approx(y.sum(), rel=1e-12)


def test_it_is_differentiated(found: dict[str, Any]) -> None:
    assert found["slope"] == pytest.approx(LN10 * 10.0**2.5, rel=1e-14)
    assert found["bend"] == pytest.approx(LN10**2 * 10.0**0.5, rel=1e-14)


def test_it_is_vectorised(found: dict[str, Any]) -> None:
    """By LLVM in a loop of its own, and in the lanes of a loop around others."""
    has_vectors = any("_exp" in symbol for symbol in host_target().library)
    for text in (found["loop"], found["lanes"]):
        calls = [line for line in text.splitlines() if " call " in line]
        assert any("v_exp10" in line for line in calls) == has_vectors


def test_it_is_costed(found: dict[str, Any]) -> None:
    """A dear result is kept for the derivative; a cheap one is computed again."""
    assert (found["kept"], found["again"]) == (1, 2)


def test_it_is_checked(found: dict[str, Any]) -> None:
    assert found["overflow"].startswith("math range error")


def test_a_nan_is_seen(found: dict[str, Any]) -> None:
    assert found["spread"] is True


def test_it_is_documented(found: dict[str, Any]) -> None:
    line = "| `ten_to ten_to_for_nothing` | all; overflow is inf | 10ˣ log 10 |"
    assert line in found["page"]
