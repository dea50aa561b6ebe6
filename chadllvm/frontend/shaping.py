"""The same elements in another shape or order: `reshape`, `transpose`, `flip`, `roll`.

x.reshape(n, m)      →   at i, j: x[i * m + j]
np.roll(x, s)        →   at i: x[(i - s) mod n]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from chadllvm.errors import array_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.delayed import (
    Delayed,
    Element,
    Indices,
    Shape,
    Value,
    delayed,
    elementwise,
    flat,
    is_array,
    number_of,
    permuted,
    plain,
    ravelled,
    same_size,
    transposed,
    unravelled,
)
from chadllvm.frontend.given import Given, LibraryFunction, written_out
from chadllvm.frontend.sizes import checked, size_of, times
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import BOOL, is_float


def _view(array: Delayed, shape: Shape, element: Element) -> Delayed:
    """An array that shares the elements of a plain one."""
    view = array.made or array.view_of
    return Delayed(shape, array.elem, element, is_plain=True, view_of=view)


def _copied(array: Delayed, shape: Shape, element: Element) -> Delayed:
    return Delayed(shape, array.elem, element, is_plain=True)


# ---- shapes ----------------------------------------------------------------------


def _reshape(call: Given) -> Value:
    """`a.reshape(n, m)`, `a.reshape((n, m))`; one size may be -1."""
    array = plain(call.cx, call.node, call.array("a"))
    nodes = [*([call.nodes["shape"]] if "shape" in call else []), *call.rest]
    shape = _new_shape(call, array, written_out(call.cx, nodes))

    def element(b: Builder, indices: Indices) -> Operand:
        number = ravelled(b, indices, shape)
        return array.element(b, unravelled(b, number, array.shape))

    return _view(array, shape, element)


def _new_shape(call: Given, array: Delayed, nodes: Sequence[ast.expr]) -> Shape:
    """The sizes that are asked for; fails at run time if there are too many or few."""
    b = call.builder
    total = number_of(b, array.shape)
    open_ones = [k for k, node in enumerate(nodes) if _is_minus_one(node)]
    if len(open_ones) > 1:
        raise array_errors.two_unknown_sizes(call.cx.span(call.node))
    known = [node for node in nodes if not _is_minus_one(node)]
    sizes = list(call.sizes(known)) if known else []
    number = number_of(b, tuple(sizes))
    if open_ones:
        rest = total
        if sizes:
            rest = b.prim("ifloordiv", total, b.prim("imax", number, Lit(1)))
        sizes.insert(open_ones[0], rest)
        number = b.prim("imul", number, rest) if len(sizes) > 1 else rest
    if not same_size(number, total):
        b.prim("same", total, number)
    return tuple(sizes)


def _is_minus_one(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(1)):
            return True
        case _:
            return False


def _ravel(call: Given) -> Value:
    return flat(call.cx, call.node, call.array("a"))


def _flatten(call: Given) -> Value:
    array = flat(call.cx, call.node, call.array("a"))
    return Delayed(array.shape, array.elem, array.element, array.is_plain)


def _expand_dims(call: Given) -> Value:
    array = plain(call.cx, call.node, call.array("a"))
    axis = call.as_axis(call.nodes["axis"], array.rank + 1)
    shape = (*array.shape[:axis], Lit(1), *array.shape[axis:])

    def element(b: Builder, indices: Indices) -> Operand:
        return array.element(b, [*indices[:axis], *indices[axis + 1 :]])

    return _view(array, shape, element)


def _squeeze(call: Given) -> Value:
    """The axes named go away, or those whose size is known to be 1."""
    array = plain(call.cx, call.node, call.array("a"))
    axes = call.axes(array.rank)
    if axes is None:
        if not all(isinstance(size, Lit) for size in array.shape):
            raise array_errors.not_squeezable(call.cx.span(call.node))
        axes = tuple(k for k, size in enumerate(array.shape) if size == Lit(1))
    for k in axes:
        if array.shape[k] != Lit(1):
            call.builder.prim("same", array.shape[k], Lit(1))
    kept = [k for k in range(array.rank) if k not in axes]

    def element(b: Builder, indices: Indices) -> Operand:
        own = dict(zip(kept, indices, strict=True))
        return array.element(b, [own.get(k, Lit(0)) for k in range(array.rank)])

    if not kept:
        return element(call.builder, ())
    return _view(array, tuple(array.shape[k] for k in kept), element)


# ---- order of axes ---------------------------------------------------------------


def _transpose(call: Given) -> Value:
    """`np.transpose(a)`, `np.transpose(a, (1, 0))`, `a.transpose(1, 0)`"""
    array = call.array("a")
    nodes = [*([call.nodes["axes"]] if "axes" in call else []), *call.rest]
    if not nodes:
        return transposed(array)
    axes = [call.as_axis(node, array.rank) for node in written_out(call.cx, nodes)]
    if sorted(axes) != list(range(array.rank)):
        raise array_errors.repeated_axis(call.cx.span(call.node))
    return permuted(array, axes)


def _swapaxes(call: Given) -> Value:
    array = call.array("a")
    first, second = (
        call.as_axis(call.nodes[name], array.rank) for name in ("axis1", "axis2")
    )
    axes = list(range(array.rank))
    axes[first], axes[second] = axes[second], axes[first]
    return permuted(array, axes)


def _moveaxis(call: Given) -> Value:
    array = call.array("a")
    source, target = (
        call.as_axis(call.nodes[name], array.rank) for name in ("source", "destination")
    )
    axes = [k for k in range(array.rank) if k != source]
    axes.insert(target, source)
    return permuted(array, axes)


# ---- order of elements -----------------------------------------------------------


def _along(
    array: Delayed, axis: int, size: Operand, place: Callable[..., Operand]
) -> Delayed:
    """A new array; its element at i along an axis is the old one's at `place(b, i)`."""
    shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])

    def element(b: Builder, indices: Indices) -> Operand:
        own = place(b, indices[axis])
        return array.element(b, [*indices[:axis], own, *indices[axis + 1 :]])

    return _copied(array, shape, element)


def _flip(call: Given) -> Value:
    array = plain(call.cx, call.node, call.array("a"))
    axes = call.axes(array.rank)
    axes = tuple(range(array.rank)) if axes is None else axes
    last = {k: call.builder.prim("isub", array.shape[k], Lit(1)) for k in axes}

    def element(b: Builder, indices: Indices) -> Operand:
        own = [
            b.prim("isub", last[k], index) if k in last else index
            for k, index in enumerate(indices)
        ]
        return array.element(b, own)

    return _view(array, array.shape, element)


def _axis_or_flat(call: Given) -> tuple[Delayed, int]:
    """The array and the axis; without one, the flat array."""
    array = plain(call.cx, call.node, call.array("a"))
    axis = call.axis(array.rank)
    if axis is None:
        return flat(call.cx, call.node, array), 0
    return array, axis


def _roll(call: Given) -> Value:
    """Without an axis, all elements in their order, in the shape that they had."""
    array, axis = _axis_or_flat(call)
    shape = call.array("a").shape
    b, size = call.builder, array.shape[axis]
    shift = b.prim("imod", call.integer("shift"), b.prim("imax", size, Lit(1)))

    def place(b: Builder, index: Operand) -> Operand:
        return b.prim("from_end", b.prim("isub", index, shift), size)

    rolled = _along(array, axis, size, place)
    if "axis" in call or len(shape) == 1:
        return rolled
    return Delayed(
        shape, rolled.elem, lambda b, at: rolled.element(b, [ravelled(b, at, shape)])
    )


def _repeat(call: Given) -> Value:
    """Each element several times in a row."""
    array, axis = _axis_or_flat(call)
    count = size_of(call.builder, call.integer("repeats"))
    size = times(call.builder, array.shape[axis], count)
    return _along(array, axis, size, lambda b, i: b.prim("row_of", i, count))


def _tile(call: Given) -> Value:
    """The whole array several times along each of its last axes."""
    array = plain(call.cx, call.node, call.array("a"))
    counts = call.sizes(written_out(call.cx, [call.nodes["reps"]]))
    rank = max(array.rank, len(counts))
    counts = (Lit(1),) * (rank - len(counts)) + counts
    old = (Lit(1),) * (rank - array.rank) + array.shape
    b = call.builder
    shape = checked(b, tuple(map(partial(times, b), old, counts)))

    def element(b: Builder, indices: Indices) -> Operand:
        places = [
            i if count == Lit(1) else b.prim("column_of", i, size)
            for i, count, size in zip(indices, counts, old, strict=True)
        ]
        return array.element(b, places[rank - array.rank :])

    return _copied(array, shape, element)


def _take(call: Given) -> Value:
    """`np.take(a, indices, axis)`"""
    array, axis = _axis_or_flat(call)
    old = array.shape[axis]
    if not is_array(call.lazy("indices")):
        return _one_taken(call, array, axis)
    places = plain(call.cx, call.node, call.array("indices"))
    shape = (*array.shape[:axis], *places.shape, *array.shape[axis + 1 :])

    def element(b: Builder, indices: Indices) -> Operand:
        inner = indices[axis : axis + places.rank]
        place = b.prim("bound", places.element(b, inner), old)
        rest = indices[axis + places.rank :]
        return array.element(b, [*indices[:axis], place, *rest])

    return Delayed(shape, array.elem, element)


def _one_taken(call: Given, array: Delayed, axis: int) -> Value:
    """What stands at a single index along an axis."""
    place = call.builder.prim("bound", call.integer("indices"), array.shape[axis])

    def element(b: Builder, indices: Indices) -> Operand:
        return array.element(b, [*indices[:axis], place, *indices[axis:]])

    shape = (*array.shape[:axis], *array.shape[axis + 1 :])
    return _copied(array, shape, element) if shape else element(call.builder, ())


def _diff(call: Given) -> Value:
    """Differences of neighbours along an axis."""
    cx, node = call.cx, call.node
    array = plain(cx, node, call.array("a"))
    axis = call.axis(array.rank)
    axis = array.rank - 1 if axis is None else axis
    order = call.constant("n") if "n" in call else 1
    size_of(call.builder, Lit(order))
    for _ in range(order):
        array = delayed(cx, node, _differences(call, plain(cx, node, array), axis))
    return array


def _differences(call: Given, array: Delayed, axis: int) -> Value:
    b = call.builder
    size = b.prim("imax", b.prim("isub", array.shape[axis], Lit(1)), Lit(0))
    low = _along(array, axis, size, lambda b, i: i)
    high = _along(array, axis, size, lambda b, i: b.prim("iadd", i, Lit(1)))
    subtract = "sub" if is_float(array.elem) else "isub"

    def difference(b: Builder, x: Operand, y: Operand) -> Operand:
        if array.elem == BOOL:
            return b.prim("ine", to_int(b, x), to_int(b, y))
        return b.prim(subtract, x, y)

    return elementwise(call.cx, call.node, difference, (high, low))


SHAPING: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.reshape, "a shape *rest", _reshape, "reshape"),
    LibraryFunction(np.ravel, "a", _ravel, "ravel"),
    LibraryFunction(None, "a", _flatten, "flatten"),
    LibraryFunction(np.expand_dims, "a axis", _expand_dims),
    LibraryFunction(np.squeeze, "a axis=None", _squeeze, "squeeze"),
    LibraryFunction(np.transpose, "a axes=None *rest", _transpose, "transpose"),
    LibraryFunction(np.swapaxes, "a axis1 axis2", _swapaxes, "swapaxes"),
    LibraryFunction(np.moveaxis, "a source destination", _moveaxis),
    LibraryFunction(np.flip, "a axis=None", _flip),
    LibraryFunction(np.roll, "a shift axis=None", _roll),
    LibraryFunction(np.repeat, "a repeats axis=None", _repeat, "repeat"),
    LibraryFunction(np.tile, "a reps", _tile),
    LibraryFunction(np.take, "a indices axis=None", _take, "take"),
    LibraryFunction(np.diff, "a n=1 axis=-1", _diff),
)
