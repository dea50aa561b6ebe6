"""Derivatives along directions, inside of programs: `cl.jvp`.

cl.jvp(f, (x, n), (v, None))     →     y, y_t = derivative push_forward[0] @f(x, n, v)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import call_errors, closure_errors
from chadllvm.frontend.apart import Apart
from chadllvm.frontend.applying import for_each, function_of
from chadllvm.frontend.closures import holds_function, holds_reals
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.derivative_arguments import given_arguments
from chadllvm.frontend.differentiated import Target, target_of
from chadllvm.frontend.list_tangents import reals
from chadllvm.frontend.reals import as_reals, check_like, fits
from chadllvm.frontend.union_cotangents import (
    hidden,
    holds_union,
    shown_type,
    without_integers,
)
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.frontend.width import is_weak, to_width
from chadllvm.ir.term import Call, Derivative, Mode, Operand, Proj, Tuple
from chadllvm.ir.types import Product, holds_reference, is_float
from chadllvm.ir.wording import said


def jvp(cx: Context, node: ast.Call) -> Value:
    """A call of `jvp`."""
    called = f"`{ast.unparse(node.func)}`"
    given = given_arguments(cx, node, "jvp", ("function", "primals", "tangents"))
    for name in ("primals", "tangents"):
        if name not in given:
            raise call_errors.missing_argument(cx.span(node), "jvp", name)
    function = function_of(cx, given["function"])
    primals = _parts(cx, given["primals"], called)
    tangents = parts_of(cx, given["tangents"], len(primals), called)
    moved = ast.copy_location(ast.Call(given["function"], primals, []), node)

    def push(cx: Context, node: ast.Call, function: Operand) -> Operand:
        return pushed(cx, node, target_of(cx, node, function), tangents)

    return for_each(cx, moved, function, push)


def parts_of(cx: Context, node: ast.expr, count: int, called: str) -> list[ast.expr]:
    """The tangents in a tuple, one for each of so many primals."""
    tangents = _parts(cx, node, called)
    if len(tangents) != count:
        raise closure_errors.derivative_argument(
            cx.span(node), called, f"{count} primals and {len(tangents)} tangents"
        )
    return tangents


def _parts(cx: Context, node: ast.expr, called: str) -> list[ast.expr]:
    """The components of a tuple, each computed already."""
    if isinstance(node, ast.Tuple):
        return [e if _is_none(e) else cx.settled(e, cx.value(e)) for e in node.elts]
    value = cx.value(node)
    if not isinstance(value.type, Product) or value.type.names:
        raise closure_errors.derivative_argument(
            cx.span(node), called, f"expected a tuple, found {said(value.type)}"
        )
    b = cx.at(node)
    return [
        cx.settled(node, b.one(Proj(value, k))) for k in range(len(value.type.fields))
    ]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def pushed(
    cx: Context, node: ast.Call, target: Target, tangents: Sequence[ast.expr]
) -> Operand:
    """The result, and how fast it changes along the tangents."""
    if holds_function(target.result):
        raise closure_errors.not_differentiable(
            cx.span(node), target.title, target.result, "what holds no functions"
        )
    moving = [
        (at, tangent)
        for at, tangent in zip(target.at, tangents, strict=False)
        if at is not None
        and holds_reals(target.operands[at].type)
        and not _is_none(tangent)
    ]
    called = target.apart(cx.at(node), [at for at, _ in moving], packs=True)
    given: list[Operand] = []
    for k, (_, tangent) in enumerate(moving):
        given += tangents_of(cx, tangent, cx.value(tangent), called, k)
    rule = Derivative(Mode.PUSH_FORWARD, called.wrt)
    call = Call(called.name, (*called.operands, *given), rule)
    b = cx.at(node)
    packed, *moved = b.emit(call, "out", "out_t")
    out = called.result(b, packed)
    if not moved:
        return b.one(Tuple((out, b.one(NONE_VALUE))))
    return b.one(Tuple((out, called.moved(b, moved[0], packed))))


def tangents_of(
    cx: Context, node: ast.expr, value: Operand, called: Apart, k: int
) -> list[Operand]:
    """The tangents of the operands that are one of the parameters moved along."""
    primal = called.operands[called.by[k]]
    if holds_reference(primal.type):
        b = cx.at(node)
        return [*called.given(b, k, value, cx.span(node), check_like)]
    return [tangent_of(cx, node, value, primal)]


def cotangent_of(
    cx: Context, node: ast.expr, value: Operand, called: Apart, out: Operand
) -> Operand:
    """The cotangent of what a function gave."""
    if called.is_packed:
        return called.cotangent(cx.at(node), value, out, cx.span(node), check_like)
    return tangent_of(cx, node, value, out)


def tangent_of(cx: Context, node: ast.expr, value: Operand, primal: Operand) -> Operand:
    """A tangent or cotangent, of the type and the sizes of what it belongs to."""
    b, wanted = cx.at(node), shown_type(primal.type)
    value = reals(cx, node, value, primal)
    if is_weak(value) and is_float(wanted):
        value = to_width(b, value, wanted)
    if holds_union(primal.type):
        value = without_integers(b, value)
    if not fits(value.type, wanted):
        raise closure_errors.wrong_tangent(cx.span(node), value.type, wanted)
    return hidden(b, as_reals(b, value, wanted), primal, check_like)
