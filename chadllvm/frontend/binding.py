"""The arguments of a call: which parameter each belongs to, converted to its type."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import call_errors, statement_errors
from chadllvm.frontend.annotations import (
    Annotation,
    NumberList,
    OpenArray,
    target_type,
)
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.context import Context
from chadllvm.frontend.marks import is_python_list
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.width import is_weak
from chadllvm.ir.term import Operand
from chadllvm.ir.types import BOOL, I64, Array, Scalar, Type, is_float


def bind(
    cx: Context, node: ast.Call, name: str, params: Sequence[Parameter]
) -> dict[str, ast.expr]:
    """The argument of each parameter that is given one, in the order of evaluation."""
    rest = next((param for param in params if param.is_variadic), None)
    named = [param for param in params if param is not rest]
    positional = [param for param in named if not param.is_keyword_only]
    if len(node.args) > len(positional) and rest is None:
        plural = "" if len(positional) == 1 else "s"
        expected = f"{len(positional)} argument{plural}"
        if len(positional) < len(params):
            expected += " by position"
        raise call_errors.wrong_argument_count(cx.span(node), name, expected)
    given: dict[str, ast.expr] = {}
    for param, argument in zip(positional, node.args, strict=False):
        given[param.name] = argument
    if rest is not None:
        others = ast.Tuple(node.args[len(positional) :], ast.Load())
        given[rest.name] = ast.copy_location(others, node)
    bind_keywords(cx, node, name, [param.name for param in named], given)
    for param in params:
        if param.name not in given and param.is_required:
            raise call_errors.missing_argument(cx.span(node), name, param.name)
    return given


def bind_keywords(
    cx: Context,
    node: ast.Call,
    name: str,
    names: Sequence[str],
    given: dict[str, ast.expr],
) -> None:
    """Enter the arguments that are given by keyword."""
    for keyword in node.keywords:
        span = cx.span(keyword)
        if keyword.arg is None:
            raise statement_errors.starred(span)
        if keyword.arg not in names:
            raise call_errors.unexpected_keyword(span, name, keyword.arg)
        if keyword.arg in given:
            raise call_errors.repeated_argument(span, name, keyword.arg)
        given[keyword.arg] = keyword.value


def converted(
    cx: Context,
    node: ast.expr,
    name: str,
    param: Parameter,
    value: Operand,
    *,
    promotes: bool = False,
) -> Operand:
    """The argument as what the parameter's annotation asks for.

    With `promotes`, an array of integers becomes one of floats as an integer does.
    """
    ty = target_type(param.annotation, value.type, weak=is_weak(value))
    if isinstance(param.annotation, NumberList) and not is_python_list(cx, value):
        ty = None
    if ty is None and promotes:
        ty = _array_of_floats(param.annotation, value.type)
    if ty is None:
        raise call_errors.wrong_argument(
            cx.span(node), name, param.name, value.type, param.annotation
        )
    return convert(cx.at(node), value, ty)


def _array_of_floats(annotation: Annotation, ty: Type) -> Type | None:
    """What an array of integers or booleans becomes where floats are asked for."""
    if not isinstance(annotation, Array | OpenArray) or not isinstance(ty, Array):
        return None
    elem = annotation.elem
    if not (isinstance(elem, Scalar) and is_float(elem) and ty.elem in (I64, BOOL)):
        return None
    wanted = Array(elem, ty.rank)
    return wanted if annotation in (wanted, OpenArray(elem)) else None
