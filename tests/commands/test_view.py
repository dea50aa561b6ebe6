"""`chadllvm view`: a page is written, as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_runs import SHAPES

import chadllvm.cli.view as view


def test_a_page_is_written(runs: Any, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    assert runs("view", "energy", "--wrt", "x", "-o", str(place)) == f"{place}\n"
    page = place.read_text("utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert "<title>gradient of energy(x: f64[:], stiffness: f64) by x</title>" in page
    assert "optimise" in page and "its times are not known" not in page
    assert list(tmp_path.iterdir()) == [place]


def test_its_name_is_that_of_the_function(
    runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs("view", "untyped", "[1.0]", "0") == "untyped.html\n"
    assert "untyped(x: f64[:], k: i64)" in (tmp_path / "untyped.html").read_text()


def test_what_was_there_stays(
    runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "page.html"
    place.write_text("old")

    def fails(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(view.Path, "replace", fails)
        status, out, err = runs.ended("view", f"{SHAPES}:energy", "-o", str(place))
    assert (status, out) == (1, "")
    assert err == f"chadllvm: {place}: No space left on device\n"
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_statuses(runs: Any, tmp_path: Path) -> None:
    place = str(tmp_path / "nowhere" / "page.html")
    status, _, err = runs.ended("view", f"{SHAPES}:energy", "-o", place)
    assert (status, err) == (1, f"chadllvm: {place}: No such file or directory\n")
    assert runs.ended("view", f"{SHAPES}:refused", "1", "-o", place)[0] == 3
    assert runs.refused("view", "energy", "--wrt", "nope", "-o", place) == (
        "energy() has no parameter 'nope'"
    )
