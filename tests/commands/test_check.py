"""`chadllvm check`: right gradients agree, wrong ones are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command_runs import SHAPES


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("energy", ()),
        ("energy", ("--order", "2", "--shape", "x=3")),
        ("records", ("last=null",)),
        ("ragged", ()),
        ("area", ("--seed", "1")),
        ("loss", ()),
        ("squares", ()),
        ("untyped", ("--shape", "x=4", "k=2")),
        ("energy", ("--optimize", "0")),
        ("energy", ("--strict",)),
        ("loss", ("--no-contract",)),
    ],
)
def test_right_gradients(runs: Any, name: str, words: tuple[str, ...]) -> None:
    found = runs.json("check", name, *words)
    assert found["agree"] is True
    assert all(row["error"] <= row["allowed"] for row in found["rows"])


def test_the_table(runs: Any) -> None:
    lines = runs("check", "energy", "[0.1, 0.5]", "2").splitlines()
    assert lines[0].split() == ["argument", "ours", "difference", "error"]
    places = [line.partition("  ")[0] for line in lines[1:-1]]
    assert places == ["x[0]", "x[1]", "x, a direction", "stiffness"]
    assert lines[-1] == "4 derivatives agree"


def test_so_many_numbers_are_moved(runs: Any) -> None:
    words = ("--shape", "x=30", "--entries")
    some = runs.json("check", "energy", *words, "3")["rows"]
    assert len(some) == 3 + 1 + 1
    assert len(runs.json("check", "energy", *words, "0")["rows"]) == 30 + 1 + 1


def test_a_wrong_gradient(runs: Any) -> None:
    status, out, _ = runs.ended("check", f"{SHAPES}:product", "2", "3")
    assert status == 1
    assert out.splitlines()[2].split()[0] == "y"
    assert out.splitlines()[2].endswith("<- wrong")
    assert out.endswith("1 of 2 derivatives disagree\n")
    status, out, _ = runs.ended("check", f"{SHAPES}:product", "2", "3", "--json")
    rows = json.loads(out)["rows"]
    assert [row["agrees"] for row in rows] == [True, False]
    assert rows[1]["ours"] == pytest.approx(2.02)
    assert rows[1]["difference"] == pytest.approx(2.0)
    assert runs("check", "product", "2", "3", "--wrt", "x")
    assert runs("check", "product", "2", "3", "--tolerance", "0.02")


def test_a_number_that_a_sample_misses_is_seen_in_the_direction(runs: Any) -> None:
    status, out, _ = runs.ended(
        "check", f"{SHAPES}:one_is_wrong", "--shape", "x=200", "--entries", "2"
    )
    assert status == 1
    assert out.splitlines()[3].startswith("x, a direction")
    assert out.splitlines()[3].endswith("<- wrong")


def test_what_cannot_be_checked(runs: Any) -> None:
    expected = "whole() has no parameter with real numbers"
    assert runs.refused("check", "whole", "3") == expected
    expected = "rounded() gives no real numbers"
    assert runs.refused("check", "rounded", "3") == expected
    assert runs.refused("check", "loss", "--order", "2").startswith("--order 2")
