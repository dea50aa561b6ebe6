"""Statements that change what a name stands for: `xs.append(v)`, `s.add(i)`."""

from __future__ import annotations

import ast
import builtins

import numpy as np

from chadllvm.errors import call_errors, statement_errors, update_errors
from chadllvm.frontend.calls import call_outside
from chadllvm.frontend.context import Context
from chadllvm.frontend.lifted import is_reassigned
from chadllvm.frontend.lists import LIST_METHODS, extend_list
from chadllvm.frontend.lists import change as change_list
from chadllvm.frontend.marks import may_be_list
from chadllvm.frontend.scope import Unusable
from chadllvm.frontend.sets import change as change_set
from chadllvm.frontend.sets import change_by
from chadllvm.frontend.surface import CHANGING_SETS, Augmented, Changed, is_filled
from chadllvm.frontend.writing import assign, whole
from chadllvm.ir.term import Var
from chadllvm.ir.types import is_set, list_names


def change(cx: Context, node: Changed) -> None:
    """A call that changes a list, an array or a set."""
    name = node.target.id
    is_lent = name in cx.updated and not is_reassigned(cx.source.definition, name)
    if is_lent and not is_filled(node):
        raise update_errors.argument_grows(cx.span(node), name)
    value = cx.scope.lookup(node.target.id)
    assert isinstance(node.func, ast.Attribute)
    if isinstance(value, Var) and is_set(value.type):
        change_set(cx, node, value)
    elif node.func.attr in CHANGING_SETS and not _is_list(cx, node, value):
        if value is None or isinstance(value, Unusable):
            cx.value(node.target)
        raise statement_errors.unused_expression(cx.span(node), node.func.attr)
    elif node.func.attr in ("sort", "reverse"):
        _reorder(cx, node, node.func.attr)
    else:
        change_list(cx, node)


def _is_list(cx: Context, node: Changed, value: object) -> bool:
    """Whether this is a method of a list that has one of that name as well."""
    assert isinstance(node.func, ast.Attribute)
    return node.func.attr in LIST_METHODS and may_be_list(cx, value)


def _reorder(cx: Context, node: Changed, method: str) -> None:
    """`xs.sort()` as `xs[:] = sorted(xs)`, of an array `np.sort(xs)`, and
    `xs.reverse()` as `xs[:] = xs[::-1]`."""
    name, array = node.target, cx.value(node.target)
    place = whole(cx, name)
    if place is None:
        raise update_errors.not_updatable(cx.span(name), array.type)
    is_listed = array in cx.lists
    if node.args and is_listed:
        raise call_errors.wrong_argument_count(cx.span(node), method, "0 arguments")
    if method == "reverse":
        if not may_be_list(cx, array):
            raise statement_errors.unused_expression(cx.span(node), method)
        backwards = ast.Slice(None, None, ast.Constant(-1))
        part = ast.copy_location(ast.Subscript(name, backwards, ast.Load()), node)
        new = cx.lazy(ast.fix_missing_locations(part))
    else:
        call = ast.Call(node.func, [name, *node.args], node.keywords)
        meant = builtins.sorted if is_listed else np.sort
        new = call_outside(cx, ast.copy_location(call, node), meant)
    assign(cx, place, new)


def changed_in_place(cx: Context, target: ast.Name, node: Augmented) -> bool:
    """`s |= t` of sets, `xs += ys` of lists of arrays; false if it is none of these."""
    found = cx.scope.lookup(target.id)
    if isinstance(found, Var) and is_set(found.type):
        change_by(cx, target, node, found)
        return True
    if isinstance(found, Var) and list_names(found.type) is not None:
        extend_list(cx, target, node, found)
        return True
    return False
