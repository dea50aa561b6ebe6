"""Binding values to targets: names, elements of arrays, and tuples of targets.

    x, y = point      →   x, y = point.0, point.1      if it is a tuple
                          x, y = point[0], point[1]    if it is an array of two

Arrays are values: from an assignment to an element on, the name stands for the updated
array (`writing.py`). That this is what Python does, where all names of an array see the
update, is checked on the whole program (`simplify/sharing.py`).
"""

from __future__ import annotations

import ast

from chadllvm.errors import record_errors, statement_errors, type_errors, update_errors
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.ragged import made_element, ragged
from chadllvm.frontend.references import opened
from chadllvm.frontend.subscript import dimension
from chadllvm.frontend.width import component
from chadllvm.frontend.writing import assign, place_of
from chadllvm.ir.record import RecordNames
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import Array, list_names
from chadllvm.ops.index import Index


def bind_target(cx: Context, target: ast.expr, value: Operand, since: int) -> None:
    """Make a target stand for a value that was computed after `since` bindings."""
    if isinstance(target, ast.Name):
        cx.scope.assign(target.id, cx.named(value, target.id, since))
        return
    match target:
        case ast.Tuple(elements) | ast.List(elements):
            _unpack(cx, target, elements, value)
        case ast.Starred():
            raise statement_errors.starred(cx.span(target))
        case ast.Attribute():
            raise update_errors.attribute_update(cx.span(target))
        case ast.Subscript():
            assign(cx, place_of(cx, target), value)
        case _:
            raise update_errors.element_update(cx.span(target))


def _unpack(
    cx: Context, target: ast.expr, elements: list[ast.expr], value: Operand
) -> None:
    ty = value.type
    for part in elements:
        if isinstance(part, ast.Starred):
            raise statement_errors.starred(cx.span(part))
    if isinstance(ty, Array) or list_names(ty) is not None:
        _unpack_array(cx, target, elements, value)
        return
    value = opened(cx.at(target), value)
    ty = value.type
    if not is_tuple(ty):
        raise type_errors.not_unpackable(cx.span(target), ty)
    if isinstance(ty.names, RecordNames) and not ty.names.is_sequence:
        raise record_errors.not_unpackable(cx.span(target), ty.names.title)
    if len(ty.fields) != len(elements):
        raise type_errors.wrong_unpacking(
            cx.span(target), len(elements), len(ty.fields)
        )
    for k, part in enumerate(elements):
        since = len(cx.builder.bindings)
        bind_target(cx, part, component(cx.at(part), value, k), since)


def _unpack_array(
    cx: Context, target: ast.expr, elements: list[ast.expr], value: Operand
) -> None:
    """`x, y = point`: how many elements there are is seen when the program runs."""
    b = cx.at(target)
    xs = None if isinstance(value.type, Array) else ragged(cx, target, value)
    size = dimension(b, value, 0) if xs is None else xs.count
    b.prim("unpacked", size, Lit(len(elements)))
    for k, part in enumerate(elements):
        since = len(cx.builder.bindings)
        if xs is None:
            item: Operand = cx.at(part).apply(Index(), [value, Lit(k)])[0]
        else:
            item = made_element(cx, part, cx.at(part), xs, Lit(k))
        bind_target(cx, part, item, since)
