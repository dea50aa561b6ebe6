"""Calls of functions that are chosen by constants and types (`overload(choose=…)`)."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from chadllvm.frontend import call_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.static import static_value
from chadllvm.overloads import Chooser


def choice(cx: Context, node: ast.Call, chooser: Chooser) -> tuple[Any, ast.Call]:
    """The function that is chosen for a call, and its call without the constants."""
    name = chooser.function.__name__
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    signature = inspect.signature(chooser.function)
    try:
        bound = signature.bind(*node.args, **keywords)
    except TypeError as error:
        raise call_errors.not_chosen(cx.span(node), name, str(error)) from None
    given: dict[str, Any] = {}
    rest: list[ast.expr] = []
    for parameter, argument in bound.arguments.items():
        if parameter in chooser.constants:
            given[parameter] = _constant(cx, argument, name, parameter)
            continue
        kind = signature.parameters[parameter].kind
        several = kind is inspect.Parameter.VAR_POSITIONAL
        values: list[Value] = []
        for each in argument if several else [argument]:
            values.append(cx.lazy(each))
            rest.append(cx.settled(each, values[-1]))
        types = tuple(value.type for value in values)
        given[parameter] = types if several else types[0]
    bound.arguments.update(given)
    try:
        function = chooser.function(*bound.args, **bound.kwargs)
    except (TypeError, ValueError) as error:
        raise call_errors.not_chosen(cx.span(node), name, str(error)) from None
    call = ast.copy_location(ast.Call(node.func, rest, []), node)
    return function, call


def _constant(cx: Context, node: ast.expr, function: str, parameter: str) -> Any:
    try:
        return static_value(cx, node)
    except NotStatic:
        raise call_errors.not_static(cx.span(node), function, parameter) from None
