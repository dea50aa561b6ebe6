"""Functions with a meaning of their own: built-ins, `math`, NumPy's on scalars.

Each is found by the object that its name stands for, so `from math import exp as e`
works and a variable that hides `sum` does too. A new one is one entry of a table.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chadllvm.frontend import type_errors
from chadllvm.frontend.arithmetic import (
    absolute,
    arithmetic,
    is_number,
    larger,
    negative,
    power,
    promoted,
    smaller,
    to_float,
    to_int,
    truth,
)
from chadllvm.frontend.comprehension import reduce_generator, reduce_items
from chadllvm.frontend.context import Context
from chadllvm.frontend.subscript import dimension
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ir.types import F64, Array, Product

Meaning = Callable[..., Operand]


@dataclass(frozen=True)
class ScalarFunction:
    """A function of `arity` numbers; `meaning(b, *operands)` emits it."""

    arity: int
    meaning: Meaning


def _float(prim: str) -> Meaning:
    """A primitive on floats, to which the arguments are converted."""
    return lambda b, *xs: b.prim(prim, *(to_float(b, x) for x in xs))


def _either(on_floats: str, on_ints: str) -> Meaning:
    """A primitive on floats or on integers, as the arguments are."""

    def meaning(b: Builder, *xs: Operand) -> Operand:
        xs = tuple(promoted(b, *xs))
        return b.prim(on_floats if xs[0].type == F64 else on_ints, *xs)

    return meaning


def _binary(op: ast.operator) -> Meaning:
    return lambda b, x, y: arithmetic(b, op, x, y)


def _floor(b: Builder, x: Operand) -> Operand:
    """`math.floor(x)`: an integer, as Python's is."""
    if x.type != F64:
        return to_int(b, x)
    return b.prim("truncate", b.prim("floordiv", x, Lit(1.0)))


def _ceil(b: Builder, x: Operand) -> Operand:
    return negative(b, _floor(b, negative(b, x)))


def _float_abs(b: Builder, x: Operand) -> Operand:
    return b.prim("abs", to_float(b, x))


def _truncate(b: Builder, x: Operand) -> Operand:
    """`int(x)`"""
    return b.prim("truncate", x) if x.type == F64 else to_int(b, x)


def _where(b: Builder, test: Operand, x: Operand, y: Operand) -> Operand:
    """`np.where` of scalars: both sides are computed, one is chosen."""
    x, y = promoted(b, x, y)
    name = "select" if x.type == F64 else "iselect"
    return b.prim(name, truth(b, test), x, y)


_UNARY = ("exp", "log", "sqrt", "sin", "cos", "tanh")

# The object that a name stands for: what it means.
_SCALAR_FUNCTIONS: tuple[tuple[Any, ScalarFunction], ...] = (
    *((getattr(math, name), ScalarFunction(1, _float(name))) for name in _UNARY),
    *((getattr(np, name), ScalarFunction(1, _float(name))) for name in _UNARY),
    (math.pow, ScalarFunction(2, _float("pow"))),
    (math.fabs, ScalarFunction(1, _float_abs)),
    (math.floor, ScalarFunction(1, _floor)),
    (math.ceil, ScalarFunction(1, _ceil)),
    (math.trunc, ScalarFunction(1, _truncate)),
    (np.fabs, ScalarFunction(1, _float_abs)),
    (np.abs, ScalarFunction(1, absolute)),
    (np.power, ScalarFunction(2, power)),
    (np.square, ScalarFunction(1, lambda b, x: arithmetic(b, ast.Mult(), x, x))),
    (np.negative, ScalarFunction(1, negative)),
    (np.add, ScalarFunction(2, _binary(ast.Add()))),
    (np.subtract, ScalarFunction(2, _binary(ast.Sub()))),
    (np.multiply, ScalarFunction(2, _binary(ast.Mult()))),
    (np.divide, ScalarFunction(2, _binary(ast.Div()))),
    (np.minimum, ScalarFunction(2, _either("minimum", "imin"))),
    (np.maximum, ScalarFunction(2, _either("maximum", "imax"))),
    (np.where, ScalarFunction(3, _where)),
    (np.float64, ScalarFunction(1, to_float)),
    (np.int64, ScalarFunction(1, _truncate)),
    (np.bool_, ScalarFunction(1, truth)),
    (builtins.abs, ScalarFunction(1, absolute)),
    (builtins.pow, ScalarFunction(2, power)),
    (builtins.float, ScalarFunction(1, to_float)),
    (builtins.int, ScalarFunction(1, _truncate)),
    (builtins.bool, ScalarFunction(1, truth)),
)


def arguments(
    cx: Context, node: ast.Call, name: str, low: int, high: int, keyword: str = ""
) -> list[ast.expr]:
    """The argument nodes of a call of a built-in; `keyword` may name the last one."""
    found = list(node.args)
    for argument in found:
        if isinstance(argument, ast.Starred):
            raise type_errors.starred(cx.span(argument))
    for extra in node.keywords:
        if extra.arg is None or extra.arg != keyword or len(found) != high - 1:
            shown = extra.arg or "**"
            raise type_errors.unexpected_keyword(cx.span(extra), name, shown)
        found.append(extra.value)
    if not low <= len(found) <= high:
        expected = f"{low}" if low == high else f"{low} to {high}"
        plural = "" if high == 1 else "s"
        raise type_errors.wrong_argument_count(
            cx.span(node), name, f"{expected} argument{plural}"
        )
    return found


def _scalar_call(cx: Context, node: ast.Call, function: ScalarFunction) -> Operand:
    name = ast.unparse(node.func)
    nodes = arguments(cx, node, name, function.arity, function.arity)
    values = [cx.value(n) for n in nodes]
    for value, argument in zip(values, nodes, strict=True):
        if isinstance(value.type, Array):
            raise type_errors.elementwise(cx.span(argument), f"`{name}`", value.type)
        if not is_number(value.type):
            raise type_errors.not_a_number(cx.span(argument), f"`{name}`", value.type)
    return function.meaning(cx.at(node), *values)


def _len(cx: Context, node: ast.Call) -> Operand:
    (argument,) = arguments(cx, node, "len", 1, 1)
    value = cx.value(argument)
    if isinstance(value.type, Product):
        return Lit(len(value.type.fields))
    if not isinstance(value.type, Array):
        raise type_errors.wrong_operand(
            cx.span(argument), "len", "an array or a tuple", value.type
        )
    return dimension(cx.at(node), value, 0)


def _sum(cx: Context, node: ast.Call) -> Operand:
    nodes = arguments(cx, node, "sum", 1, 2, "start")
    total = _reduce(cx, nodes[0], node, "add")
    if len(nodes) == 1:
        return total
    start = cx.value(nodes[1])
    if not is_number(start.type):
        raise type_errors.not_a_number(cx.span(nodes[1]), "`sum`", start.type)
    return arithmetic(cx.at(node), ast.Add(), start, total)


def _best(kind: str, combine: Meaning) -> Callable[[Context, ast.Call], Operand]:
    """`min` or `max` of one collection, or of several numbers."""

    def call(cx: Context, node: ast.Call) -> Operand:
        nodes = arguments(cx, node, kind, 1, 255)
        if len(nodes) == 1:
            return _reduce(cx, nodes[0], node, kind)
        return _combine(cx, node, kind, combine, [cx.value(n) for n in nodes])

    return call


def _combine(
    cx: Context, node: ast.Call, name: str, combine: Meaning, values: Sequence[Operand]
) -> Operand:
    for value in values:
        if isinstance(value.type, Array):
            raise type_errors.elementwise(cx.span(node), f"`{name}`", value.type)
        if not is_number(value.type):
            raise type_errors.not_a_number(cx.span(node), f"`{name}`", value.type)
    result = to_int(cx.at(node), values[0])
    for value in values[1:]:
        result = combine(cx.at(node), result, value)
    return result


def _reduce(cx: Context, node: ast.expr, call: ast.Call, kind: str) -> Operand:
    """`sum`, `min` or `max` of what one argument runs over."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return reduce_generator(cx, node, call, kind)
    if isinstance(node, ast.Tuple):
        return _reduce_tuple(cx, call, kind, [cx.value(e) for e in node.elts])
    return reduce_items(cx, node, call, kind)


def _reduce_tuple(
    cx: Context, call: ast.Call, kind: str, values: Sequence[Operand]
) -> Operand:
    """`max((a, b))` is `max(a, b)`."""
    name, combine = _COMBINE[kind]
    if not values:
        raise type_errors.wrong_argument_count(
            cx.span(call), name, "at least one number"
        )
    return _combine(cx, call, name, combine, values)


_COMBINE: dict[str, tuple[str, Meaning]] = {
    "add": ("sum", _binary(ast.Add())),
    "min": ("min", smaller),
    "max": ("max", larger),
}


def _np_sum(cx: Context, node: ast.Call) -> Operand:
    """`np.sum` of an array of rank 1."""
    (argument,) = arguments(cx, node, "np.sum", 1, 1)
    return _reduce(cx, argument, node, "add")


_SPECIAL: tuple[tuple[Any, Callable[[Context, ast.Call], Operand]], ...] = (
    (builtins.len, _len),
    (builtins.sum, _sum),
    (builtins.min, _best("min", smaller)),
    (builtins.max, _best("max", larger)),
    (np.sum, _np_sum),
)


def known_function(value: Any) -> Callable[[Context, ast.Call], Operand] | None:
    """What translates a call of this object, if it is one of ours."""
    for known, handler in _SPECIAL:
        if value is known:
            return handler
    for known, function in _SCALAR_FUNCTIONS:
        if value is known:
            return lambda cx, node: _scalar_call(cx, node, function)
    return None
