"""Conditions: the truth of an expression, as `if`, `while`, `not` and so on ask it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import array_errors, type_errors
from chadllvm.frontend.arithmetic import is_number, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value, is_number_operand
from chadllvm.frontend.marks import is_python_list
from chadllvm.frontend.narrowing import assume
from chadllvm.frontend.ragged import is_list, ragged
from chadllvm.frontend.static import decided
from chadllvm.ir.term import Apply, If, Lit, Operand, Proj
from chadllvm.ir.types import is_set
from chadllvm.ops.index import Dim


def condition(cx: Context, node: ast.expr) -> Operand:
    """The truth of an expression, decided now if static arguments decide it."""
    known = decided(cx, node)
    if known is not None:
        return Lit(known)
    if isinstance(node, ast.BoolOp):
        return _conditions(cx, isinstance(node.op, ast.And), node.values)
    return truth_of(cx, node, cx.value(node))


def _conditions(cx: Context, is_and: bool, values: Sequence[ast.expr]) -> Operand:
    """The truth of `a and b …` or `a or b …`, whose values may be of several types."""
    first = condition(cx, values[0])
    if len(values) == 1:
        return first
    if isinstance(first, Lit):
        return (
            first if first.value is not is_and else _conditions(cx, is_and, values[1:])
        )
    with cx.nested() as b:
        assume(cx, values[0], is_and)
        rest = b.block([_conditions(cx, is_and, values[1:])])
    short = cx.builder.child().block([Lit(not is_and)])
    sides = (rest, short) if is_and else (short, rest)
    return cx.at(values[0]).one(If(first, *sides))


def truth_of(cx: Context, node: ast.expr, value: Value) -> Operand:
    """The truth of a value, which has to be a number, or a list: whether it has any."""
    if not isinstance(value, Delayed) and is_python_list(cx, value):
        b = cx.at(node)
        return b.prim("ine", b.one(Apply(Dim(0), (value,))), Lit(0))
    if not isinstance(value, Delayed) and is_set(value.type):
        b = cx.at(node)
        return b.prim("ine", b.one(Apply(Dim(0), (b.one(Proj(value, 0)),))), Lit(0))
    if not isinstance(value, Delayed) and is_list(value):
        return cx.at(node).prim("ine", ragged(cx, node, value).count, Lit(0))
    if not is_number_operand(value):
        raise array_errors.ambiguous_truth(cx.span(node), value.type)
    if not is_number(value.type):
        raise type_errors.not_a_condition(cx.span(node), value.type)
    return truth(cx.at(node), value)
