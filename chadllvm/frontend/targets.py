"""Binding values to targets: names, and tuples of targets."""

from __future__ import annotations

import ast

from chadllvm.frontend import type_errors
from chadllvm.frontend.context import Context
from chadllvm.ir.term import Operand, Proj
from chadllvm.ir.types import Product


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
        case _:
            raise type_errors.element_update(cx.span(target))


def _unpack(
    cx: Context, target: ast.expr, elements: list[ast.expr], value: Operand
) -> None:
    ty = value.type
    if not isinstance(ty, Product):
        raise type_errors.not_unpackable(cx.span(target), ty)
    for element in elements:
        if isinstance(element, ast.Starred):
            raise type_errors.starred(cx.span(element))
    if len(ty.fields) != len(elements):
        raise type_errors.wrong_unpacking(
            cx.span(target), len(elements), len(ty.fields)
        )
    for k, element in enumerate(elements):
        since = len(cx.builder.bindings)
        bind_target(cx, element, cx.at(element).one(Proj(value, k)), since)
