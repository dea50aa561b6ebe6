"""What is found without the compiler, and what is not: a wrong hit is a wrong program.

A module is run twice, as by two processes, with something changed in between. Whether
the second run read the function anew is seen by the frontend being asked or not.
"""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend import cache
from chadllvm.driver import specialising
from chadllvm.driver.reach import Reach, Unknown


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


def test_failures_name_the_place_that_they_have_now(
    tmp_path: Path, read: list[str]
) -> None:
    text = (
        "import chadllvm as cl\n\n@cl.jit\ndef f(x: cl.f64[:], k):\n    return x[k]\n"
    )
    path = tmp_path / "failing.py"
    places = []
    for blank in ("", "\n\n\n"):
        f = run(blank + text, path)["f"]
        with pytest.raises(IndexError) as caught:
            f(X, 7)
        places.append(str(caught.value))
    assert "failing.py:5" in places[0] and "failing.py:8" in places[1]
    assert read == ["f"]  # What repeats the call is made of the program that was kept.


def test_a_call_that_is_repeated_is_of_the_program_that_was_found(
    tmp_path: Path, read: list[str]
) -> None:
    text = (
        "import chadllvm as cl\nimport numpy as np\nTABLE = np.array([1.0, 2.0])\n\n"
        "@cl.jit\ndef f(k: int) -> float:\n    return TABLE[k]\n"
    )
    path = tmp_path / "table.py"
    run(text, path)["f"](0)
    space = run(text, path)
    assert space["f"](1) == 2.0
    space["TABLE"] = np.zeros(9)
    with pytest.raises(IndexError, match="7"):
        space["f"](7)
    assert read == ["f"]


def test_what_is_not_told_is_read_each_time(tmp_path: Path, read: list[str]) -> None:
    text = (
        "import chadllvm as cl\nclass Flag:\n    def __bool__(self):\n"
        "        return True\nFLAG = Flag()\n@cl.jit\ndef f(x: float) -> float:\n"
        "    if FLAG is not None:\n        return x\n    return 2.0 * x\n"
    )
    path = tmp_path / "unknown.py"
    for _ in range(2):
        f = run(text, path)["f"]
        with pytest.raises(Unknown, match="a Flag"):
            Reach(f)
        assert f(3.0) == 3.0
    assert read == ["f", "f"]


def test_a_module_named_like_one_of_pythons_is_the_users(tmp_path: Path) -> None:
    text = "import chadllvm as cl\nY = {}\ndef f(x):\n    return x * Y\n"
    path = tmp_path / "this.py"
    before = sys.modules.get("this")
    try:
        found = [Reach(run(text.format(y), path)["f"]).digest for y in (1.0, 2.0)]
    finally:
        sys.modules.pop("this")
        if before is not None:
            sys.modules["this"] = before
    assert found[0] != found[1]


# ---- the same derivative of a plain function


def test_a_plain_function_has_one_derivative(read: list[str]) -> None:
    factor = 2.0

    def scaled(x: float) -> float:
        return factor * x * x

    first = cl.grad(scaled)
    assert cl.grad(scaled) is first and cl.value_and_grad(scaled) is not first
    assert first(1.0) == 4.0
    factor = 3.0
    second = cl.grad(scaled)
    assert second(1.0) == 6.0 and first(1.0) == 4.0
    factor = 2.0
    assert cl.grad(scaled)(1.0) == 4.0


def test_a_derivative_of_one_thing_and_another_is_not_given_again() -> None:
    factor = 2.0

    def scaled(x: float) -> float:
        return factor * x * x

    first = cl.grad(scaled)
    factor = 3.0
    assert first(1.0) == 6.0
    factor = 2.0
    assert cl.grad(scaled)(1.0) == 4.0


# ---- processes

WARM = """
import sys
import numpy as np
import chadllvm as cl

@cl.jit
def f(x: cl.f64[:]) -> float:
    return sum(value * value for value in x)

x = np.arange(3.0)
assert (cl.grad(f)(x) == 2.0 * x).all()
assert cl.jvp(f, (x,), (np.ones(3),)) == (5.0, 6.0)
out, back = cl.vjp(f, x)
assert out == 5.0 and (back(2.0)[0] == 4.0 * x).all()
assert (cl.hvp(f)(x, np.ones(3)) == 2.0).all()
assert cl.grad(lambda y: y * y)(3.0) == 6.0
assert cl.grad(lambda a: np.linalg.det(a))(np.eye(2))[0, 0] == 1.0
names = "driver.pipeline", "frontend.translation", "ir.term"
heavy = (*(f"chadllvm.{name}" for name in names), "llvmlite", "cffi")
print([name for name in heavy if name in sys.modules])
"""


def test_a_new_process_loads_no_compiler(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WARM)
    command = [sys.executable, "-W", "error", str(script)]
    cold, warm = (
        subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
        for _ in range(2)
    )
    assert "llvmlite" in cold.stdout and warm.stdout == "[]\n"
