"""Calls of the user's functions: specialised to the types of their arguments.

The arguments of static parameters are no operands: each value of them makes a function
of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chadllvm.errors import call_errors
from chadllvm.frontend.binding import bind, converted
from chadllvm.frontend.constants import constant
from chadllvm.frontend.context import Context
from chadllvm.frontend.lending import lent, result_of_call
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.marks import is_python_list, mark_of, packed
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Function
from chadllvm.frontend.static import static_key, static_value
from chadllvm.frontend.updates import owner_of
from chadllvm.frontend.width import weak_positions, weakened
from chadllvm.ir.term import Operand
from chadllvm.ir.types import Array


def function_call(
    cx: Context,
    node: ast.Call,
    function: Function,
    statics: Collection[str] = (),
    owner: Sequence[Operand] = (),
    known: Mapping[str, Any] | None = None,
    is_jitted: bool = False,
) -> Operand:
    """Evaluate the arguments in order, convert them, call the specialised function.

    `owner` are the first parameters' arguments, if there are such already, and `known`
    the values of static parameters.
    """
    operands, fixed = prepared(cx, node, function, statics, owner, known)
    return called(cx, node, function, operands, fixed, is_jitted)


def prepared(
    cx: Context,
    node: ast.Call,
    function: Function | LocalFunction,
    statics: Collection[str] = (),
    owner: Sequence[Operand] = (),
    known: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Operand] = MappingProxyType({}),
) -> tuple[list[Operand], dict[str, Any]]:
    """The converted arguments, and the values of static parameters.

    `defaults` are operands for parameters that are given no argument.
    """
    fixed = dict(known or {})
    params = cx.callees.parameters(function, {*statics, *fixed})
    rest = [p for p in params[len(owner) :] if p.name not in fixed]
    given = bind(cx, node, function.__name__, rest)
    static = {param.name for param in rest if param.is_static}
    values = {n: cx.value(arg) for n, arg in given.items() if n not in static}
    updates = cx.callees.updates(function)
    if updates.names:
        places = dict(given)
        if owner and isinstance(node.func, ast.Attribute):
            own = owner_of(cx.source.definition, node)
            places[params[0].name], values[params[0].name] = own, owner[0]
        values = lent(cx, node, updates, places, values)
    operands = list(owner)
    for param in rest:
        place = given.get(param.name, node)
        if param.is_static:
            fixed[param.name] = _static(cx, place, function, param, given)
            continue
        value = values.get(param.name, defaults.get(param.name))
        if value is None:
            value = constant(cx, param.default, param.name, cx.span(node))
        name, promotes = function.__name__, param.name not in updates.names
        operand = converted(cx, place, name, param, value, promotes=promotes)
        operands.append(operand)
    return operands, fixed


def called(
    cx: Context,
    node: ast.expr,
    function: Function | LocalFunction,
    operands: Sequence[Operand],
    statics: Mapping[str, Any] | None = None,
    is_jitted: bool = False,
) -> Operand:
    """The result of a function applied to these operands.

    What it has updated is noted. To a jitted one lists are arrays.
    """
    types = [operand.type for operand in operands]
    if not isinstance(function, LocalFunction):
        function = cx.callees.placed(function, types, cx.span(node))
    weak = weak_positions(operands, cx.parameters)
    marks = None if is_jitted else packed(mark_of(cx, o) for o in operands)
    name = cx.callees.instance(
        function, types, cx.span(node), statics or {}, weak, marks
    )
    b = cx.at(node)
    (out,) = b.call(name, operands)
    out = weakened(b, out) if cx.callees.is_weak(name) else out
    if not is_jitted and isinstance(out.type, Array) and is_python_list(cx, out):
        cx.lists.add(out)
    params = cx.callees.parameters(function, statics or {})
    return result_of_call(cx, node, function, params, operands, out)


def _static(
    cx: Context,
    place: ast.expr,
    function: Function | LocalFunction,
    param: Parameter,
    given: Mapping[str, ast.expr],
) -> Any:
    """The value of a static argument, known now and hashable."""
    if param.name not in given:
        return param.default
    name = function.__name__
    try:
        value = static_value(cx, place)
    except NotStatic:
        raise call_errors.not_static(cx.span(place), name, param.name) from None
    try:
        static_key(value)
    except TypeError:
        raise call_errors.unhashable(cx.span(place), name, param.name) from None
    return value
