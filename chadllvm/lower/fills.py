"""Large arrays are cleared and copied in pieces, on several threads.

                                        p = buffer f64[n] in result
                                        pieces = min(n / 32768, 128)
    p = zeros f64[n] in result    →     if 1 < pieces:
                                          lanes = chad_lanes(pieces)
                                          spread piece in 0 .. pieces in lanes:
                                            clear this piece of p
                                        else:
                                          clear p

To write to memory for the first time, as to that of a result, takes longer than most
loops take for an element. What a chunk of a loop does is left alone, and so are
loops without others inside, which run often for the little that they have to fill.
This stands behind all passes that ask what a buffer holds at first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chadllvm.ir.loops import (
    PTR,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Clear,
    Copy,
    For,
    LoopFunction,
    Offset,
    Reg,
    Spread,
    Stmt,
)
from chadllvm.ir.statements import Body, everywhere, over_bodies, over_statements
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64, Scalar
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.spread import MOST_CHUNKS

# The bytes of a piece at least: some ten microseconds.
PIECE = 1 << 18


def fills(function: LoopFunction, *, threads: bool = True) -> LoopFunction:
    """Clear and copy large arrays in pieces; without `threads` nothing is changed."""
    return over_bodies(function, _body, subroutines=False) if threads else function


def _body(body: Body) -> Body:
    return over_statements(body, _statement)


def _statement(stmt: Stmt) -> Iterator[Stmt]:
    match stmt:
        case Alloc(zero=True) if _may_be_large(stmt.count, stmt.elem):
            yield replace(stmt, zero=False)
            yield from _filled(Clear(stmt.reg, stmt.count, stmt.elem, stmt.root))
        case Clear() | Copy() if _may_be_large(stmt.count, stmt.elem):
            yield from _filled(stmt)
        case For(lanes=1) if any(isinstance(s, For) for s in everywhere(stmt.body)):
            body = _body(stmt.body)
            yield stmt if body is stmt.body else replace(stmt, body=body)
        case Branch(cond, then, orelse):
            sides = _body(then), _body(orelse)
            same = sides[0] is then and sides[1] is orelse
            yield stmt if same else Branch(cond, *sides)
        case _:
            yield stmt


def _elements(elem: Scalar) -> int:
    """How many elements a piece has at least."""
    return PIECE // (1 if elem == BOOL else 4 if elem == F32 else 8)


def _may_be_large(count: Atom, elem: Scalar) -> bool:
    return not isinstance(count, Lit) or count.value >= 2 * _elements(elem)


def _filled(stmt: Clear | Copy) -> Iterator[Stmt]:
    """What stands for the filling of a buffer."""
    out = Out()
    some = out.let("idiv", stmt.count, Lit(_elements(stmt.elem)))
    pieces = out.let("imin", some, Lit(MOST_CHUNKS), name="pieces")
    several = out.let("ilt", Lit(1), pieces)
    out.emit(Branch(several, tuple(_spread(stmt, pieces)), (stmt,)))
    yield from out.stmts


def _spread(stmt: Clear | Copy, pieces: Atom) -> Iterator[Stmt]:
    lanes, piece, out = Reg("lanes", I64), Reg("piece", I64), Out()
    low = out.let("idiv", out.let("imul", stmt.count, piece), pieces)
    after = out.let("imul", stmt.count, out.let("iadd", piece, Lit(1)))
    count = out.let("isub", out.let("idiv", after, pieces), low)

    def place(ptr: Atom) -> Reg:
        reg = Reg("place", PTR)
        assert isinstance(ptr, Reg)
        out.emit(Offset(reg, ptr, low, stmt.elem))
        return reg

    match stmt:
        case Clear(ptr):
            out.emit(replace(stmt, ptr=place(ptr), count=count))
        case Copy(target, source):
            ends = place(target), place(source)
            out.emit(replace(stmt, target=ends[0], source=ends[1], count=count))
    yield CallRuntime(lanes, "chad_lanes", (pieces,))
    yield Spread(piece, pieces, lanes, tuple(out.stmts), (), ())
