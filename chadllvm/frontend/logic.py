"""`&`, `|`, `^` and `~` of booleans, element by element: what masks are made with."""

from __future__ import annotations

import ast
from collections.abc import Callable

from chadllvm.frontend import array_errors, syntax_errors
from chadllvm.frontend.arithmetic import to_int, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, elementwise, is_array
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand
from chadllvm.ir.types import BOOL, Array

Meaning = Callable[..., Operand]


def logical_and(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("and", truth(b, x), truth(b, y))


def logical_or(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("or", truth(b, x), truth(b, y))


def logical_xor(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("ine", to_int(b, truth(b, x)), to_int(b, truth(b, y)))


def logical_not(b: Builder, x: Operand) -> Operand:
    return b.prim("not", truth(b, x))


LOGICAL: dict[type[ast.operator], tuple[str, Meaning]] = {
    ast.BitAnd: ("&", logical_and),
    ast.BitOr: ("|", logical_or),
    ast.BitXor: ("^", logical_xor),
}


def logical(
    cx: Context, node: ast.BinOp, op: ast.operator, x: Value, y: Value
) -> Value:
    """`x & y`, `x | y` or `x ^ y`"""
    symbol, meaning = LOGICAL[type(op)]
    for value in (x, y):
        _check_boolean(cx, node, symbol, value)
    return elementwise(cx, node, meaning, (x, y))


# What NumPy makes of a sum and a product of booleans in arrays.
_ARITHMETIC: dict[type[ast.operator], Meaning] = {
    ast.Add: logical_or,
    ast.Mult: logical_and,
}


def boolean_arithmetic(
    cx: Context, node: ast.BinOp, x: Value, y: Value
) -> Value | None:
    """`x + y` or `x * y` of masks; None if these are not two booleans in arrays."""
    if not (is_array(x) or is_array(y)) or not (is_boolean(x) and is_boolean(y)):
        return None
    if isinstance(node.op, ast.Div):
        return None
    meaning = _ARITHMETIC.get(type(node.op))
    if meaning is None:
        raise array_errors.boolean_arithmetic(cx.span(node), x.type, y.type)
    return elementwise(cx, node, meaning, (x, y))


def is_boolean(value: Value) -> bool:
    ty = value.type
    return (ty.elem if isinstance(ty, Array) else ty) == BOOL


def inverse(cx: Context, node: ast.UnaryOp, x: Value) -> Value:
    """`~x` of an array; of a single boolean Python makes -1 or -2."""
    if not isinstance(x.type, Array):
        raise syntax_errors.unsupported_operator(
            cx.span(node), "~", "use `not` for booleans"
        )
    _check_boolean(cx, node, "~", x)
    return elementwise(cx, node, logical_not, (x,))


def _check_boolean(cx: Context, node: ast.expr, symbol: str, value: Value) -> None:
    if not is_boolean(value):
        raise syntax_errors.unsupported_operator(
            cx.span(node),
            symbol,
            f"it takes booleans, found {value.type}; compare first",
        )
