"""Expressions: Python's syntax trees → bindings of the core in the current block.

What gives an array may leave it delayed: see `delayed.py`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from chadllvm.errors import (
    array_errors,
    flow_errors,
    name_errors,
    ragged_errors,
    record_errors,
    statement_errors,
    type_errors,
    union_errors,
)
from chadllvm.frontend.applying import read_function
from chadllvm.frontend.arithmetic import (
    ARITHMETIC,
    arithmetic,
    compare,
    is_comparison,
    is_number,
    negative,
    power,
    power_of_elements,
)
from chadllvm.frontend.calls import call, call_outside, is_callable, is_plain
from chadllvm.frontend.comprehension import dictionary_comprehension, list_comprehension
from chadllvm.frontend.conditions import choose, condition, truth_of
from chadllvm.frontend.constants import constant, number
from chadllvm.frontend.containers import dictionary, with_part
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value, elementwise, is_array, is_number_operand
from chadllvm.frontend.displays import display, list_operation
from chadllvm.frontend.gradients import function_constant
from chadllvm.frontend.iteration import iterator_of
from chadllvm.frontend.local import define
from chadllvm.frontend.logic import (
    LOGICAL,
    boolean_arithmetic,
    inverse,
    is_boolean,
    logical,
)
from chadllvm.frontend.marks import check_no_lists
from chadllvm.frontend.match_statement import (
    Captured,
    Matched,
    Uncovered,
)
from chadllvm.frontend.matching import captured, matched, uncovered
from chadllvm.frontend.narrowing import assume, known_field, type_test
from chadllvm.frontend.objects import static_field
from chadllvm.frontend.operators import binary_method, unary_method
from chadllvm.frontend.products import matrix_product
from chadllvm.frontend.recursion import Unresolved, resolved
from chadllvm.frontend.scope import NotStatic, Unsure, Unusable
from chadllvm.frontend.sets import comprehension as set_comprehension
from chadllvm.frontend.sets import display as set_display
from chadllvm.frontend.sets import (
    is_set_value,
    set_comparison,
    set_membership,
    set_operation,
)
from chadllvm.frontend.static import decided, static_value
from chadllvm.frontend.subscript import attribute, subscript
from chadllvm.frontend.surface import Defined, Final, Replaced
from chadllvm.frontend.tuples import comparison, tuple_operation, unpacked
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.frontend.width import product
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lit, Operand, Tuple
from chadllvm.ir.types import Array, Product, list_names
from chadllvm.ir.union import is_union
from chadllvm.ops.require import Require

_OPERATOR_HELP: dict[type[ast.AST], tuple[str, str]] = {
    ast.Is: ("is", "compare with `==`; `is` asks whether something is None"),
    ast.IsNot: ("is not", "compare with `!=`; `is not` asks whether something is None"),
}


def expression(cx: Context, node: ast.expr) -> Value:
    """Translate an expression; an array need not be made yet."""
    match node:
        case ast.Constant():
            return _literal(cx, node)
        case ast.Name():
            return _name(cx, node)
        case ast.BinOp():
            return _binary(cx, node)
        case ast.UnaryOp():
            return _unary(cx, node)
        case ast.BoolOp(op, values):
            return _and_or(cx, node, isinstance(op, ast.And), values)
        case ast.Compare():
            return _comparison(cx, node)
        case ast.IfExp():
            return _conditional(cx, node)
        case Final():
            return _final(cx, node)
        case ast.Tuple(elements):
            return _tuple(cx, node, elements)
        case ast.Dict():
            return dictionary(cx, node)
        case ast.List():
            return display(cx, node)
        case ast.Subscript():
            return subscript(cx, node)
        case ast.Attribute():
            return _attribute(cx, node)
        case ast.Call():
            return call(cx, node)
        case ast.ListComp():
            return list_comprehension(cx, node)
        case ast.Set():
            return set_display(cx, node)
        case ast.SetComp():
            return set_comprehension(cx, node)
        case ast.DictComp():
            return dictionary_comprehension(cx, node)
        case ast.Lambda() | Defined():
            return define(cx, node)
        case Replaced():
            return with_part(cx, node)
        case Matched():
            return matched(cx, node)
        case Captured():
            return captured(cx, node)
        case Uncovered():
            return uncovered(cx, node)
        case ast.GeneratorExp():
            raise flow_errors.bare_generator(cx.span(node))
        case ast.Starred():
            raise statement_errors.starred(cx.span(node))
        case _:
            raise statement_errors.unsupported(cx.span(node), node)


def _literal(cx: Context, node: ast.Constant) -> Operand:
    span = cx.span(node)
    match node.value:
        case bool() | int() | float():
            return number(node.value, span)
        case complex():
            raise statement_errors.unsupported_constant(span, "a complex number")
        case None:
            return cx.at(node).one(NONE_VALUE)
        case str() | bytes():
            raise statement_errors.unsupported_constant(span, "a string")
        case _:
            raise statement_errors.unsupported_constant(span, f"`{node.value}`")


def _is_function(cx: Context, outside: object) -> bool:
    """Whether what stands outside is a function that may be a value."""
    if not callable(outside):
        return False
    is_users = isinstance(outside, FunctionType) and is_plain(cx, outside)
    return is_users or is_callable(outside) or cx.surroundings.encloses(outside)


_NO_VALUE = "where it is not associated with a value"


def _name(cx: Context, node: ast.Name) -> Operand:
    value = cx.scope.lookup(node.id)
    if isinstance(value, Unsure):
        message = f"cannot access local variable '{node.id}' {_NO_VALUE}"
        cx.at(node).apply(Require("UnboundLocalError", message), [value.holds])
        value = value.value
        cx.scope.hand(node.id, value)
    if isinstance(value, Unusable):
        raise value.error(cx.span(node))
    if value is not None:
        read_function(cx, node, value, node.id)
        return value
    if cx.is_local(node.id):
        raise name_errors.used_before_assignment(cx.span(node), node.id)
    try:
        outside = cx.static(node)
    except NotStatic:
        raise name_errors.unknown_name(cx.span(node), node.id, cx.names()) from None
    if _is_function(cx, outside):
        return function_constant(cx, node, outside)
    return constant(cx, outside, node.id, cx.span(node))


def _attribute(cx: Context, node: ast.Attribute) -> Value:
    try:
        outside = cx.static(node)
    except NotStatic:
        return _field(cx, node)
    if _is_function(cx, outside):
        return function_constant(cx, node, outside)
    return attribute(cx, node)


def _field(cx: Context, node: ast.Attribute) -> Value:
    """An attribute of a value; a field of an object may hold a function."""
    try:
        held = static_field(cx, node)
    except NotStatic:
        return known_field(cx, node) or attribute(cx, node)
    if isinstance(held, FunctionType) or _is_function(cx, held):
        return function_constant(cx, node, held)
    return constant(cx, held, ast.unparse(node), cx.span(node))


def _binary(cx: Context, node: ast.BinOp) -> Value:
    """A chain such as `a + b + … + z` nests to the left as deep as it is long."""
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = cx.lazy(chain[-1].left)
    for link in reversed(chain):
        value = operation(cx, link, value, cx.lazy(link.right))
    return value


def operation(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Value:
    """The operation of a node on values that are known already."""
    op = node.op
    if is_set_value(x) or is_set_value(y):
        return set_operation(cx, node, x, y)
    defined = binary_method(cx, node, x, y)
    if defined is not None:
        return defined
    if isinstance(op, ast.MatMult):
        check_no_lists(cx, node, (x, y))
        return matrix_product(cx, node, x, y)
    if type(op) in LOGICAL:
        return logical(cx, node, op, x, y)
    lists = list_operation(cx, node, x, y)
    if lists is not None:
        return lists
    joined = tuple_operation(cx, node, x, y)
    if joined is not None:
        return joined
    _check_numbers(cx, node, (x, y))
    check_no_lists(cx, node, (x, y))
    masks = boolean_arithmetic(cx, node, x, y)
    if masks is not None:
        return masks
    if type(op) in ARITHMETIC:
        return elementwise(cx, node, partial(_arithmetic, op), (x, y))
    meaning = power_of_elements if is_array(x) or is_array(y) else power
    return elementwise(cx, node, meaning, (x, y))


def _arithmetic(op: ast.operator, b: Builder, x: Operand, y: Operand) -> Operand:
    return arithmetic(b, op, x, y)


def _compare(op: ast.cmpop, b: Builder, x: Operand, y: Operand) -> Operand:
    return compare(b, op, x, y)


def _check_numbers(cx: Context, node: ast.expr, values: Sequence[Value]) -> None:
    for value in values:
        ty = value.type.elem if isinstance(value.type, Array) else value.type
        if is_union(ty):
            raise union_errors.not_one(cx.span(node), "the operator", ty)
        if list_names(ty) is not None:
            raise ragged_errors.ragged_arithmetic(cx.span(node), ty)
        if isinstance(ty, Product) and ty.names:
            raise record_errors.compared(cx.span(node), ty)
        if not is_number(ty):
            raise type_errors.not_a_number(cx.span(node), "the operator", value.type)


def _unary(cx: Context, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        value = condition(cx, node.operand)
        if isinstance(value, Lit):
            return Lit(not value.value)
        return cx.at(node).prim("not", value)
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(int(magnitude))):
            return number(-magnitude, cx.span(node))
    operand = cx.lazy(node.operand)
    defined = unary_method(cx, node, operand)
    if defined is not None:
        return defined
    if isinstance(node.op, ast.Invert):
        return inverse(cx, node, operand)
    _check_numbers(cx, node, (operand,))
    check_no_lists(cx, node, (operand,))
    if is_array(operand) and is_boolean(operand):
        raise array_errors.boolean_arithmetic(cx.span(node), operand.type, operand.type)
    if _is_minus(node.op):
        return elementwise(cx, node, negative, (operand,))
    return operand


def _is_minus(op: ast.unaryop) -> bool:
    return isinstance(op, ast.USub)


def _comparison(cx: Context, node: ast.Compare) -> Value:
    """`a < b < c` is `a < b and b < c` with b computed once."""
    known = decided(cx, node)
    if known is not None:
        return Lit(known)
    test = type_test(cx, node)
    if test is not None:
        return test.ask(cx)
    return _compare_from(cx, node, cx.lazy(node.left), 0)


def _membership(
    cx: Context, node: ast.expr, op: ast.cmpop, left: Value, right: ast.expr
) -> Operand:
    """`x in xs` of what can be run over; a range tells by its bounds."""
    kind, found = iterator_of(cx, right), None
    if kind is None and not isinstance(right, ast.GeneratorExp):
        right = _settled_parts(cx, right)
        found = set_membership(cx, node, left, right)
    if found is None:
        number = cx.settled(node, left)
        function: Callable[..., Any] = operator.contains
        args = [right, number]
        if kind == "range" and isinstance(right, ast.Call):
            args, function = [number, *right.args], range.__contains__
        name = ast.copy_location(ast.Name("in", ast.Load()), node)
        asked = ast.copy_location(ast.Call(name, args, []), node)
        found = cx.make(cx, node, call_outside(cx, asked, function))
    return found if isinstance(op, ast.In) else cx.at(node).prim("not", found)


def _settled_parts(cx: Context, node: ast.expr) -> ast.expr:
    """An expression whose value, or whose elements if it is a display, are computed."""
    if not isinstance(node, ast.Tuple | ast.List | ast.Set):
        return cx.settled(node, cx.lazy(node))
    if any(isinstance(part, ast.Starred) for part in node.elts):
        return node
    parts = [cx.settled(part, cx.lazy(part)) for part in node.elts]
    if isinstance(node, ast.Set):
        return ast.copy_location(ast.Set(parts), node)
    return ast.copy_location(type(node)(parts, ast.Load()), node)


def _compare_from(cx: Context, node: ast.Compare, left: Value, at: int) -> Value:
    op, found = node.ops[at], None
    if isinstance(op, ast.In | ast.NotIn):
        found = _membership(cx, node, op, left, node.comparators[at])
    elif is_set_value(left):
        found = set_comparison(cx, node, op, left, node.comparators[at])
    if found is not None and at == len(node.ops) - 1:
        return found
    if found is not None or not is_comparison(op):
        symbol, help = _OPERATOR_HELP.get(type(op), ("of sets", "compare one by one"))
        raise statement_errors.unsupported_operator(cx.span(node), symbol, help)
    right = cx.lazy(node.comparators[at])
    holds = _compared(cx, node, op, left, right)
    if at == len(node.ops) - 1:
        return holds
    if not is_number_operand(holds):
        raise array_errors.ambiguous_truth(cx.span(node), holds.type)
    with cx.nested() as b:
        rest = _compare_from(cx, node, right, at + 1)
        if not is_number_operand(rest):
            raise array_errors.ambiguous_truth(cx.span(node), rest.type)
        then = b.block([rest])
    orelse = cx.builder.child().block([Lit(False)])
    return cx.at(node).one(If(holds, then, orelse))


def _compared(
    cx: Context, node: ast.Compare, op: ast.cmpop, left: Value, right: Value
) -> Value:
    same = comparison(cx, node, op, left, right)
    if same is not None:
        return same
    _check_numbers(cx, node, (left, right))
    check_no_lists(cx, node, (left, right))
    return elementwise(cx, node, partial(_compare, op), (left, right))


def _and_or(
    cx: Context, node: ast.BoolOp, is_and: bool, values: Sequence[ast.expr]
) -> Operand:
    """`a and b` is `b if a else a`; the last of two numbers is what it gives."""
    known = decided(cx, values[0])
    if known is not None and len(values) > 1:
        if known is is_and:
            return _and_or(cx, node, is_and, values[1:])
        return _decided_value(cx, values[0], known)
    first = Lit(known) if known is not None else cx.value(values[0])
    if len(values) == 1:
        return first
    test = truth_of(cx, values[0], first)
    try:
        with cx.nested() as b:
            assume(cx, values[0], is_and)
            rest = _and_or(cx, node, is_and, values[1:])
    except Unresolved:
        return first
    short = cx.builder.child()
    sides = [(b, rest), (short, first)] if is_and else [(short, first), (b, rest)]
    return choose(cx, node, test, sides[0], sides[1])


def _decided_value(cx: Context, node: ast.expr, known: bool) -> Operand:
    """What a chain ends with that a static value decides: a number is that number."""
    if isinstance(static_value(cx, node), int | float):
        return cx.value(node)
    return Lit(known)


def _conditional(cx: Context, node: ast.IfExp) -> Operand:
    known = decided(cx, node.test)
    if known is not None:
        return cx.value(node.body if known else node.orelse)
    test = condition(cx, node.test)
    parts = ((node.body, True), (node.orelse, False))
    sides = resolved(partial(_side, cx, node.test, *part) for part in parts)
    if len(sides) < len(parts):
        return sides[0][1]
    return choose(cx, node, test, *sides)


def _side(
    cx: Context, test: ast.expr, node: ast.expr, holds: bool
) -> tuple[Builder, Operand]:
    """The value of an expression in a block of its own, where a test holds or not."""
    with cx.nested() as b:
        assume(cx, test, holds)
        return b, cx.value(node)


def _tuple(cx: Context, node: ast.expr, elements: Sequence[ast.expr]) -> Operand:
    values = tuple(cx.value(element) for element in unpacked(cx, elements))
    return product(cx.at(node), Tuple(values))


def _final(cx: Context, node: Final) -> Operand:
    """What the function gives: the arrays that it has updated, and its result."""
    names = node.elts[:-1] if node.has_result else node.elts
    result = node.elts[len(names) :]
    updated = [n for n in names if isinstance(n, ast.Name) and n.id in cx.updated]
    if len(updated) == 1 and not result:
        return cx.value(updated[0])
    return _tuple(cx, node, [*updated, *result])
