"""Lists of arrays of different sizes: read, run over, made.

    xs[i]         →   lo = starts[i], and at j: items[lo + j]
    len(xs)       →   dim[0](starts) - 1
    groups[i]     →   the part of the list from starts_2[i] to starts_2[i + 1]

What a list consists of says `ListNames`. So `xs[i][j]` is read, and its cotangent
added, in one step, and the gradient by a list is an array as long as all of it. An
array of a list is made, as a slice is, where it gets a name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Shape,
    Value,
    force,
    ravelled,
)
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import If, Lambda, Lit, Operand, Proj, Tuple, Var
from chadllvm.ir.types import (
    I64,
    Array,
    Product,
    Scalar,
    list_elem,
    list_names,
    list_type,
)
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index


@dataclass(frozen=True)
class Ragged:
    """A list by its parts; one that is no part begins at 0."""

    names: ListNames
    items: Var
    sizes: Operand | None
    starts: tuple[Operand, ...]
    first: Operand
    count: Operand

    @property
    def elem(self) -> Scalar:
        return list_elem(self.type)

    @property
    def parts(self) -> list[Operand]:
        """The parts of a list that is no part of another, in the order of the names."""
        sizes = [] if self.sizes is None else [self.sizes]
        return [self.items, *sizes, *self.starts]

    @property
    def type(self) -> Product:
        items = self.items.type
        assert isinstance(items, Array) and isinstance(items.elem, Scalar)
        return list_type(items.elem, self.names)


def is_list(value: Value) -> bool:
    """Whether this is a list of arrays of different sizes."""
    return list_names(value.type) is not None


def is_item(cx: Context, value: Value) -> bool:
    """Whether this is an array of such a list."""
    return value in cx.items or (isinstance(value, Delayed) and value.is_item)


def ragged(cx: Context, node: ast.expr, value: Operand) -> Ragged:
    """The parts of a list; they are taken out of it once in each block."""
    names = list_names(value.type)
    assert names is not None and isinstance(value, Var)
    known = cx.shapes.get(value) or cx.scope.known_shape(value)
    if known is None:
        is_parameter = value in cx.parameters
        b = cx.prelude if is_parameter else cx.at(node)
        known = _taken_apart(b, names, value)
        (cx if is_parameter else cx.scope).shapes[value] = known
    return list_of_parts(names, known)


def parts_of_list(b: Builder, value: Operand) -> Ragged:
    """The parts of a list, taken out of it here."""
    names = list_names(value.type)
    assert names is not None and isinstance(value, Var)
    return list_of_parts(names, _taken_apart(b, names, value))


def _taken_apart(b: Builder, names: ListNames, value: Var) -> Shape:
    """The fields, then the first element and how many there are."""
    titles = [value.name, *names[1:]]
    fields = [b.one(Proj(value, k), title) for k, title in enumerate(titles)]
    if names.is_part:
        return tuple(fields)
    return (*fields, Lit(0), length(b, fields[-1]))


def length(b: Builder, starts: Operand) -> Operand:
    return b.prim("isub", b.apply(Dim(0), [starts])[0], Lit(1))


def list_of_parts(names: ListNames, parts: Sequence[Operand]) -> Ragged:
    items, *rest, first, count = parts
    sizes = rest.pop(0) if names.rank > 1 else None
    assert isinstance(items, Var)
    return Ragged(names, items, sizes, tuple(rest), first, count)


def make_list(b: Builder, names: ListNames, parts: Sequence[Operand]) -> Var:
    """The list that consists of these parts."""
    return b.one(Tuple(tuple(parts), names), "xs")


# ---- elements --------------------------------------------------------------------


def element(cx: Context, b: Builder, xs: Ragged, index: Operand) -> Value:
    """The element at an index that is in range: an array to be made, or a list."""
    place = _place(b, xs, index)
    if xs.names.depth == 1:
        return _array(cx, b, xs, place)
    begin, size = _range(b, xs.starts[-1], place)
    names = xs.names.like(depth=xs.names.depth - 1, is_part=True)
    sizes = [] if xs.sizes is None else [xs.sizes]
    parts = (xs.items, *sizes, *xs.starts[:-1], begin, size)
    made = make_list(b, names, parts)
    cx.shapes[made] = parts
    return made


def _range(b: Builder, starts: Operand, place: Operand) -> tuple[Operand, Operand]:
    """Where the piece at a place begins, and its size."""
    (begin,) = b.apply(Index(), [starts, place])
    (end,) = b.apply(Index(), [starts, b.prim("iadd", place, Lit(1))])
    return begin, b.prim("isub", end, begin)


def _array(cx: Context, b: Builder, xs: Ragged, place: Operand) -> Delayed:
    """An array of a list, whose elements Python's array shares."""
    (begin,) = b.apply(Index(), [xs.starts[0], place])
    shape: Shape = tuple(_sizes_of(b, xs, place))

    def item(inner: Builder, indices: Indices) -> Operand:
        number = inner.prim("iadd", begin, ravelled(inner, indices, shape))
        return inner.apply(Index(), [xs.items, number])[0]

    made = Delayed(shape, xs.elem, item, is_plain=True, view_of=xs.items, is_item=True)
    if xs.names.of_lists:
        cx.lists.add(made)
    return made


def made_element(
    cx: Context, node: ast.expr, b: Builder, xs: Ragged, index: Operand
) -> Operand:
    """The same, made by this builder."""
    outer, cx.builder = cx.builder, b
    try:
        return force(cx, node, element(cx, b, xs, index))
    finally:
        cx.builder = outer


# ---- regular arrays of lists -----------------------------------------------------


def end_to_end(cx: Context, node: ast.expr, xs: Ragged) -> Delayed:
    """The arrays of a list, of which there is one at least, one behind the other."""
    b = cx.at(node)
    b.prim("same", b.prim("imin", xs.count, Lit(1)), Lit(1))
    begin, size = _numbers(b, xs)
    _, *rest = _first_shape(b, xs)
    if rest:
        _check_sizes(b, xs, [None, *rest])
        index, inner = Var("i", I64), b.child()
        own = inner.block(_sizes_of(inner, xs, _place(inner, xs, index))[:1])
        (size,) = b.apply(Fold("add"), [xs.count], [Lambda((index,), own)])
    return _view(xs, begin, (size, *rest))


def regular(cx: Context, node: ast.expr, xs: Ragged) -> Delayed:
    """The arrays of a list along a new axis; fails if they differ in size."""
    b = cx.at(node)
    begin, _ = _numbers(b, xs)
    shape = _first_shape(b, xs)
    _check_sizes(b, xs, shape)
    return _view(xs, begin, (xs.count, *shape))


def _view(xs: Ragged, begin: Operand, shape: Shape) -> Delayed:
    """The numbers from one on as an array of their own."""

    def item(inner: Builder, indices: Indices) -> Operand:
        number = inner.prim("iadd", begin, ravelled(inner, indices, shape))
        return inner.apply(Index(), [xs.items, number])[0]

    return Delayed(shape, xs.elem, item, is_plain=True)


def _numbers(b: Builder, xs: Ragged) -> tuple[Operand, Operand]:
    """Where the numbers of a list of arrays begin, and how many there are."""
    (begin,) = b.apply(Index(), [xs.starts[0], xs.first])
    end = _place(b, xs, xs.count)
    (stop,) = b.apply(Index(), [xs.starts[0], end])
    return begin, b.prim("isub", stop, begin)


def _place(b: Builder, xs: Ragged, index: Operand) -> Operand:
    return index if xs.first == Lit(0) else b.prim("iadd", xs.first, index)


def _sizes_of(b: Builder, xs: Ragged, place: Operand) -> list[Operand]:
    """The shape of the array at a place."""
    if xs.sizes is None:
        return [_range(b, xs.starts[0], place)[1]]
    axes = range(xs.names.rank)
    return [b.apply(Index(), [xs.sizes, place, Lit(k)])[0] for k in axes]


def _first_shape(b: Builder, xs: Ragged) -> list[Operand]:
    """The shape of the first array, zeros if there is none."""
    then, orelse = b.child(), b.child()
    found = then.block(_sizes_of(then, xs, xs.first))
    none = orelse.block([Lit(0)] * xs.names.rank)
    return [*b.emit(If(b.prim("ilt", Lit(0), xs.count), found, none))]


def _check_sizes(b: Builder, xs: Ragged, shape: Sequence[Operand | None]) -> None:
    """Fail when the program runs if an array has other sizes; None stands for any."""
    index, inner = Var("i", I64), b.child()
    sizes = _sizes_of(inner, xs, _place(inner, xs, index))
    pairs = [(s, n) for s, n in zip(sizes, shape, strict=True) if n is not None]
    checked = [inner.prim("same", s, n) for s, n in pairs]
    b.apply(Build(), [xs.count], [Lambda((index,), inner.block(checked[:1]))])
