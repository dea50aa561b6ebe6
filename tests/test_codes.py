"""Every message of the compiler has a code of its own, for good."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import NO_SPAN, CompileError, Diagnostic
from tests.all_rules import RULES

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "chadllvm"

# Where errors and their descriptions may be made; everywhere else they have a code.
MAKERS = {
    "CompileError": {
        "support/codes.py",
        "frontend/recovery.py",
        "frontend/translation.py",
    },
    "Diagnostic": {"support/codes.py", "backend/failure.py", "ir/excerpt.py"},
}


def test_codes_keep_their_rules(golden: Callable[[Path, str], None]) -> None:
    """A code of this list that is gone stays in it, with a `-` for its rule."""
    path = HERE / "codes.txt"
    listed = dict(line.split() for line in path.read_text().splitlines())
    gone = {name: "-" for name in listed if name not in RULES}
    rules = RULES | gone
    golden(path, "".join(f"{name} {rules[name]}\n" for name in sorted(rules)))


def test_a_code_is_given_once() -> None:
    taken = next(iter(RULES))
    with pytest.raises(ValueError, match=taken):

        @code(taken)
        def again() -> Diagnostic:
            return error("again", NO_SPAN)


def made(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def test_no_error_is_made_without_a_code() -> None:
    for path in PACKAGE.rglob("*.py"):
        here = path.relative_to(PACKAGE).as_posix()
        for name in made(ast.parse(path.read_text(encoding="utf-8"))):
            assert here in MAKERS.get(name, {here}), f"{here} makes a {name}"


def test_every_golden_message_shows_its_code() -> None:
    for path in (HERE / "frontend" / "errors").glob("*.err"):
        first = path.read_text(encoding="utf-8").partition(":")[0]
        assert first.removeprefix("error[").removesuffix("]") in RULES, path.stem


def test_an_error_has_its_diagnostics() -> None:
    first, second = Diagnostic("one", NO_SPAN), Diagnostic("two", NO_SPAN)
    both = CompileError(first, second)
    assert both.diagnostics == (first, second)
    assert both.diagnostic is first
