"""`chadllvm run`: arguments of all kinds, in JSON, from files and drawn."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    "words",
    [
        ("[0.1, 0.5]", "2"),
        ("stiffness=2.0", "x=[0.1, 0.5]"),
        ("stiffness=2", "[0.1, 0.5]"),
    ],
)
def test_by_position_and_by_name(runs: Any, words: tuple[str, ...]) -> None:
    expected = 0.16 + math.cos(0.1) + math.cos(0.5)
    assert float(runs("run", "energy", *words)) == pytest.approx(expected)


def test_the_gradient(runs: Any) -> None:
    found = runs.json("run", "energy", "[0.1, 0.5]", "--grad", "-2e0")
    gradient = found["gradient"]
    assert gradient["x"] == pytest.approx([0.8 - math.sin(0.1), -0.8 - math.sin(0.5)])
    assert gradient["stiffness"] == pytest.approx(0.08)
    only = runs.json("run", "energy", "--wrt", "stiffness", "[0.1, 0.5]", "-2")
    assert only == {
        "value": found["value"],
        "gradient": {"stiffness": 0.08000000000000002},
    }
    text = runs("run", "energy", "[0.0, 1.0]", "0", "--grad", "--wrt", "stiffness")
    assert text == f"value: {1.0 + math.cos(1.0)}\nby stiffness: 0.5\n"


def test_unions(runs: Any) -> None:
    circle = '{"radius": 1, "centre": {"x": 2}}'
    assert float(runs("run", "area", circle)) == math.pi + 2.0
    square = '{"type": "Square", "side": 2, "centre": [0, 3]}'
    found = runs.json("run", "area", square, "--grad")
    assert found["value"] == 12.0
    assert found["gradient"]["shape"]["side"] == 12.0
    message = runs.refused("run", "area", '{"type": "Triangle"}')
    assert message.startswith("shape is {'type': 'Triangle'}; expected Circle | Square")


def test_containers(runs: Any) -> None:
    words = (
        "points=[[1, 2], [3]]",
        'settings={"scale": 2, "steps": 10}',
        "pair=[0.25, true]",
        'last={"value": 1, "rest": {"value": 7, "rest": null}}',
    )
    assert float(runs("run", "records", *words)) == 80.25
    assert float(runs("run", "records", *words[:3], "last=null")) == 70.25
    ragged = ("[[1, 2], [], [3]]", "0.5", "[[1, 2]]")
    assert float(runs("run", "ragged", *ragged)) == 9.0


def test_results_that_are_read_again(runs: Any) -> None:
    found = runs.json("run", "squares", "[2, 3]", '{"x": 1, "y": 2}')["value"]
    assert found == [[4.0, 9.0], {"type": "Point", "x": 4.0, "y": 1.0}, 3]
    again = runs.json("run", "squares", "[2, 3]", json.dumps(found[1]))["value"]
    assert again[0] == [16.0, 36.0]


def test_what_is_not_finite(runs: Any) -> None:
    assert runs.json("run", "untyped", '["inf", 1.0]', "0") == {"value": "inf"}
    assert runs.json("run", "untyped", "[1.0, NaN]", "k=1") == {"value": "nan"}


def test_static_and_named_parameters(runs: Any) -> None:
    assert float(runs("run", "loss", "-3", "weight=2")) == 18.0
    assert float(runs("run", "loss", "-3", "weight=2", "kind=other")) == 6.0
    found = runs.json("run", "loss", "-3", '"other"', "weight=2", "--grad")
    assert found["gradient"] == {"x": -2.0, "weight": 3.0}


def test_files(runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.1, 0.5])
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.savez(tmp_path / "one.npz", x)
    np.savez(tmp_path / "all.npz", x=x, stiffness=2.0)
    (tmp_path / "all.json").write_text('{"x": [0.1, 0.5], "stiffness": 2}')
    (tmp_path / "x.json").write_text("[0.1, 0.5]")
    monkeypatch.chdir(tmp_path)
    expected = pytest.approx(0.16 + math.cos(0.1) + math.cos(0.5), rel=1e-6)
    for words in (
        ("x.npy", "2"),
        ("one.npz", "2"),
        ("x=all.npz:x", "stiffness=2"),
        ("x.json", "2"),
        ("--arguments", "all.npz"),
        ("--arguments", "all.json"),
    ):
        assert float(runs("run", "energy", *words)) == expected
    given = '{"x": [0.1, 0.5], "stiffness": 2}'
    for words in (("--arguments", "-"), ("-", "2")):
        text = given if words[0] == "--arguments" else "[0.1, 0.5]"
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        assert float(runs("run", "energy", *words)) == expected


def test_bad_files(runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.npy").write_bytes(b"\x93NUMPY\x01")
    Path("text.npz").write_text("no archive")
    Path("bad.json").write_text("[1,")
    np.savez("two.npz", a=np.ones(1), b=np.ones(1))
    np.save("object.npy", np.array([None]), allow_pickle=True)
    Path("two.npy").write_bytes(Path("two.npz").read_bytes())
    np.save("array.npy", np.ones(1))
    Path("array.npz").write_bytes(Path("array.npy").read_bytes())
    np.savez_compressed("damaged.npz", a=np.arange(1000.0))
    content = Path("damaged.npz").read_bytes()
    Path("damaged.npz").write_bytes(content[:200] + b"????" + content[204:])
    np.save("words.npy", np.array(["a"]))
    for word, expected in {
        "none.npy": "none.npy: No such file or directory",
        "cut.npy": "cut.npy holds no arrays",
        "text.npz": "text.npz holds no arrays",
        "bad.json": "bad.json is no JSON",
        "two.npz": "two.npz has a, b: write two.npz:NAME for one of these",
        "two.npz:c": "two.npz has a, b",
        "object.npy": "object.npy holds no arrays",
        "array.npz": "array.npz is no archive: name it .npy",
        "two.npy": "two.npy is an archive: name it .npz",
        "damaged.npz": "damaged.npz holds no arrays",
        "words.npy": "x has elements of <U1; expected f64",
    }.items():
        assert runs.refused("run", "energy", word, "2").startswith(expected)


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("energy", ("x=1", "stiffness=2"), "x is 1; expected an array of rank 1"),
        (
            "energy",
            ("[[1, 2]]", "2"),
            "x has 2 dimensions; expected an array of rank 1",
        ),
        ("energy", ("[1, [2]]", "2"), "x has rows of different lengths"),
        ("energy", ('[1, "a"]', "2"), "x[1] is 'a'; expected a number"),
        ("energy", ("[1, 2]", "abc"), "stiffness='abc' is neither JSON nor a .npy"),
        ("energy", ("[1, 2]", "true"), "stiffness is True; expected a number"),
        ("energy", ("[1]", "1" + "0" * 400), "stiffness is an integer too large for a"),
        ("untyped", ("[" * 10**5, "1"), "x is nested too deeply"),
        ("energy", ("[1, 2]",), "energy() needs stiffness: write stiffness=…, or draw"),
        ("energy", ("[1, 2]", "2", "3"), "energy() takes 2 arguments"),
        ("energy", ("[1, 2]", "x=[1]"), "x is given twice"),
        ("energy", ("y=1",), "energy() has no parameter 'y'"),
        ("energy", ("[1]", "2", "--wrt", "z"), "energy() has no parameter 'z'"),
        (
            "energy",
            ("stiffness=2", "--shape", "x"),
            "--shape x: write name=sizes, as in x=3,4",
        ),
        (
            "energy",
            ("stiffness=2", "--shape", "x=3,4"),
            "--shape x: expected 1 sizes, as in x=3",
        ),
        ("energy", ("[1]", "2", "--shape", "x=3"), "--shape x: nothing of this name"),
        ("untyped", ("--draw",), "x cannot be drawn (say its shape, as in --shape x=3"),
        ("loss", ("1", "--draw", "weight=[1]"), "weight is [1]; expected a number"),
        (
            "records",
            ("--draw", "settings=[1]"),
            "settings is [1]; expected an object wi",
        ),
        (
            "records",
            ("--draw", 'settings={"scale": 1}'),
            "settings misses 'steps' of the dictio",
        ),
        (
            "records",
            ('points=[{"x": 1, "z": 2}]',),
            "points[0]: there is no 'z' in Poi",
        ),
        (
            "records",
            ("points=[[1, 2, 3]]",),
            "points[0] has 3 values; Point (x, y) has",
        ),
        ("records", ("--draw", "pair=[1]"), "pair has 1 values; expected 2"),
        ("chain", ("--draw",), "last cannot be drawn (Leaf contains itself)"),
        (
            "ragged",
            ("[[1], 2]", "1", "[[1]]"),
            "rows[1] is 2; expected an array of ran",
        ),
        (
            "ragged",
            ("[[1]]", "1", "[[1.5]]"),
            "table has elements of float64; expected",
        ),
        ("area", ("3",), "shape is 3; expected Circle | Square"),
        ("tau", (), "{shapes}:tau: tau is no function, but a float"),
        ("enrgy", (), "{shapes}:enrgy: there is no 'enrgy'; close to it are energy"),
    ],
)
def test_bad_arguments(
    runs: Any, name: str, words: tuple[str, ...], expected: str
) -> None:
    shapes = Path(__file__).with_name("shapes.py")
    found = runs.refused("run", name, *words)
    assert found.startswith(expected.replace("{shapes}", str(shapes)))


def test_records_that_are_nested_too_deeply(runs: Any) -> None:
    deep = '{"value": 1, "rest": ' * 500 + "null" + "}" * 500
    found = runs.refused("run", "chain", deep)
    assert found == "last is nested too deeply to be given here"


def test_structured_arrays(runs: Any, tmp_path: Path) -> None:
    rows = np.array([(1.0, 2.0), (3.0, 4.0)], [("x", float), ("y", float)])
    file = str(tmp_path / "rows.npy")
    np.save(file, rows)
    found = runs.json("run", "first_row", file, "--grad")
    assert found["value"] == 2.0
    assert found["gradient"]["rows"] == [{"x": 2.0, "y": 1.0}, {"x": 0.0, "y": 0.0}]
    assert "structured arrays are not" in runs.refused("check", "first_row", file)


def test_drawn_arguments(runs: Any) -> None:
    words = ("--draw", "--shape", "rows=3", "--shape", "table=2,4")
    first = runs("run", "ragged", *words)
    assert first == runs("run", "ragged", *words)
    assert first != runs("run", "ragged", *words, "--seed", "1")
    ones = ("--between", "1,1", "--shape", "points=7", "pair=[0, false]", "last=null")
    found = runs("run", "records", "--draw", *ones, 'settings={"scale": 1, "steps": 1}')
    assert float(found) == 7.0
    assert float(runs("run", "area", "--draw")) > 0.0
    assert (
        float(runs("run", "open_rank", "--shape", "x=2,3", "--between", "2,2")) == 24.0
    )


def test_a_derivative_is_a_function(runs: Any) -> None:
    found = runs("run", "slope", "[0.0]", "1")
    assert found == "[-0.0]\n"
