"""What is done with a value of a sum: something for each of its constructors.

    s.area()   →   case s { Circle(c): @Circle.area(c)  Square(q): @Square.area(q) }

The values that the branches give are joined, as those of an `if` are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from chadllvm.errors import flow_errors, union_errors
from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.marks import component_mark, mark_of
from chadllvm.frontend.recursion import resolved
from chadllvm.frontend.width import as_weak
from chadllvm.ir.build import Builder
from chadllvm.ir.record import RecordNames
from chadllvm.ir.term import Case, Lambda, Operand, Var
from chadllvm.ir.types import Product, Sum, Type, opened_type


def by_case(
    cx: Context, node: ast.expr, value: Operand, apply: Callable[[Var], Value]
) -> Operand:
    """What `apply` gives for what the value's constructor holds."""
    assert isinstance(value.type, Sum)

    mark = mark_of(cx, value)

    def side(index: int, payload: Type) -> tuple[Builder, Var, Operand]:
        param = Var("held", payload)
        cx.marks[param] = component_mark(mark, index)
        with cx.nested() as b:
            return b, param, cx.make(cx, node, apply(param))

    payloads = value.type.payloads
    sides = resolved(partial(side, *pair) for pair in enumerate(payloads))
    if len(sides) < len(payloads):
        return sides[0][2]
    results = [result for _, _, result in sides]
    joined = results[0].type
    for k, result in enumerate(results):
        both = join_values(*results[: k + 1])
        if both is None:
            raise flow_errors.different_branches(cx.span(node), joined, result.type)
        joined = both
    branches = [
        Lambda((param,), b.block([convert(b, result, joined)]))
        for b, param, result in sides
    ]
    b = cx.at(node)
    return as_weak(b, b.one(Case(value, tuple(branches))), results)


def check_members(cx: Context, node: ast.Attribute, ty: Type) -> None:
    """All members of a union must have what is asked of it."""
    assert isinstance(ty, Sum)
    missing = [member for member in ty.payloads if not _has(member, node.attr)]
    if missing:
        raise union_errors.not_in_all(cx.span(node), ty, node.attr, missing)


def _has(ty: Type, name: str) -> bool:
    match opened_type(ty):
        case Product(_, RecordNames() as names) if names.is_class:
            return name in names or hasattr(names.python, name)
        case _:
            return False


def settled_call(cx: Context, node: ast.Call) -> ast.Call:
    """The call with its arguments computed."""
    args = [cx.settled(a, cx.value(a)) for a in node.args]
    keywords = [
        ast.copy_location(ast.keyword(k.arg, cx.settled(k.value, cx.value(k.value))), k)
        for k in node.keywords
    ]
    return ast.copy_location(ast.Call(node.func, args, keywords), node)
