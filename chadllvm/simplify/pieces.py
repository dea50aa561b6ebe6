"""Arrays that elements of arrays of sums hold, each of a size of its own.

    xs: <no: (), yes: f64[:]>[:]    →    tags:    i64[:]
                                         numbers: f64[:]    those of all, in pieces
                                         starts:  i64[:]    where each piece begins
                                         sizes:   i64[:]    one for each axis

    y = index(xs, i)    →    s = index(starts, i);  n = index(sizes, i)
                             y = build(n) { j -> yield index(numbers, s + j) }

The pieces stand in any order, and there may be numbers between them; but no two pieces
overlap, for what is put into an array is copied. So an append or an update costs what
the element holds. The numbers alone have a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Apply, Block, If, Lambda, Operand, Var
from chadllvm.ir.types import I64, Array, Type, stacked
from chadllvm.ops.alias import Contains, Item
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Replace, Update
from chadllvm.support.diagnostic import Span

# What is done to numbers in the making with the one at these indices, the k-th of all.
_Step = Callable[[Builder, Operand, Operand, Operand], Operand]


@dataclass(frozen=True)
class Part:
    """A leaf of the elements of an array; `is_piece`: an array of a size of its own."""

    suffix: str
    type: Type
    is_piece: bool

    def columns(self, rank: int) -> tuple[tuple[str, Type], ...]:
        """The leaves of an array of such elements, each with its name's suffix."""
        if not self.is_piece:
            return ((self.suffix, stacked(self.type, rank)),)
        array, places = self.array, Array(I64, rank)
        axes = ((f"{self.suffix}_size{axis}", places) for axis in range(array.rank))
        numbers = Array(array.elem, 1)
        return ((self.suffix, numbers), (f"{self.suffix}_start", places), *axes)

    @property
    def width(self) -> int:
        """The number of columns."""
        return 2 + self.array.rank if self.is_piece else 1

    @property
    def array(self) -> Array:
        assert isinstance(self.type, Array)
        return self.type


def read(
    b: Builder, part: Part, columns: Sequence[Operand], indices: Sequence[Operand]
) -> Operand:
    """The leaf of the element at these indices."""
    found = [b.one(Apply(Index(), (c, *indices))) for c in columns[1:]]
    if not part.is_piece:
        return b.one(Apply(Index(), (columns[0], *indices)))
    numbers, (start, *sizes) = columns[0], found

    def level(outer: Builder, place: Operand, axis: int) -> Operand:
        """`place` is that of the row, less what the axes from here on make of it."""
        index, inner = Var("j", I64), outer.child()
        now: Operand = index if axis == 0 else inner.prim("iadd", place, index)
        if axis == len(sizes) - 1:
            at = inner.prim("iadd", start, now)
            row: Operand = inner.one(Apply(Index(), (numbers, at)))
        else:
            now = inner.prim("imul", now, sizes[axis + 1])
            row = level(inner, now, axis + 1)
        body = Lambda((index,), inner.block([row]))
        return outer.apply(Build(), [sizes[axis]], [body])[0]

    return b.one(Apply(Item(), (level(b, lit(0), 0), numbers)))


def appended(
    b: Builder, part: Part, columns: Sequence[Operand], value: Operand
) -> list[Operand]:
    """The columns with those of one more element."""
    if not part.is_piece:
        return [b.one(Apply(Append(), (columns[0], value)))]
    numbers, start, sizes = piece_behind(b, columns[0], value)
    pairs = zip(columns[1:], (start, *sizes), strict=True)
    return [numbers, *(b.one(Apply(Append(), pair)) for pair in pairs)]


def piece_behind(
    b: Builder, numbers: Operand, value: Operand
) -> tuple[Operand, Operand, list[Operand]]:
    """The numbers with a piece behind them, where it begins, and its sizes."""
    start, sizes = b.one(Apply(Dim(0), (numbers,))), sizes_of(b, value)

    def behind(b: Builder, state: Operand, number: Operand, place: Operand) -> Operand:
        return b.one(Apply(Append(), (state, number)))

    return _written(b, numbers, value, sizes, behind), start, sizes


def replaced(
    b: Builder,
    part: Part,
    columns: Sequence[Operand],
    indices: Sequence[Operand],
    value: Operand,
) -> list[Operand]:
    """The columns with another element at these indices.

    Its numbers are put where those of the old one are, if there is room.
    """
    if not part.is_piece:
        return [b.one(Apply(Update(), (columns[0], *indices, value)))]
    numbers, *places = columns
    begin, *old = [b.one(Apply(Index(), (c, *indices))) for c in places]
    sizes = sizes_of(b, value)
    has_room = b.prim("ile", product(b, sizes), product(b, old))

    def there(b: Builder, state: Operand, number: Operand, place: Operand) -> Operand:
        at = b.prim("iadd", begin, place)
        return b.one(Apply(Replace(), (state, at, number)))

    then, orelse = b.child(), b.child()
    put = then.block([_written(then, numbers, value, sizes, there), begin])
    moved = orelse.block(piece_behind(orelse, numbers, value)[:2])
    after, start = b.emit(If(has_room, put, moved), "numbers", "start")
    new = zip(places, (start, *sizes), strict=True)
    return [after, *(b.one(Apply(Update(), (c, *indices, v))) for c, v in new)]


def shortened(b: Builder, part: Part, columns: Sequence[Operand]) -> list[Operand]:
    """The columns without those of the last element; its numbers stay."""
    kept = list(columns[:1]) if part.is_piece else []
    rest = columns[len(kept) :]
    return [*kept, *(b.one(Apply(DropLast(), (c,))) for c in rest)]


def placed(b: Builder, columns: Sequence[Operand], moved: Sequence[Operand]) -> Operand:
    """The numbers of pieces where other columns have theirs, zeros between them."""
    numbers, starts = columns[:2]
    assert isinstance(numbers.type, Array)
    size = b.one(Apply(Dim(0), (numbers,)))
    zeros = b.one(Apply(Zeros(numbers.type.elem), (size,)))
    index, held, inner = Var("i", I64), Var("numbers", zeros.type), b.child()
    first, begin, *sizes = [
        inner.one(Apply(Index(), (c, index))) for c in (starts, *moved[1:])
    ]
    place, state, step = Var("j", I64), Var("numbers", zeros.type), inner.child()
    at = step.prim("iadd", begin, place)
    number = step.one(Apply(Index(), (moved[0], at)))
    to = step.prim("iadd", first, place)
    after = step.one(Apply(Update(), (state, to, number)))
    body = Lambda((place, state), step.block([after]))
    (made,) = inner.apply(Iterate(), [product(inner, sizes), held], [body])
    loop = Lambda((index, held), inner.block([made]))
    count = b.one(Apply(Dim(0), (starts,)))
    return b.apply(Iterate(), [count, zeros], [loop], ["numbers"])[0]


def no_numbers(state: Var) -> Apply:
    """The numbers of no pieces, with which a state begins."""
    assert isinstance(state.type, Array)
    return Apply(Empty(state.type), ())


def sizes_of(b: Builder, value: Operand) -> list[Operand]:
    assert isinstance(value.type, Array)
    return [b.one(Apply(Dim(k), (value,))) for k in range(value.type.rank)]


def product(b: Builder, sizes: Sequence[Operand]) -> Operand:
    total = sizes[0]
    for size in sizes[1:]:
        total = b.prim("imul", total, size)
    return total


def _written(
    b: Builder,
    numbers: Operand,
    value: Operand,
    sizes: Sequence[Operand],
    step: _Step,
) -> Operand:
    """The numbers after a step for each one of an array, which they refer to then."""

    def level(
        outer: Builder, state: Operand, row: Operand, indices: tuple[Operand, ...]
    ) -> Operand:
        axis = len(indices)
        index, inner = Var("j", I64), outer.child()
        held, place = Var("numbers", numbers.type), row
        if axis > 0:
            place = inner.prim("imul", row, sizes[axis])
        place = inner.prim("iadd", place, index)
        at = (*indices, index)
        if axis == len(sizes) - 1:
            number = inner.one(Apply(Index(), (value, *at)))
            after = step(inner, held, number, place)
        else:
            after = level(inner, held, place, at)
        body = Lambda((index, held), inner.block([after]))
        return outer.apply(Iterate(), [sizes[axis], state], [body], ["numbers"])[0]

    made = level(b, numbers, lit(0), ())
    return b.one(Apply(Contains(), (made, value)), "numbers")


def collecting(
    body: Lambda, parts: Sequence[Part], carried: int, span: Span
) -> tuple[Lambda, list[Var]]:
    """The body of a loop which keeps the numbers of pieces in states of its own.

    They stand behind its other states. Where there was a result for a piece there are
    now those for where it begins and for its sizes.
    """
    inner = Builder(span)
    inner.bindings += body.body.bindings
    results = body.body.results
    states, after, outputs = [], [], []
    for part, value in zip(parts, results[carried:], strict=True):
        if not part.is_piece:
            outputs.append(value)
            continue
        state = Var("numbers", Array(part.array.elem, 1))
        numbers, start, sizes = piece_behind(inner, state, value)
        states.append(state)
        after.append(numbers)
        outputs += [start, *sizes]
    params = (*body.params, *states)
    block = Block(tuple(inner.bindings), (*results[:carried], *after, *outputs))
    return Lambda(params, block), states
