"""Tuples made of tuples: `p[1:]`, `p + q`, `(1,) * 3`, `(1, *p)`, `f(*p)`; `p < q`.

Which components the result has is known when the program is compiled: bounds of slices
and numbers of copies are constants.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from chadllvm.errors import statement_errors, type_errors
from chadllvm.frontend.arithmetic import compare, is_number
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value
from chadllvm.frontend.width import component, product
from chadllvm.ir.build import Builder
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Lit, Operand, Tuple
from chadllvm.ir.types import BOOL, I64, Product, list_names, opened_type


def sliced(cx: Context, node: ast.expr, part: ast.Slice, value: Operand) -> Operand:
    """`value[low:high:step]`: some components of a tuple, or fields of a record."""
    bounds = (_constant(cx, bound) for bound in (part.lower, part.upper, part.step))
    at = slice(*bounds)
    if at.step == 0:
        raise type_errors.tuple_slice(cx.span(part))
    return _taken(cx, node, value, range(_size(value))[at])


def tuple_operation(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Operand | None:
    """`x + y` of tuples, `x * n` and `n * x` with a constant; None for all else."""
    match node.op:
        case ast.Add() if _is_plain(x) and _is_plain(y):
            parts = (*components(cx, node, x), *components(cx, node, y))
            return product(cx.at(node), Tuple(parts))
        case ast.Mult() if _is_plain(x) and _is_count(y):
            return _taken(cx, node, x, [*range(_size(x))] * int(y.value))
        case ast.Mult() if _is_plain(y) and _is_count(x):
            return _taken(cx, node, y, [*range(_size(y))] * int(x.value))
        case _:
            return None


def comparison(
    cx: Context, node: ast.expr, op: ast.cmpop, x: Value, y: Value
) -> Operand | None:
    """Tuples of numbers, compared by the first components that differ; None for all
    else."""
    if not isinstance(op, _COMPARISONS) or not (_is_plain(x) and _is_plain(y)):
        return None
    first, second = components(cx, node, x), components(cx, node, y)
    b = cx.at(node)
    found: Operand = compare(b, op, Lit(len(first)), Lit(len(second)))
    for left, right in reversed([*zip(first, second, strict=False)]):
        same = comparison(cx, node, ast.Eq(), left, right)
        here = comparison(cx, node, op, left, right)
        if same is None or here is None:
            if not (is_number(left.type) and is_number(right.type)):
                return None
            same, here = compare(b, ast.Eq(), left, right), compare(b, op, left, right)
        found = _chosen(b, same, found, here)
    return found


_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _chosen(b: Builder, test: Operand, then: Operand, orelse: Operand) -> Operand:
    """One of two truth values."""
    match then, orelse:
        case _ if then == orelse:
            return then
        case _, Lit(False):
            return b.prim("and", test, then)
        case _:
            other = b.prim("and", b.prim("not", test), orelse)
            return b.prim("or", b.prim("and", test, then), other)


def unpacked(cx: Context, nodes: Sequence[ast.expr]) -> list[ast.expr]:
    """Expressions, where `*p` is the components of a tuple."""
    found: list[ast.expr] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            found.append(node)
            continue
        if isinstance(node.value, ast.Tuple | ast.List):
            found += unpacked(cx, node.value.elts)
            continue
        value = cx.value(node.value)
        if not is_tuple(value.type) or list_names(value.type) is not None:
            raise statement_errors.starred(cx.span(node))
        found += [cx.settled(node.value, part) for part in components(cx, node, value)]
    return found


def call_unpacked(cx: Context, node: ast.Call) -> ast.Call:
    """A call, where `*p` is the components of a tuple, and `**d` a dictionary's."""
    is_starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if not is_starred and all(keyword.arg for keyword in node.keywords):
        return node
    keywords = [each for k in node.keywords for each in _keywords(cx, k)]
    call = ast.Call(node.func, unpacked(cx, node.args), keywords)
    return ast.copy_location(call, node)


def _keywords(cx: Context, node: ast.keyword) -> list[ast.keyword]:
    if node.arg is not None:
        return [node]
    value = cx.value(node.value)
    names = value.type.names if isinstance(value.type, Product) else ()
    if not isinstance(names, RecordNames) or names.kind is not Kind.DICT:
        raise statement_errors.starred(cx.span(node))
    parts = zip(names, components(cx, node.value, value), strict=True)
    return [
        ast.copy_location(ast.keyword(name, cx.settled(node.value, part)), node)
        for name, part in parts
    ]


def is_sequence(value: Value) -> TypeGuard[Operand]:
    """Whether a value is a tuple, or a record that is one."""
    if isinstance(value, Delayed) or not is_tuple(value.type):
        return False
    names = value.type.names
    return not names or (isinstance(names, RecordNames) and names.is_sequence)


def _is_plain(value: Value) -> TypeGuard[Operand]:
    if isinstance(value, Delayed) or not is_tuple(value.type):
        return False
    return not value.type.names


def _is_count(value: Value) -> TypeGuard[Lit]:
    return isinstance(value, Lit) and value.type in (I64, BOOL)


def _size(value: Operand) -> int:
    held = opened_type(value.type)
    assert isinstance(held, Product)
    return len(held.fields)


def components(cx: Context, node: ast.expr, value: Operand) -> tuple[Operand, ...]:
    """The components of a tuple."""
    b = cx.at(node)
    return tuple(component(b, value, k) for k in range(_size(value)))


def _taken(
    cx: Context, node: ast.expr, value: Operand, which: Iterable[int]
) -> Operand:
    parts = components(cx, node, value)
    return product(cx.at(node), Tuple(tuple(parts[k] for k in which)))


def _constant(cx: Context, node: ast.expr | None) -> int | None:
    if node is None:
        return None
    value = cx.value(node)
    if not isinstance(value, Lit) or value.type != I64:
        raise type_errors.tuple_slice(cx.span(node))
    return int(value.value)
