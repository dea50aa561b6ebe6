"""What the user is told of a compiled program: the copies of arrays, and its loops.

The lowering took the notes (`lower/notes.py`); here they become text.
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chadllvm.chad.payers import Unpaid, unpaid
from chadllvm.driver.pipeline import Compilation
from chadllvm.ir.loops import ArrayCopy, LoopNote, Stored
from chadllvm.lower.reasons import UNNAMED
from chadllvm.support.diagnostic import NO_SPAN, Span
from chadllvm.support.package import is_ours
from chadllvm.view.remarks import Remark, card

if TYPE_CHECKING:
    from chadllvm.driver.scaling import Scaling

_PERMANENT = "optimize=0: nothing is decided, and every update is a copy"


@dataclass(frozen=True, repr=False)
class Report:
    """What a compiled program copies, and what each step of its loops stores.

    `copies` are the copies of arrays that had to be made, each with its place and the
    reason; what the program itself copies (`x.copy()`) is not among them. `loops` are
    the loops of the finished program in order: what each step stores (`stored`; if
    `tape`, for the reverse alone, and `why`), what it reads of that (`reads`, in the
    reverse), and where it checks an index in every step (`checks`), whether its steps
    run on several threads, or why they do not (`order`). `cells` are the arrays whose
    cotangent costs the gradient more than the value did for the array, so that it may
    take more than a constant times the value. `str` gives it as text.

    `scaling` runs the program, made so that it counts: the work and the span of the
    call that the report was asked for, and of the gradient with it, and how much faster
    they would be on many cores. It raises what the call does.
    """

    name: str
    copies: tuple[ArrayCopy, ...]
    loops: tuple[LoopNote, ...]
    is_permanent: bool = False
    cells: tuple[Unpaid, ...] = ()
    _count: Callable[[], tuple[Scaling, ...]] = field(default=tuple, compare=False)

    @cached_property
    def scaling(self) -> tuple[Scaling, ...]:
        """Work and span of the value, and of the value with the gradient."""
        return self._count()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        facts = [_PERMANENT] if self.is_permanent else []
        return card(f"report of {self.name}", facts, self.remarks())

    def remarks(self) -> Iterator[Remark]:
        """What is said of single places, in no order."""
        for copy in self.copies:
            text = f"{copy.array} is copied; {_reason(copy)}"
            yield Remark(copy.span, "copy", text)
        for name, span in dict.fromkeys((c.array.name, c.span) for c in self.cells):
            text = f"{_named(name)} is an array whose cotangent costs more than it does"
            yield Remark(span, "cell", text)
        for loop in self.loops:
            for stored in loop.stored:
                kind, span = ("make", loop.span)
                if stored.tape:
                    kind, span = ("store", stored.span)
                yield Remark(span, kind, _stored(stored))
            for span in loop.checks:
                yield Remark(span, "check", "checks an index in every step")
            if loop.order:
                kind = "order" if loop.order.startswith("in order") else "parallel"
                reverse = "in reverse, " if loop.reads else ""
                yield Remark(loop.span, kind, f"{reverse}runs {loop.order}")

    def _lines(self) -> Iterator[str]:
        yield f"report of {self.name}"
        if self.is_permanent:
            yield _PERMANENT
            return
        yield "copies of arrays:" if self.copies else "copies of arrays: none"
        for copy in self.copies:
            yield f"  {_place(copy.span)}: {copy.array} is copied; {_reason(copy)}"
            yield from _source(copy.span)
        if self.cells:
            yield "arrays whose cotangents cost more than they do:"
        for name, span in dict.fromkeys((c.array.name, c.span) for c in self.cells):
            yield f"  {_place(span)}: {_named(name)}"
            yield from _source(span)
        yield "loops:" if self.loops else "loops: none"
        for loop in self.loops:
            yield from _loop(loop)


def report(
    name: str,
    compilation: Compilation,
    count: Callable[[], tuple[Scaling, ...]] = tuple,
) -> Report:
    """The report of a compiled program."""
    loops = compilation.loops
    assert loops is not None
    permanent = not compilation.options.optimize
    derivative = compilation.stages.get("chad")
    cells = () if permanent or derivative is None else unpaid(derivative)
    return Report(name, loops.copies, loops.notes, permanent, (*cells,), count)


def _reason(copy: ArrayCopy) -> str:
    if copy.because == NO_SPAN:
        return copy.reason
    return f"{copy.reason} ({_place(copy.because)})"


def _loop(loop: LoopNote) -> Iterator[str]:
    indent = "  " * loop.depth
    what = ", in reverse" if loop.reads else ""
    more = ":" if loop.stored or loop.checks or loop.order else ""
    yield f"{indent}{_place(loop.span)}{what}{more}"
    for text, times in Counter(map(_stored, loop.stored)).items():
        yield f"{indent}  {text}{f', {times} times' if times > 1 else ''}"
    for span in loop.checks:
        yield f"{indent}  checks an index in every step ({_place(span)})"
    if loop.order:
        yield f"{indent}  runs {loop.order}"


def _stored(stored: Stored) -> str:
    number = f"{stored.bytes} byte{'' if stored.bytes == 1 else 's'}"
    size = "an array" if stored.bytes is None else number
    if not stored.tape:
        return f"makes {stored.name}, {size} a step"
    name = _named(stored.name)
    place = _place(stored.span)
    why = f"; {stored.why}" if stored.why else ""
    return f"stores {name} for the reverse, {size} a step ({place}{why})"


def _named(name: str) -> str:
    return "a value" if name == UNNAMED else name


def _place(span: Span) -> str:
    if span.line == 0:
        return "generated code"
    file = f"{Path(span.file).stem} " if is_ours(span.file) else ""
    return f"{file}line {span.line}"


def _source(span: Span) -> Iterator[str]:
    text = linecache.getline(span.file, span.line).strip()
    if text:
        yield f"    {text}"
