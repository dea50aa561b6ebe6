"""Calls of functions that `vectorize` made: of numbers or elements of arrays."""

from __future__ import annotations

import ast
from types import FunctionType

from chadllvm.errors import type_errors
from chadllvm.frontend.arithmetic import is_number
from chadllvm.frontend.binding import bind, converted
from chadllvm.frontend.constants import constant
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, elementwise
from chadllvm.frontend.jitted import called
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand
from chadllvm.ir.types import Array


def vectorized_call(cx: Context, node: ast.Call, function: FunctionType) -> Value:
    """`f(x, y)` of numbers; of arrays, `build(n) { i -> f(x[i], y[i]) }`."""
    name = function.__name__
    params = cx.callees.parameters(function, ())
    given = bind(cx, node, name, params)
    values = {n: cx.lazy(argument) for n, argument in given.items()}
    for n, value in values.items():
        ty = value.type
        if not is_number(ty.elem if isinstance(ty, Array) else ty):
            raise type_errors.not_a_number(cx.span(given[n]), f"`{name}`", ty)
    defaults = {
        p.name: constant(cx, p.default, p.name, cx.span(node))
        for p in params
        if p.name not in values
    }

    def meaning(b: Builder, *numbers: Operand) -> Operand:
        with cx.nested() as scope:
            arguments = [
                converted(cx, given.get(p.name, node), name, p, number)
                for p, number in zip(params, numbers, strict=True)
            ]
            result = called(cx, node, function, arguments, is_jitted=True)
        b.bindings += scope.bindings
        return result

    ordered = [values.get(p.name, defaults.get(p.name)) for p in params]
    return elementwise(cx, node, meaning, [v for v in ordered if v is not None])
