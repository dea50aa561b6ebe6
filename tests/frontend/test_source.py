"""Sources are found wherever functions come from, and spans are the user's columns."""

from __future__ import annotations

import doctest
import textwrap
from collections.abc import Callable
from typing import Any

from frontend.generated import define
from frontend.meaning import interpret

from chadllvm.diagnostic import Span
from chadllvm.frontend import specialise
from chadllvm.frontend.source import read_source
from chadllvm.ir.types import F64


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
