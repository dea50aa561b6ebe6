"""Binding values to targets: names, elements of arrays, and tuples of targets.

    a[i, j] = v   →   k = bound(i, dim[0](a)); l = bound(j, dim[1](a))
                      a = update(a, k, l, v)

Arrays are values: from here on the name stands for the updated array. That this is what
Python does, where all names of an array see the update, is checked on the whole program
(`simplify/sharing.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.frontend import type_errors
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.context import Context
from chadllvm.frontend.subscript import dimension, element_indices
from chadllvm.frontend.surface import base
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Block, Lambda, Operand, Proj, Var
from chadllvm.ir.types import I64, Array, Product, Type, element
from chadllvm.ops.build import Build
from chadllvm.ops.update import Update


def bind_target(cx: Context, target: ast.expr, value: Operand, since: int) -> None:
    """Make a target stand for a value that was computed after `since` bindings."""
    if isinstance(target, ast.Name):
        cx.scope.bind(target.id, cx.named(value, target.id, since))
        return
    match target:
        case ast.Tuple(elements) | ast.List(elements):
            _unpack(cx, target, elements, value)
        case ast.Starred():
            raise type_errors.starred(cx.span(target))
        case ast.Attribute():
            raise type_errors.attribute_update(cx.span(target))
        case ast.Subscript():
            _update(cx, target, value)
        case _:
            raise type_errors.element_update(cx.span(target))


def _update(cx: Context, target: ast.Subscript, value: Operand) -> None:
    """`a[i][j] = value` for a variable a."""
    name = base(target)
    if name is None:
        raise type_errors.element_update(cx.span(target))
    array = cx.value(name)
    if not isinstance(array.type, Array):
        raise type_errors.not_updatable(cx.span(name), array.type)
    indices = element_indices(cx, target, array)
    part = element(array.type, len(indices))
    new = _as_part(cx, target, value, part, array, indices)
    (updated,) = cx.at(target).apply(Update(), [array, *indices, new], [], [name.id])
    cx.scope.bind(name.id, updated)


def _as_part(
    cx: Context,
    target: ast.Subscript,
    value: Operand,
    part: Type,
    array: Operand,
    indices: Sequence[Operand],
) -> Operand:
    """The value as an element, or as a row of the array's dimensions."""
    b = cx.at(target)
    if not isinstance(part, Array):
        if join(value.type, part) != part:
            raise type_errors.wrong_element(cx.span(target), part, value.type)
        return convert(b, value, part)
    sizes = [dimension(b, array, len(indices) + axis) for axis in range(part.rank)]
    if isinstance(value.type, Array):
        if value.type != part:
            raise type_errors.wrong_element(cx.span(target), part, value.type)
        return _checked_row(b, value, sizes)
    if join(value.type, part.elem) != part.elem:
        raise type_errors.wrong_element(cx.span(target), part, value.type)
    return _filled(b, convert(b, value, part.elem), sizes)


def _checked_row(b: Builder, row: Operand, sizes: Sequence[Operand]) -> Operand:
    """The row, which must have these dimensions."""
    for axis, size in enumerate(sizes):
        b.prim("same", dimension(b, row, axis), size)
    return row


def _filled(b: Builder, value: Operand, sizes: Sequence[Operand]) -> Operand:
    """An array of these dimensions with one value everywhere."""
    for size in reversed(sizes):
        body = Lambda((Var("i", I64),), Block((), (value,)))
        (value,) = b.apply(Build(), [size], [body])
    return value


def _unpack(
    cx: Context, target: ast.expr, elements: list[ast.expr], value: Operand
) -> None:
    ty = value.type
    if not isinstance(ty, Product):
        raise type_errors.not_unpackable(cx.span(target), ty)
    for part in elements:
        if isinstance(part, ast.Starred):
            raise type_errors.starred(cx.span(part))
    if len(ty.fields) != len(elements):
        raise type_errors.wrong_unpacking(
            cx.span(target), len(elements), len(ty.fields)
        )
    for k, part in enumerate(elements):
        since = len(cx.builder.bindings)
        bind_target(cx, part, cx.at(part).one(Proj(value, k)), since)
