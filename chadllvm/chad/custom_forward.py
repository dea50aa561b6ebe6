"""Tangents of a call of a function with rules; see `custom.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chadllvm.chad.custom import (
    call_here,
    check_linear,
    check_others,
    differentiated_operands,
    scaled,
    the,
)
from chadllvm.chad.reversal import define, open_like
from chadllvm.chad.transform import Chad
from chadllvm.errors import custom_errors
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Lambda,
    Operand,
    Var,
)
from chadllvm.ir.types import has_float
from chadllvm.ops.custom import Custom

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward


def push(
    forward: Forward, op: Custom, node: Apply, binding: Binding, out: Builder
) -> None:
    """The results and their tangents, by the rule of the jvp or by the other's."""
    if not any(forward.flags(binding.vars)):
        out.bindings.append(binding)
        return
    check_others(op, binding, forward.is_active)
    real = [v for v in binding.vars if has_float(v.type)]
    bound = iter(forward.bind(real))
    tangents = [next(bound) if forward.moves(v) else Var("t", v.type) for v in real]
    if op.rules.tangent is not None:
        _by_jvp(forward, op, node, binding, tangents, out)
    else:
        _by_vjp(forward, op, node, binding, tangents, out)


def _by_jvp(
    forward: Forward,
    op: Custom,
    node: Apply,
    binding: Binding,
    tangents: Sequence[Var],
    out: Builder,
) -> None:
    """y, y_t = tangent(x, x_t)"""
    rule = forward.customs.copy(the(op.rules.tangent))
    positions = differentiated_operands(op, node.args)
    body = scaled(rule.body, rule.params[len(node.args) :])
    args = (*node.args, *(forward.tangent(node.args[k]) for k in positions))
    variables = (*binding.vars, *tangents)
    out.bindings += call_here(Lambda(rule.params, body), args, variables, binding)


def _by_vjp(
    forward: Forward,
    op: Custom,
    node: Apply,
    binding: Binding,
    tangents: Sequence[Var],
    out: Builder,
) -> None:
    """y, r = forward x;  y_t = close after (D[backward] r y).bp x_t y_c"""
    customs = forward.customs
    first, second = customs.copy(the(op.rules.forward)), customs.copy(
        the(op.rules.backward)
    )  # fmt: skip
    kept = first.body.results[len(binding.vars) :]
    residuals = tuple(Var(f"r{k}", r.type) for k, r in enumerate(kept))
    run = Lambda(first.params, first.body)
    variables = (*binding.vars, *residuals)
    out.bindings += call_here(run, node.args, variables, binding)
    given = second.params[len(residuals) :]
    if not check_linear(second.body, given, (), second.body.results):
        raise custom_errors.cotangent_not_linear(op.rules.span, op.rules.title)
    positions = differentiated_operands(op, node.args, silent=True)
    moves = [forward.moves(node.args[k]) for k in positions]
    chad = Chad(second, given, customs)
    block = chad.block(second.body, moves, [False] * len(moves))
    pulled = define(second.name, block.function(), binding.span)
    outer = Lambda(second.params, Block((*block.forward, pulled), pulled.vars))
    bp = Var("bp", pulled.vars[0].type)
    real = [v for v in binding.vars if has_float(v.type)]
    out.bindings += call_here(outer, (*residuals, *real), (bp,), binding)
    cells = [out.one(open_like(var, out), f"{var.name}_c") for var in real]
    chosen = zip(positions, moves, strict=True)
    pushed = [forward.tangent(node.args[k]) for k, flag in chosen if flag]
    by_param = dict(zip(given, cells, strict=True))
    free: tuple[Operand, ...] = tuple(by_param[v] for v in block.free)
    out.emit(Call(bp, (*pushed, *free)))
    for tangent, cell in zip(tangents, cells, strict=True):
        out.bindings.append(Binding((tangent,), Close(cell), binding.span))
