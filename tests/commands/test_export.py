"""`chadllvm export`: a library is made, and called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runs import SHAPES

import chadllvm as cl


def test_a_function_with_its_gradient(
    runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--grad", "--also", f"{SHAPES}:walk", "--json")
    found = runs.json("export", "energy", *words[:-1])
    assert found["functions"] == ["energy", "energy_grad", "walk", "walk_grad"]
    assert found["library"].startswith("libshapes/libshapes.")
    assert "libshapes/shapes.h" in found["files"]
    library = cl.load(tmp_path / found["library"])
    value, (by_x, by_stiffness) = library.energy_grad(np.array([0.0, 1.0]), 3.0)
    assert value == pytest.approx(2.5 + np.cos(1.0))
    assert by_x == pytest.approx([-3.0, 3.0 - np.sin(1.0)])
    assert by_stiffness == 0.5
    text = runs("export", "energy", "-o", "build/libmodel")
    assert text.splitlines()[0] == "build/libmodel/libmodel.so with energy"


def test_types_of_arguments(runs: Any, tmp_path: Path) -> None:
    folder = str(tmp_path / "libopen")
    words = ("--kind", "object", "--shape", "x=2,2", "-o", folder, "--wrt", "x")
    found = runs.json("export", "open_rank", *words)
    assert found["functions"] == ["open_rank", "open_rank_grad"]
    header = (tmp_path / "libopen" / "open.h").read_text("utf-8")
    assert "open_open_rank(" in header


def test_recursive_data(runs: Any, tmp_path: Path) -> None:
    words = ("--kind", "object", "--grad", "-o", str(tmp_path / "libchain"))
    assert runs.json("export", "chain", *words)["functions"] == ["chain", "chain_grad"]


def test_no_command(runs: Any) -> None:
    status, out, err = runs.ended()
    assert (status, out) == (2, "") and "export" in err and "exit statuses" in err


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("energy", ("--kind", "wood"), "kind='wood': the kinds are shared"),
        (
            "energy",
            ("--target", "moon-none-none", "--kind", "object"),
            "target='moon-none-none': ",
        ),
        ("energy", ("-o", "lib-x"), "'-x' cannot be the name of a library"),
        ("energy", ("--also", "{shapes}:energy"), "--also "),
        ("untyped", (), "x cannot be drawn"),
    ],
)
def test_what_cannot_be_exported(
    runs: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    words: tuple[str, ...],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [word.replace("{shapes}", SHAPES) for word in words]
    assert runs.refused("export", name, *given).startswith(expected)
    assert list(tmp_path.iterdir()) == []


def test_without_a_compiler(
    runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    status, out, err = runs.ended("export", f"{SHAPES}:energy")
    assert (status, out) == (1, "")
    assert "no C compiler" in err
    assert list(tmp_path.iterdir()) == []
    made = json.loads(
        runs.ended("export", f"{SHAPES}:energy", "--kind", "object", "--json")[1]
    )
    assert any(file.endswith(".o") for file in made["files"])
