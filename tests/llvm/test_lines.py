"""DWARF's line tables (`llvm/lines.py`): what debuggers know of generated code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.jit import module_of
from chadllvm.backend.machine import DEBUG_SECTION

MODEL = """
import math
import numpy as np
import chadllvm as cl


def helper(y: float) -> float:
    return math.exp(-y) * y


def model(x: cl.f64[:], n: int) -> float:
    total = 0.0
    for i in range(n):
        y = x[i] * x[i]
        total += helper(y)
    if total > 3.0:
        total = math.sin(total)
    return total * 2.0


OPTIONS = cl.CompileOptions(debug_info=True)
if __name__ == "__main__":
    f = cl.jit(model, options=OPTIONS)
    print("value", f(np.arange(40.0) / 10, 40))
    print("slope", cl.grad(f)(np.arange(40.0) / 10, 40)[1])
"""

needs_gdb = pytest.mark.skipif(
    shutil.which("gdb") is None or sys.platform != "linux", reason="gdb is not here"
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "model_of_lines.py"
    path.write_text(MODEL)
    return path


@pytest.fixture
def model(script: Path) -> Callable[..., Any]:
    names: dict[str, Any] = {"__name__": "model_of_lines"}
    exec(compile(MODEL, str(script), "exec"), names)
    function: Callable[..., Any] = names["model"]
    return function


def line(text: str) -> int:
    return next(k for k, each in enumerate(MODEL.split("\n"), 1) if text in each)


def text_of(function: Any, **options: Any) -> str:
    compiled = cl.jit(function, options=cl.CompileOptions(**options))
    plan = compiled.planned_for(None)
    return module_of(compiled.versions(plan, threads=False)[0], "model").text


def test_without_the_option_there_is_nothing(model: Any) -> None:
    assert "!dbg" not in text_of(model) and ";@" not in text_of(model)
    assert "DISubprogram" not in text_of(model)


def test_instructions_are_on_the_lines_of_their_statements(model: Any) -> None:
    text = text_of(model, debug_info=True)
    places = dict(re.findall(r"^(!\d+) = !DILocation\(line: (\d+)", text, re.M))
    assert {*map(int, places.values())} >= {
        line("return math.exp"),
        line("y = x[i]"),
        line("total = math.sin"),
        line("return total * 2.0"),
    }
    sine = next(x for x in text.split("\n") if "@sin(" in x and " call " in x)
    assert places[sine.rpartition("!dbg ")[2]] == str(line("total = math.sin"))
    without = re.sub(r", !dbg !\d+$|!dbg !\d+ (?={$)", "", text, flags=re.M)
    assert [x for x in text_of(model).split("\n") if x not in without.split("\n")] == []


@pytest.mark.parametrize("others", [{}, {"optimize": 0}, {"sanitize": True}])
def test_results_are_the_same(model: Any, others: dict[str, Any]) -> None:
    plain = cl.jit(model, options=cl.CompileOptions(**others))
    told = cl.jit(model, options=cl.CompileOptions(debug_info=True, **others))
    x = np.linspace(0.0, 2.0, 17)
    assert told(x, 17) == plain(x, 17)
    assert np.array_equal(cl.grad(told)(x, 17), cl.grad(plain)(x, 17))


def test_recursions_and_threads_have_lines() -> None:
    options = cl.CompileOptions(debug_info=True)

    def halved(n: int, x: float) -> float:
        return x if n == 0 else halved(n - 1, 0.5 * x) + halved(n - 1, 0.25 * x)

    def spread(x: cl.f64[:]) -> float:
        return np.sum(np.exp(x) * x)

    assert cl.jit(halved, options=options)(2, 1.0) == 0.5625
    x = np.ones(300_000)
    slope = cl.grad(cl.jit(spread, options=options))(x)
    assert np.allclose(slope, 2.0 * np.e)


def debugged(*commands: str, args: list[str]) -> str:
    """What gdb says to some commands."""
    given = [part for command in commands for part in ("-ex", command)]
    setup = ["set pagination off", "set confirm off", "set breakpoint pending on"]
    first = [part for command in setup for part in ("-iex", command)]
    ran = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *first, *given, "--args", *args],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return ran.stdout


@needs_gdb
@pytest.mark.skipif(
    not Path("/proc/self").exists() or __import__("os").uname().machine != "x86_64",
    reason="code in memory is told of on x86-64",
)
def test_gdb_stops_at_lines_of_code_in_memory(script: Path) -> None:
    at = line("total = math.sin")
    said = debugged(
        f"break {script.name}:{at}",
        "run",
        "backtrace 1",
        "delete",
        "continue",
        args=[sys.executable, str(script)],
    )
    if "ptrace: Operation not permitted" in said:
        pytest.skip("nothing may be traced here")
    assert re.search(rf"Breakpoint 1, .*model.* at .*{script.name}:{at}", said)
    assert re.search(rf"^{at}\s+total = math.sin\(total\)", said, re.M)
    assert re.search(rf"#0 .*model.* at .*{script.name}:{at}", said)
    assert "value" in said and "slope" in said


@needs_gdb
def test_gdb_knows_lines_of_an_exported_library(
    script: Path, model: Any, tmp_path: Path
) -> None:
    compiled = cl.jit(model, options=cl.CompileOptions(debug_info=True))
    gradient = cl.value_and_grad(compiled)
    library = cl.export(
        {"value": compiled, "slope": gradient}, tmp_path / "libmodel", cpu="x86-64"
    )
    for text in ("total = math.sin", "return math.exp", "return total * 2.0"):
        asked = f"info line {script.name}:{line(text)}"
        said = debugged(asked, args=[str(library)])
        assert f"Line {line(text)} of" in said and "starts at address" in said


def test_an_object_has_a_line_table(model: Any, tmp_path: Path) -> None:
    for debug_info in (False, True):
        compiled = cl.jit(model, options=cl.CompileOptions(debug_info=debug_info))
        path = cl.export(
            {"model": compiled}, tmp_path / f"object{debug_info}", kind="object"
        )
        assert (DEBUG_SECTION in path.read_bytes()) is debug_info
