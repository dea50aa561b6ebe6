"""Reading parts: `a[i, j]`, `a[i][j]`, rows, components of tuples, `shape`.

    a[i, -1]   →   k = bound(i, dim[0](a)); l = bound(-1, dim[1](a)); index(a, k, l)

`a[i][j]` becomes one `index` as well: the indices are collected along the chain of
subscripts and checked in Python's order.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.frontend import type_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.constants import constant
from chadllvm.frontend.context import Context
from chadllvm.frontend.scope import NotStatic
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Proj, Tuple
from chadllvm.ir.types import BOOL, I64, Array, Product
from chadllvm.ops.index import Dim, Index


def subscript(cx: Context, node: ast.Subscript) -> Operand:
    """`value[i]`, `value[i, j]` and chains of these."""
    shape = _one_dimension(cx, node)
    if shape is not None:
        return shape
    chain = [node]
    while isinstance(chain[-1].value, ast.Subscript):
        chain.append(chain[-1].value)
    value = cx.value(chain[-1].value)
    pending: list[Operand] = []
    for link in reversed(chain):
        if isinstance(value.type, Array) and len(pending) == value.type.rank:
            value, pending = _read(cx, link.value, value, pending), []
        if isinstance(value.type, Array):
            pending += _indices(cx, link, value, len(pending))
        else:
            value = _component(cx, link, value)
    return _read(cx, node, value, pending)


def _read(
    cx: Context, node: ast.expr, value: Operand, indices: Sequence[Operand]
) -> Operand:
    """The element or row at indices that are in range."""
    if not indices:
        return value
    return cx.at(node).apply(Index(), [value, *indices])[0]


def _indices(
    cx: Context, node: ast.Subscript, array: Operand, axis: int
) -> list[Operand]:
    """The indices of one pair of brackets, each checked against its dimension."""
    assert isinstance(array.type, Array)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if axis + len(nodes) > array.type.rank:
        raise type_errors.too_many_indices(cx.span(node), axis + len(nodes), array.type)
    values = [_index(cx, index) for index in nodes]
    return [
        cx.at(index).prim("bound", value, dimension(cx.at(index), array, axis + k))
        for k, (index, value) in enumerate(zip(nodes, values, strict=True))
    ]


def _index(cx: Context, node: ast.expr) -> Operand:
    if isinstance(node, ast.Slice):
        raise type_errors.slice_index(cx.span(node))
    value = cx.value(node)
    if value.type not in (I64, BOOL):
        raise type_errors.not_an_index(cx.span(node), value.type)
    return to_int(cx.at(node), value)


def dimension(b: Builder, array: Operand, axis: int) -> Operand:
    """The size of an array along an axis."""
    return b.apply(Dim(axis), [array])[0]


def _component(cx: Context, node: ast.Subscript, value: Operand) -> Operand:
    if not isinstance(value.type, Product):
        raise type_errors.not_indexable(cx.span(node.value), value.type)
    at = _index(cx, node.slice)
    if not isinstance(at, Lit):
        raise type_errors.dynamic_tuple_index(cx.span(node.slice))
    return _project(cx, node, value, int(at.value))


def _project(cx: Context, node: ast.Subscript, value: Operand, index: int) -> Operand:
    assert isinstance(value.type, Product)
    size = len(value.type.fields)
    if not -size <= index < size:
        raise type_errors.tuple_index_range(cx.span(node.slice), index, size)
    return cx.at(node).one(Proj(value, index % size))


def _one_dimension(cx: Context, node: ast.Subscript) -> Operand | None:
    """`a.shape[k]` with a constant k, for which the tuple need not be made."""
    match node:
        case ast.Subscript(ast.Attribute(owner, "shape"), ast.Constant(int(axis))):
            if isinstance(axis, bool) or _is_static(cx, node.value):
                return None
            array = cx.value(owner)
            ty = array.type
            if not isinstance(ty, Array):
                raise type_errors.unknown_attribute(
                    cx.span(node.value), str(ty), "shape"
                )
            if axis >= ty.rank:
                raise type_errors.tuple_index_range(cx.span(node.slice), axis, ty.rank)
            return dimension(cx.at(node), array, axis)
        case _:
            return None


def _is_static(cx: Context, node: ast.expr) -> bool:
    try:
        cx.static(node)
    except NotStatic:
        return False
    return True


def attribute(cx: Context, node: ast.Attribute) -> Operand:
    """`a.shape`, `a.ndim`, `a.size`, or a constant of a module."""
    try:
        outside = cx.static(node)
    except NotStatic:
        return _array_attribute(cx, node)
    return constant(cx, outside, node.attr, cx.span(node))


def _array_attribute(cx: Context, node: ast.Attribute) -> Operand:
    if cx.is_module(node.value):
        raise type_errors.unknown_attribute(
            cx.span(node), f"`{ast.unparse(node.value)}`", node.attr
        )
    array = cx.value(node.value)
    if not isinstance(array.type, Array):
        raise type_errors.unknown_attribute(cx.span(node), str(array.type), node.attr)
    rank = array.type.rank
    b = cx.at(node)
    match node.attr:
        case "ndim":
            return Lit(rank)
        case "shape":
            return b.one(Tuple(tuple(dimension(b, array, k) for k in range(rank))))
        case "size":
            size = dimension(b, array, 0)
            for axis in range(1, rank):
                size = b.prim("imul", size, dimension(b, array, axis))
            return size
        case name:
            raise type_errors.unknown_attribute(cx.span(node), str(array.type), name)
