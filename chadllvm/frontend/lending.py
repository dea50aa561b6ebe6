"""Calls of functions that update arguments, which are lent to them.

    scale(a, 2.0)          →   a' = rewritten(a);  a = @scale(a', 2.0)
    n = shift(a[1:], b)    →   part = copy of a[1:];  a = rewritten(a)
                               p = @shift(part, b);  a[1:] = p.0;  n = p.1

From `rewritten` on, whatever may be the same array in Python must not be read
(`simplify/sharing.py`): so it is refused, at the line of the call, that one argument is
a part of another one which is updated. `statements.py` gives the arrays back.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from chadllvm.errors import update_errors
from chadllvm.frontend.context import Callees, Context, UpdatedPart
from chadllvm.frontend.delayed import delayed, force, succeed
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Function
from chadllvm.frontend.surface import Updating, base
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.frontend.updates import Updates, is_updatable
from chadllvm.frontend.width import component
from chadllvm.ir.build import Builder
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Operand, Proj, Var
from chadllvm.ir.types import Product, Type
from chadllvm.ir.updated import Updated
from chadllvm.ops.alias import Lent, Rewritten
from chadllvm.support.diagnostic import NO_SPAN, Span


def with_lent(
    callees: Callees,
    name: str,
    like: Sequence[Operand],
    updated: Updated,
    *,
    result_only: bool,
    span: Span = NO_SPAN,
) -> str:
    """A function that lends another one what it was given, and keeps it nowhere else.

    With `result_only` it does not give what was updated.
    """

    def body(b: Builder, params: Sequence[Var]) -> Sequence[Operand]:
        given: list[Operand] = list(params)
        for k in updated.positions:
            (given[k],) = b.apply(Lent(), [given[k], given[k]], (), [params[k].name])
        (out,) = b.call(name, given)
        last = len(updated.positions)
        return (b.one(Proj(out, last)) if result_only else out,)

    key = "lent", name, updated.positions, result_only
    return callees.wrapper(name, like, body, span, key)


def lent(
    cx: Context,
    node: ast.Call,
    updates: Updates,
    given: Mapping[str, ast.expr],
    values: Mapping[str, Operand],
) -> dict[str, Operand]:
    """The arguments, some of which are updated; in an expression new objects alone."""
    found = dict(values)
    names = [n for n, v in values.items() if n in given and updates.has(n, v.type)]
    new = {n for n in names if n in updates.objects and cx.assigned.makes(given[n])}
    if not isinstance(node, Updating) and not new.issuperset(names):
        return found
    for name in names:
        if name in updates.reassigned:
            continue
        if updates.has_result and _is_made(cx, given[name]):
            continue
        if name not in updates.objects:
            found[name] = _lent(cx, given[name], values[name])
        elif name not in new:
            _check_lent(cx, given[name], values[name].type, [*given.values()])
    cx.lent[node] = {name: given[name] for name in names}
    cx.updated_parts[node] = []
    return found


# NumPy's functions that make an array for each call.
_MAKERS = (
    *(np.zeros, np.ones, np.full, np.empty, np.array, np.arange, np.copy, np.eye),
    *(np.zeros_like, np.ones_like, np.full_like, np.empty_like),
)


def _is_made(cx: Context, part: ast.expr) -> bool:
    """Whether an argument is an array that is made for the call, which then is lost."""
    match part:
        case ast.List() | ast.ListComp() | ast.BinOp():
            return True
        case ast.Call(ast.Attribute(_, "copy"), []):
            return True
        case ast.Call(function, _, []):
            try:
                return cx.static(function) in _MAKERS
            except (NotStatic, TypeError):
                return False
        case _:
            return False


def _lent(cx: Context, part: ast.expr, value: Operand) -> Operand:
    name = base(part)
    if name is not None and name.id not in cx.liveness.locals:
        where = "an array from outside of the function"
        raise update_errors.fixed_update(cx.span(part), name.id, where)
    whole = None if name is None else cx.scope.lookup(name.id)
    if name is None or not isinstance(whole, Var):
        raise update_errors.not_lendable(cx.span(part))
    if not isinstance(part, ast.Name):
        copy = replace(delayed(cx, part, value), made=None, view_of=None, is_item=False)
        value = force(cx, part, copy)
    if is_updatable(whole.type):
        args = [whole, whole]
        (after,) = cx.at(part).apply(Rewritten(), args, [], [name.id])
        succeed(cx, name.id, whole, after)
        return after if isinstance(part, ast.Name) else value
    return value


def result_of_call(
    cx: Context,
    node: ast.expr,
    function: Function | LocalFunction,
    params: Sequence[Parameter],
    operands: Sequence[Operand],
    out: Operand,
) -> Operand:
    """The result of a call, apart from what it has updated."""
    own = cx.callees.updates(function)
    taken = [p.name for p in params if not p.is_static]
    behind = operands[len(operands) - len(taken) :]
    pairs = zip(taken, behind, strict=True)
    names = [n for n, operand in pairs if own.has(n, operand.type)]
    if not names:
        return out
    if not isinstance(node, ast.Call) or node not in cx.lent:
        raise update_errors.updating_value(cx.span(node), function.__name__, names)
    b, given = cx.at(node), cx.lent[node]
    many = own.has_result or len(names) > 1
    ordered = [name for name in own.names if name in names]
    parts = [component(b, out, k) for k in range(len(names))] if many else [out]
    for name, part in zip(ordered, parts, strict=True):
        if name not in given:
            raise update_errors.not_lendable(cx.span(node))
        updated = UpdatedPart(given[name], part, name in own.reassigned)
        cx.updated_parts[node].append(updated)
    return component(b, out, len(names)) if own.has_result else b.one(NONE_VALUE)


# ---- objects


def _check_lent(
    cx: Context, part: ast.expr, ty: Type, given: Sequence[ast.expr]
) -> None:
    """Refuse a call that would assign fields of what may have another name, also that
    of another one of the arguments `given`."""
    names = ty.names if isinstance(ty, Product) else ()
    assert isinstance(names, RecordNames)
    if not isinstance(part, ast.Name) or part.id not in cx.liveness.locals:
        raise update_errors.not_lendable(cx.span(part))
    if names.may_change:
        check_alone(cx, part, part.id, names)
    for other in given:
        if other is not part and isinstance(other, ast.Name) and other.id == part.id:
            copied, place = copy_of(part.id, names), cx.span(other)
            raise update_errors.object_shared(cx.span(part), part.id, copied, place)


def check_alone(cx: Context, node: ast.expr, name: str, names: RecordNames) -> None:
    """Refuse to assign a field of a record, or an entry, that may have other names."""
    other = cx.assigned.other(name, is_lent=name in cx.updated)
    if other is not None:
        place = None if isinstance(other, ast.FunctionDef) else cx.span(other)
        copied = copy_of(name, names)
        raise update_errors.object_shared(cx.span(node), name, copied, place)


def copy_of(name: str, names: Sequence[str]) -> str:
    """How a copy of a record of these names is written."""
    is_dict = isinstance(names, RecordNames) and names.kind is Kind.DICT
    return f"dict({name})" if is_dict else f"dataclasses.replace({name})"
