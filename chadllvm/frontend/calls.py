"""Calls of built-in functions, and of jitted functions specialised to the arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from chadllvm.frontend import array_errors, errors, type_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.array_functions import METHODS, NAMES
from chadllvm.frontend.constants import constant
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.functions import known_function
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.ir.term import Operand


def call(cx: Context, node: ast.Call) -> Value:
    """The result of a call."""
    if isinstance(node.func, ast.Attribute) and _is_method(cx, node.func):
        return _method_call(cx, node, node.func)
    function = _callee(cx, node)
    jitted = getattr(function, "py_func", None)
    if isinstance(jitted, FunctionType):
        return _jitted_call(cx, node, jitted)
    translate = known_function(function)
    if translate is not None:
        return translate(cx, node)
    raise _unknown(cx, node, function)


def _is_method(cx: Context, function: ast.Attribute) -> bool:
    """Whether this is an attribute of a value, not of a module."""
    if cx.is_module(function.value):
        return False
    try:
        cx.static(function)
    except NotStatic:
        return True
    return False


def _method_call(cx: Context, node: ast.Call, function: ast.Attribute) -> Value:
    """A method of an array, which does what NumPy's function of that name does."""
    method = METHODS.get(function.attr)
    if method is not None:
        return method.method_call(cx, node, function.value)
    owner = cx.lazy(function.value)
    raise array_errors.no_method(cx.span(function), owner.type, function.attr, METHODS)


def _callee(cx: Context, node: ast.Call) -> Any:
    """The object that is called, which stands outside the function."""
    span, name = cx.span(node.func), ast.unparse(node.func)
    try:
        return cx.static(node.func)
    except NotStatic:
        pass
    match node.func:
        case ast.Name(identifier) if not cx.is_local(identifier):
            raise type_errors.unknown_name(span, identifier)
        case ast.Attribute(owner, attribute) if cx.is_module(owner):
            raise type_errors.unknown_attribute(
                span, f"`{ast.unparse(owner)}`", attribute
            )
        case _:
            raise type_errors.not_callable(span, name)


def _unknown(cx: Context, node: ast.Call, function: Any) -> Exception:
    span, name = cx.span(node.func), ast.unparse(node.func)
    if function is print:
        return errors.printing(span)
    if isinstance(function, FunctionType) and not _is_library(function):
        return type_errors.not_jitted(span, name)
    if isinstance(function, ModuleType) or not callable(function):
        return type_errors.not_callable(span, name)
    if name.partition(".")[0] in ("np", "numpy"):
        return array_errors.unknown_array_function(span, name, NAMES)
    return type_errors.unknown_function(span, name)


def _is_library(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in ("numpy", "scipy", "math")


def _jitted_call(cx: Context, node: ast.Call, function: FunctionType) -> Operand:
    """Evaluate the arguments in order, convert them, call the specialised function."""
    params = cx.callees.parameters(function)
    given = _bind(cx, node, function.__name__, params)
    values = {name: cx.value(argument) for name, argument in given.items()}
    operands = []
    for param in params:
        place = given.get(param.name, node)
        value = values.get(param.name)
        if value is None:
            value = constant(cx, param.default, param.name, cx.span(node))
        operands.append(_converted(cx, place, function.__name__, param, value))
    types = [operand.type for operand in operands]
    name = cx.callees.instance(function, types, cx.span(node))
    return cx.at(node).call(name, operands)[0]


def _bind(
    cx: Context, node: ast.Call, name: str, params: Sequence[Parameter]
) -> dict[str, ast.expr]:
    """The argument of each parameter that is given one, in the order of evaluation."""
    if len(node.args) > len(params):
        plural = "" if len(params) == 1 else "s"
        expected = f"{len(params)} argument{plural}"
        raise type_errors.wrong_argument_count(cx.span(node), name, expected)
    given: dict[str, ast.expr] = {}
    for param, argument in zip(params, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            raise type_errors.starred(cx.span(argument))
        given[param.name] = argument
    _bind_keywords(cx, node, name, params, given)
    for param in params:
        if param.name not in given and param.is_required:
            raise type_errors.missing_argument(cx.span(node), name, param.name)
    return given


def _bind_keywords(
    cx: Context,
    node: ast.Call,
    name: str,
    params: Sequence[Parameter],
    given: dict[str, ast.expr],
) -> None:
    names = {param.name for param in params}
    for keyword in node.keywords:
        span = cx.span(keyword)
        if keyword.arg is None:
            raise type_errors.starred(span)
        if keyword.arg not in names:
            raise type_errors.unexpected_keyword(span, name, keyword.arg)
        if keyword.arg in given:
            raise type_errors.repeated_argument(span, name, keyword.arg)
        given[keyword.arg] = keyword.value


def _converted(
    cx: Context, node: ast.expr, name: str, param: Parameter, value: Operand
) -> Operand:
    """The argument as what the parameter's annotation asks for."""
    ty = target_type(param.annotation, value.type)
    if ty is None:
        raise type_errors.wrong_argument(
            cx.span(node), name, param.name, value.type, param.annotation
        )
    return convert(cx.at(node), value, ty)
