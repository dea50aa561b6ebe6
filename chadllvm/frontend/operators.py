"""Operators that a class of records defines: calls of its methods.

    p * q        →   the method `__mul__` of p's class, or else `__rmul__` of q's
    p *= q       →   `__imul__`, if there is one
    -p           →   `__neg__`

What Python's own classes define, as named tuples do `+`, are no methods in this sense.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FunctionType

from chadllvm.errors import call_errors
from chadllvm.frontend.binding import converted
from chadllvm.frontend.containers import names_of
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, force
from chadllvm.frontend.jitted import called
from chadllvm.frontend.records import class_attribute
from chadllvm.frontend.surface import Augmented
from chadllvm.ir.term import Operand
from chadllvm.ir.types import Array, Type

_NAMES: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
}


def binary_method(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Operand | None:
    """What the method gives that Python would call; None if no class defines one."""
    for is_reflected, function in _candidates(node, x.type, y.type):
        first, second = force(cx, node.left, x), force(cx, node.right, y)
        operands = (second, first) if is_reflected else (first, second)
        return _call(cx, node, function, operands)
    return None


def unary_method(cx: Context, node: ast.UnaryOp, x: Value) -> Operand | None:
    """What the method gives, None if the class of the operand defines none."""
    function = _method(x.type, f"__{_NAMES[type(node.op)]}__")
    if function is None:
        return None
    return _call(cx, node, function, [force(cx, node.operand, x)])


def _candidates(
    node: ast.BinOp, x: Type, y: Type
) -> Iterator[tuple[bool, FunctionType]]:
    """The methods in Python's order: whether the operands change places, and which."""
    name = _NAMES[type(node.op)]
    # An array on the left is asked first in Python, and applies itself to each element.
    order = [(False, x, f"__{name}__")]
    if not isinstance(x, Array):
        order.append((True, y, f"__r{name}__"))
    if _is_subclass(y, x):
        order.reverse()
    if isinstance(node, Augmented):
        order.insert(0, (False, x, f"__i{name}__"))
    for is_reflected, owner, method in order:
        function = _method(owner, method)
        if function is not None:
            yield is_reflected, function


def _class(ty: Type) -> type | None:
    names = names_of(ty)
    return names.python if names is not None and names.is_class else None


def _is_subclass(ty: Type, other: Type) -> bool:
    first, second = _class(ty), _class(other)
    if first is None or second is None or first is second:
        return False
    return issubclass(first, second)


def _method(ty: Type, name: str) -> FunctionType | None:
    python = _class(ty)
    found = class_attribute(python, name) if python else None
    return found if isinstance(found, FunctionType) else None


def _call(
    cx: Context, node: ast.expr, function: FunctionType, operands: Sequence[Operand]
) -> Operand:
    name = function.__name__
    params = cx.callees.parameters(function, ())
    if len(params) != len(operands):
        raise call_errors.wrong_argument_count(cx.span(node), name, f"{len(params)}")
    pairs = zip(params, operands, strict=True)
    return called(cx, node, function, [converted(cx, node, name, *p) for p in pairs])
