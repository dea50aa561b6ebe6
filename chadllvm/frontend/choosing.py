"""Calls of functions that are chosen by constants and types (`overload(choose=…)`)."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from chadllvm.errors import call_errors, statement_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.static import static_value
from chadllvm.support.overloads import Chooser


def choice(cx: Context, node: ast.Call, chooser: Chooser) -> tuple[Any, ast.Call]:
    """The function that is chosen for a call, and its call without the constants."""
    name = chooser.function.__name__
    keywords: dict[str, ast.expr] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise statement_errors.starred(cx.span(keyword))
        keywords[keyword.arg] = keyword.value
    signature = inspect.signature(chooser.function)
    try:
        bound = signature.bind(*node.args, **keywords)
    except TypeError as error:
        raise call_errors.not_chosen(cx.span(node), name, str(error)) from None
    given: dict[str, Any] = {}
    rest: list[ast.expr] = []
    named: list[ast.keyword] = []
    by_name = False  # Behind one that is left out.
    for parameter, declared in signature.parameters.items():
        several = declared.kind is inspect.Parameter.VAR_POSITIONAL
        if parameter not in bound.arguments:
            by_name = by_name or not (several or parameter in chooser.constants)
            continue
        argument = bound.arguments[parameter]
        if parameter in chooser.constants:
            given[parameter] = _constant(cx, argument, name, parameter)
            continue
        values: list[Value] = []
        for each in argument if several else [argument]:
            values.append(cx.lazy(each))
            made = cx.settled(each, values[-1])
            if by_name:
                named.append(ast.copy_location(ast.keyword(parameter, made), each))
            else:
                rest.append(made)
        types = tuple(value.type for value in values)
        given[parameter] = types if several else types[0]
    bound.arguments.update(given)
    try:
        function = chooser.function(*bound.args, **bound.kwargs)
    except (TypeError, ValueError) as error:
        raise call_errors.not_chosen(cx.span(node), name, str(error)) from None
    call = ast.copy_location(ast.Call(node.func, rest, named), node)
    return function, call


def _constant(cx: Context, node: ast.expr, function: str, parameter: str) -> Any:
    try:
        return static_value(cx, node)
    except NotStatic:
        raise call_errors.not_static(cx.span(node), function, parameter) from None
