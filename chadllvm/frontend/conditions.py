"""Conditions: the truth of an expression, as `if`, `while`, `not` and so on ask it,
and the value that one chooses of two.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import array_errors, flow_errors, type_errors
from chadllvm.frontend.arithmetic import convert, is_number, join_values, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value, is_number_operand
from chadllvm.frontend.marks import common, is_python_list, mark_as, mark_joined
from chadllvm.frontend.narrowing import assume
from chadllvm.frontend.ragged import is_list, ragged
from chadllvm.frontend.static import decided
from chadllvm.frontend.width import as_weak
from chadllvm.ir.build import Builder
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


def choose(
    cx: Context,
    node: ast.expr,
    test: Operand,
    then: tuple[Builder, Operand],
    orelse: tuple[Builder, Operand],
) -> Operand:
    """The value of one of two blocks, of the type that both join to."""
    values = then[1], orelse[1]
    joined = join_values(*values)
    if joined is None:
        types = (value.type for value in values)
        raise flow_errors.different_branches(cx.span(node), *types)
    sides = [(b, convert(b, value, joined)) for b, value in (then, orelse)]
    blocks = [b.block([value]) for b, value in sides]
    b = cx.at(node)
    made = as_weak(b, b.one(If(test, *blocks)), values)
    marks = [mark_as(cx, value, joined, b) for b, value in (then, orelse)]
    mark_joined(cx, made, values, common(marks))
    return made
