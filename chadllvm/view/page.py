"""A compilation as one page of HTML: the source, its stages, remarks, and times.

Lines that belong together have the same `data-at`, a number of a file and a line of it;
the script of `template.html` lights them up. Nothing on a page comes from elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

from chadllvm.support.diagnostic import NO_SPAN, Span
from chadllvm.view.remarks import Remark, counted
from chadllvm.view.timing import Lap

_TEMPLATE = Path(__file__).with_name("template.html")

# What is too short to be seen in the chart, as a part of it.
_LEAST = 0.0005

# Percents of the width of a page that a word needs.
_WORD = 3.0


class Source(NamedTuple):
    """Lines of a file of the user's, from `first` on."""

    name: str
    file: str
    first: int
    lines: tuple[str, ...]

    def has(self, span: Span) -> bool:
        """Whether a place is in these lines."""
        return span.file == self.file and self.first <= span.line < self.first + len(
            self.lines
        )


class Row(NamedTuple):
    """A line of a stage, and the place in the source that it is of."""

    text: str
    span: Span = NO_SPAN


@dataclass(frozen=True)
class Page:
    """What is shown of a compilation; of stages without any place there is the text."""

    title: str
    sources: Sequence[Source]
    stages: Mapping[str, Sequence[Row] | str]
    remarks: Sequence[Remark]
    laps: Sequence[Lap]

    def html(self) -> str:
        """The page."""
        names = [*self.stages]
        return Template(_TEMPLATE.read_text("utf-8")).substitute(
            title=escape(self.title),
            sources="".join(map(self._source, self.sources)),
            elsewhere=self._elsewhere(),
            tabs="".join(_tab(name, name == names[0]) for name in names),
            stages="".join(
                self._stage(name, rows, name == names[0])
                for name, rows in self.stages.items()
            ),
            times=_times(self.laps),
        )

    def _at(self, span: Span) -> str:
        """What links the lines of a place, where that is on the page."""
        files = list(dict.fromkeys(source.file for source in self.sources))
        if not any(source.has(span) for source in self.sources):
            return ""
        return f"{files.index(span.file)}:{span.line}"

    def _source(self, source: Source) -> str:
        notes: dict[str, list[str]] = defaultdict(list)
        for remark, text in counted(self.remarks):
            notes[self._at(remark.span)].append(_note(remark.kind, text))
        rows = []
        for number, line in enumerate(source.lines, source.first):
            at = self._at(Span(source.file, number, 0, number, 0))
            text = f"<i>{number}</i>{escape(line)}"
            rows.append(f'<div class="l" data-at="{at}" tabindex="0">{text}\n</div>')
            if notes[at]:
                indent = len(line) - len(line.lstrip())
                style = f'style="--indent:{indent}ch"'
                rows.append(f"<div {style}>{''.join(notes[at])}</div>")
        return f"<h2>{escape(source.name)}</h2><pre>{''.join(rows)}</pre>"

    def _elsewhere(self) -> str:
        """The remarks about lines that are not on the page."""
        notes = [
            _note(remark.kind, _place(remark.span) + text)
            for remark, text in counted(self.remarks)
            if not self._at(remark.span)
        ]
        return f"<h2>elsewhere</h2>{''.join(notes)}" if notes else ""

    def _stage(self, name: str, rows: Sequence[Row] | str, is_first: bool) -> str:
        hidden = "" if is_first else " hidden"
        text = escape(rows) if isinstance(rows, str) else "".join(map(self._row, rows))
        head = (
            f'<section role="tabpanel" id="stage-{name}" aria-labelledby="tab-{name}"'
        )
        return f"{head}{hidden}><pre>{text}</pre></section>"

    def _row(self, row: Row) -> str:
        at = self._at(row.span)
        link = f' data-at="{at}"' if at else ""
        return f'<div class="l"{link}>{escape(row.text)}\n</div>'


def _tab(name: str, is_first: bool) -> str:
    selected = str(is_first).lower()
    return (
        f'<button role="tab" id="tab-{name}" aria-controls="stage-{name}" '
        f'aria-selected="{selected}" tabindex="{-1 + is_first}">{name}</button>'
    )


def _note(kind: str, text: str) -> str:
    return f'<div class="note {kind}">{escape(text)}</div>'


def _place(span: Span) -> str:
    return f"{Path(span.file).name} line {span.line}: " if span.line else ""


# ---- times -----------------------------------------------------------------------


def _times(laps: Sequence[Lap]) -> str:
    if not laps:
        return "<p>It was compiled before; its times are not known.</p>"
    start, end = laps[0].start, laps[-1].start + laps[-1].seconds
    bars = [*_bars(laps, start, end - start, 0)]
    depth = max(level for level, _ in bars) + 1
    chart = "".join(bar for _, bar in bars)
    rows = "".join(
        f"<tr><td>{escape(name)}<td>{times}<td>{_seconds(seconds)}"
        for name, times, seconds in _totals(laps)
    )
    return (
        f'<p>{_seconds(end - start)}</p><div class="chart" style="--depth:{depth}">'
        f"{chart}</div><details><summary>in numbers</summary><table>"
        f"<tr><th>stage<th>times<th>itself{rows}</table></details>"
    )


def _bars(
    laps: Iterable[Lap], start: float, whole: float, level: int
) -> Iterator[tuple[int, str]]:
    for lap in laps:
        if lap.seconds < _LEAST * whole:
            continue
        left, width = 100 * (lap.start - start) / whole, 100 * lap.seconds / whole
        style = f"left:{left:.3f}%;width:{width:.3f}%;--level:{level}"
        name = escape(lap.name)
        title = f"{name}: {_seconds(lap.seconds)}"
        text = name if width > _WORD else ""
        hue = f"--hue:{sum(lap.name.encode()) * 37 % 90}"
        yield level, f'<div style="{style};{hue}" title="{title}">{text}</div>'
        yield from _bars(lap.inner, start, whole, level + 1)


def _totals(laps: Iterable[Lap]) -> list[tuple[str, int, float]]:
    """How often each stage was entered, and its seconds without those inside of it."""
    found: dict[str, tuple[int, float]] = {}
    waiting = [*laps]
    while waiting:
        lap = waiting.pop()
        times, seconds = found.get(lap.name, (0, 0.0))
        own = lap.seconds - sum(inner.seconds for inner in lap.inner)
        found[lap.name] = times + 1, seconds + own
        waiting += lap.inner
    rows = [(name, times, seconds) for name, (times, seconds) in found.items()]
    return sorted(rows, key=lambda row: -row[2])


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.2f} ms"
