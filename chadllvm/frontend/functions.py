"""Functions with a meaning of their own: built-ins, `math`, NumPy's on scalars.

Each is found by the object that its name stands for, so `from math import exp as e`
works and a variable that hides `sum` does too. A new one is one entry of a table. What
Python applies to whole arrays is applied to each of their elements. Functions of whole
arrays stand in `array_functions.py`.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chadllvm.errors import (
    array_errors,
    call_errors,
    flow_errors,
    record_errors,
    type_errors,
)
from chadllvm.frontend.arithmetic import (
    absolute,
    arithmetic,
    choice,
    is_number,
    larger,
    negative,
    power,
    power_of_elements,
    smaller,
    to_int,
    truth,
)
from chadllvm.frontend.array_functions import ARRAY_FUNCTIONS
from chadllvm.frontend.calculus import CALCULUS, hypotenuse, named_function
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.comprehension import (
    ArraysAdded,
    any_or_all,
    list_comprehension,
    listed,
    reduce_generator,
    reduce_items,
)
from chadllvm.frontend.containers import has_method, record_method
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Value,
    delayed,
    elementwise,
    for_sizes,
    is_array,
)
from chadllvm.frontend.integers import INTEGERS, MODULAR_POWER
from chadllvm.frontend.jitted import function_call
from chadllvm.frontend.keys import entries
from chadllvm.frontend.marks import check_no_lists
from chadllvm.frontend.ragged import is_list, ragged, regular
from chadllvm.frontend.reductions import SUM
from chadllvm.frontend.scalar import Meaning, ScalarFunction, either, of_truths
from chadllvm.frontend.sets import set_call, size_of
from chadllvm.frontend.tuples import unpacked
from chadllvm.frontend.width import (
    as_weak,
    to_double,
    to_float,
    to_python_float,
    to_single,
    weakened,
)
from chadllvm.ir.annotation import boolean, f32, f64, i64
from chadllvm.ir.build import Builder
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Lit, Operand, Proj
from chadllvm.ir.types import (
    BOOL,
    Array,
    Product,
    has_float,
    is_float,
    is_set,
    opened_type,
)
from chadllvm.ops.require import Require
from chadllvm.support.overloads import overloaded


def _binary(op: ast.operator) -> Meaning:
    return lambda b, x, y: arithmetic(b, op, x, y)


def _float_abs(b: Builder, x: Operand) -> Operand:
    return as_weak(b, b.prim("abs", to_float(b, x)), (x,))


def _truncate(b: Builder, x: Operand) -> Operand:
    """`int(x)`"""
    return b.prim("truncate", x) if is_float(x.type) else to_int(b, x)


# The object that a name stands for: what it means.
_SCALAR_FUNCTIONS: tuple[tuple[Any, ScalarFunction], ...] = (
    *CALCULUS,
    *INTEGERS,
    (math.fabs, ScalarFunction(1, _float_abs)),
    (math.trunc, ScalarFunction(1, _truncate)),
    (np.fabs, ScalarFunction(1, _float_abs)),
    (np.abs, ScalarFunction(1, lambda b, x: x if x.type == BOOL else absolute(b, x))),
    (np.power, ScalarFunction(2, power_of_elements)),
    (np.square, ScalarFunction(1, lambda b, x: arithmetic(b, ast.Mult(), x, x))),
    (np.negative, ScalarFunction(1, negative)),
    (np.add, ScalarFunction(2, of_truths("or", _binary(ast.Add())))),
    (np.subtract, ScalarFunction(2, _binary(ast.Sub()))),
    (np.multiply, ScalarFunction(2, of_truths("and", _binary(ast.Mult())))),
    (np.divide, ScalarFunction(2, _binary(ast.Div()))),
    (np.floor_divide, ScalarFunction(2, _binary(ast.FloorDiv()))),
    (np.mod, ScalarFunction(2, _binary(ast.Mod()))),
    (np.minimum, ScalarFunction(2, of_truths("and", either("minimum", "imin")))),
    (np.maximum, ScalarFunction(2, of_truths("or", either("maximum", "imax")))),
    (np.where, ScalarFunction(3, choice)),
    (np.float64, ScalarFunction(1, to_double)),
    (np.float32, ScalarFunction(1, to_single)),
    (f64, ScalarFunction(1, to_double)),
    (f32, ScalarFunction(1, to_single)),
    (i64, ScalarFunction(1, _truncate)),
    (boolean, ScalarFunction(1, truth)),
    (np.int64, ScalarFunction(1, _truncate)),
    (np.bool_, ScalarFunction(1, truth)),
    (builtins.abs, ScalarFunction(1, absolute)),
    (builtins.float, ScalarFunction(1, to_python_float)),
    (builtins.int, ScalarFunction(1, _truncate)),
    (builtins.bool, ScalarFunction(1, truth)),
)


def arguments(
    cx: Context, node: ast.Call, name: str, low: int, high: int, keyword: str = ""
) -> list[ast.expr]:
    """The argument nodes of a call of a built-in; `keyword` may name the last one."""
    found = list(node.args)
    for extra in node.keywords:
        if extra.arg is None or extra.arg != keyword or len(found) != high - 1:
            shown = extra.arg or "**"
            raise call_errors.unexpected_keyword(cx.span(extra), name, shown)
        found.append(extra.value)
    if not low <= len(found) <= high:
        expected = f"{low}" if low == high else f"{low} to {high}"
        plural = "" if high == 1 else "s"
        raise call_errors.wrong_argument_count(
            cx.span(node), name, f"{expected} argument{plural}"
        )
    return found


def _scalar_call(
    cx: Context,
    node: ast.Call,
    function: ScalarFunction,
    on_arrays: bool,
    on_lists: bool = False,
) -> Value:
    name = ast.unparse(node.func)
    most = function.most or function.arity
    nodes = arguments(cx, node, name, function.arity, most)
    values = [cx.lazy(n) for n in nodes]
    for k, (value, argument) in enumerate(zip(values, nodes, strict=True)):
        span, ty = cx.span(argument), value.type
        if isinstance(ty, Array) and not on_arrays:
            raise array_errors.not_an_array_function(span, name, ty)
        if not is_number(ty.elem if isinstance(ty, Array) else ty):
            raise type_errors.not_a_number(span, f"`{name}`", ty)
        if k in function.integers and has_float(ty):
            raise call_errors.wrong_operand(span, name, "an integer", ty)
    if not on_lists:
        check_no_lists(cx, node, values)
    return elementwise(cx, node, function.meaning, values)


def _is_operator(function: Any) -> bool:
    """Whether a function of Python's own asks what it is applied to, as `abs` does."""
    return function is builtins.abs


# What Python does not apply to arrays, besides the functions of `math`.
_NUMBERS_ONLY = (
    *(builtins.float, builtins.int, builtins.bool),
    *(builtins.round, builtins.divmod),
)


def _takes_arrays(function: Any) -> bool:
    is_math = getattr(function, "__module__", None) == "math"
    return not is_math and not any(function is f for f in _NUMBERS_ONLY)


# Of these, Python knows a length only if their class says one.
_WITHOUT_LENGTH = (Kind.DATACLASS, Kind.OBJECT)


def _len(cx: Context, node: ast.Call) -> Operand:
    (argument,) = arguments(cx, node, "len", 1, 1)
    known = entries(cx, argument) if isinstance(argument, ast.Call) else None
    if known is not None:
        return Lit(len(known.elements))
    value = cx.lazy(argument)
    if not isinstance(value, Delayed) and is_list(value):
        return ragged(cx, argument, value).count
    if not isinstance(value, Delayed) and is_set(value.type):
        return size_of(cx.at(node), value)
    if is_tuple(value.type):
        names = value.type.names
        if isinstance(names, RecordNames) and names.kind in _WITHOUT_LENGTH:
            if has_method(value.type, "__len__"):
                call = ast.copy_location(ast.Call(node.func, [], []), node)
                return record_method(cx, call, cx.value(argument), "__len__")
            raise record_errors.no_length(cx.span(argument), names.title)
        held = opened_type(value.type)
        assert isinstance(held, Product)
        return Lit(len(held.fields))
    if not is_array(value):
        raise call_errors.wrong_operand(
            cx.span(argument), "len", "an array or a tuple", value.type
        )
    return for_sizes(cx, node, value).shape[0]


def _pow(cx: Context, node: ast.Call) -> Value:
    """`pow(x, y)`, or `pow(x, y, modulus)` of integers."""
    count = len(arguments(cx, node, "pow", 2, 3))
    if count == 3:
        return _scalar_call(cx, node, MODULAR_POWER, on_arrays=False)
    return _scalar_call(cx, node, ScalarFunction(2, power), on_arrays=True)


def _distance(cx: Context, node: ast.Call) -> Operand:
    """`math.dist` of two points, given by tuples of coordinates, or by vectors."""
    nodes = arguments(cx, node, "dist", 2, 2)
    points = [cx.value(n) for n in nodes]
    if all(isinstance(p.type, Array) and p.type.rank == 1 for p in points):
        given = [cx.settled(n, p) for n, p in zip(nodes, points, strict=True)]
        call = ast.copy_location(ast.Call(node.func, given, []), node)
        return function_call(cx, call, overloaded(math.dist))
    for point, argument in zip(points, nodes, strict=True):
        if not is_tuple(point.type):
            raise call_errors.wrong_operand(
                cx.span(argument), "dist", "a tuple of coordinates", point.type
            )
    first, second = (_coordinates(cx, node, point) for point in points)
    if len(first) != len(second):
        raise call_errors.wrong_operand(
            cx.span(nodes[1]), "dist", f"a tuple of {len(first)}", points[1].type
        )
    pairs = zip(first, second, strict=True)
    b = cx.at(node)
    return hypotenuse(b, *(arithmetic(b, ast.Sub(), x, y) for x, y in pairs))


def _coordinates(cx: Context, node: ast.Call, point: Operand) -> list[Operand]:
    """The components of a tuple, which have to be numbers."""
    assert isinstance(point.type, Product)
    for ty in point.type.fields:
        if not is_number(ty):
            raise type_errors.not_a_number(cx.span(node), "`dist`", ty)
    b = cx.at(node)
    return [b.one(Proj(point, k)) for k in range(len(point.type.fields))]


def _rank(cx: Context, node: ast.Call) -> Operand:
    (argument,) = arguments(cx, node, "ndim", 1, 1)
    value = cx.lazy(argument)
    if is_array(value):
        return Lit(delayed(cx, argument, value).rank)
    if not is_number(value.type):
        raise type_errors.not_a_number(cx.span(argument), "`ndim`", value.type)
    return Lit(0)


def _sum(cx: Context, node: ast.Call) -> Value:
    nodes = arguments(cx, node, "sum", 1, 2, "start")
    first = nodes[0]
    if isinstance(first, ast.NamedExpr):
        first = cx.settled(first, cx.value(first))
    total: Value
    try:
        with cx.nested() as attempt:
            total = _reduce(cx, first, node, "add")
        cx.builder.bindings += attempt.bindings
    except ArraysAdded:
        total = _sum_of_arrays(cx, first, node)
    if len(nodes) == 1:
        return total
    start = cx.settled(nodes[1], cx.lazy(nodes[1]))
    both = ast.BinOp(start, ast.Add(), cx.settled(first, total))
    return cx.lazy(ast.copy_location(both, node))


def _sum_of_arrays(cx: Context, node: ast.expr, call: ast.Call) -> Value:
    """`sum` of arrays: of those written out `0 + a + b`, of others `np.sum(axis=0)`."""
    if isinstance(node, ast.Tuple | ast.List):
        total: ast.expr = ast.copy_location(ast.Constant(0), call)
        for part in unpacked(cx, node.elts):
            total = ast.copy_location(ast.BinOp(total, ast.Add(), part), call)
        return cx.lazy(total)
    rows: Value
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        rows = list_comprehension(cx, node)
    else:
        rows = listed(cx, node, call)
    if not isinstance(rows, Delayed) and is_list(rows):
        rows = regular(cx, node, ragged(cx, node, rows))
    b = cx.at(call)
    is_there = b.prim("ilt", Lit(0), delayed(cx, node, rows).shape[0])
    b.apply(Require("ValueError", "sum of no arrays, which is 0"), [is_there])
    axis = ast.keyword("axis", ast.copy_location(ast.Constant(0), call))
    parts = [cx.settled(node, rows)]
    return SUM.call(cx, ast.copy_location(ast.Call(call.func, parts, [axis]), call))


def _exact_sum(cx: Context, node: ast.Call) -> Operand:
    """`math.fsum`, a sum like any other: it is not rounded once alone."""
    (argument,) = arguments(cx, node, "fsum", 1, 1)
    try:
        total = _reduce(cx, argument, node, "add")
    except ArraysAdded as found:
        raise flow_errors.not_summable(cx.span(argument), "fsum", found.type) from None
    if is_float(total.type):
        return total
    b = cx.at(node)
    return weakened(b, b.prim("to_float", total))


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
        if isinstance(value.type, Array) and name == "sum":
            raise ArraysAdded(value.type)
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
        parts = [cx.value(part) for part in unpacked(cx, node.elts)]
        return _reduce_tuple(cx, call, kind, parts)
    return reduce_items(cx, node, call, kind)


def _reduce_tuple(
    cx: Context, call: ast.Call, kind: str, values: Sequence[Operand]
) -> Operand:
    """`max((a, b))` is `max(a, b)`."""
    name, combine = _COMBINE[kind]
    if not values:
        raise call_errors.wrong_argument_count(
            cx.span(call), name, "at least one number"
        )
    return _combine(cx, call, name, combine, values)


_COMBINE: dict[str, tuple[str, Meaning]] = {
    "add": ("sum", _binary(ast.Add())),
    "min": ("min", smaller),
    "max": ("max", larger),
}


def _any_or_all(name: str) -> Callable[[Context, ast.Call], Operand]:
    def call(cx: Context, node: ast.Call) -> Operand:
        (argument,) = arguments(cx, node, name, 1, 1)
        return any_or_all(cx, argument, node, name == "any")

    return call


def _list(cx: Context, node: ast.Call) -> Operand:
    (argument,) = arguments(cx, node, "list", 1, 1)
    if isinstance(argument, ast.GeneratorExp):
        return list_comprehension(cx, argument)
    return listed(cx, argument, node)


def _range(cx: Context, node: ast.Call) -> Operand:
    """`range(...)` that is not run over at once: a list of its elements."""
    return listed(cx, node, node)


def _operation(function: Any, op: Any) -> Callable[[Context, ast.Call], Value]:
    """`operator.mul(x, y)`, which is `x * y`."""
    is_unary = isinstance(op, ast.unaryop)

    def call(cx: Context, node: ast.Call) -> Value:
        count = 1 if is_unary else 2
        first, *rest = arguments(cx, node, function.__name__, count, count)
        made: ast.expr
        if is_unary:
            made = ast.UnaryOp(op, first)
        elif isinstance(op, ast.cmpop):
            made = ast.Compare(first, [op], rest)
        else:
            made = ast.BinOp(first, op, rest[0])
        return cx.lazy(ast.copy_location(made, node))

    return call


_OPERATIONS: dict[Any, ast.unaryop | ast.cmpop | ast.operator] = {
    operator.add: ast.Add(),
    operator.sub: ast.Sub(),
    operator.mul: ast.Mult(),
    operator.truediv: ast.Div(),
    operator.floordiv: ast.FloorDiv(),
    operator.mod: ast.Mod(),
    operator.pow: ast.Pow(),
    operator.neg: ast.USub(),
    operator.lt: ast.Lt(),
    operator.le: ast.LtE(),
    operator.gt: ast.Gt(),
    operator.ge: ast.GtE(),
    operator.eq: ast.Eq(),
    operator.ne: ast.NotEq(),
}


def _accumulate(cx: Context, node: ast.Call) -> Operand:
    """It makes an iterator, which is no value: see `iteration.py`."""
    raise flow_errors.bare_iterator(cx.span(node), ast.unparse(node.func))


_SPECIAL: tuple[tuple[Any, Callable[[Context, ast.Call], Value]], ...] = (
    (builtins.len, _len),
    (np.ndim, _rank),
    (builtins.pow, _pow),
    (math.dist, _distance),
    (math.fsum, _exact_sum),
    (builtins.sum, _sum),
    (builtins.min, _best("min", smaller)),
    (builtins.max, _best("max", larger)),
    (builtins.any, _any_or_all("any")),
    (builtins.all, _any_or_all("all")),
    (builtins.list, _list),
    (builtins.range, _range),
    (builtins.set, set_call),
    (itertools.accumulate, _accumulate),
    *((function, _operation(function, op)) for function, op in _OPERATIONS.items()),
    *ARRAY_FUNCTIONS,
)


def known_function(value: Any) -> Callable[[Context, ast.Call], Value] | None:
    """What translates a call of this object, if it is one of ours."""
    for known, handler in _SPECIAL:
        if value is known:
            return handler
    scalar = _scalar_function(value)
    if scalar is None:
        return None
    on_arrays, on_lists = _takes_arrays(value), not _is_operator(value)
    return lambda cx, node: _scalar_call(cx, node, scalar, on_arrays, on_lists)


def _scalar_function(value: Any) -> ScalarFunction | None:
    for known, function in _SCALAR_FUNCTIONS:
        if value is known:
            return function
    return named_function(value)
