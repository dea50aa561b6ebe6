"""Which variables carry derivatives: those that depend on an input asked for, by reals.

Everything else is inactive: it has no cotangent and no tangent, and no code is made for
one. The answer may be too large (a variable that depends on an input only by a zero
derivative), never too small. A cell is active if anything active may be added to it.

With `cells`, for reverse mode, a state of a loop is active besides if a branch chooses
between it and something active. What is added to the cell of the choice is then added
to the state's, which is handed on from step to step; a cell to throw that away would be
as large in each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from chadllvm.chad.names import Branch, chosen_arrays, names
from chadllvm.ir.op import Prim
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
    operands,
)
from chadllvm.ir.types import Acc, has_float
from chadllvm.ops.heap import Columns, Fetch, Load, New, Place
from chadllvm.ops.ledger import HeapOp, column_of, ledger_of
from chadllvm.ops.recurse import Recurse


def active_variables(
    block: Block, wrt: Iterable[Var], *, cells: bool = False
) -> set[Var]:
    """The active variables of a function's body, `wrt` its active parameters."""
    activity = _Activity({v for v in wrt if has_float(v.type)}, cells)
    known = -1
    # What a node holds may be fetched in front of where another one is made.
    while known != len(activity.active):
        known = len(activity.active)
        activity.block(block)
    return activity.active


class _Activity:
    """Walks blocks in order; `parts` are the cells that a view or a branch names."""

    def __init__(self, active: set[Var], cells: bool) -> None:
        self.active = active
        self._cells = cells
        self._states: set[Var] = set()
        self.parts: dict[Var, tuple[Operand, ...]] = {}
        self._choices: dict[int, list[tuple[Var, list[Var]]]] = {}
        # The functions of recursions: what they take, and which results are active.
        self.recursions: dict[Var, tuple[tuple[Var, ...], list[bool]]] = {}

    def is_active(self, operand: Operand) -> bool:
        return isinstance(operand, Var) and operand in self.active

    def block(self, block: Block) -> None:
        for binding in block.bindings:
            flags = self._results(binding)
            pairs = zip(binding.vars, flags, strict=True)
            self._activate([var for var, flag in pairs if flag])
        for var, choice in self._choices_of(block) if self._cells else ():
            if var in self.active:
                self._activate(self._states.intersection(choice))

    def _choices_of(self, block: Block) -> list[tuple[Var, list[Var]]]:
        """The arrays of a block that branches choose, and what they choose between."""
        if id(block) not in self._choices:
            choosing = any(isinstance(b.expr, If) and b.vars for b in block.bindings)
            found = names(block).items() if choosing else ()
            self._choices[id(block)] = [
                (var, [*chosen_arrays(name)])
                for var, name in found
                if isinstance(name, Branch)
            ]
        return self._choices[id(block)]

    def _activate(self, variables: Iterable[Var]) -> None:
        self.active.update(v for v in variables if has_float(v.type))

    def _results(self, binding: Binding) -> list[bool]:
        """For each variable of the binding whether it depends on an active one."""
        match binding.expr:
            case Apply(Prim(transpose=transpose), args):
                depends = any(map(self.is_active, args))
                return [depends and transpose is not None]
            case Apply(Place() as op, (_, *content)):
                self._hold(op, content)
                return []
            case Apply(New() | Load() as op, content):
                self._hold(op, content)
                return [False] * len(binding.vars)
            case Apply(Fetch() | Columns() as op):
                columns = range(len(binding.vars))
                return [column_of(op.heap, k) in self.active for k in columns]
            case Apply(_, args, ()):
                return [any(map(self.is_active, args))] * len(binding.vars)
            case Apply(Recurse() as op) as node:
                return self._recursion(op, node)
            case Apply() as node:
                return self._loop(node, len(binding.vars))
            case Call(Var() as function, args) if function in self.recursions:
                return self._call(function, args)
            case If(_, then, orelse):
                return self._choice((then, orelse), binding)
            case Case(arg, branches):
                if self.is_active(arg):
                    self._activate([p for b in branches for p in b.params])
                return self._choice([b.body for b in branches], binding)
            case One(cell, _, value):
                if self.is_active(value):
                    self._add_to(cell)
                return []
            case View(cell):
                self.parts[binding.vars[0]] = (cell,)
                return [False]
            case Const() | Lambda() | Open():
                return [False]
            case Tuple() | Proj() | Inject() | Call() | Close():
                depends = any(map(self.is_active, operands(binding.expr)))
                return [depends] * len(binding.vars)
            case _:
                assert_never(binding.expr)

    def _hold(self, op: HeapOp, content: Sequence[Operand]) -> None:
        """A node holds this."""
        for k, _ in op.reals():
            if self.is_active(content[k]):
                self.active.update((ledger_of(op.heap), column_of(op.heap, k)))

    def _choice(self, blocks: Sequence[Block], binding: Binding) -> list[bool]:
        """The results of one of several blocks."""
        for block in blocks:
            self.block(block)
        choices = list(zip(*(block.results for block in blocks), strict=True))
        for var, choice in zip(binding.vars, choices, strict=True):
            if isinstance(var.type, Acc):
                self.parts[var] = choice
        return [any(map(self.is_active, choice)) for choice in choices]

    def _loop(self, node: Apply, results: int) -> list[bool]:
        """An operation with one body: states are parameters behind the index.

        After no step at all a final state is the initial one.
        """
        (body,) = node.bodies
        states = body.params[1:]
        self._states.update(states)
        for state, init in zip(states, node.args[1:], strict=False):
            if self.is_active(init):
                self.active.add(state)
        while True:
            self.block(body.body)
            flags = [self.is_active(r) for r in body.body.results]
            pairs = list(zip(states, flags, strict=False))
            new = {s for s, flag in pairs if flag and s not in self.active}
            if not new:
                flags[: len(states)] = [s in self.active for s in states]
                return [*flags, *[False] * (results - len(flags))]
            self.active.update(new)

    def _recursion(self, op: Recurse, node: Apply) -> list[bool]:
        """A parameter depends on what any call gives for it."""
        (body,) = node.bodies
        function, *params = body.params
        count = op.plain(body)
        flags = [False] * len(body.body.results)
        while True:
            own = [*flags[:count], *[False] * bool(op.collects)]
            self.recursions[function] = tuple(params), own
            before = len(self.active)
            self._call(function, node.args)
            self.block(body.body)
            found = [self.is_active(r) for r in body.body.results]
            if found == flags and len(self.active) == before:
                return [*own, *flags[count:]]
            flags = found

    def _call(self, function: Var, args: Sequence[Operand]) -> list[bool]:
        """A call in a recursion, or the first one."""
        params, flags = self.recursions[function]
        for param, arg in zip(params, args, strict=True):
            if self.is_active(arg):
                self._activate([param])
            if isinstance(param.type, Acc):
                self.parts[param] = (*self.parts.get(param, ()), arg)
                if param in self.active:
                    self._add_to(arg)
        return flags

    def _add_to(self, cell: Operand) -> None:
        """Something active is added to a cell, and to the cells that it is part of."""
        pending = [cell]
        while pending:
            found = pending.pop()
            if isinstance(found, Var) and found not in self.active:
                self.active.add(found)
                pending += self.parts.get(found, ())
