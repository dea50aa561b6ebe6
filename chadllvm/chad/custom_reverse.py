"""D of a call of a function with rules; see `custom.py`."""

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
from chadllvm.chad.reversal import define
from chadllvm.errors import custom_errors
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Lambda,
    One,
    Operand,
    Var,
    literal,
)
from chadllvm.ir.types import Array, has_float
from chadllvm.ops.custom import Custom
from chadllvm.ops.index import Dim, Zeros

if TYPE_CHECKING:
    from chadllvm.chad.transform import Chad, Rule


def reverse(
    chad: Chad, op: Custom, node: Apply, binding: Binding, asked: Sequence[bool]
) -> Rule:
    """D[f(x)] by the rule of its vjp, or by that of its jvp transposed."""
    check_others(op, binding, chad.is_active)
    if op.rules.backward is not None:
        return _by_vjp(chad, op, node, binding, asked)
    return _by_jvp(chad, op, node, binding, asked)


def _by_vjp(
    chad: Chad, op: Custom, node: Apply, binding: Binding, asked: Sequence[bool]
) -> Rule:
    """D[f(x)] = let (y, r) = forward x in (y, fun d. one x_c (backward r d))"""
    forward = chad.customs.copy(the(op.rules.forward))
    backward = chad.customs.copy(the(op.rules.backward))
    kept = forward.body.results[len(binding.vars) :]
    residuals = tuple(Var(f"r{k}", r.type) for k, r in enumerate(kept))
    run = Lambda(forward.params, forward.body)
    before = call_here(run, node.args, (*binding.vars, *residuals), binding)
    given = backward.params[len(residuals) :]
    touched = all(flag for flag, a in zip(chad.touched, asked, strict=True) if a)
    body = backward.body if touched else scaled(backward.body, given)
    with chad.backpropagator(binding, asked) as bp:
        cts = _all_cotangents(binding, asked, bp.cts, before, bp.body)
        arguments = dict(zip(backward.params, (*residuals, *cts), strict=True))
        copy = Renaming(arguments, fresh=True).block(body)
        bp.body.bindings += copy.bindings
        at = differentiated_operands(op, node.args, silent=True)
        for position, ct in zip(at, copy.results, strict=True):
            arg = node.args[position]
            if chad.is_active(arg):
                assert isinstance(arg, Var)
                bp.body.emit(One(bp.dual(arg), (), ct))
    return bp.rule(before)


def _all_cotangents(
    binding: Binding,
    asked: Sequence[bool],
    given: Sequence[Var],
    before: list[Binding],
    b: Builder,
) -> list[Operand]:
    """The cotangents of all results that hold reals, zeros where none is asked for."""
    rest = iter(given)
    pairs = zip(binding.vars, asked, strict=True)
    return [
        next(rest) if flag else _zero(var, before, b)
        for var, flag in pairs
        if has_float(var.type)
    ]


def _zero(var: Var, before: list[Binding], b: Builder) -> Operand:
    """A zero of the shape of a result, whose sizes the backpropagator captures."""
    if not isinstance(var.type, Array):
        return literal(0, var.type)
    out = Builder(b.span)
    axes = range(var.type.rank)
    dims = tuple(out.one(Apply(Dim(axis), (var,)), f"{var.name}_dim") for axis in axes)
    before += out.bindings
    return b.one(Apply(Zeros(var.type.elem), dims), f"{var.name}_ct")


def _by_jvp(
    chad: Chad, op: Custom, node: Apply, binding: Binding, asked: Sequence[bool]
) -> Rule:
    """D[f(x)] = let (y, y_t, bp) = D[tangent] x x in (y, fun d. bp d x_c)"""
    rule = chad.customs.copy(the(op.rules.tangent))
    count, positions = len(node.args), differentiated_operands(op, node.args)
    tangents = dict(zip(rule.params[count:], positions, strict=True))
    values, results = _apart(rule.body, len(binding.vars))
    if not check_linear(rule.body, list(tangents), values, results):
        raise custom_errors.tangent_not_linear(op.rules.span, op.rules.title)
    moved = [t for t, k in tangents.items() if chad.is_active(node.args[k])]
    inner, off = chad.inner(rule, moved), [False] * len(values)
    block = inner.block(
        rule.body,
        [*off, *_real(binding, asked)],
        [*off, *_real(binding, chad.touched)],
    )
    pulled = define(rule.name, block.function(), binding.span)
    outputs = Block((*block.forward, pulled), (*values, pulled.vars[0]))
    bp_var = Var("bp", pulled.vars[0].type)
    args = (*node.args, *(node.args[k] for k in positions))
    run = Lambda(rule.params, outputs)
    before = call_here(run, args, (*binding.vars, bp_var), binding)
    with chad.backpropagator(binding, asked) as bp:
        cells = []
        for tangent in block.free:
            arg = node.args[tangents[tangent]]
            assert isinstance(arg, Var)
            cells.append(bp.dual(arg))
        bp.body.call(bp_var, (*bp.cts, *cells))
    return bp.rule(before)


def _real(binding: Binding, flags: Sequence[bool]) -> list[bool]:
    """The flags of the results that hold reals."""
    pairs = zip(flags, binding.vars, strict=True)
    return [flag for flag, var in pairs if has_float(var.type)]


def _apart(
    block: Block, values: int
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The results that are the function's, and those that are their tangents."""
    return block.results[:values], block.results[values:]
