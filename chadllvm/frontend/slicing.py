"""Parts of arrays by slices, new axes, index arrays and masks.

    x[lo:hi:s]        →   k elements, that at i is x[start + i * s]
    a[:, j]           →   n elements, that at i is a[i, j]
    x[None, :]        →   a dimension of size 1 in front
    x[idx]            →   as many elements as idx has, that at i is x[bound(idx[i], n)]
    x[mask]           →   x[places], where `places` are those where the mask is true

A slice is clamped as Python does, so that reading it cannot fail. Only a step that is
known at run time can: it may be zero. Both bounds are clamped before their distance is
taken, and constants are no further out than any array (`near`): whatever the bounds
are, the number of elements is one that a part of the array has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from chadllvm.errors import array_errors, flow_errors, type_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Shape,
    Value,
    broadcast_shape,
    delayed,
    is_number_operand,
    plain,
    same_size,
    stretched,
)
from chadllvm.frontend.marks import Mark, mark_of, row_mark
from chadllvm.frontend.places import true_places
from chadllvm.frontend.sizes import near
from chadllvm.frontend.width import held
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import BOOL, I64, Array


@dataclass(frozen=True)
class _At:
    """One index: the dimension goes away."""

    index: Operand


@dataclass(frozen=True)
class _Range:
    """A slice: `size` elements from `start` on."""

    start: Operand
    size: Operand
    step: Operand

    def element(self, b: Builder, index: Operand) -> Operand:
        if self.step != Lit(1):
            index = b.prim("imul", index, self.step)
        return index if self.start == Lit(0) else b.prim("iadd", index, self.start)


@dataclass(frozen=True)
class _New:
    """A new dimension of size 1."""


@dataclass(frozen=True)
class _Gather:
    """An index array for a dimension of this size."""

    places: Delayed
    size: Operand


_Part = _At | _Range | _New | _Gather

# What stands between brackets: a value, or the node of a slice, None or `...`.
Item = Value | ast.expr


def is_syntax(node: ast.expr) -> bool:
    """Whether an index means something by its form alone."""
    if isinstance(node, ast.Constant):
        return node.value is None or node.value is Ellipsis
    return isinstance(node, ast.Slice)


@dataclass(frozen=True)
class Selection:
    """What items select of an array: a shape, and where each element is in the array.

    `is_regular`: it reads at most one element at each place, and never fails.
    """

    shape: Shape
    place: Callable[[Builder, Indices], list[Operand]]
    is_regular: bool


def selection(
    cx: Context, node: ast.expr, base: Delayed, items: Sequence[Item]
) -> Selection:
    """The elements of `base[items]`; an item is a value, or a slice or constant."""
    parts = _parts(cx, node, base, items)
    if any(isinstance(p, _Gather) for p in parts):
        return _gathered(cx, node, parts)
    shape = tuple(
        Lit(1) if isinstance(p, _New) else p.size
        for p in parts
        if isinstance(p, _Range | _New)
    )
    return Selection(shape, partial(_own_indices, parts), is_regular=True)


def part(
    cx: Context, node: ast.Subscript, array: Value, items: Sequence[Item]
) -> Value:
    """`array[items]`; an item is a value, or the node of a slice or constant.

    A slice of a list is a list, of numbers a new one, of rows one with the same rows.
    """
    base = plain(cx, node, array)
    found = selection(cx, node, base, items)

    def element(b: Builder, indices: Indices) -> Operand:
        return base.element(b, found.place(b, indices))

    if not found.is_regular:
        return Delayed(found.shape, base.elem, element)
    if not found.shape:
        b = cx.at(node)
        return held(b, element(b, ()))
    is_list = array in cx.lists and isinstance(node.slice, ast.Slice)
    is_copy = is_list and base.rank == 1
    view = None if is_copy else base.made or base.view_of
    made = Delayed(
        found.shape,
        base.elem,
        element,
        is_plain=True,
        view_of=view,
        is_sublist=is_list,
    )
    if is_list:
        cx.lists.add(made)
    cx.marks[made] = _mark(cx, node, array)
    return made


def _mark(cx: Context, node: ast.Subscript, array: Value) -> Mark:
    """What is a list in a part: a slice is what the whole is."""
    mark = mark_of(cx, array)
    if isinstance(mark, tuple) or isinstance(node.slice, ast.Slice):
        return mark
    return 0 if isinstance(node.slice, ast.Tuple) else row_mark(mark)


def _own_indices(parts: Sequence[_Part], b: Builder, indices: Indices) -> list[Operand]:
    """The indices into the array, from those into its part."""
    rest = iter(indices)
    found = []
    for p in parts:
        match p:
            case _At(index):
                found.append(index)
            case _Range():
                found.append(p.element(b, next(rest)))
            case _New():
                next(rest)
            case _Gather():
                raise AssertionError("index arrays are handled elsewhere")
    return found


def _parts(
    cx: Context, node: ast.expr, base: Delayed, items: Sequence[Item]
) -> list[_Part]:
    """What each item does to the array's dimensions; what is left out is kept."""
    used = sum(_dimensions(item) for item in items)
    if used > base.rank:
        raise type_errors.too_many_indices(cx.span(node), used, base.type)
    parts: list[_Part] = []
    axis = 0
    for item in _with_ellipsis(cx, node, items, base.rank - used):
        found = _part(
            cx, node, item, base.shape[axis : axis + max(_dimensions(item), 1)]
        )
        axis += _dimensions(item)
        parts += found
    return parts


def _with_ellipsis(
    cx: Context, node: ast.expr, items: Sequence[Item], left: int
) -> list[Item]:
    """The items with `...`, or the end, written out as full slices."""
    full: list[Item] = [ast.Slice()] * left
    dots = [k for k, item in enumerate(items) if _is_constant(item, Ellipsis)]
    if not dots:
        return [*items, *full]
    if len(dots) > 1:
        raise array_errors.second_ellipsis(cx.span(_index_of(node)))
    return [*items[: dots[0]], *full, *items[dots[0] + 1 :]]


def _index_of(node: ast.expr) -> ast.expr:
    """What stands between the brackets, if there are any."""
    return node.slice if isinstance(node, ast.Subscript) else node


def _is_constant(item: Item, value: object) -> bool:
    return isinstance(item, ast.Constant) and item.value is value


def _dimensions(item: Item) -> int:
    """How many dimensions an item indexes."""
    if isinstance(item, ast.Constant):
        return 0
    if not isinstance(item, ast.expr) and isinstance(item.type, Array):
        return item.type.rank if item.type.elem == BOOL else 1
    return 1


def _part(cx: Context, node: ast.expr, item: Item, sizes: Shape) -> list[_Part]:
    if isinstance(item, ast.Slice):
        return [slice_range(cx, node, item, sizes[0])]
    if isinstance(item, ast.expr):
        return [_New()]
    if is_number_operand(item):
        return [_At(cx.at(node).prim("bound", item, sizes[0]))]
    index_array = delayed(cx, node, item)
    if index_array.elem == BOOL:
        return _mask(cx, node, index_array, sizes)
    if index_array.elem != I64:
        raise type_errors.not_an_index(cx.span(_index_of(node)), index_array.type)
    return [_Gather(plain(cx, node, index_array), sizes[0])]


def _mask(cx: Context, node: ast.expr, mask: Delayed, sizes: Shape) -> list[_Part]:
    """The places where a mask is true, one index array for each dimension."""
    b = cx.at(node)
    for size, own in zip(sizes, mask.shape, strict=True):
        if not same_size(own, size):
            b.prim("mask_size", own, size)
    places = true_places(cx, node, mask)
    return [_Gather(p, size) for p, size in zip(places, sizes, strict=True)]


# ---- slices ----------------------------------------------------------------------


def slice_range(cx: Context, node: ast.expr, item: ast.Slice, size: Operand) -> _Range:
    """The elements of a slice, clamped to an array of this size."""
    step = _step(cx, item)
    if item.lower is None and item.upper is None and step == Lit(1):
        return _Range(Lit(0), size, step)
    low, high = (None if n is None else _bound(cx, n) for n in (item.lower, item.upper))
    b = cx.at(node)
    if not isinstance(step, Lit):
        return _either_way(b, size, low, high, step)
    within = _ascending if step.value > 0 else _descending
    return within(b, size, low, high, int(step.value))


def _step(cx: Context, item: ast.Slice) -> Operand:
    step = None if item.step is None else _bound(cx, item.step)
    if item.step is None or step is None:
        return Lit(1)
    if not isinstance(step, Lit):
        return cx.at(item.step).prim("slice_step", step)
    if step.value == 0:
        raise flow_errors.zero_step(cx.span(item.step))
    return step


def _bound(cx: Context, node: ast.expr) -> Operand | None:
    if _is_constant(node, None):
        return None
    value = cx.value(node)
    if value.type not in (I64, BOOL):
        raise type_errors.not_an_index(cx.span(node), value.type)
    bound = to_int(cx.at(node), value)
    return Lit(near(int(bound.value))) if isinstance(bound, Lit) else bound


def _ascending(
    b: Builder, size: Operand, low: Operand | None, high: Operand | None, step: int
) -> _Range:
    """From low to high; a low bound beyond the end leaves nothing anyway."""
    start = Lit(0) if low is None else _from_end(b, low, size, Lit(0))
    stop = size if high is None else _at_most(b, high, size)
    are_near = isinstance(start, Lit) and isinstance(high, Lit)
    if high is not None and start != Lit(0) and not are_near:
        stop = b.prim("imax", stop, Lit(0))
    count = stop if start == Lit(0) else b.prim("isub", stop, start)
    if stop is not size or start != Lit(0):
        count = b.prim("imax", count, Lit(0))
    return _Range(start, _steps(b, count, step), Lit(step))


def _descending(
    b: Builder, size: Operand, low: Operand | None, high: Operand | None, step: int
) -> _Range:
    """From low down to high, which is left out; both are -1 or above."""
    last = b.prim("isub", size, Lit(1))
    start = last
    if low is not None:
        start = b.prim("imin", _from_end(b, low, size, Lit(-1)), last)
    stop = Lit(-1) if high is None else _from_end(b, high, size, Lit(-1))
    count = b.prim("imax", b.prim("isub", start, stop), Lit(0))
    return _Range(start, _steps(b, count, -step), Lit(step))


def _either_way(
    b: Builder, size: Operand, low: Operand | None, high: Operand | None, step: Operand
) -> _Range:
    """By a step that is known at run time; downwards the bounds are one less."""
    down = b.prim("ilt", step, Lit(0))
    least = b.prim("iselect", down, Lit(-1), Lit(0))
    most = b.prim("iadd", size, least)
    start: Operand = b.prim("iselect", down, most, least)
    stop: Operand = b.prim("iselect", down, least, most)
    if low is not None:
        start = _clamped(b, low, size, least, most)
    if high is not None:
        stop = _clamped(b, high, size, least, most)
    return _Range(start, b.prim("steps", start, stop, step), step)


def _clamped(
    b: Builder, bound: Operand, size: Operand, least: Operand, most: Operand
) -> Operand:
    """A bound that counts from the end if negative, between the two."""
    negative = b.prim("ilt", bound, Lit(0))
    wrapped = b.prim("iselect", negative, _wrapped(b, bound, size), bound)
    return b.prim("imin", b.prim("imax", wrapped, least), most)


def _wrapped(b: Builder, bound: Operand, size: Operand) -> Operand:
    """The sum of size and negative bound; the size itself, in range, for any other."""
    if not isinstance(bound, Lit):
        bound = b.prim("imin", bound, Lit(0))
    return b.prim("iadd", size, bound)


def _from_end(b: Builder, bound: Operand, size: Operand, least: Operand) -> Operand:
    """A bound that counts from the end if negative, and is at least `least`."""
    if isinstance(bound, Lit) and bound.value >= 0:
        return bound
    wrapped = b.prim("imax", _wrapped(b, bound, size), least)
    if isinstance(bound, Lit):
        return wrapped
    return b.prim("iselect", b.prim("ilt", bound, Lit(0)), wrapped, bound)


def _at_most(b: Builder, bound: Operand, size: Operand) -> Operand:
    """A bound that counts from the end if negative, and is at most the size."""
    if isinstance(bound, Lit) and bound.value < 0:
        return b.prim("iadd", size, bound)
    capped = b.prim("imin", bound, size)
    if isinstance(bound, Lit):
        return capped
    wrapped = _wrapped(b, bound, size)
    return b.prim("iselect", b.prim("ilt", bound, Lit(0)), wrapped, capped)


def _steps(b: Builder, count: Operand, step: int) -> Operand:
    """How many steps of this length begin within `count` elements."""
    if step == 1:
        return count
    up = b.prim("iadd", count, Lit(step - 1))
    return b.prim("ifloordiv", up, Lit(step))


# ---- index arrays ----------------------------------------------------------------


def _gathered(
    cx: Context,
    node: ast.expr,
    parts: Sequence[_Part],
) -> Selection:
    """Index arrays, stretched to one shape, stand for the dimensions they index.

    Single indices among them are stretched as well. They must stand side by side.
    """
    advanced = [k for k, p in enumerate(parts) if isinstance(p, _Gather | _At)]
    first, last = advanced[0], advanced[-1]
    if last - first + 1 != len(advanced):
        raise array_errors.separated_indices(cx.span(_index_of(node)))
    arrays = {k: p.places for k, p in enumerate(parts) if isinstance(p, _Gather)}
    common = broadcast_shape(cx, node, [a.shape for a in arrays.values()])
    readers = {k: stretched(cx, node, a, common) for k, a in arrays.items()}
    before = [p.size if isinstance(p, _Range) else Lit(1) for p in parts[:first]]
    after = [p.size if isinstance(p, _Range) else Lit(1) for p in parts[last + 1 :]]

    def place(b: Builder, indices: Indices) -> list[Operand]:
        inner = indices[first : first + len(common)]
        rest = [*indices[:first], *indices[first + len(common) :]]
        own: list[Operand] = []
        for k, p in enumerate(parts):
            match p:
                case _At(index):
                    own.append(index)
                case _Range():
                    own.append(p.element(b, rest.pop(0)))
                case _New():
                    rest.pop(0)
                case _Gather():
                    own.append(_place(b, readers[k](b, inner), p))
        return own

    return Selection((*before, *common, *after), place, is_regular=False)


def _place(b: Builder, index: Operand, gather: _Gather) -> Operand:
    return b.prim("bound", index, gather.size)
