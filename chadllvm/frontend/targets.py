"""Binding values to targets: names, elements of arrays, and tuples of targets.

    x, y = point      →   x, y = point.0, point.1      if it is a tuple
                          x, y = point[0], point[1]    if it is an array of two

Arrays are values: from an assignment to an element on, the name stands for the updated
array (`writing.py`). That this is what Python does, where all names of an array see the
update, is checked on the whole program (`simplify/sharing.py`).
"""

from __future__ import annotations

import ast
from functools import partial

from chadllvm.errors import record_errors, statement_errors, type_errors, update_errors
from chadllvm.frontend.arithmetic import join_values
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
    starred = [k for k, part in enumerate(elements) if isinstance(part, ast.Starred)]
    if isinstance(ty, Array) or list_names(ty) is not None:
        _unpack_array(cx, target, elements, value, *starred)
        return
    value = opened(cx.at(target), value)
    ty = value.type
    if not is_tuple(ty):
        raise type_errors.not_unpackable(cx.span(target), ty)
    if isinstance(ty.names, RecordNames) and not ty.names.is_sequence:
        raise record_errors.not_unpackable(cx.span(target), ty.names.title)
    size, extra = len(ty.fields), len(ty.fields) - len(elements) + 1
    if extra < 0 if starred else size != len(elements):
        raise type_errors.wrong_unpacking(cx.span(target), len(elements), size)
    at = 0
    for part in elements:
        since = len(cx.builder.bindings)
        if isinstance(part, ast.Starred):
            parts = [component(cx.at(part), value, at + k) for k in range(extra)]
            nodes = [cx.settled(part, each) for each in parts]
            is_mixed = len(parts) > 1 and join_values(*parts) is None
            kind = ast.Tuple if is_mixed else ast.List
            rest = cx.value(ast.copy_location(kind(nodes, ast.Load()), part))
            bind_target(cx, part.value, rest, since)
            at += extra
            continue
        bind_target(cx, part, component(cx.at(part), value, at), since)
        at += 1


def _unpack_array(
    cx: Context,
    target: ast.expr,
    elements: list[ast.expr],
    value: Operand,
    starred: int | None = None,
) -> None:
    """`x, y = point`: how many elements there are is seen when the program runs.

    `x, *others = point`: the place of what takes all others is `starred`.
    """
    b = cx.at(target)
    xs = None if isinstance(value.type, Array) else ragged(cx, target, value)
    size = dimension(b, value, 0) if xs is None else xs.count
    asked = Lit(len(elements))
    if starred is not None:
        least = Lit(len(elements) - 1)
        size, asked = b.prim("imin", size, least), least
    b.prim("unpacked", size, asked)
    for k, part in enumerate(elements):
        since = len(cx.builder.bindings)
        if starred is not None and k >= starred:
            place = _end_of(part, cx.settled(target, value), k, k - len(elements))
            name = part.value if isinstance(part, ast.Starred) else part
            bind_target(cx, name, cx.value(place), since)
            continue
        if xs is None:
            item: Operand = cx.at(part).apply(Index(), [value, Lit(k)])[0]
        else:
            item = made_element(cx, part, cx.at(part), xs, Lit(k))
        bind_target(cx, part, item, since)


def _end_of(part: ast.expr, whole: ast.expr, first: int, last: int) -> ast.expr:
    """`whole[last]`; the list of `whole[first:last + 1]` if the part is starred."""
    at = partial(ast.copy_location, old_node=part)
    if not isinstance(part, ast.Starred):
        single = ast.Subscript(whole, at(ast.Constant(last)), ast.Load())
        return ast.copy_location(single, part)
    end = at(ast.Constant(last + 1)) if last < -1 else None
    places = at(ast.Slice(at(ast.Constant(first)), end))
    rest = at(ast.Subscript(whole, places, ast.Load()))
    item, name = (at(ast.Name("item.", c)) for c in (ast.Store(), ast.Load()))
    clause = ast.comprehension(item, rest, [], 0)
    return ast.copy_location(ast.ListComp(name, [clause]), part)
