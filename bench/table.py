"""The tables of a run: as rows of text, which a terminal and a page both show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from bench.cold import CACHED, OURS
from bench.results import Figure, PeerTimes, Result, Results, Row
from bench.targets import COLUMNS, mean, verdicts, worst

# Characters in a line of a file.
WIDTH = 150


@dataclass(frozen=True)
class Table:
    """A heading for each column, and the rows; the first `words` columns hold words."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 2

    def rich(self) -> RichTable:
        """For a terminal."""
        made = RichTable(title=self.title, title_justify="left", title_style="bold")
        for k, head in enumerate(self.heads):
            is_word = k < self.words
            made.add_column(
                head, justify="left" if is_word else "right", no_wrap=is_word
            )
        for row in self.rows:
            made.add_row(*map(escape, row))
        return made

    def markdown(self) -> str:
        """For a page."""
        lines = ["---" if k < self.words else "--:" for k in range(len(self.heads))]
        return "\n".join(map(_line, (self.heads, lines, *self.rows)))


def printer() -> Console:
    """Where tables are printed: what is no terminal has room for them."""
    found = Console()
    return found if found.is_terminal else Console(width=WIDTH)


def tables(results: Results) -> Iterator[Table]:
    """All tables of a run that have something in them."""
    if results.results:
        yield main_table(results)
    if results.peers:
        yield peer_table(results)
        yield known_table(results)
    yield from figure_tables(results)
    if results.results:
        yield target_table(results)


def main_table(results: Results) -> Table:
    """Times, and their ratios to each other and to C."""
    heads = (
        *("workload", "size", "value", "with gradient", "gradient/value"),
        *("value to C", "gradient to C", "memory to C"),
        *("allocated to C", "operations", "compile"),
    )
    rows = []
    for result, row in results.rows():
        is_first = row is result.rows[0]
        compiled = f"{result.compile_seconds:.2f} s" if is_first else ""
        rows.append((*_main_cells(result, row), compiled))
    return Table("Workloads", heads, (*rows, *_summaries(results)))


def _main_cells(result: Result, row: Row) -> tuple[str, ...]:
    operations = row.operations.gradient / row.operations.value
    return (
        result.workload,
        row.label,
        duration(row.value.median),
        duration(row.gradient.median),
        ratio_text(row.gradient_to_value),
        f"{ratio_text(row.value_to_c)} {row.c_value.build}",
        f"{ratio_text(row.gradient_to_c)} {row.c_gradient.build}",
        ratio_text(row.memory_to_c),
        ratio_text(row.allocated_to_c),
        ratio_text(operations),
    )


def _summaries(results: Results) -> Iterator[tuple[str, ...]]:
    """The geometric means and the worst of the ratios that have targets."""
    value, gradient, ratio, memory = COLUMNS
    means, worsts = [], []
    for column in (ratio, value, gradient, memory):
        counted = [r for r in results.results if column.counts(r)]
        means.append(ratio_text(mean(results, column.ratio, counted)))
        worsts.append(ratio_text(worst(column.ratio, counted)[0]))
    slowest = max(result.compile_seconds for result in results.results)
    yield ("geometric mean", "", "", "", *means, "", "", "")
    yield ("worst", "", "", "", *worsts, "", "", f"{slowest:.2f} s")


def peer_table(results: Results) -> Table:
    """How many times as long each peer takes, for the value and for the gradient."""
    heads = ("workload", "size", *results.peers)
    rows = [
        (result.workload, row.label, *(_peer_cell(row.peers.get(p)) for p in heads[2:]))
        for result, row in results.rows()
    ]
    title = "Times as long as ours: the value, and the value with its gradient"
    return Table(title, heads, tuple(rows))


def _peer_cell(found: PeerTimes | None) -> str:
    if found is None:
        return ""
    if found.value_ratio is None and found.gradient_ratio is None:
        return f"({found.note})"
    ratios = (found.value_ratio, found.gradient_ratio)
    return " and ".join("–" if r is None else ratio_text(1.0 / r) for r in ratios)


# What the README names: systems that many people have.
KNOWN = ("jax", "torch", "numba")


def known_table(results: Results) -> Table:
    """Ours beside systems that people know: gradients, and how long the first takes.

    Of each workload the second size. Numba, without gradients, is timed for the value.
    """
    systems = [name for name in KNOWN if name in results.peers]
    starts = [OURS, CACHED, *systems]
    heads = (
        *("workload", "size", "value with gradient"),
        *(f"{NAMES[name]}: times ours" for name in systems),
        *(f"first: {NAMES.get(name, name)}" for name in starts),
    )
    rows = []
    for result in results.results:
        row = result.rows[min(1, len(result.rows) - 1)]
        cells = [_known_cell(row.peers.get(name)) for name in systems]
        first = [_first_cell(result.first.get(name)) for name in starts]
        gradient = duration(row.gradient.median)
        rows.append((result.workload, row.label, gradient, *cells, *first))
    return Table("Beside other systems", heads, tuple(rows))


NAMES = {"jax": "JAX", "torch": "PyTorch", "numba": "Numba"}


def _known_cell(found: PeerTimes | None) -> str:
    ratio = found and (found.gradient_ratio or found.value_ratio)
    return ratio_text(1.0 / ratio) if ratio else "–"


def _first_cell(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2f} s"


def target_table(results: Results) -> Table:
    """Each target beside what was measured."""
    rows = [verdict_cells(figure) for figure in verdicts(results)]
    heads = ("target", "measured", "at most", "met")
    return Table("Targets", heads, tuple(rows), words=1)


def figure_tables(results: Results) -> Iterator[Table]:
    """What has a form of its own."""
    heads = ("figure", "measured", "at most", "met")
    for name, figures in results.figures.items():
        rows = tuple(verdict_cells(figure) for figure in figures)
        yield Table(name, heads, rows, words=1)


def verdict_cells(figure: Figure) -> tuple[str, ...]:
    """A figure beside its target."""
    target = "" if figure.target is None else f"{figure.target:g} {figure.unit}"
    verdict = {None: "", True: "yes", False: "no"}[figure.met]
    return figure.name, f"{figure.value:.4g} {figure.unit}", target, verdict


def duration(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio_text(number: float) -> str:
    """A ratio with as many digits as mean something."""
    if math.isnan(number):
        return "–"
    return f"{number:.2f}" if number < 10.0 else f"{number:.3g}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
