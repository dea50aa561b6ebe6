"""Reading parts: `a[i, j]`, `a[i][j]`, rows, components of tuples, attributes.

    a[i, -1]   →   k = bound(i, dim[0](a)); l = bound(-1, dim[1](a)); index(a, k, l)

`a[i][j]` becomes one `index` as well: the indices are collected along the chain of
subscripts and checked in Python's order. What is more than indices stands in
`slicing.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import name_errors, type_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.cases import by_case, check_members
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.constants import constant
from chadllvm.frontend.containers import entry, is_record_value, record_attribute
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Value,
    delayed,
    for_sizes,
    is_array,
    is_number_operand,
    number_of,
    shape_of,
    transposed,
)
from chadllvm.frontend.displays import components_of, listed_arrays
from chadllvm.frontend.ragged_making import item_of
from chadllvm.frontend.recovery import unknown_in_module
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.slicing import Item, is_syntax, part
from chadllvm.frontend.static import static_value
from chadllvm.frontend.tuples import sliced
from chadllvm.frontend.width import component, item
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Tuple, Var
from chadllvm.ir.types import BOOL, I64, Array, Product, list_names, opened_type
from chadllvm.ir.union import is_none, is_union
from chadllvm.ir.wording import said
from chadllvm.ops.index import Dim


def subscript(cx: Context, node: ast.Subscript) -> Value:
    """`value[i]`, `value[i, j]`, `value[i:j]` and chains of these."""
    shape = _one_dimension(cx, node)
    if shape is not None:
        return shape
    known = _static_part(cx, node)
    if known is not None:
        return known
    chain = [node]
    while isinstance(chain[-1].value, ast.Subscript):
        chain.append(chain[-1].value)
    value, chain = _innermost(cx, chain)
    pending: list[Operand] = []
    for link in reversed(chain):
        if isinstance(value.type, Array) and len(pending) == value.type.rank:
            value, pending = _read(cx, link.value, value, pending), []
        if not isinstance(value, Delayed) and list_names(value.type) is not None:
            value = item_of(cx, link, value)
            continue
        named = None if pending else entry(cx, link, value)
        if named is not None:
            value = named
            continue
        if not isinstance(value.type, Array):
            value = _component(cx, link, value)
            continue
        items = index_items(cx, link)
        if isinstance(value, Delayed) or not all(map(_is_number, items)):
            base = _read(cx, link.value, value, pending)
            value, pending = part(cx, link, base, items), []
        else:
            pending += _checked(cx, link, value, len(pending), items)
    return _read(cx, node, value, pending)


def _innermost(
    cx: Context, chain: list[ast.Subscript]
) -> tuple[Value, list[ast.Subscript]]:
    """What a chain begins with, and the subscripts of it, of which the last is first.

    Of arrays that are listed, as in `[a, b][i]`, one is taken: they may have several
    sizes, and are not copied.
    """
    link, listed = chain[-1], chain[-1].value
    is_plain = not is_syntax(link.slice) and not isinstance(link.slice, ast.Tuple)
    if not isinstance(listed, ast.List) or not is_plain:
        return cx.lazy(listed), chain
    arrays = listed_arrays(cx, listed)
    if isinstance(arrays, ast.List):
        return cx.lazy(arrays), chain
    at = cx.at(link).prim("bound", _index(cx, link.slice), Lit(len(arrays.values)))
    return arrays.one(cx, cx.at(link), at), chain[:-1]


def index_items(cx: Context, node: ast.Subscript) -> list[Item]:
    """What stands between brackets: values, and the nodes of slices, None and `...`.

    A tuple, as `np.nonzero` gives one, stands for what is in it.
    """
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    values = [n if is_syntax(n) else cx.lazy(n) for n in nodes]
    match values:
        case [Var(type=Product() as ty) as whole] if is_tuple(ty) and ty.fields:
            b = cx.at(node.slice)
            values = [component(b, whole, k) for k in range(len(ty.fields))]
            nodes = nodes * len(values)
    pairs = zip(nodes, values, strict=True)
    return [v if isinstance(v, ast.expr) else _index_value(cx, n, v) for n, v in pairs]


def index_nodes(node: ast.Subscript, items: Sequence[Item]) -> list[ast.expr]:
    """Where each of these items stands."""
    if isinstance(node.slice, ast.Tuple):
        return node.slice.elts
    return [node.slice] * len(items)


def _index_value(cx: Context, node: ast.expr, value: Value) -> Item:
    """An index, an index array, or a `None` for a value that is None: `np.newaxis`."""
    if is_none(value.type):
        return ast.copy_location(ast.Constant(None), node)
    ty = value.type.elem if isinstance(value.type, Array) else value.type
    if ty not in (I64, BOOL):
        raise type_errors.not_an_index(cx.span(node), value.type)
    return to_int(cx.at(node), value) if is_number_operand(value) else value


def _is_number(item: Item) -> bool:
    return not isinstance(item, ast.expr) and not is_array(item)


def _read(
    cx: Context, node: ast.expr, value: Value, indices: Sequence[Operand]
) -> Value:
    """The element or row at indices that are in range."""
    if not indices or isinstance(value, Delayed):
        return value
    part = item(cx.at(node), value, *indices)
    if is_array(part):
        assert isinstance(value, Var)
        cx.views[part] = value
    return part


def _checked(
    cx: Context,
    node: ast.Subscript,
    array: Operand,
    axis: int,
    values: Sequence[Item],
) -> list[Operand]:
    """Indices from an axis on, each checked against its dimension."""
    assert isinstance(array.type, Array)
    if axis + len(values) > array.type.rank:
        count = axis + len(values)
        raise type_errors.too_many_indices(cx.span(node), count, array.type)
    found: list[Operand] = []
    pairs = zip(index_nodes(node, values), values, strict=True)
    for k, (index, value) in enumerate(pairs):
        assert isinstance(value, Var | Lit)
        size = dimension(cx.at(index), array, axis + k)
        found.append(cx.at(index).prim("bound", value, size))
    return found


def _index(cx: Context, node: ast.expr) -> Operand:
    value = cx.value(node)
    if value.type not in (I64, BOOL):
        raise type_errors.not_an_index(cx.span(node), value.type)
    return to_int(cx.at(node), value)


def dimension(b: Builder, array: Operand, axis: int) -> Operand:
    """The size of an array along an axis."""
    return b.apply(Dim(axis), [array])[0]


def _component(cx: Context, node: ast.Subscript, value: Value) -> Operand:
    if isinstance(value, Delayed) or not is_tuple(value.type):
        raise type_errors.not_indexable(cx.span(node.value), value.type)
    if isinstance(node.slice, ast.Slice):
        return sliced(cx, node, node.slice, value)
    at = _index(cx, node.slice)
    if not isinstance(at, Lit):
        listed = components_of(cx, node, value)
        if listed is None:
            raise type_errors.dynamic_tuple_index(cx.span(node.slice), value.type)
        b = cx.at(node)
        return listed.one(cx, b, b.prim("bound", at, Lit(len(listed.values))))
    return _project(cx, node, value, int(at.value))


def _project(cx: Context, node: ast.Subscript, value: Operand, index: int) -> Operand:
    held = opened_type(value.type)
    assert isinstance(held, Product)
    size = len(held.fields)
    if not -size <= index < size:
        raise type_errors.tuple_index_range(cx.span(node.slice), index, size)
    return component(cx.at(node), value, index % size)


def _one_dimension(cx: Context, node: ast.Subscript) -> Operand | None:
    """`a.shape[k]` with a constant k, for which the tuple need not be made."""
    match node:
        case ast.Subscript(ast.Attribute(owner, "shape"), ast.Constant(int(axis))):
            if isinstance(axis, bool) or _is_static(cx, node.value):
                return None
            array = cx.lazy(owner)
            ty = array.type
            if not isinstance(ty, Array):
                raise name_errors.unknown_attribute(
                    cx.span(node.value), said(ty), "shape"
                )
            if axis >= ty.rank:
                raise type_errors.tuple_index_range(cx.span(node.slice), axis, ty.rank)
            if isinstance(array, Delayed) or array in cx.shapes:
                if isinstance(array, Delayed):
                    return for_sizes(cx, node, array).shape[axis]
                return shape_of(cx, node, array)[axis]
            return dimension(cx.at(node), array, axis)
        case _:
            return None


def _static_part(cx: Context, node: ast.Subscript) -> Operand | None:
    """A part of a static argument, which may hold strings as well."""
    match node.value:
        case ast.Name(name) if cx.surroundings.is_static(name) and not cx.is_local(
            name
        ):
            pass
        case _:
            return None
    try:
        value = static_value(cx, node)
    except NotStatic:
        return None
    return constant(cx, value, ast.unparse(node), cx.span(node))


def _is_static(cx: Context, node: ast.expr) -> bool:
    try:
        cx.static(node)
    except NotStatic:
        return False
    return True


def attribute(cx: Context, node: ast.Attribute) -> Value:
    """`a.shape`, `a.ndim`, `a.size`, `a.T`, or a constant of a module."""
    try:
        outside = cx.static(node)
    except NotStatic:
        return _value_attribute(cx, node)
    return constant(cx, outside, node.attr, cx.span(node))


def _value_attribute(cx: Context, node: ast.Attribute) -> Value:
    if cx.is_module(node.value):
        raise unknown_in_module(cx, node)
    value = cx.lazy(node.value)
    if is_union(value.type) and not isinstance(value, Delayed):
        check_members(cx, node, value.type)
        return by_case(cx, node, value, lambda held: record_attribute(cx, node, held))
    if is_record_value(value) and not is_none(value.type):
        return record_attribute(cx, node, value)
    if not is_array(value):
        raise name_errors.unknown_attribute(cx.span(node), said(value.type), node.attr)
    array = delayed(cx, node, value)
    match node.attr:
        case "ndim":
            return Lit(array.rank)
        case "shape":
            return cx.at(node).one(Tuple(for_sizes(cx, node, value).shape))
        case "size":
            return number_of(cx.at(node), for_sizes(cx, node, value).shape)
        case "T":
            return transposed(array)
        case name:
            raise name_errors.unknown_attribute(cx.span(node), str(array.type), name)
