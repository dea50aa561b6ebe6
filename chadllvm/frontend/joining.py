"""Arrays made of others, side by side: `np.concatenate`, `np.stack`, `np.array`.

    np.concatenate((x, y))   →   n + m elements, at i: x[i] if i < n, else y[i - n]
    np.concatenate(rows)     →   n * m elements, at i: rows[i // m, i % m]
    np.array([a, b, c])      →   3 elements, at i: a, b or c

Which part an element is in is found by halving, so that it takes log2 of their number;
of parts that are the rows of one array, as a comprehension makes them, by division.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from chadllvm.frontend import array_errors, ragged_errors, shape_errors, syntax_errors
from chadllvm.frontend.arithmetic import convert, is_number, join_values
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Shape,
    Value,
    converted,
    delayed,
    is_array,
    is_number_operand,
    permuted,
    plain,
    same_size,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.ragged import Ragged, end_to_end, ragged, regular
from chadllvm.frontend.width import common_float, is_weak, new_state
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lit, Operand, Proj
from chadllvm.ir.types import F32, F64, I64, Array, Type, is_float, list_names

# Emits one of several values.
Option = Callable[[Builder], Operand]

# What is joined: arrays written one by one, the rows of one, or those of a list.
Parts = list[Delayed] | Delayed | Ragged

# Numbers up to as many are chosen from without branches.
_FEW = 8


def choose_below(
    b: Builder, index: Operand, limits: Sequence[Operand], options: Sequence[Option]
) -> Operand:
    """The first option whose limit the index is below; the last one has none."""
    if len(options) == 1:
        return options[0](b)
    half = len(options) // 2
    test = b.prim("ilt", index, limits[half - 1])
    sides = []
    for part in (slice(None, half), slice(half, None)):
        inner = b.child()
        value = choose_below(inner, index, limits[part], options[part])
        sides.append(inner.block([value]))
    return b.one(If(test, *sides))


def choose_item(b: Builder, index: Operand, values: Sequence[Operand]) -> Operand:
    """One of several values that there are already."""
    if len(values) > _FEW or values[0].type not in (F64, F32, I64):
        limits = [Lit(k + 1) for k in range(len(values))]
        return choose_below(b, index, limits, [_number(v) for v in values])
    name = "select" if is_float(values[0].type) else "iselect"
    result = values[-1]
    for k in range(len(values) - 2, -1, -1):
        result = b.prim(name, b.prim("ieq", index, Lit(k)), values[k], result)
    return result


def _number(value: Operand) -> Option:
    return lambda b: value


def displayed(cx: Context, node: ast.expr, nodes: Sequence[ast.expr]) -> Delayed:
    """The array of values written one by one, which may be arrays or lists."""
    if not nodes:
        raise array_errors.empty_array(cx.span(node))
    values: list[Value] = []
    for n in nodes:
        if isinstance(n, ast.Starred):
            raise syntax_errors.starred(cx.span(n))
        if isinstance(n, ast.List | ast.Tuple):
            values.append(displayed(cx, n, n.elts))
        else:
            values.append(cx.lazy(n))
    elem = _common_type(cx, node, values)
    if all(map(is_array, values)):
        arrays = [_part(cx, node, v, elem) for v in values]
        weak = all(isinstance(v, Delayed) and v.is_weak for v in values)
        return replace(stacked_arrays(cx, node, arrays, 0), is_weak=weak)
    given = filter(is_number_operand, values)
    numbers = [convert(cx.at(node), v, elem) for v in given]

    def element(b: Builder, indices: Indices) -> Operand:
        return choose_item(b, indices[0], numbers)

    shape, weak = (Lit(len(nodes)),), all(map(is_weak, values))
    return Delayed(shape, elem, element, is_plain=True, is_weak=weak)


def _common_type(cx: Context, node: ast.expr, values: Sequence[Value]) -> Type:
    """The type of elements that all of these promote to."""
    ranks = {v.type.rank if isinstance(v.type, Array) else 0 for v in values}
    samples = [_sample(value) for value in values]
    if len(ranks) > 1 or not all(is_number(sample.type) for sample in samples):
        raise array_errors.mixed_elements(cx.span(node))
    return _promoted(cx.at(node), samples)


def _sample(value: Value) -> Operand:
    """A number, or one like the elements of an array."""
    if not is_number_operand(value):
        assert isinstance(value.type, Array)
        weak = isinstance(value, Delayed) and value.is_weak
        return new_state("x", value.type.elem, weak)
    return value


def _promoted(b: Builder, samples: Sequence[Operand]) -> Type:
    """NumPy counts booleans among the integers here."""
    joined = join_values(*samples)
    if joined is not None:
        return joined
    some_float = any(is_float(sample.type) for sample in samples)
    return common_float(b, samples) if some_float else I64


def _part(cx: Context, node: ast.expr, value: Value, elem: Type) -> Delayed:
    return converted(plain(cx, node, delayed(cx, node, value)), elem)


def _parts(call: Given) -> Parts:
    """What the first argument holds."""
    cx, node = call.cx, call.nodes["arrays"]
    if isinstance(node, ast.Tuple | ast.List):
        if not node.elts:
            raise shape_errors.not_arrays(cx.span(node), call.name)
        return _alike(call, [call.as_array(n) for n in node.elts])
    value = cx.lazy(node)
    if isinstance(value.type, Array) and value.type.rank > 1:
        rows = plain(cx, node, call.array_in(node, value))
        _check_some(call, rows.shape[0])
        return rows
    if isinstance(value, Delayed):
        raise shape_errors.not_arrays(cx.span(node), call.name)
    names = list_names(value.type)
    if names is not None and names.depth == 1:
        return ragged(cx, node, value)
    if names is not None or not is_tuple(value.type) or not value.type.fields:
        raise shape_errors.not_arrays(cx.span(node), call.name)
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
        raise shape_errors.different_ranks(
            call.cx.span(call.nodes["arrays"]), call.name, ranks
        )
    found = _promoted(call.builder, [_sample(array) for array in arrays])
    return [_part(call.cx, call.node, array, found) for array in arrays]


def _check_shapes(
    cx: Context, node: ast.expr, arrays: Sequence[Delayed], free: int | None
) -> None:
    """All sizes are equal, but for that of the `free` axis."""
    first = arrays[0].shape
    for other in arrays[1:]:
        for axis, (n, m) in enumerate(zip(first, other.shape, strict=True)):
            if axis != free and not same_size(n, m):
                cx.at(node).prim("same", n, m)


def stacked_arrays(
    cx: Context, node: ast.expr, arrays: Sequence[Delayed], axis: int
) -> Delayed:
    """The arrays along a new axis."""
    _check_shapes(cx, node, arrays, None)
    limits = [Lit(k + 1) for k in range(len(arrays))]

    def element(b: Builder, indices: Indices) -> Operand:
        own = [*indices[:axis], *indices[axis + 1 :]]
        options = [_reading(array, own) for array in arrays]
        return choose_below(b, indices[axis], limits, options)

    shape = arrays[0].shape
    whole: Shape = (*shape[:axis], Lit(len(arrays)), *shape[axis:])
    return Delayed(whole, arrays[0].elem, element)


def _reading(array: Delayed, indices: Indices) -> Option:
    return lambda b: array.element(b, indices)


def concatenated(
    cx: Context, node: ast.expr, arrays: Sequence[Delayed], axis: int
) -> Delayed:
    """The arrays one behind the other along an axis."""
    _check_shapes(cx, node, arrays, axis)
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
        row = b.prim("ifloordiv", indices[axis], size)
        place = b.prim("imod", indices[axis], size)
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
