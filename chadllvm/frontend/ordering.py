"""Sorting and finding: `np.sort`, `np.argsort`, `np.nonzero`.

What is sorted is gathered by its order, so that the cotangent of an element goes to
where the element came from.
"""

from __future__ import annotations

import numpy as np

from chadllvm.errors import array_errors
from chadllvm.frontend.arithmetic import truth
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
from chadllvm.frontend.places import order, sort_key, true_places
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Operand, Tuple, Var
from chadllvm.ir.types import I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index, sized
from chadllvm.support.overloads import overloaded

# The algorithms that NumPy may be asked for: ours is stable, which all of them may be.
_KINDS = ("quicksort", "mergesort", "heapsort", "stable")

_KEYS = Array(I64, 1)


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
    keys = force(cx, node, elementwise(cx, node, sort_key, (rows,)))
    function = cx.callees.placed(overloaded(order), [_KEYS], cx.span(node))
    name = cx.callees.instance(function, [_KEYS], cx.span(node), {}, frozenset(), None)

    def level(b: Builder, outer: Indices) -> Operand:
        if len(outer) == rows.rank - 1:
            row = b.apply(Index(), [keys, *outer])[0] if outer else keys
            return b.call(name, [row])[0]
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


ORDERING: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.sort, "a axis=-1 kind=None", _sort),
    LibraryFunction(np.argsort, "a axis=-1 kind=None", _argsort, "argsort"),
    LibraryFunction(np.nonzero, "a", _nonzero, "nonzero"),
    LibraryFunction(np.flatnonzero, "a", _flatnonzero),
)
