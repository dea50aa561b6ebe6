"""`python -m bench paper`: all claims hold, and what docs/paper.md names is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import chadllvm.ops  # noqa: F401  # It fills the table of operations.
from bench.paper.claim import Report
from bench.paper.command import TOPICS, report_of, write

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "paper.md"

# Where a name without a folder is looked for.
FOLDERS = ("", "chadllvm/paper/", "tests/paper/", "tests/chad/")


def unions_take_more(report: Report) -> None:
    """Quadratic, n·log n, and linear, as the paper says of each."""
    points = {curve.name: curve for curve in report.curves}
    unions = {s.name: s.points for s in points["union-per-variable"].series}
    for name in ("unions of maps", "magical unions", "monadic, in a map"):
        each = [y for _, y in unions[name]]
        assert all(b - a > 0.4 for a, b in pairwise(each))


def ratios_are_small(report: Report) -> None:
    (curve,) = report.curves
    for series in curve.series:
        assert max(ratio for _, ratio in series.points) < 15.0, series


# What is asked of a topic's curves, beside that they have points.
CURVES = {"environments": unions_take_more, "optimize0": ratios_are_small}


@pytest.mark.sweep
@pytest.mark.parametrize("topic", TOPICS)
def test_claims_hold(topic: str, tmp_path: Path) -> None:
    found = report_of(topic, quick=True)
    assert [claim for claim in found.claims if not claim.holds] == []
    assert found.claims
    write(tmp_path, {topic: found})
    for curve in found.curves:
        assert all(series.points for series in curve.series)
        assert f"(paper/{curve.name}.svg)" in PAGE.read_text(encoding="utf-8")
        assert (tmp_path / f"{curve.name}.svg").stat().st_size > 1000
    CURVES.get(topic, lambda _: None)(found)


def test_the_command_writes_claims_and_curves(tmp_path: Path) -> None:
    topics = ["theorem", "folds"]
    command = [sys.executable, "-m", "bench", "paper", *topics, "--quick"]
    command += ["--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert list(claims) == topics
    assert all(claim["holds"] for topic in claims.values() for claim in topic)
    rows = (tmp_path / "claims.md").read_text().count("\n") - 2
    assert rows == sum(map(len, claims.values()))
    points = json.loads((tmp_path / "folds.json").read_text())
    assert all(series["points"] for series in points["series"])
    assert (tmp_path / "folds.svg").stat().st_size > 1000


def test_what_the_page_names_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = set(re.findall(r"`([\w/]+\.(?:py|c))`", text))
    assert len(names) > 40
    for name in names:
        assert any((ROOT / folder / name).exists() for folder in FOLDERS), name
    for link in re.findall(r"\((paper/[\w.-]+)\)", text):
        assert (PAGE.parent / link).exists(), link


def test_an_unknown_topic_is_refused() -> None:
    command = [sys.executable, "-m", "bench", "paper", "nonsense"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "there is no topic 'nonsense'" in done.stderr
