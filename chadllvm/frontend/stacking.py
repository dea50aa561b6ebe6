"""Arrays of values that stand beside each other: lists and tuples of them, rows.

    np.array([a, b, c])      →   3 elements, at i: a, b or c
    np.sum((a, b))           →   of 2 elements

Which of them an element is in is found by halving, so that it takes log2 of their
number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from chadllvm.errors import array_errors
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
    plain,
    same_size,
)
from chadllvm.frontend.tuples import unpacked
from chadllvm.frontend.width import common_float, is_weak, new_state
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lit, Operand, Proj
from chadllvm.ir.types import F32, F64, I64, Array, Type, is_float

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
    for n in unpacked(cx, nodes):
        if isinstance(n, ast.List | ast.Tuple):
            values.append(displayed(cx, n, n.elts))
        else:
            values.append(cx.lazy(n))
    elem = _common_type(cx, node, values)
    if all(map(is_array, values)):
        arrays = [part(cx, node, v, elem) for v in values]
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
    samples = [sample_of(value) for value in values]
    if len(ranks) > 1 or not all(is_number(sample.type) for sample in samples):
        raise array_errors.mixed_elements(cx.span(node))
    return promoted_type(cx.at(node), samples)


def sample_of(value: Value) -> Operand:
    """A number, or one like the elements of an array."""
    if not is_number_operand(value):
        assert isinstance(value.type, Array)
        weak = isinstance(value, Delayed) and value.is_weak
        return new_state("x", value.type.elem, weak)
    return value


def promoted_type(b: Builder, samples: Sequence[Operand]) -> Type:
    """NumPy counts booleans among the integers here."""
    joined = join_values(*samples)
    if joined is not None:
        return joined
    some_float = any(is_float(sample.type) for sample in samples)
    return common_float(b, samples) if some_float else I64


def part(cx: Context, node: ast.expr, value: Value, elem: Type) -> Delayed:
    return converted(plain(cx, node, delayed(cx, node, value)), elem)


def check_shapes(
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
    check_shapes(cx, node, arrays, None)
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


def of_tuple(cx: Context, node: ast.expr, value: Value) -> Delayed | None:
    """The array that a tuple of numbers, or of such tuples, is to NumPy, or None."""
    if not is_number_operand(value) or not is_tuple(value.type) or value.type.names:
        return None
    count = len(value.type.fields)
    if not count or not _is_regular(value.type):
        return None
    b = cx.at(node)
    parts = [b.one(Proj(value, k)) for k in range(count)]
    rows = [of_tuple(cx, node, each) or each for each in parts]
    return displayed(cx, node, [cx.settled(node, row) for row in rows])


def _is_regular(ty: Type) -> bool:
    """Whether this is a number, an array of numbers, or a tuple of either."""
    if not is_tuple(ty):
        return is_number(ty.elem if isinstance(ty, Array) else ty)
    ranks = {_rank(field) for field in ty.fields}
    return len(ranks) == 1 and all(map(_is_regular, ty.fields))


def _rank(ty: Type) -> int:
    if is_tuple(ty):
        return 1 + max(map(_rank, ty.fields), default=0)
    return ty.rank if isinstance(ty, Array) else 0
