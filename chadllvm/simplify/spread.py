"""Where a NaN goes: what is NaN, or holds one, if some variables are.

A NaN among the *sources* has to be seen in the results, if they depend on it at all. So
what is computed from the sources must be strict: it gives a NaN for each NaN that it is
given, or only moves numbers about. A comparison, for instance, makes a truth value of a
NaN, and hides it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import assert_never

from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    If,
    Inject,
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
from chadllvm.ir.types import Acc
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Index, MakeBox, Sized, Unbox
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update


class Hidden(Exception):
    """A NaN might not be seen in the results."""


def spread(block: Block, sources: Set[Var]) -> set[Var]:
    """The variables of a function's body that are NaN, or hold one, if sources are.

    Raises: Hidden.
    """
    walk = _Spread(set(sources))
    walk.block(block)
    return walk.reached


class _Spread:
    """Walks blocks in order; `parts` are the cells that a view, a branch or a parameter
    names, `recursions` the bodies of functions, and how many results are not collected.
    """

    def __init__(self, reached: set[Var]) -> None:
        self.reached = reached
        self.parts: dict[Var, tuple[Operand, ...]] = {}
        self.recursions: dict[Var, tuple[Lambda, int]] = {}

    def has(self, operand: Operand) -> bool:
        return isinstance(operand, Var) and operand in self.reached

    def block(self, block: Block) -> None:
        for binding in block.bindings:
            flags = self._results(binding)
            pairs = zip(binding.vars, flags, strict=True)
            self.reached.update(var for var, flag in pairs if flag)

    def _results(self, binding: Binding) -> list[bool]:
        """For each variable of the binding whether the sources reach it."""
        expr, none = binding.expr, [False] * len(binding.vars)
        match expr:
            case Apply(Prim() as op, args):
                return [self.has(binding.vars[0]) or self._prim(op, args)]
            case Apply(ArrayOp() as op, args, ()):
                return [self._moved(op, args)] * len(binding.vars)
            case Apply(Recurse() as op) as node:
                return self._recursion(op, node)
            case Apply() as node:
                return self._loop(node, len(binding.vars))
            case Call(Var() as function, args) if function in self.recursions:
                body, count = self.recursions[function]
                self._hand(body.params[1:], args)
                plain = body.body.results[:count]
                return [*map(self.has, plain), *none[count:]]
            case If(_, then, orelse):
                self.block(then)
                self.block(orelse)
                return self._choice(then, orelse, binding)
            case One(cell, _, value):
                if self.has(value):
                    self._add_to(cell)
                return none
            case View(cell):
                self.parts[binding.vars[0]] = (cell,)
                return none
            case Close(cell):
                return [self.has(cell)]
            case Const() | Open():
                return none
            case Lambda() | Tuple() | Proj() | Inject() | Case() | Call():
                if any(map(self.has, operands(expr))) or any(nested(expr)):
                    raise Hidden
                return none
            case _:
                assert_never(expr)

    def _prim(self, op: Prim, args: Sequence[Operand]) -> bool:
        flags = list(map(self.has, args))
        if not any(flags):
            return False
        match op.name, flags:
            case ("select", [False, _, _]) | ("div", [True, False]):
                return True
            case _ if op.is_strict:
                return True
            case _:
                raise Hidden

    def _moved(self, op: ArrayOp, args: Sequence[Operand]) -> bool:
        """An operation without a body."""
        if not any(map(self.has, args)) or isinstance(op, Dim):
            return False
        if isinstance(op, Index | Update | Append | DropLast | MakeBox | Unbox | Sized):
            return True
        raise Hidden

    def _loop(self, node: Apply, count: int) -> list[bool]:
        """A loop: what reaches a state reaches it in the next step."""
        op, (body,) = node.op, node.bodies
        results = body.body.results
        if not isinstance(op, Build | Fold | Iterate):
            raise Hidden
        states = body.params[1:]
        pairs = zip(states, node.args[1:], strict=True)
        self.reached.update(state for state, init in pairs if self.has(init))
        while True:
            self.block(body.body)
            pairs = zip(states, results, strict=False)
            new = {s for s, r in pairs if self.has(r)} - self.reached
            if not new:
                break
            self.reached |= new
        flags = [self.has(r) for r in results]
        flags[: len(states)] = [s in self.reached for s in states]
        if isinstance(op, Fold) and op.kind != "add" and flags[0]:
            raise Hidden
        return [*flags, *[False] * (count - len(flags))]

    def _recursion(self, op: Recurse, node: Apply) -> list[bool]:
        """A function: what reaches a parameter in one call may do so in any."""
        (body,), size = node.bodies, -1
        self.recursions[body.params[0]] = body, op.plain(body)
        self._hand(body.params[1:], node.args)
        while size != (size := len(self.reached)):
            self.block(body.body)
        flags, count = list(map(self.has, body.body.results)), op.plain(body)
        return [*flags[:count], *[False] * bool(op.collects), *flags[count:]]

    def _hand(self, params: Sequence[Var], args: Sequence[Operand]) -> None:
        """A call hands these to its parameters; cells are reached by what is added."""
        for param, arg in zip(params, args, strict=True):
            if not isinstance(param.type, Acc):
                self.reached.update([param] if self.has(arg) else [])
                continue
            parts = self.parts.get(param, ())
            self.parts[param] = (*parts, *([] if arg in parts else [arg]))
            if self.has(param):
                self._add_to(arg)

    def _choice(self, then: Block, orelse: Block, binding: Binding) -> list[bool]:
        choices = list(zip(then.results, orelse.results, strict=True))
        for var, choice in zip(binding.vars, choices, strict=True):
            if isinstance(var.type, Acc):
                self.parts[var] = choice
        return [any(map(self.has, choice)) for choice in choices]

    def _add_to(self, cell: Operand) -> None:
        """A cell is reached, and so are the cells that it is part of."""
        pending: list[Operand] = [cell]
        while pending:
            found = pending.pop()
            if isinstance(found, Var) and found not in self.reached:
                self.reached.add(found)
                pending += self.parts.get(found, ())
