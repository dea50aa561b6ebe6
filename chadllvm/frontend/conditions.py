"""Conditions: the truth of an expression, as `if`, `while`, `not` and so on ask it."""

from __future__ import annotations

import ast

from chadllvm.frontend import array_errors, type_errors
from chadllvm.frontend.arithmetic import is_number, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, is_number_operand
from chadllvm.frontend.static import decided
from chadllvm.ir.term import Lit, Operand


def condition(cx: Context, node: ast.expr) -> Operand:
    """The truth of an expression, decided now if static arguments decide it."""
    known = decided(cx, node)
    if known is not None:
        return Lit(known)
    return truth_of(cx, node, cx.value(node))


def truth_of(cx: Context, node: ast.expr, value: Value) -> Operand:
    """The truth of the value of an expression, which has to be a number."""
    if not is_number_operand(value):
        raise array_errors.ambiguous_truth(cx.span(node), value.type)
    if not is_number(value.type):
        raise type_errors.not_a_condition(cx.span(node), value.type)
    return truth(cx.at(node), value)
