"""Functions of elements with more than a row of numbers to say: `np.clip`, comparisons.

`np.clip` gives the cotangent of an element at a bound to the element.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

import numpy as np

from chadllvm.errors import type_errors
from chadllvm.frontend.arithmetic import compare, is_number, rounded_integer, to_int
from chadllvm.frontend.delayed import Value, elementwise
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.logic import (
    bitwise,
    inverted,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from chadllvm.frontend.scalar import either
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import Array, is_float

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


def _bits(op: ast.operator) -> Callable[[Given], Value]:
    """An operator on bits as a function of NumPy."""

    def call(call: Given) -> Value:
        return bitwise(call.cx, call.node, op, call.lazy("x1"), call.lazy("x2"))

    return call


def _invert(call: Given) -> Value:
    return inverted(call.cx, call.node, call.lazy("x"))


def _round(call: Given) -> Value:
    """`np.round(a, decimals)`: by a power of ten and back, as NumPy does it."""
    decimals = call.constant("decimals") if "decimals" in call else 0
    (value,) = _values(call, "a")
    meaning = partial(_rounded, Lit(10.0 ** abs(decimals)), decimals)
    return elementwise(call.cx, call.node, meaning, (value,))


def _rounded(power: Lit, decimals: int, b: Builder, x: Operand) -> Operand:
    if not is_float(x.type):
        return rounded_integer(b, to_int(b, x), Lit(decimals))
    if decimals == 0:
        return b.prim("rint", x)
    there, back = ("mul", "div") if decimals > 0 else ("div", "mul")
    return b.prim(back, b.prim("rint", b.prim(there, x, power)), power)


POINTWISE: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.clip, "a a_min=None a_max=None", _clip, "clip"),
    LibraryFunction(np.positive, "x", _positive),
    LibraryFunction(np.round, "a decimals=0", _round, "round"),
    LibraryFunction(np.around, "a decimals=0", _round),
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
    LibraryFunction(np.bitwise_and, "x1 x2", _bits(ast.BitAnd())),
    LibraryFunction(np.bitwise_or, "x1 x2", _bits(ast.BitOr())),
    LibraryFunction(np.bitwise_xor, "x1 x2", _bits(ast.BitXor())),
    LibraryFunction(np.left_shift, "x1 x2", _bits(ast.LShift())),
    LibraryFunction(np.right_shift, "x1 x2", _bits(ast.RShift())),
    LibraryFunction(np.invert, "x", _invert),
)
