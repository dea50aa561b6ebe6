"""What is said of places in the user's source, and a short form of it for notebooks."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from chadllvm.support.diagnostic import Span


class Remark(NamedTuple):
    """A sentence about a place; `kind` says what about."""

    span: Span
    kind: str
    text: str


def counted(remarks: Iterable[Remark]) -> Iterator[tuple[Remark, str]]:
    """Each remark once, in the order of lines, with its text and how often it holds."""
    counts = Counter(remarks)
    for remark in sorted(counts, key=lambda r: (r.span.file, r.span.line)):
        times = counts[remark]
        yield remark, f"{remark.text}, {times} times" if times > 1 else remark.text


def card(title: str, facts: Sequence[str], remarks: Iterable[Remark]) -> str:
    """A piece of HTML: a title in code, facts, and remarks beside their lines."""
    parts = [f"<div><code>{escape(title)}</code>"]
    if facts:
        items = "".join(f"<li><code>{escape(fact)}</code></li>" for fact in facts)
        parts.append(f'<ul style="margin:.3em 0">{items}</ul>')
    rows = [*_rows(remarks)]
    if rows:
        parts.append(f'<table style="margin:.3em 0">{"".join(rows)}</table>')
    return "".join([*parts, "</div>"])


def _rows(remarks: Iterable[Remark]) -> Iterator[str]:
    before = None
    style = "text-align:left;vertical-align:top"
    for remark, text in counted(remarks):
        span, number, source = remark.span, "", ""
        if span[:2] != before and span.line:
            number = str(span.line)
            source = linecache.getline(span.file, span.line).strip()
        before = span[:2]
        cells = (number, f"<code>{escape(source)}</code>", escape(text))
        yield "".join(
            ["<tr>", *(f'<td style="{style}">{cell}</td>' for cell in cells), "</tr>"]
        )
