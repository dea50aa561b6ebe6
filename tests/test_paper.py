"""`python -m bench paper`: all claims hold, and what docs/paper.md names is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "paper.md"

# Where a name without a folder is looked for.
FOLDERS = ("", "chadllvm/chad/reference/", "tests/chad/")


def test_all_claims_hold(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "paper", "--quick", "--output", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert all(claim["holds"] for topic in claims.values() for claim in topic)
    assert (tmp_path / "claims.md").read_text().count("\n") > len(claims)
    for picture in re.findall(r"\(paper/([\w-]+)\.svg\)", PAGE.read_text()):
        points = json.loads((tmp_path / f"{picture}.json").read_text())
        assert all(series["points"] for series in points["series"])
        assert (tmp_path / f"{picture}.svg").stat().st_size > 1000


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
