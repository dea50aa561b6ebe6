"""Every test can fail: it says somewhere what has to be so.

That is an `assert`, `pytest.raises` and its like, an `assert_…` of NumPy's, a process
that must succeed, or a call of a helper of the tests in which such stands. A function
of the library that raises by itself is none: a test that only calls one says nothing of
what it does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

OF_PYTEST = ("raises", "warns", "fail", "deprecated_call")
OF_PROCESSES = ("check_call", "check_output")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Source:
    """A file of tests: its functions by name, and where its other names are from."""

    tree: ast.Module
    functions: dict[str, list[Function]] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                self.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    name = alias.asname or alias.name
                    self.imported[name] = node.module, alias.name

    @cached_property
    def tests(self) -> list[Function]:
        """The functions that pytest runs, in classes too."""
        named = [f for name, fs in self.functions.items() for f in fs if _is_test(name)]
        classes = [n for n in self.tree.body if isinstance(n, ast.ClassDef)]
        outer = [*self.tree.body, *(n for c in classes for n in c.body)]
        return [f for f in named if f in outer]


def _is_test(name: str) -> bool:
    return name.startswith("test_")


class Corpus:
    """All files below a folder."""

    def __init__(self, root: Path) -> None:
        self.sources = {
            path.relative_to(root).with_suffix("").as_posix().replace("/", "."): Source(
                ast.parse(path.read_text("utf-8"))
            )
            for path in sorted(root.rglob("*.py"))
        }
        self._known: dict[Function, bool] = {}

    def without_assertion(self) -> Iterator[str]:
        for name, source in self.sources.items():
            if name.rpartition(".")[2].startswith("test_"):
                for test in source.tests:
                    if not self._asserts(test, source):
                        yield f"{name}:{test.lineno} {test.name}"

    def _asserts(self, function: Function, source: Source) -> bool:
        if function not in self._known:
            self._known[function] = False  # Of one that calls itself.
            self._known[function] = any(
                self._is_assertion(node, source) for node in ast.walk(function)
            )
        return self._known[function]

    def _is_assertion(self, node: ast.AST, source: Source) -> bool:
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Raise):
            return node.exc is not None
        if isinstance(node, ast.arg):  # A fixture.
            return self._any_asserts(node.arg, source, is_fixture=True)
        if not isinstance(node, ast.Call):
            return False
        called = ast.unparse(node.func)
        name = called.rpartition(".")[2]
        if called.startswith("pytest.") and name in OF_PYTEST:
            return True
        if called.startswith("np.testing.assert_") or name in OF_PROCESSES:
            return True
        if any(
            k.arg == "check" and ast.unparse(k.value) == "True" for k in node.keywords
        ):
            return True
        return self._any_asserts(name, source)

    def _any_asserts(self, name: str, source: Source, is_fixture: bool = False) -> bool:
        """Whether a helper of this name asserts: of the file, or of one it imports."""
        found = [(f, source) for f in source.functions.get(name, ())]
        if name in source.imported:
            module, original = source.imported[name]
            home = self.sources.get(module.removeprefix("tests."))
            found += (
                [(f, home) for f in home.functions.get(original, ())] if home else []
            )
        if is_fixture:
            home = self.sources["conftest"]
            found += [(f, home) for f in home.functions.get(name, ())]
            found = [(f, home) for f, home in found if _is_fixture(f)]
        return any(self._asserts(f, home) for f, home in found)


def _is_fixture(function: Function) -> bool:
    return any("fixture" in ast.unparse(d) for d in function.decorator_list)


def test_every_test_can_fail() -> None:
    assert [*Corpus(TESTS).without_assertion()] == []


GOOD = """
import numpy as np
import pytest
from helper import says

class TestClass:
    def test_of_a_class(self):
        assert True

def test_raises():
    with pytest.raises(ValueError):
        int("x")

def test_numpy():
    np.testing.assert_allclose(1, 1)

def test_helper():
    says(1)

def test_fixture(known):
    pass

def nested():
    def inner():
        assert 1
    return inner

def test_nested():
    nested()()

def test_process():
    run(["true"], check=True)
"""

BAD = """
from helper import says, silent

class TestClass:
    def test_of_a_class(self):
        self.run()

    def run(self):
        pass

def test_silent():
    silent(2)

def test_itself():
    test_itself()

def test_mentions():
    says
"""


def test_those_without_an_assertion_are_found(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "def says(x):\n    assert x\n\ndef silent(x):\n    return x\n"
    )
    (tmp_path / "conftest.py").write_text(
        "@pytest.fixture\ndef known():\n    assert True\n"
    )
    (tmp_path / "test_good.py").write_text(GOOD)
    assert [*Corpus(tmp_path).without_assertion()] == []
    (tmp_path / "test_bad.py").write_text(BAD)
    found = [text.split()[1] for text in Corpus(tmp_path).without_assertion()]
    assert sorted(found) == [
        "test_itself",
        "test_mentions",
        "test_of_a_class",
        "test_silent",
    ]


@pytest.mark.parametrize(
    "text", ["raise", "pass", "x = 1", "cl.check_grads(f, (1.0,))"]
)
def test_what_asserts_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "test_one.py").write_text(f"def test_it():\n    {text}\n")
    assert len([*Corpus(tmp_path).without_assertion()]) == 1
