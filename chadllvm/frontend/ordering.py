"""Sorting and searching: `np.sort`, `np.argsort`, `np.nonzero`, `np.searchsorted`.

What is sorted is gathered by its order, so that the cotangent of an element goes to
where the element came from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chadllvm.frontend import array_errors, shape_errors
from chadllvm.frontend.arithmetic import promoted, truth
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    delayed,
    elementwise,
    flat,
    force,
    permuted,
    plain,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.places import order, true_places
from chadllvm.frontend.reductions import at_least_int
from chadllvm.frontend.width import floats
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Tuple, Var
from chadllvm.ir.types import I64, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index, sized
from chadllvm.ops.iterate import Iterate

# The algorithms that NumPy may be asked for: ours is stable, which all of them may be.
_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _argsort(call: Given) -> Value:
    """The order along an axis, the last one if none is named; equals keep theirs."""
    axis, _, places = _orders(call)
    return _moved_back(delayed(call.cx, call.node, places), axis)


def _sort(call: Given) -> Value:
    axis, rows, places = _orders(call)

    def element(b: Builder, indices: Indices) -> Operand:
        (place,) = b.apply(Index(), [places, *indices])
        return rows.element(b, [*indices[:-1], place])

    return _moved_back(Delayed(rows.shape, rows.elem, element, is_plain=True), axis)


def _moved_last(array: Delayed, axis: int) -> Delayed:
    axes = [*(k for k in range(array.rank) if k != axis), axis]
    return permuted(array, axes, is_view=False)


def _moved_back(array: Delayed, axis: int) -> Delayed:
    axes = list(range(array.rank - 1))
    axes.insert(axis, array.rank - 1)
    return permuted(array, axes, is_view=False)


def _orders(call: Given) -> tuple[int, Delayed, Operand]:
    """The axis, the array with that axis last, and the order along it."""
    cx, node = call.cx, call.node
    if "kind" in call and call.text("kind") not in _KINDS:
        raise array_errors.unknown_option(cx.span(node), call.name, "kind", _KINDS)
    array = plain(cx, node, call.array("a"))
    axis = call.axis(array.rank)
    axis = array.rank - 1 if axis is None else axis
    rows = delayed(cx, node, force(cx, node, _moved_last(array, axis)))
    keys = force(cx, node, at_least_int(rows))

    def level(b: Builder, outer: Indices) -> Operand:
        if len(outer) == rows.rank - 1:
            row = b.apply(Index(), [keys, *outer])[0] if outer else keys
            return order(b, row, rows.shape[-1])
        index, inner = Var("i", I64), b.child()
        body = Lambda((index,), inner.block([level(inner, [*outer, index])]))
        return b.apply(Build(), [rows.shape[len(outer)]], [body])[0]

    places = sized(call.builder, level(call.builder, ()), rows.shape)
    cx.shapes[places] = rows.shape
    return axis, rows, places


def _mask(call: Given) -> Delayed:
    array = call.array("a")
    return delayed(call.cx, call.node, elementwise(call.cx, call.node, truth, (array,)))


def _nonzero(call: Given) -> Value:
    """A tuple of index arrays, one for each dimension."""
    cx, node = call.cx, call.node
    places = [force(cx, node, p) for p in true_places(cx, node, _mask(call))]
    return call.builder.one(Tuple(tuple(places)))


def _flatnonzero(call: Given) -> Value:
    cx, node = call.cx, call.node
    (places,) = true_places(cx, node, flat(cx, node, _mask(call)))
    return places


# ---- searching -------------------------------------------------------------------


def place_of(
    b: Builder,
    array: Delayed,
    size: Operand,
    value: Operand,
    less: Callable[..., Operand],
) -> Operand:
    """How many elements of a sorted array are less than a value, by halving."""
    low, high, inner = Var("low", I64), Var("high", I64), b.child()
    middle = inner.prim("ifloordiv", inner.prim("iadd", low, high), Lit(2))
    inside = inner.prim("imin", middle, inner.prim("isub", size, Lit(1)))
    is_open = inner.prim("ilt", low, high)
    is_less = less(inner, array.element(inner, [inside]), value)
    goes_up = inner.prim("and", is_open, is_less)
    up = inner.prim("iselect", goes_up, inner.prim("iadd", middle, Lit(1)), low)
    stays = inner.prim("or", goes_up, inner.prim("not", is_open))
    down = inner.prim("iselect", stays, high, middle)
    body = Lambda((Var("step", I64), low, high), inner.block([up, down]))
    steps = b.prim("bit_length", size)
    return b.apply(Iterate(), [steps, Lit(0), size], [body])[0]


def _less(b: Builder, x: Operand, y: Operand) -> Operand:
    """Whether x is sorted before y: NaN comes last."""
    x, y = promoted(b, x, y)
    if not is_float(x.type):
        return b.prim("ilt", x, y)
    is_before_nan = b.prim("and", b.prim("feq", x, x), b.prim("fne", y, y))
    return b.prim("or", b.prim("flt", x, y), is_before_nan)


def _less_or_equal(b: Builder, x: Operand, y: Operand) -> Operand:
    x, y = promoted(b, x, y)
    return b.prim("fle" if is_float(x.type) else "ile", x, y)


def _vector(call: Given, name: str) -> Delayed:
    array = plain(call.cx, call.node, call.array(name))
    if array.rank != 1:
        raise shape_errors.wrong_rank(
            call.cx.span(call.nodes[name]), call.name, "a vector", array.type
        )
    return array


def _searchsorted(call: Given) -> Value:
    array = _vector(call, "a")
    size = array.shape[0]
    return elementwise(
        call.cx,
        call.node,
        lambda b, v: place_of(b, array, size, v, _less),
        (call.lazy("v"),),
    )


def _interp(call: Given) -> Value:
    """Linear between the points, constant outside of them."""
    cx, node = call.cx, call.node
    points, heights = _vector(call, "xp"), _vector(call, "fp")
    size = call.builder.prim("same", points.shape[0], heights.shape[0])
    size = call.builder.prim("sampled", size)
    last = call.builder.prim("isub", size, Lit(1))

    def meaning(b: Builder, x: Operand) -> Operand:
        count = place_of(b, points, size, x, _less_or_equal)
        left = b.prim("imax", b.prim("isub", count, Lit(1)), Lit(0))
        right = b.prim("imin", count, last)
        ends = [a.element(b, [k]) for a in (points, heights) for k in (left, right)]
        x, x0, x1, y0, y1 = floats(b, x, *ends)
        is_flat = b.prim("ieq", left, right)
        width = b.prim("select", is_flat, Lit(1.0), b.prim("sub", x1, x0))
        # Of an infinite height the difference to itself is no number.
        rise = b.prim("select", is_flat, Lit(0.0), b.prim("sub", y1, y0))
        slope = b.prim("div", rise, width)
        # Beside several points, NaN is nowhere.
        has_place = b.prim("or", b.prim("feq", x, x), b.prim("ieq", size, Lit(1)))
        is_outside = b.prim("and", is_flat, has_place)
        offset = b.prim("select", is_outside, Lit(0.0), b.prim("sub", x, x0))
        return b.prim("add", y0, b.prim("mul", slope, offset))

    return elementwise(cx, node, meaning, (call.lazy("x"),))


ORDERING: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.sort, "a axis=-1 kind=None", _sort),
    LibraryFunction(np.argsort, "a axis=-1 kind=None", _argsort, "argsort"),
    LibraryFunction(np.nonzero, "a", _nonzero, "nonzero"),
    LibraryFunction(np.flatnonzero, "a", _flatnonzero),
    LibraryFunction(np.searchsorted, "a v", _searchsorted, "searchsorted"),
    LibraryFunction(np.interp, "x xp fp", _interp),
)
