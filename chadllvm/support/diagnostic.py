"""Where things are in the user's source, and how we say what is wrong there.

Every binding of the core carries a `Span`; every message to the user is built from one,
never from a line number by hand. `CompileError` is the user's mistake, `InternalError`
is ours and names the pass that broke the program.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Span(NamedTuple):
    """A range of the user's source: 1-based lines, 0-based character columns.

    `within` is the function of the library that is called there and in which it is.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = ""
    within: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


NO_SPAN = Span("<generated>", 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: a title, the place with its label, and one sentence that helps.

    `code` names the rule (`codes.py`); a place without a rule has none.
    """

    title: str
    span: Span
    label: str = ""
    help: str = ""
    notes: tuple[str, ...] = ()
    code: str = ""

    def render(self) -> str:
        """The message as the user reads it: place, source line, caret, help."""
        kind = f"error[{self.code}]" if self.code else "error"
        lines = [f"{kind}: {self.title}"]
        if self.span.line:  # Not so of what is not written in Python.
            within = f", in {self.span.function}" if self.span.function else ""
            lines.append(f"  --> {self.span}{within}")
        lines += _excerpt(self.span, self.label)
        lines += [f"  = note: {note}" for note in self.notes]
        if self.help:
            lines.append(f"  = help: {self.help}")
        return "\n".join(lines)


def _excerpt(span: Span, label: str) -> list[str]:
    """The source line under a margin, with carets below the span's columns."""
    text = linecache.getline(span.file, span.line).rstrip("\n")
    if not text:
        return [f"  | {label}"] if label else []
    number = str(span.line)
    margin = " " * len(number)
    start = span.column
    end = span.end_column if span.end_line == span.line else len(text)
    pad = "".join("\t" if ch == "\t" else " " for ch in text[:start])
    carets = "^" * max(1, end - start)
    return [
        f"{margin} |",
        f"{number} | {text}",
        f"{margin} | {pad}{carets} {label}".rstrip(),
    ]


# Of the mistakes of one program so many are shown; the rest waits for these.
MOST_SHOWN = 10


class CompileError(Exception):
    """A program that cannot be compiled: where, why, and what to do.

    `diagnostics` are the mistakes in it, `diagnostic` is the first of them.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    @property
    def diagnostic(self) -> Diagnostic:
        return self.diagnostics[0]

    @classmethod
    def all_of(cls, steps: Iterable[Callable[[], T]]) -> list[T]:
        """The results of all steps, or one error with the mistakes of all."""
        results: list[T] = []
        found: list[Diagnostic] = []
        for step in steps:
            try:
                results.append(step())
            except cls as error:
                found += [d for d in error.diagnostics if d not in found]
        if found:
            raise cls(*found)
        return results

    def __str__(self) -> str:
        # Others raise it again with a text of theirs, as PyTensor does.
        shown = self.diagnostics[:MOST_SHOWN]
        texts = [d.render() if isinstance(d, Diagnostic) else str(d) for d in shown]
        count = len(self.diagnostics)
        if count > MOST_SHOWN:
            texts.append(f"... and {count - MOST_SHOWN} more")
        if count > 1:
            texts.append(f"{count} errors")
        return "\n\n".join(texts)


class InternalError(Exception):
    """A defect of chadllvm itself: a pass failed, or broke the program.

    `stage` is the pass that it is in, once that is told (`ir/defects.py`).
    """

    stage = ""
