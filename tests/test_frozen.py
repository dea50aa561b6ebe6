"""One compiled function has one set of values, from its first use on."""

from __future__ import annotations

import linecache
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

MODULE = """
import numpy as np
import chadllvm as cl

SCALE = 3.0
WEIGHTS = np.array([1.0, 2.0])

def plain(x):
    return x * SCALE

@cl.jit
def named(x):
    return x * SCALE
"""

# Each value that `model` names counts; `change` gives them others.
TEXT = """
from typing import NamedTuple
import numpy as np
import chadllvm as cl
import frozen_settings as settings

class Pair(NamedTuple):
    first: float
    second: float

NUMBER = 3.0
TABLE = np.arange(4.0)
NESTED = (np.ones(2), 2.0)
MODE = "square"
RECORD = Pair(2.0, 5.0)
inner = cl.jit(lambda x: x * NUMBER)
slope = cl.grad(lambda x: x * x * NUMBER)

@cl.custom_vjp
def ruled(x: float) -> float:
    return x * NUMBER

ruled.defvjp(lambda x: (x * NUMBER, NUMBER), lambda kept, ct: kept * ct * NUMBER)

def made(factor):
    def local(x):
        return x * factor * NUMBER
    def change():
        nonlocal factor
        factor = 100.0
    @cl.jit
    def model(x):
        y = x * x if MODE == "square" else x
        y = y + TABLE[1] * x + NESTED[0][1] * x + NESTED[1] * x
        y = y + settings.SCALE * x + settings.WEIGHTS[0] * x + settings.named(x)
        return y + RECORD.second * x + local(x) + inner(x) + slope(x * 1.0)
    return model, change

model, change_factor = made(7.0)
ruled_twice = cl.jit(lambda x: ruled(x) * 2.0)

def change():
    global NUMBER, NESTED, MODE, RECORD, inner, slope
    NUMBER, MODE, RECORD = 1000.0, "none", Pair(50.0, 50.0)
    NESTED[0][:] = 9.0
    NESTED = (np.zeros(2), 0.0)
    TABLE[1] = 99.0
    settings.SCALE = 77.0
    settings.WEIGHTS[0] = 88.0
    settings.named = inner = slope = cl.jit(lambda x: x * 0.0)
    change_factor()
"""

USE = """
import pickle, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import __main__
exec("from typing import NamedTuple\\nclass Pair(NamedTuple):\\n  first: float\\n"
     "  second: float")
with open(sys.argv[1] + "/pickled", "rb") as file:
    functions, expected = pickle.load(file)
import frozen_settings
frozen_settings.SCALE = 123.0
for function, found in zip(functions, expected, strict=True):
    assert function(2.0) == found[0], (function, function(2.0), found)
    assert function(found[1]) == found[2], (function, found)
"""


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The globals of a notebook that imports a module."""
    (tmp_path / "frozen_settings.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    found: dict[str, Any] = {"__name__": "__main__"}
    name = f"<cell {tmp_path}>"
    linecache.cache[name] = (len(TEXT), None, TEXT.splitlines(True), name)
    exec(compile(TEXT, name, "exec"), found)
    found["Pair"].__qualname__ = "Pair"
    yield found
    sys.modules.pop("frozen_settings", None)


@pytest.mark.parametrize("optimize", [2, 0])
@pytest.mark.parametrize("cached", [True, False])
def test_later_specialisations_have_the_first_values(
    space: dict[str, Any],
    optimize: int,
    cached: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", str(int(cached)))
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "cache"))
    make = space["model"]
    model = cl.jit(make.py_func, optimize=optimize)
    expected = model.py_func(2.0)
    assert model(2.0) == pytest.approx(expected)
    whole = model.py_func(3)
    plain = cl.grad(cl.jit(make.py_func))(2.0)
    space["change"]()
    assert model(2.0) == pytest.approx(expected)
    assert model(3) == whole
    assert cl.grad(model)(2.0) == plain
    assert cl.value_and_grad(model)(2.0) == (pytest.approx(expected), plain)
    assert cl.jvp(model, (2.0,), (1.0,)) == pytest.approx((expected, plain))
    assert cl.vjp(model, 2.0)[1](1.0) == (plain,)
    assert cl.linearize(model, 2.0)[1](1.0) == plain
    assert cl.hessian(model)(2.0) == pytest.approx(2.0)
    # Another function object is made of what there is then.
    later = cl.jit(make.py_func, optimize=optimize)
    assert later(2.0) == pytest.approx(later.py_func(2.0)) != model(2.0)


def test_the_values_are_pickled(
    space: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import __main__

    settings = sys.modules["frozen_settings"]
    named = settings.named  # type: ignore[attr-defined]
    settings.SCALE = 4.0  # type: ignore[attr-defined]
    functions = [space["model"], cl.grad(space["model"]), space["ruled_twice"]]
    functions += [cl.grad(space["ruled_twice"]), named, cl.hessian(named)]
    first = [function(2.0) for function in functions]
    space["change"]()
    settings.named = named  # type: ignore[attr-defined]
    ways = [2, 2.0, 2, 2.0, 2, 2.0]  # Gradients are of floats alone.
    second = [function(x) for function, x in zip(functions, ways, strict=True)]
    expected = [*zip(first, ways, second, strict=True)]
    monkeypatch.setitem(vars(__main__), "Pair", space["Pair"])
    (tmp_path / "pickled").write_bytes(pickle.dumps((functions, expected)))
    command = [sys.executable, "-W", "error", "-c", USE, str(tmp_path)]
    subprocess.run(command, check=True, timeout=300)
    again = pickle.loads((tmp_path / "pickled").read_bytes())[0]
    assert again[4] is named


def test_what_failed_is_not_frozen() -> None:
    text = "def outer(x):\n    return inner(x) * K\n"
    name = "<failing cell>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"K": 2.0}
    exec(compile(text, name, "exec"), space)
    outer = cl.jit(space["outer"])
    with pytest.raises(cl.CompileError):
        outer(1.0)
    space["inner"], space["K"] = cl.jit(lambda x: x + 1.0), 3.0
    assert outer(1.0) == 6.0
    space["K"] = 4.0
    assert outer(1) == 6.0


def test_gradients_of_plain_functions_see_what_is_there() -> None:
    """They are new functions when what they refer to has changed."""
    factor = 2.0

    def f(x: float) -> float:
        return x * factor

    old = cl.grad(f)
    assert old(1.0) == 2.0
    assert cl.grad(f) is old
    factor = 5.0
    assert cl.grad(f)(1.0) == 5.0
    assert old(1.0) == old(np.float64(1.0)) == 2.0
    assert cl.grad(f) is not old
