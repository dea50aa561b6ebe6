"""Large arrays are cleared and copied in pieces, on several threads.

    p = zeros f64[n] in result    →     p = zeros f64[n] in result  # in pieces

To write to memory for the first time, as to that of a result, takes longer than most
loops take for an element. The runtime does it (`fill.c`), and knows what is worth it:
so this is said of all that is not known to be small. What a chunk of a loop does is
left alone, and so are loops without others inside, and what calls itself: they run
often for the little that they have to fill.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chadllvm.ir.loops import Alloc, Branch, Clear, Copy, For, LoopFunction, Stmt
from chadllvm.ir.statements import (
    Body,
    everywhere,
    over_inner,
    over_statements,
    with_body,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, Scalar

# The bytes of a piece at least, and how many there are at most, as in `fill.c`.
PIECE = 1 << 18
MOST_PIECES = 128


def fills(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Clear and copy large arrays in pieces; without `threads` nothing is changed."""
    return with_body(function, _body(function.body)) if threads else function


def elements(elem: Scalar) -> int:
    """How many elements a piece has at least."""
    return PIECE // (1 if elem == BOOL else 4 if elem == F32 else 8)


def _body(body: Body) -> Body:
    return over_statements(body, _statement)


def _statement(stmt: Stmt) -> Iterator[Stmt]:
    match stmt:
        case Alloc(zero=True) | Clear() | Copy() if _may_be_large(stmt):
            yield replace(stmt, pieces=True)
        case For(lanes=1) if any(isinstance(s, For) for s in everywhere(stmt.body)):
            yield over_inner(stmt, _body)
        case Branch():
            yield over_inner(stmt, _body)
        case _:
            yield stmt


def _may_be_large(stmt: Alloc | Clear | Copy) -> bool:
    count = stmt.count
    return not isinstance(count, Lit) or count.value >= 2 * elements(stmt.elem)
