"""What is found without the compiler, and what is not: a wrong hit is a wrong program.

A module is run twice, as by two processes, with something changed in between. Whether
the second run read the function anew is seen by the frontend being asked or not.
"""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm import specialising
from chadllvm.backend import cache
from chadllvm.reach import Reach


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, turned on for one test."""
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache._State, "has_warned", False)
    return tmp_path / "cache" / "v1"


@pytest.fixture(autouse=True)
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that the frontend has read."""
    names: list[str] = []
    original = specialising.specialise

    def count(function: Any, *rest: Any) -> Any:
        names.append(function.__name__)
        return original(function, *rest)

    monkeypatch.setattr(specialising, "specialise", count)
    return names


MODULE = """
from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import chadllvm as cl

SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
PAIR = (1.0, {"key": 4.0})
FLAG = "fast"


class Mode(enum.Enum):
    ONE = 1.0
    TWO = 2.0


class Point(NamedTuple):
    x: float
    y: float = 3.0

    def norm(self) -> float:
        return math.sqrt(self.x * self.x + self.y * self.y)


@dataclass(frozen=True)
class Model:
    weight: float
    point: Point


class Holder:
    FACTOR = 7.0


MODEL = Model(0.5, Point(1.0))


@cl.jit
def inner(x: float) -> float:
    return x * SCALE


@cl.jit
def callee(x: float, power: "int" = 2) -> float:
    return inner(x) ** power


def closed(offset):
    shift = lambda x: x + offset

    @cl.jit
    def shifted(x: float) -> float:
        y: "float" = shift(x)
        return y * y

    return shifted


shifted = closed(10.0)


@cl.jit
def f(x: cl.f64[:]) -> float:
    total = 0.0
    for k in range(len(x)):
        total += callee(x[k]) + TABLE[k] * x[k] + PAIR[1]["key"]
    if FLAG == "fast":
        total += Mode.TWO.value
    point = Point(total)
    return point.norm() * MODEL.weight + shifted(total) + MODEL.point.y
"""

X = np.array([1.0, 2.0, 3.0])


def run(text: str, path: Path) -> dict[str, Any]:
    """The globals of a module, run anew."""
    path.write_text(text)
    linecache.checkcache(str(path))
    module = sys.modules[path.stem] = ModuleType(path.stem)
    exec(compile(text, str(path), "exec"), vars(module))
    return vars(module)


CHANGES = {
    "a global": ("SCALE = 2.0", "SCALE = 2.5"),
    "its type": ("SCALE = 2.0", "SCALE = 2"),
    "an array": ("[1.0, 2.0, 3.0]", "[1.0, 2.0, 3.5]"),
    "a tuple": ('"key": 4.0', '"key": 5.0'),
    "a flag": ('FLAG = "fast"', 'FLAG = "slow"'),
    "an enum": ("TWO = 2.0", "TWO = 2.5"),
    "a default of a field": ("y: float = 3.0", "y: float = 4.0"),
    "a method": ("self.y * self.y)", "self.y * self.y * 2.0)"),
    "a field": ("weight: float\n", "weight: f32\n"),
    "a constant record": ("Model(0.5,", "Model(0.75,"),
    "a callee": ("return x * SCALE", "return x + SCALE"),
    "a default": ('power: "int" = 2', 'power: "int" = 3'),
    "an annotation in a text": ('power: "int" = 2', 'power: "float" = 2'),
    "a captured value": ("closed(10.0)", "closed(11.0)"),
    "a captured function": ("x: x + offset", "x: x - offset"),
    "a local annotation": ('y: "float"', 'y: "cl.f32"'),
    "an option": ("@cl.jit\ndef f", "@cl.jit(debug=True)\ndef f"),
    "its own text": ("total = 0.0", "total = 1.0"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_has_changed_is_another_reach(what: str, tmp_path: Path) -> None:
    before, after = CHANGES[what]
    assert MODULE.count(before) == 1
    path = tmp_path / f"changes_{list(CHANGES).index(what)}.py"
    first = Reach(run(MODULE, path)["f"])
    second = Reach(run(MODULE.replace(before, after), path)["f"])
    assert first.digest != second.digest


@pytest.mark.parametrize("what", ["a global", "a callee", "a method"])
def test_what_has_changed_is_read_again(
    what: str, tmp_path: Path, read: list[str]
) -> None:
    path = tmp_path / f"again_{list(CHANGES).index(what)}.py"
    run(MODULE, path)["f"](X)
    changed = run(MODULE.replace(*CHANGES[what]), path)["f"]
    found = changed(X)
    assert read == ["f", "f"]
    assert found == pytest.approx(changed.py_func(X))


HARMLESS = {
    "nothing": ("", ""),
    "lines above": ("SCALE = 2.0", "# a comment\n\n\nSCALE = 2.0"),
    "another function": ("class Holder", "def unused():\n    pass\n\nclass Holder"),
    "another global": ("FACTOR = 7.0", "FACTOR = 8.0"),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_has_nothing_to_do_with_it_changes_nothing(
    what: str, tmp_path: Path, read: list[str]
) -> None:
    path = tmp_path / f"harmless_{list(HARMLESS).index(what)}.py"
    text = MODULE.replace("shift = lambda x: x + offset", "shift = plain(offset)")
    text = text.replace(
        "def closed(offset)",
        "def plain(offset):\n    def add(x):\n        return x + offset\n"
        "    return add\n\n\ndef closed(offset)",
    )
    first = cl.value_and_grad(run(text, path)["f"])(X)
    read.clear()
    space = run(text.replace(*HARMLESS[what]) if what != "nothing" else text, path)
    second = cl.value_and_grad(space["f"])(X)
    assert read == []
    assert first[0] == second[0] and (first[1] == second[1]).all()
