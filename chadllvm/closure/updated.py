"""Which states of loops are arrays that a step updates: their buffer is soon another's.

    iterate(n, a) { i, s ->
      x = index(s, i)             s is updated: to keep it for the reverse loop would
      t = update(s, i, y)         copy all of it in every step, so what is read of it
      yield t }                   is kept (`tape.py`)

Arrays that may share a buffer form a group: an array and what an update makes of it, or
what a cell that it was put into holds in the end, a state and what a step hands on, the
initial and the final value of a loop. Initial value and state are apart, for the copy
of a new array is paid by who made it.
"""

from __future__ import annotations

from collections.abc import Callable

from chadllvm.ir.term import (
    Apply,
    Block,
    Close,
    Function,
    If,
    One,
    Operand,
    Var,
    nested,
)
from chadllvm.ir.types import Array
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update


def updated_states(function: Function) -> set[Var]:
    """The parameters of loops whose buffer some step writes to."""
    walk = _Walk()
    walk.block(function.body)
    return {s for s in walk.states if walk.find(s) in walk.updated}


def is_updated(function: Function) -> Callable[[Var], bool]:
    """Tells whether some step or update may write to the buffer of an array."""
    walk = _Walk()
    walk.block(function.body)
    return lambda array: walk.find(array) in walk.updated


class _Walk:
    """Finds groups of arrays; inner loops are known before what they begin with."""

    def __init__(self) -> None:
        self.parent: dict[Var, Var] = {}
        self.updated: set[Var] = set()
        self.states: list[Var] = []

    def find(self, var: Var) -> Var:
        while var in self.parent:
            var = self.parent[var]
        return var

    def _unite(self, a: Operand, b: Operand) -> None:
        if isinstance(a, Var) and isinstance(b, Var) and isinstance(a.type, Array):
            x, y = self.find(a), self.find(b)
            if x is not y:
                self.parent[y] = x
                if y in self.updated:
                    self.updated.add(x)

    def block(self, block: Block) -> None:
        for binding in block.bindings:
            for _, inner in nested(binding.expr):
                self.block(inner)
            match binding.expr:
                case Apply(Update() | Append() | DropLast(), (Var() as array, *_)):
                    self.updated.add(self.find(array))
                    self._unite(array, binding.vars[0])
                case Apply(Index(), (array, *_)) if _is_array(binding.vars[0]):
                    self._unite(array, binding.vars[0])
                case If(_, then, orelse):
                    for k, var in enumerate(binding.vars):
                        self._unite(var, then.results[k])
                        self._unite(var, orelse.results[k])
                case One(Var() as cell, (), Var() as array) if _is_array(array):
                    self.updated.add(self.find(array))
                    self._unite(array, cell)
                case Close(Var() as cell) if cell in self.parent:
                    self._unite(binding.vars[0], cell)
                case Apply(Iterate()) as node:
                    self._loop(node, binding.vars)

    def _loop(self, node: Apply, variables: tuple[Var, ...]) -> None:
        (body,) = node.bodies
        for k, state in enumerate(body.params[1:]):
            if not _is_array(state):
                continue
            self.states.append(state)
            self._unite(state, body.body.results[k])
        for k, state in enumerate(body.params[1:]):
            init = node.args[1 + k]
            self._unite(init, variables[k])
            if isinstance(init, Var) and self.find(state) in self.updated:
                self.updated.add(self.find(init))


def _is_array(var: Var) -> bool:
    return isinstance(var.type, Array)
