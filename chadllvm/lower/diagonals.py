"""Rows of a table that need each other are run side by side, each a step behind.

    for i in 0 .. n:                      for i in 0 .. n / 8 * 8 by 8:
      for j in 0 .. m:                      … the first cells of eight rows …
        x = t[i, j + 1]                     for k in 7 .. m:
        y = t[i + 1, j]              →        for l in 0 .. 8:  # 8 lanes
        t[i + 1, j + 1] = f(x, y)               … the cell i + l, k - l …
                                            … the last cells of eight rows …
                                          … the other rows, as they were …

A cell needs the one to its left, so that a row is one long chain; but once its first
cells are there, so can be those of the next row. The cells along a diagonal do not need
each other: they are the lanes of vectors (`llvm/lanes.py`). This is done where a cell
takes so long that it is worth looking for its neighbours' values one by one, as those
are far apart.

Of the places in a table it has to be known which cell they belong to: they are
`(i + a) * s + j + b` for constants a and b, and a row has room in s, which is asked at
run time. A cell may then need those of former rows that are less far to the right than
up. No cell is computed that was not before, so that nothing is asked of what it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from chadllvm.ir.loops import (
    PTR,
    Atom,
    For,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    Body,
    assigned,
    copied,
    everywhere,
    over_bodies,
    over_inner,
    over_statements,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, Scalar
from chadllvm.lower.chunks.forms import ONE, Forms, atoms, divided, plus
from chadllvm.lower.gain import share_of
from chadllvm.lower.varying import Varying

# The rows at a time, and how many cells a row has at least.
_LANES = 8
_LEAST = 4 * _LANES

# It must be worth it: the part of the time that is left.
_ENOUGH = 0.5


def diagonals(function: LoopFunction) -> LoopFunction:
    """Run rows side by side where their cells wait for each other."""
    return over_bodies(function, _Diagonals(function.roots).body)


@dataclass(frozen=True)
class _Diagonals:
    roots: Sequence[int]

    def body(self, body: Body) -> Body:
        return over_statements(body, self._statement)

    def _statement(self, stmt: Stmt) -> Iterable[Stmt]:
        match stmt:
            case For(lanes=1) if table := _table(stmt, self.roots):
                return _side_by_side(table)
            case For() if stmt.lanes != 1:
                return [stmt]
            case _:
                return [over_inner(stmt, self.body)]


@dataclass(frozen=True)
class _Table:
    """Two loops over the cells of tables.

    `rooms`: what a row of each of them has room for, and how much more than the number
    of its cells has to fit there.
    """

    rows: For
    cells: For
    before: tuple[Stmt, ...]
    rooms: tuple[tuple[Reg, int], ...]


def _table(rows: For, roots: Sequence[int]) -> _Table | None:
    """The tables that two loops fill; None if they do something else."""
    match rows:
        case For(go=None, body=(*before, For(low=Lit(0), go=None) as cells)):
            pass
        case _:
            return None
    inside = {rows.index, *(r for s in everywhere(rows.body) for r in assigned(s))}
    if cells.high in inside or not all(map(_is_plain, (*before, *cells.body))):
        return None
    places = _Places(rows, cells, before, roots)
    if places.rooms is None or not places.wait:
        return None
    table = _Table(rows, cells, tuple(before), tuple(places.rooms))
    diagonal = _diagonal(table, Reg("i", I64), Reg("k", I64))
    varying = Varying(diagonal, roots, ())
    return table if share_of(diagonal, varying) < _ENOUGH else None


def _is_plain(stmt: Stmt) -> bool:
    """Whether a statement computes, reads or writes, and does nothing else."""
    match stmt:
        case Let(reg) | Load(reg):
            return reg.type != PTR
        case Store(value=value):
            return value.type != PTR
        case Offset():
            return True
        case _:
            return False


@dataclass(frozen=True)
class _Access:
    """Cell (i, j) reads or writes at row i + up, place j + along of a table."""

    writes: bool
    table: tuple[object, ...]
    room: Reg
    up: int
    along: int


class _Places:
    """Which places of tables the cells read and write.

    `rooms` is None if that is not known, or if cells need each other in another order;
    `wait`: whether a cell needs one of its own row.
    """

    def __init__(
        self, rows: For, cells: For, before: Sequence[Stmt], roots: Sequence[int]
    ) -> None:
        self._i, self._j = rows.index, cells.index
        body = [*before, *cells.body]
        self._inside = {r for s in body for r in assigned(s)}
        self._offsets = {s.reg: s for s in body if isinstance(s, Offset)}
        self._forms = Forms({s.reg: s for s in body if isinstance(s, Let)}, (), {})
        self.rooms: list[tuple[Reg, int]] | None = []
        self.wait = False
        written = {roots[s.root] for s in body if isinstance(s, Store)}
        for root in sorted(written):
            uses = [
                self._access(s)
                for s in body
                if isinstance(s, Load | Store) and roots[s.root] == root
            ]
            self._table([use for use in uses if use is not None], len(uses))

    def _table(self, uses: Sequence[_Access], count: int) -> None:
        """Note what cells do with one buffer."""
        known = len(uses) == count and len({use.table for use in uses}) == 1
        if self.rooms is None or not known or not self._in_order(uses):
            self.rooms = None
            return
        alongs = [use.along for use in uses]
        self.rooms.append((uses[0].room, max(alongs) - min(alongs)))

    def _in_order(self, uses: Sequence[_Access]) -> bool:
        """Whether what needs each other is run one after the other as before."""
        for one, other in product(uses, uses):
            if not one.writes:
                continue
            # The other cell at this place is so many rows and places further.
            down, right = one.up - other.up, one.along - other.along
            self.wait |= not down and right > 0 and not other.writes
            if (down, right) < (0, 0):
                down, right = -down, -right
            if down and right <= -down:
                return False
        return True

    def _access(self, stmt: Load | Store) -> _Access | None:
        ptr, form = stmt.ptr, self._forms.of(stmt.index)
        while isinstance(ptr, Reg) and ptr in self._offsets:
            part = self._offsets[ptr]
            ptr, form = part.ptr, plus(form, self._forms.of(part.index))
        slope, rest = divided(form, self._j)
        steps, rest = divided(rest, self._i)
        if slope != ONE or [*steps.values()] != [1]:
            return None
        (term,) = steps
        own = {self._i, self._j, *self._inside}
        used = {ptr, *term, *atoms(rest)}
        if len(term) != 1 or not own.isdisjoint(used):
            return None
        up, along = rest.get(term, 0), rest.get((), 0)
        base = frozenset((t, n) for t, n in rest.items() if t not in (term, ()))
        writes = isinstance(stmt, Store)
        return _Access(writes, (ptr, *term, base), term[0], up, along)


def _side_by_side(table: _Table) -> Iterator[Stmt]:
    """The rows, eight at a time as long as there are so many."""
    rows, cells = table.rows, table.cells

    def let(ty: Scalar, op: str, *args: Atom) -> Reg:
        reg = Reg("t", ty)
        stmts.append(Let(reg, op, args))
        return reg

    stmts: list[Stmt] = []
    count = let(I64, "idiv", let(I64, "isub", rows.high, rows.low), Lit(_LANES))
    conds = [let(BOOL, "ile", Lit(_LEAST), cells.high)]
    for room, more in dict.fromkeys(table.rooms):
        conds.append(let(BOOL, "ile", cells.high, room))
        if more:
            left = let(I64, "isub", room, Lit(more))
            conds.append(let(BOOL, "ile", cells.high, left))
    for cond in conds:
        count = let(I64, "select", cond, count, Lit(0))
    middle = let(I64, "iadd", rows.low, let(I64, "imul", count, Lit(_LANES)))
    yield from stmts
    turn, first, done = Reg("turn", I64), Reg("first", I64), Reg("t", I64)
    body = (
        Let(done, "imul", (turn, Lit(_LANES))),
        Let(first, "iadd", (rows.low, done)),
        *_eight(table, first),
    )
    yield For(turn, Lit(0), count, body, poll=rows.poll)
    yield replace(copied(rows), low=middle)


def _eight(table: _Table, first: Reg) -> Iterator[Stmt]:
    """The cells of eight rows, the first of which has this index: those in front of the
    first whole diagonal, the diagonals, and those behind the last."""
    row, last, high = Reg("l", I64), Reg("t", I64), table.cells.high
    begin = Let(last, "isub", (Lit(_LANES - 1), row))
    yield _part(table, first, row, begin, Lit(0), last)
    k = Reg("k", I64)
    yield copied(For(k, Lit(_LANES - 1), high, (_diagonal(table, first, k),)))
    row, end = Reg("l", I64), Reg("t", I64)
    yield _part(table, first, row, Let(end, "isub", (high, row)), end, high)


def _part(
    table: _Table, first: Reg, row: Reg, bound: Let, low: Atom, high: Atom
) -> Stmt:
    """The cells of eight rows between bounds, row by row."""
    cells = replace(table.cells, low=low, high=high)
    index = Let(table.rows.index, "iadd", (first, row))
    body = index, *table.before, bound, cells
    return copied(For(row, Lit(0), Lit(_LANES), body, poll=table.rows.poll))


def _diagonal(table: _Table, first: Reg, k: Reg) -> For:
    """The cells on a diagonal: k is the place of the one in the first row."""
    row = Reg("l", I64)
    body = (
        Let(table.rows.index, "iadd", (first, row)),
        *table.before,
        Let(table.cells.index, "isub", (k, row)),
        *table.cells.body,
    )
    return For(row, Lit(0), Lit(_LANES), body, commutes=True, lanes=_LANES)
