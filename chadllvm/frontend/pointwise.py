"""Functions of elements with more than a row of numbers to say: `np.clip`, comparisons.

`np.clip` gives the cotangent of an element at a bound to the element.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

import numpy as np

from chadllvm.frontend import type_errors
from chadllvm.frontend.arithmetic import compare, is_number, to_int
from chadllvm.frontend.delayed import Value, elementwise
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.logic import logical_and, logical_not, logical_or, logical_xor
from chadllvm.frontend.scalar import either
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand
from chadllvm.ir.types import Array

_AT_LEAST = either("maximum", "imax")
_AT_MOST = either("minimum", "imin")


def _values(call: Given, *names: str) -> list[Value]:
    """Numbers, or arrays of numbers."""
    found = []
    for name in names:
        value = call.lazy(name)
        ty = value.type.elem if isinstance(value.type, Array) else value.type
        if not is_number(ty):
            span = call.cx.span(call.nodes[name])
            raise type_errors.not_a_number(span, f"`{call.name}`", value.type)
        found.append(value)
    return found


def _clip(call: Given) -> Value:
    (result,) = _values(call, "a")
    for name, meaning in (("a_min", _AT_LEAST), ("a_max", _AT_MOST)):
        if name in call:
            (bound,) = _values(call, name)
            result = elementwise(call.cx, call.node, meaning, (result, bound))
    return result


def _positive(call: Given) -> Value:
    (value,) = _values(call, "x")
    return elementwise(call.cx, call.node, to_int, (value,))


def _of(meaning: Callable[..., Operand], *names: str) -> Callable[[Given], Value]:
    return lambda call: elementwise(call.cx, call.node, meaning, _values(call, *names))


def _comparison(op: ast.cmpop) -> Callable[[Given], Value]:
    return _of(partial(_compare, op), "x1", "x2")


def _compare(op: ast.cmpop, b: Builder, x: Operand, y: Operand) -> Operand:
    return compare(b, op, x, y)


POINTWISE: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.clip, "a a_min=None a_max=None", _clip, "clip"),
    LibraryFunction(np.positive, "x", _positive),
    LibraryFunction(np.less, "x1 x2", _comparison(ast.Lt())),
    LibraryFunction(np.less_equal, "x1 x2", _comparison(ast.LtE())),
    LibraryFunction(np.greater, "x1 x2", _comparison(ast.Gt())),
    LibraryFunction(np.greater_equal, "x1 x2", _comparison(ast.GtE())),
    LibraryFunction(np.equal, "x1 x2", _comparison(ast.Eq())),
    LibraryFunction(np.not_equal, "x1 x2", _comparison(ast.NotEq())),
    LibraryFunction(np.logical_and, "x1 x2", _of(logical_and, "x1", "x2")),
    LibraryFunction(np.logical_or, "x1 x2", _of(logical_or, "x1", "x2")),
    LibraryFunction(np.logical_xor, "x1 x2", _of(logical_xor, "x1", "x2")),
    LibraryFunction(np.logical_not, "x", _of(logical_not, "x")),
)
