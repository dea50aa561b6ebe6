"""How long buffers live: for every array the scope whose region its buffer belongs to.

A scope is the function or the body of a loop; what is allocated in the region of a loop
body is gone at the end of the iteration. An array lives in the scope that binds it unless
something that lives longer refers to it: a result of the function, a box on the tape, the
state of a loop, another name of it. One walk backwards over the program finds the
outermost scope for each variable.

The state of a loop that is an array is kept in a pair of buffers outside of the loop, used
in turn, unless some step's state has to live longer than the next step (`outlives`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.ir.op import Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Const,
    Function,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import Acc, Array, Box
from chadllvm.ops.index import Empty, Index, MakeBox, Unbox


@dataclass(eq=False)
class Scope:
    """The function (depth 0), or a loop body; depth -1 is the caller's."""

    parent: Scope | None
    depth: int
    region: int | None = None


CALLER = Scope(None, -1)


@dataclass
class Lifetimes:
    """The analysis' result, and its working state."""

    function: Scope
    homes: dict[Var, Scope] = field(default_factory=dict)
    bodies: dict[Lambda, Scope] = field(default_factory=dict)
    # The states of loops whose every step's value outlives the step, by parameter.
    outlives: dict[Var, Scope] = field(default_factory=dict)

    def home(self, var: Var) -> Scope:
        return self.homes[var]


def lifetimes(function: Function, direct: Sequence[Var]) -> Lifetimes:
    """The home of every variable; `direct` results are allocated for the caller."""
    scope = Scope(CALLER, 0)
    found = Lifetimes(scope)
    for param in function.params:
        _need(found, param, scope)
    for var in direct:
        _need(found, var, CALLER)
    _block(function.body, scope, [scope] * len(function.body.results), found)
    return found


def _need(found: Lifetimes, operand: Operand, scope: Scope) -> None:
    """The buffer of this operand has to live at least as long as this scope."""
    if not isinstance(operand, Var) or not isinstance(operand.type, Array | Box | Acc):
        return
    home = found.homes.get(operand)
    if home is None or scope.depth < home.depth:
        found.homes[operand] = scope


def _block(
    block: Block, scope: Scope, demands: Sequence[Scope], found: Lifetimes
) -> None:
    for result, demand in zip(block.results, demands, strict=True):
        _need(found, result, demand)
    for binding in reversed(block.bindings):
        for var in binding.vars:
            _need(found, var, scope)
        _binding(binding, scope, found)


def _binding(binding: Binding, scope: Scope, found: Lifetimes) -> None:
    """What the operands of an expression owe to the homes of its results."""
    homes = [found.homes.get(v, scope) for v in binding.vars]
    match binding.expr:
        case Apply(Index() | MakeBox() | Unbox() | Empty(), args):
            for arg in args:
                _need(found, arg, homes[0])
        case View(cell, _) | Close(cell):
            _need(found, cell, homes[0])
        case If(_, then, orelse):
            for branch in (then, orelse):
                _block(branch, scope, homes, found)
        case Apply(_, _, (body,)) as node:
            _loop(node, body, binding, homes, found, scope)
        case Apply(Prim() | _) | Const() | Open() | One():
            return
        case Lambda() | Tuple() | Proj() | Call():
            return
        case _:
            assert_never(binding.expr)


def _loop(
    node: Apply,
    body: Lambda,
    binding: Binding,
    homes: Sequence[Scope],
    found: Lifetimes,
    outer: Scope,
) -> None:
    scope = found.bodies.setdefault(body, Scope(outer, outer.depth + 1))
    states = body.params[1:]
    results = body.body.results
    demands = [scope] * len(results)
    for k, result in enumerate(results[len(states) :], len(states)):
        if isinstance(result.type, Box):
            # What a box refers to lives as long as the array of boxes.
            demands[k] = homes[k]
    while True:
        _block(body.body, scope, demands, found)
        again = False
        for k, state in enumerate(states):
            longer = found.homes.get(state, scope)
            if longer.depth < demands[k].depth:
                demands[k] = found.outlives[state] = longer
                again = True
        if not again:
            break
    for k, state in enumerate(states):
        longest = found.outlives.get(state, homes[k])
        _need(found, binding.vars[k], longest)
        _need(found, node.args[1 + k], found.homes.get(binding.vars[k], homes[k]))
