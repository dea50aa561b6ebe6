"""Sources are found wherever functions come from, and spans are the user's columns."""

from __future__ import annotations

import doctest
import os
import py_compile
import shutil
import subprocess
import sys
import textwrap
import time
import zipfile
import zipimport
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frontend.generated import define
from frontend.meaning import interpret

from chadllvm.frontend import specialise
from chadllvm.frontend.source import read_source
from chadllvm.ir.types import F64
from chadllvm.support.diagnostic import CompileError, Span


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def spans(function: Callable[..., Any]) -> list[Span]:
    program = specialise(function, [F64])
    return [binding.span for binding in program.entry.body.bindings]


def text_at(span: Span, lines: list[str]) -> str:
    return lines[span.line - 1][span.column : span.end_column]


def test_spans_are_the_expressions() -> None:
    text = "\n\ndef f(größe):\n    é = größe * 2.0 + größe\n    return é / größe\n"
    found = [text_at(span, text.splitlines()) for span in spans(define(text))]
    assert found == ["größe * 2.0", "größe * 2.0 + größe", "é / größe"]


def test_every_span_names_the_function() -> None:
    assert {s.function for s in spans(define("def f(x):\n    return x * x + x\n"))} == {
        "f"
    }


def test_nested_and_decorated_function() -> None:
    @decorate
    @decorate
    def inner(x):
        text = """a string whose lines
  are indented less"""  # noqa: F841
        return (
            x
            * 3.0
# A comment that is indented less.
        )  # fmt: skip

    source = read_source(inner)
    assert source.name == "inner"
    assert "x" in source.text
    assert source.span(source.definition).column == 4


def test_nested_function_runs() -> None:
    factor = 4.0

    @decorate
    def inner(
        x,
    ):
        # A comment.
        return x * factor

    assert interpret(inner, 2.0) == 8.0
    (span,) = spans(inner)
    with open(__file__, encoding="utf-8") as file:
        assert text_at(span, file.read().splitlines()) == "x * factor"


def test_definition_on_one_line() -> None:
    assert interpret(define("def f(x): return x + 1.0\n"), 2.0) == 3.0


ZIPPED = """\
import math
import chadllvm as cl

@cl.jit
def energy(x: cl.f64[:]) -> float:
    return sum(scaled(v) for v in x) + halved(x[0])

@cl.jit
def scaled(v: float) -> float:
    return math.sin(v) * 2.0

halved = cl.jit(lambda v: v * 0.5)

@cl.jit
def wrong(x: float) -> float:
    return x + unknown
"""

USING = """\
import pickle, sys
import numpy as np
import chadllvm as cl
{imports}
x = np.array([0.5, 1.0])
assert abs(energy(x) - energy.py_func(x)) < 1e-12
assert abs(cl.grad(energy)(x)[1] - 2.0 * np.cos(1.0)) < 1e-12
assert pickle.loads(pickle.dumps(energy))(x) == energy(x)
try:
    wrong(1.0)
except cl.CompileError as error:
    assert "    return x + unknown" in str(error), error
else:
    raise AssertionError("no error")
print("done")
"""


ZIPS = {
    "models.py": "from models import energy, wrong",
    "tools/__init__.py": "from tools import energy, wrong",
    "__main__.py": "",
}


@pytest.mark.parametrize(
    ("place", "has_code"),
    [("models.py", False), ("tools/__init__.py", True), ("__main__.py", False)],
)
def test_functions_in_a_zip(tmp_path: Path, place: str, has_code: bool) -> None:
    """Their text is what the loader of their module has, as in a traceback."""
    archive, imports = tmp_path / "archive.zip", ZIPS[place]
    using = USING.format(imports=imports)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(place, ZIPPED if imports else ZIPPED + using)
        if has_code:  # Made elsewhere, which the code says.
            date = file.getinfo(place).date_time
            file.write(compiled(tmp_path, file.read(place), place, date), f"{place}c")
    found = subprocess.run(
        [sys.executable, *(["-c", using] if imports else [archive])],
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert found.stdout.endswith("done\n"), found.stderr


def compiled(folder: Path, text: bytes, place: str, date: tuple[int, ...]) -> Path:
    """The code of a module whose file is gone."""
    source = folder / "built" / place
    source.parent.mkdir(parents=True)
    source.write_bytes(text)
    seconds = time.mktime((*date, 0, 0, -1))
    os.utime(source, (seconds, seconds))
    code = folder / "code.pyc"
    py_compile.compile(str(source), str(code), doraise=True)
    shutil.rmtree(folder / "built")
    return code


def test_text_is_not_that_of_another_module(tmp_path: Path) -> None:
    """Code with the names of a module is not for that in its file."""
    archive = tmp_path / "several.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("ours.py", "def f(x):\n    return x\n")
    loader = zipimport.zipimporter(str(archive))
    names = {"__name__": "ours", "__loader__": loader}
    text = "def f(x):\n    return x + 1.0\n"
    exec(compile(text, str(tmp_path / "other.py"), "exec"), names)
    with pytest.raises(CompileError, match="not available"):
        interpret(names["f"], 2.0)
    exec(compile("def f(x):\n    return x\n", f"{archive}/ours.py", "exec"), names)
    assert interpret(names["f"], 2.0) == 2.0


def test_doctest() -> None:
    """Functions in docstrings have a source while the examples are run."""
    example = textwrap.dedent(
        """
        >>> def f(x):
        ...     return x + 1.0
        >>> interpret(f, 2.0)
        3.0
        """
    )
    test = doctest.DocTestParser().get_doctest(
        example, {"interpret": interpret}, "example", None, None
    )
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
