"""Which variables carry derivatives: those that depend on an input asked for, by reals.

Everything else is inactive: it has no cotangent, and no code is made for one. The
answer may be too large (a variable that depends on an input only by a zero derivative),
never too small.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from chadllvm.ir.op import Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Const,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
    nested,
    operands,
)
from chadllvm.ir.types import has_float


def active_variables(block: Block, wrt: Iterable[Var]) -> set[Var]:
    """The active variables of a function's body, `wrt` its active parameters."""
    active = {v for v in wrt if has_float(v.type)}
    _block(block, active)
    return active


def _block(block: Block, active: set[Var]) -> None:
    for binding in block.bindings:
        flags = _results(binding, active)
        for var, flag in zip(binding.vars, flags, strict=True):
            if flag and has_float(var.type):
                active.add(var)


def _is_active(operand: Operand, active: set[Var]) -> bool:
    return isinstance(operand, Var) and operand in active


def _results(binding: Binding, active: set[Var]) -> list[bool]:
    """For each variable of the binding whether it depends on an active one."""
    match binding.expr:
        case Apply(Prim(transpose=transpose), args):
            depends = any(_is_active(a, active) for a in args)
            return [depends and transpose is not None]
        case Apply(_, args, ()):
            return [any(_is_active(a, active) for a in args)] * len(binding.vars)
        case Apply() as node:
            return _loop(node, len(binding.vars), active)
        case If(_, then, orelse):
            _block(then, active)
            _block(orelse, active)
            pairs = zip(then.results, orelse.results, strict=True)
            return [_is_active(a, active) or _is_active(b, active) for a, b in pairs]
        case Const() | Lambda():
            return [False]
        case Tuple() | Proj() | Call() | Open() | View() | One() | Close():
            depends = any(_is_active(a, active) for a in operands(binding.expr))
            return [depends] * len(binding.vars)
        case _:
            assert_never(binding.expr)


def _loop(node: Apply, results: int, active: set[Var]) -> list[bool]:
    """An operation with one body: states are parameters behind the index."""
    (body,) = node.bodies
    states = body.params[1:]
    for state, init in zip(states, node.args[1:], strict=False):
        if _is_active(init, active):
            active.add(state)
    while True:
        _block(body.body, active)
        flags = [_is_active(r, active) for r in body.body.results]
        new = [
            s
            for s, flag in zip(states, flags, strict=False)
            if flag and s not in active
        ]
        if not new:
            return [*flags, *[False] * (results - len(flags))]
        active.update(new)


def influences(block: Block, wanted: Iterable[Var], active: set[Var]) -> set[Var]:
    """The active variables that the wanted ones may depend on, with themselves."""
    found = set(wanted)
    for binding in reversed(block.bindings):
        if found.isdisjoint(binding.vars):
            continue
        found.update(v for v in operands(binding.expr) if _is_active(v, active))  # type: ignore[misc]
        for _, inner in nested(binding.expr):
            results = [r for r in inner.results if isinstance(r, Var) and r in active]
            found |= influences(inner, results, active)
    return found
