"""Arrays made of others, side by side: `np.concatenate`, `np.stack`.

    np.concatenate((x, y))   →   n + m elements, at i: x[i] if i < n, else y[i - n]
    np.concatenate(rows)     →   n * m elements, at i: rows[i // m, i % m]

Which part an element is in is found by halving (`stacking.py`); of parts that are the
rows of one array, as a comprehension makes them, by division.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from chadllvm.errors import array_errors, ragged_errors
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.comprehension import written_list
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    permuted,
    plain,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.ragged import Ragged, end_to_end, ragged, regular
from chadllvm.frontend.stacking import (
    Option,
    check_shapes,
    choose_below,
    part,
    promoted_type,
    sample_of,
    stacked_arrays,
)
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Proj
from chadllvm.ir.types import Array, list_names

# What is joined: arrays written one by one, the rows of one, or those of a list.
Parts = list[Delayed] | Delayed | Ragged


def _parts(call: Given) -> Parts:
    """What the first argument holds."""
    cx, node = call.cx, written_list(call.cx, call.nodes["arrays"])
    if isinstance(node, ast.Tuple | ast.List):
        if not node.elts:
            raise array_errors.not_arrays(cx.span(node), call.name)
        return _alike(call, [call.as_array(n) for n in node.elts])
    value = cx.lazy(node)
    if isinstance(value.type, Array) and value.type.rank > 1:
        rows = plain(cx, node, call.array_in(node, value))
        _check_some(call, rows.shape[0])
        return rows
    if isinstance(value, Delayed):
        raise array_errors.not_arrays(cx.span(node), call.name)
    names = list_names(value.type)
    if names is not None and names.depth == 1:
        return ragged(cx, node, value)
    if names is not None or not is_tuple(value.type) or not value.type.fields:
        raise array_errors.not_arrays(cx.span(node), call.name)
    b = call.builder
    parts = [b.one(Proj(value, k)) for k in range(len(value.type.fields))]
    return _alike(call, [call.array_in(node, part) for part in parts])


def _check_some(call: Given, count: Operand) -> None:
    """There is something to join; NumPy fails as well if not."""
    b = call.builder
    b.prim("same", b.prim("imin", count, Lit(1)), Lit(1))


def _alike(call: Given, arrays: Sequence[Delayed]) -> list[Delayed]:
    """The arrays with as many dimensions each and elements of one type."""
    ranks = [array.rank for array in arrays]
    if len(set(ranks)) > 1:
        raise array_errors.different_ranks(
            call.cx.span(call.nodes["arrays"]), call.name, ranks
        )
    found = promoted_type(call.builder, [sample_of(array) for array in arrays])
    return [part(call.cx, call.node, array, found) for array in arrays]


def concatenated(
    cx: Context, node: ast.expr, arrays: Sequence[Delayed], axis: int
) -> Delayed:
    """The arrays one behind the other along an axis."""
    check_shapes(cx, node, arrays, axis)
    ends: list[Operand] = []
    for array in arrays:
        size = array.shape[axis]
        ends.append(cx.at(node).prim("iadd", ends[-1], size) if ends else size)

    def option(k: int, indices: Indices) -> Option:
        def value(b: Builder) -> Operand:
            place = indices[axis]
            if k:
                place = b.prim("isub", place, ends[k - 1])
            return arrays[k].element(b, [*indices[:axis], place, *indices[axis + 1 :]])

        return value

    def element(b: Builder, indices: Indices) -> Operand:
        options = [option(k, indices) for k in range(len(arrays))]
        return choose_below(b, indices[axis], ends, options)

    shape = arrays[0].shape
    whole = (*shape[:axis], ends[-1], *shape[axis + 1 :])
    return Delayed(whole, arrays[0].elem, element)


def _joined(call: Given, parts: Parts, axis: int) -> Delayed:
    """The arrays one behind the other along an axis."""
    match parts:
        case Ragged() if axis:
            raise ragged_errors.joined_across(call.cx.span(call.nodes["arrays"]))
        case Ragged():
            return end_to_end(call.cx, call.node, parts)
        case Delayed():
            return _joined_rows(call.builder, parts, axis)
        case _:
            return concatenated(call.cx, call.node, parts, axis)


def _joined_rows(b: Builder, rows: Delayed, axis: int) -> Delayed:
    """The same of the rows of an array, of which there is one at least."""
    size = rows.shape[axis + 1]
    total = b.prim("imul", rows.shape[0], size)

    def element(b: Builder, indices: Indices) -> Operand:
        row = b.prim("row_of", indices[axis], size)
        place = b.prim("column_of", indices[axis], size)
        return rows.element(b, [row, *indices[:axis], place, *indices[axis + 1 :]])

    whole = (*rows.shape[1 : axis + 1], total, *rows.shape[axis + 2 :])
    return Delayed(whole, rows.elem, element, is_plain=True)


def _stacked(call: Given, parts: Parts, axis: int) -> Delayed:
    """The arrays along a new axis."""
    match parts:
        case Ragged():
            _check_some(call, parts.count)
            return _with_first_as(regular(call.cx, call.node, parts), axis)
        case Delayed():
            return _with_first_as(parts, axis)
        case _:
            return stacked_arrays(call.cx, call.node, parts, axis)


def _with_first_as(rows: Delayed, axis: int) -> Delayed:
    """A copy of an array, whose first axis is another one there."""
    others = list(range(1, rows.rank))
    return permuted(rows, [*others[:axis], 0, *others[axis:]], is_view=False)


def _rank(parts: Parts) -> int:
    """How many dimensions each of the arrays has."""
    match parts:
        case Ragged():
            return parts.names.rank
        case Delayed():
            return parts.rank - 1
        case _:
            return parts[0].rank


def _concatenate(call: Given) -> Value:
    parts = _parts(call)
    return _joined(call, parts, call.axis(_rank(parts)) or 0)


def _stack(call: Given) -> Value:
    parts = _parts(call)
    return _stacked(call, parts, call.axis(_rank(parts) + 1) or 0)


def _vstack(call: Given) -> Value:
    """Vectors become rows."""
    parts = _parts(call)
    make = _stacked if _rank(parts) == 1 else _joined
    return make(call, parts, 0)


def _hstack(call: Given) -> Value:
    parts = _parts(call)
    return _joined(call, parts, 0 if _rank(parts) == 1 else 1)


def _column_stack(call: Given) -> Value:
    """Vectors become columns."""
    parts = _parts(call)
    make = _stacked if _rank(parts) == 1 else _joined
    return make(call, parts, 1)


JOINING: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.concatenate, "arrays axis=0", _concatenate),
    LibraryFunction(np.stack, "arrays axis=0", _stack),
    LibraryFunction(np.vstack, "arrays", _vstack),
    LibraryFunction(np.hstack, "arrays", _hstack),
    LibraryFunction(np.column_stack, "arrays", _column_stack),
)
