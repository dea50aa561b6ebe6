"""The program at each of its stages, as text, and all of them on a page."""

from __future__ import annotations

import ast
import importlib
import linecache
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from chadllvm.support import call_rules
from chadllvm.support.diagnostic import NO_SPAN, Span
from chadllvm.support.package import is_ours

if TYPE_CHECKING:
    from chadllvm.driver.ready import Specialisation
    from chadllvm.ir.term import Program
    from chadllvm.view.page import Page, Row, Source

STAGES = ("source", "core", "chad", "simplified", "loops", "llvm", "asm")


class Text(str):
    """A string that shows itself as it is in a notebook or the REPL."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def text_of(
    stage: str, function: Callable[..., Any], version: Callable[[], Specialisation]
) -> Text:
    """The text of a function at a stage; `version` compiles it if it has to be.

    Raises: ValueError if there is no such stage.
    """
    if stage not in STAGES:
        raise call_rules.wrong_option(
            f"no stage {stage!r}; the stages are {' '.join(STAGES)}"
        )
    if stage == "source":
        from chadllvm.frontend.source import read_source

        return Text(read_source(function).text)
    from chadllvm.ir.loops_pretty import pretty_loops
    from chadllvm.ir.pretty import pretty

    found = version()
    match stage:
        case "loops":
            return Text(pretty_loops(found.compilation.lowered))
        case "llvm":
            return Text(found.native.llvm_ir)
        case "asm":
            return Text(found.native.asm)
        case _:
            return Text(pretty(found.compilation.stages[stage]))


def page_of(
    name: str, function: Callable[..., Any], version: Callable[[], Specialisation]
) -> Page:
    """A function's stages beside its source; what `version` compiles is timed.

    Raises: what `version` does.
    """
    from chadllvm.driver.report import report
    from chadllvm.ir.loops_pretty import loop_lines
    from chadllvm.ir.pretty import pretty_lines
    from chadllvm.view.page import Page
    from chadllvm.view.timing import recorded

    # How long Python takes to import the compiler is no matter here.
    importlib.import_module("chadllvm.driver.specialising")
    importlib.import_module("chadllvm.backend.jit")
    with recorded() as laps:
        found = version()
        compilation = found.compilation
    stages: dict[str, list[Row] | str] = {
        stage: _rows(pretty_lines(program))
        for stage, program in compilation.stages.items()
        if stage in STAGES
    }
    stages["loops"] = _rows(loop_lines(compilation.lowered))
    stages["llvm"], stages["asm"] = found.native.llvm_ir, found.native.asm
    sources = [*_sources(function, compilation.stages["core"])]
    remarks = [*report(name, compilation).remarks()]
    return Page(found.title or name, sources, stages, remarks, laps)


def _rows(lines: Iterable[str]) -> list[Row]:
    from chadllvm.view.page import Row

    return [Row(str(line), getattr(line, "span", NO_SPAN)) for line in lines]


def _sources(function: Callable[..., Any], program: Program) -> Iterator[Source]:
    """The text of a function, and of the user's functions that it calls."""
    from chadllvm.frontend.source import read_source
    from chadllvm.view.page import Source

    own = read_source(function)
    lines = tuple(own.text.splitlines())
    shown = [Source(own.name, own.file, own.first_line, lines)]
    for span in (called.span for called in reversed(program.functions)):
        if is_ours(span.file) or any(s.has(span) for s in shown):
            continue
        text = _definition(span)
        if text:
            shown.append(Source(span.function, span.file, span.line, text))
    yield from shown


def _definition(span: Span) -> tuple[str, ...]:
    """The lines of the function whose definition begins at a place."""
    lines = [line.rstrip("\n") for line in linecache.getlines(span.file)]
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:  # A notebook's cell has lines that are not Python.
        return tuple(lines[span.line - 1 : span.end_line])
    ends = [
        node.end_lineno or node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno == span.line
    ]
    return tuple(lines[span.line - 1 : max(ends, default=span.end_line)])
