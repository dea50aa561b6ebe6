"""Arrays made of others, side by side: `np.concatenate`, `np.stack`, `np.array`.

    np.concatenate((x, y))   →   n + m elements, at i: x[i] if i < n, else y[i - n]
    np.array([a, b, c])      →   3 elements, at i: a, b or c

Which part an element is in is found by halving, so that it takes log2 of their number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from chadllvm.frontend import array_errors, ragged_errors, shape_errors, syntax_errors
from chadllvm.frontend.arithmetic import convert, is_number, join_values
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
from chadllvm.ir.term import If, Lit, Operand
from chadllvm.ir.types import F32, F64, I64, Array, Type, is_float, list_names

# Emits one of several values.
Option = Callable[[Builder], Operand]

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
    return _joined(cx.at(node), samples)


def _sample(value: Value) -> Operand:
    """A number, or one like the elements of an array."""
    if not is_number_operand(value):
        assert isinstance(value.type, Array)
        weak = isinstance(value, Delayed) and value.is_weak
        return new_state("x", value.type.elem, weak)
    return value


def _joined(b: Builder, samples: Sequence[Operand]) -> Type:
    """NumPy counts booleans among the integers here."""
    joined = join_values(*samples)
    if joined is not None:
        return joined
    some_float = any(is_float(sample.type) for sample in samples)
    return common_float(b, samples) if some_float else I64


def _part(cx: Context, node: ast.expr, value: Value, elem: Type) -> Delayed:
    return converted(plain(cx, node, delayed(cx, node, value)), elem)


def _parts(call: Given) -> list[Delayed]:
    """The arrays of the first argument, with elements of one type."""
    node = call.nodes["arrays"]
    if not isinstance(node, ast.Tuple | ast.List) or not node.elts:
        raise shape_errors.not_arrays(call.cx.span(node), call.name)
    arrays = [call.as_array(n) for n in node.elts]
    found = _joined(call.builder, [_sample(array) for array in arrays])
    return [_part(call.cx, call.node, array, found) for array in arrays]


def _check_ranks(call: Given, arrays: Sequence[Delayed]) -> None:
    ranks = [array.rank for array in arrays]
    if len(set(ranks)) > 1:
        raise shape_errors.different_ranks(
            call.cx.span(call.nodes["arrays"]), call.name, ranks
        )


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


def _list(call: Given) -> Ragged | None:
    """The argument, if it is a list of arrays of different sizes."""
    node = call.nodes["arrays"]
    if isinstance(node, ast.Tuple | ast.List):
        return None
    value = call.cx.value(node)
    if list_names(value.type) is None:
        return None
    xs = ragged(call.cx, node, value)
    if xs.names.depth > 1:
        raise shape_errors.not_arrays(call.cx.span(node), call.name)
    return xs


def _joined_list(call: Given, xs: Ragged, axis: int | None) -> Delayed:
    """The arrays of a list one behind the other: as their numbers stand already."""
    if axis not in (None, 0):
        raise ragged_errors.joined_across(call.cx.span(call.nodes["arrays"]))
    return end_to_end(call.cx, call.node, xs)


def _concatenate(call: Given) -> Value:
    xs = _list(call)
    if xs is not None:
        return _joined_list(call, xs, call.axis(xs.names.rank))
    arrays = _parts(call)
    _check_ranks(call, arrays)
    axis = call.axis(arrays[0].rank)
    return concatenated(call.cx, call.node, arrays, 0 if axis is None else axis)


def _stack(call: Given) -> Value:
    xs = _list(call)
    if xs is not None:
        first = call.axis(xs.names.rank + 1) or 0
        order = [*range(1, first + 1), 0, *range(first + 1, xs.names.rank + 1)]
        return permuted(regular(call.cx, call.node, xs), order, is_view=False)
    arrays = _parts(call)
    _check_ranks(call, arrays)
    axis = call.axis(arrays[0].rank + 1)
    return stacked_arrays(call.cx, call.node, arrays, 0 if axis is None else axis)


def _vstack(call: Given) -> Value:
    """Vectors become rows."""
    xs = _list(call)
    if xs is not None:
        is_rows = xs.names.rank == 1
        return regular(call.cx, call.node, xs) if is_rows else _joined_list(call, xs, 0)
    arrays = _parts(call)
    _check_ranks(call, arrays)
    if arrays[0].rank == 1:
        return stacked_arrays(call.cx, call.node, arrays, 0)
    return concatenated(call.cx, call.node, arrays, 0)


def _hstack(call: Given) -> Value:
    xs = _list(call)
    if xs is not None:
        return _joined_list(call, xs, 0 if xs.names.rank == 1 else 1)
    arrays = _parts(call)
    _check_ranks(call, arrays)
    axis = 0 if arrays[0].rank == 1 else 1
    return concatenated(call.cx, call.node, arrays, axis)


def _column_stack(call: Given) -> Value:
    """Vectors become columns."""
    arrays = _parts(call)
    _check_ranks(call, arrays)
    if arrays[0].rank == 1:
        return stacked_arrays(call.cx, call.node, arrays, 1)
    return concatenated(call.cx, call.node, arrays, 1)


JOINING: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.concatenate, "arrays axis=0", _concatenate),
    LibraryFunction(np.stack, "arrays axis=0", _stack),
    LibraryFunction(np.vstack, "arrays", _vstack),
    LibraryFunction(np.hstack, "arrays", _hstack),
    LibraryFunction(np.column_stack, "arrays", _column_stack),
)
