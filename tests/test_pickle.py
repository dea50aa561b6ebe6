"""Compiled functions and derivatives in pickles, by name and by value."""

from __future__ import annotations

import copy
import linecache
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver import portable, specialising

TEXT = """
import math
import numpy as np
import chadllvm as cl

SCALE = 3.0
TABLE = np.arange(4.0)

def helper(x: float) -> float:
    return x * SCALE

helped = cl.jit(helper)

@cl.jit
def f(x: cl.f64[:], power: "int" = 2) -> float:
    total = 0.0
    for k in range(len(x)):
        total += helped(x[k]) ** power + TABLE[1]
    return total

@cl.jit
def factorial(n: int) -> float:
    return 1.0 if n < 2 else n * factorial(n - 1)

def made(offset):
    scaled = lambda x: x + offset
    return cl.jit(lambda x: scaled(x) * math.sin(x)), cl.grad(lambda x: x * offset)

closed, slope = made(10.0)

@cl.custom_vjp
def clipped(x: float) -> float:
    return x

clipped.defvjp(lambda x: (x, x), lambda kept, ct: min(kept, 1.0) * ct)

failing = cl.jit(lambda x: x[100])
everything = {
    "f": f, "grad": cl.value_and_grad(f), "second": cl.hessian(f),
    "factorial": factorial, "closed": closed, "slope": slope,
    "clipped": cl.grad(clipped), "failing": failing,
}
"""

USE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    loaded = pickle.load(file)
x = np.arange(3.0)
assert loaded["f"](x) == 48.0, loaded["f"](x)
assert loaded["f"](x, power=1) == 12.0
value, gradient = loaded["grad"](x)
assert value == 48.0 and (gradient == 18.0 * x).all()
assert (loaded["second"](x) == 18.0 * np.eye(3)).all()
assert loaded["factorial"](5) == 120.0
assert loaded["closed"](1.0) == 11.0 * np.sin(1.0) and loaded["slope"](1.0) == 10.0
assert loaded["clipped"](0.5) == 0.5 and loaded["clipped"](7.0) == 1.0
try:
    loaded["failing"](x)
except IndexError as error:
    assert "<cell 1>:" in str(error), error
    assert "x[100]" in "".join(error.__notes__), error.__notes__
again = pickle.loads(pickle.dumps(loaded["f"]))
assert again is loaded["f"]
"""


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The globals of a notebook's cell."""
    found: dict[str, Any] = {"__name__": "__main__"}
    linecache.cache["<cell 1>"] = (len(TEXT), None, TEXT.splitlines(True), "<cell 1>")
    exec(compile(TEXT, "<cell 1>", "exec"), found)
    return found


def test_functions_of_a_notebook_in_another_process(
    space: dict[str, Any], tmp_path: Path
) -> None:
    everything = space["everything"]
    everything["f"](np.arange(3.0))
    (tmp_path / "pickled").write_bytes(pickle.dumps(everything))
    command = [sys.executable, "-W", "error", "-c", USE, str(tmp_path / "pickled")]
    subprocess.run(command, check=True, timeout=300)


def test_here_they_stay_themselves(space: dict[str, Any]) -> None:
    for name in ("f", "factorial", "closed"):
        function = space[name]
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is copy.copy(function) is function
    gradient = space["everything"]["grad"]
    assert pickle.loads(pickle.dumps(gradient)) is gradient
    assert copy.deepcopy(gradient) is gradient


def as_elsewhere(function: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The function as another process would read it."""
    content = pickle.dumps(function)
    with monkeypatch.context() as patch:
        patch.setattr(portable, "_ORIGINALS", {})
        return pickle.loads(content)


def test_loading_twice_and_what_is_captured_now(
    space: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    unused, used = cl.jit(space["f"].py_func), cl.jit(space["f"].py_func)
    used(np.zeros(1))
    first = as_elsewhere(unused, monkeypatch)
    monkeypatch.setitem(space, "TABLE", np.full(4, 100.0))
    second = as_elsewhere(unused, monkeypatch)
    third = as_elsewhere(used, monkeypatch)
    assert first is not unused
    assert [f(np.zeros(1)) for f in (first, second, third)] == [1.0, 100.0, 1.0]


def test_code_goes_along(
    space: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chadllvm.backend import jit

    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "first"))
    gradient = cl.value_and_grad(cl.jit(space["helper"]))
    expected = gradient(2.0)
    content = pickle.dumps(gradient)
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "second"))
    monkeypatch.setattr(portable, "_ORIGINALS", {})
    monkeypatch.setattr(jit, "compiled", None)
    monkeypatch.setattr(specialising, "specialise", None)
    assert pickle.loads(content)(2.0) == expected == (6.0, 3.0)


def test_code_goes_further_from_where_it_was_not_used(
    space: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path))
    function = cl.jit(space["helper"])
    for ours in (function, cl.value_and_grad(function)):
        ours(2.0)
        content = pickle.dumps(ours)
        with monkeypatch.context() as patch:
            patch.setattr(portable, "_ORIGINALS", {})
            elsewhere = pickle.loads(content)
        code = dict(ours._code())
        assert code and elsewhere is not ours
        assert dict(elsewhere._code()) == code


def test_text_that_is_another_one_now(
    space: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = pickle.dumps(space["factorial"])
    other = "print('other')\n" * 40
    with monkeypatch.context() as patch:
        patch.setattr(portable, "_ORIGINALS", {})
        lines = other.splitlines(True)
        patch.setitem(
            linecache.cache, "<cell 1>", (len(other), None, lines, "<cell 1>")
        )
        found = pickle.loads(content)
        assert found(4) == 24.0
        assert "factorial(n - 1)" in found.show("source")


def test_another_version_of_python_is_refused(space: dict[str, Any]) -> None:
    parts = portable.skeleton(space["factorial"].py_func)
    with pytest.raises(pickle.UnpicklingError, match="another version of Python"):
        portable.made(parts._replace(magic=b"none"))


def test_pullbacks_and_linear_maps(
    space: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.arange(3.0)
    out, back = cl.vjp(space["f"], x)
    same, slope = cl.linearize(space["f"], x)
    assert out == same == 48.0
    x[:] = 0.0  # They keep the primals as they were.
    other, map_ = as_elsewhere((back, slope), monkeypatch)
    assert (other(1.0)[0] == 18.0 * np.arange(3.0)).all()
    assert map_(np.ones(3)) == 54.0
    with pytest.raises(TypeError, match="cotangent"):
        other("text")


WORKER = """
import sys
import numpy as np
import chadllvm as cl

SCALE = 3.0

@cl.jit
def f(x: cl.f64[:]) -> float:
    return sum(value * value * SCALE for value in x)

slope = cl.grad(f)

def task(x):
    return float(slope(x)[0])

def main():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    import cloudpickle
    import pickle
    from joblib import Parallel, delayed

    expected = task(np.ones(2))
    assert expected == 6.0
    for way in ("fork", "spawn"):
        with ProcessPoolExecutor(1, mp_context=get_context(way)) as pool:
            assert pool.submit(task, np.ones(2)).result() == expected, way
            assert (pool.submit(slope, np.ones(2)).result() == 6.0).all(), way
    calls = [delayed(slope)(np.full(2, 2.0)), delayed(lambda g: g(np.ones(2)))(slope)]
    found = Parallel(n_jobs=2, backend="loky")(calls)
    assert [float(g[0]) for g in found] == [12.0, 6.0], found
    inner = cl.value_and_grad(lambda x: x * SCALE)
    again = pickle.loads(cloudpickle.dumps((f, slope, inner, task)))
    assert again[2](2.0) == (6.0, 3.0) and again[3](np.ones(2)) == 6.0

if __name__ == "__main__":
    main()
"""


@pytest.mark.filterwarnings("ignore")
def test_pools_of_processes(tmp_path: Path) -> None:
    """By fork, spawn and joblib, of a script, whose module has no name of its own."""
    script = tmp_path / "script.py"
    script.write_text(WORKER)
    environment = {
        **os.environ,
        "CHADLLVM_CACHE": "1",
        "CHADLLVM_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, str(script)]
    subprocess.run(command, check=True, timeout=300, env=environment)
