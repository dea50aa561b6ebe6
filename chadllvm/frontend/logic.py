"""`&`, `|`, `^`, `~` and shifts, of booleans and of integers, element by element.

Of booleans they make masks, of integers they work on bits (`ops/bits.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeGuard

from chadllvm.errors import array_errors, statement_errors
from chadllvm.frontend.arithmetic import to_int, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, elementwise, is_array
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import BOOL, I64, Array
from chadllvm.ir.wording import said

Meaning = Callable[..., Operand]


def logical_and(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("and", truth(b, x), truth(b, y))


def logical_or(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("or", truth(b, x), truth(b, y))


def logical_xor(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("ine", to_int(b, truth(b, x)), to_int(b, truth(b, y)))


def logical_not(b: Builder, x: Operand) -> Operand:
    return b.prim("not", truth(b, x))


def _bitwise(prim: str) -> Meaning:
    """A primitive on integers, to which the arguments are converted."""
    return lambda b, x, y: b.prim(prim, to_int(b, x), to_int(b, y))


def _inverted(b: Builder, x: Operand) -> Operand:
    return b.prim("ixor", to_int(b, x), Lit(-1))


# Python's operator: how it is written, and its meaning for booleans and for integers.
LOGICAL: dict[type[ast.operator], tuple[str, Meaning, Meaning]] = {
    ast.BitAnd: ("&", logical_and, _bitwise("iand")),
    ast.BitOr: ("|", logical_or, _bitwise("ior")),
    ast.BitXor: ("^", logical_xor, _bitwise("ixor")),
    ast.LShift: ("<<", _bitwise("shl"), _bitwise("shl")),
    ast.RShift: (">>", _bitwise("shr"), _bitwise("shr")),
}

_SHIFTS = (ast.LShift, ast.RShift)


def logical(cx: Context, node: ast.expr, op: ast.operator, x: Value, y: Value) -> Value:
    """`x & y`, `x | y`, `x ^ y`, `x << y` or `x >> y`

    Python's shift of a number fails if the count is negative, NumPy's do not.
    """
    if isinstance(op, _SHIFTS) and is_integral(x) and is_integral(y):
        b = cx.at(node)
        y = b.prim("shift_count", to_int(b, y))
    return bitwise(cx, node, op, x, y)


def bitwise(cx: Context, node: ast.expr, op: ast.operator, x: Value, y: Value) -> Value:
    """The same as NumPy's function does it."""
    symbol, on_booleans, on_integers = LOGICAL[type(op)]
    for value in (x, y):
        _check_integral(cx, node, symbol, value)
    both = is_boolean(x) and is_boolean(y)
    return elementwise(cx, node, on_booleans if both else on_integers, (x, y))


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


def is_integral(value: Value) -> TypeGuard[Operand]:
    """Whether this is a single integer or boolean."""
    return value.type in (I64, BOOL)


def inverse(cx: Context, node: ast.expr, x: Value) -> Value:
    """`~x`; of a single boolean Python makes -1 or -2, and NumPy what `not` does."""
    if x.type == BOOL:
        raise statement_errors.unsupported_operator(
            cx.span(node), "~", "use `not` for booleans"
        )
    return inverted(cx, node, x)


def inverted(cx: Context, node: ast.expr, x: Value) -> Value:
    """`np.invert(x)`"""
    _check_integral(cx, node, "~", x)
    meaning = logical_not if is_boolean(x) else _inverted
    return elementwise(cx, node, meaning, (x,))


def _check_integral(cx: Context, node: ast.expr, symbol: str, value: Value) -> None:
    ty = value.type.elem if isinstance(value.type, Array) else value.type
    if ty not in (I64, BOOL):
        raise statement_errors.unsupported_operator(
            cx.span(node),
            symbol,
            f"it takes integers or booleans, found {said(value.type)}"
            + ("; a power is written `x**2`" if symbol == "^" else ""),
        )
