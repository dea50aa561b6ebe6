"""A part of a cell gets its name where that is used first, not where CHAD made it.

    c = open …                     c = open …
    row = view c[i]
    one c d                  →     one c d
    one row e                      row = view c[i]
                                   one row e

So does one that is chosen among cells and parts of them.

For a cell takes over the buffer of what is added to it first, if that is all of the
cell (`lower/inplace.py`); one that has parts by then has to be filled with zeros, and
added to: in a loop over rows, each step would cost the array. It stands at the end,
behind all that moves bindings.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import Binding, Block, If, Operand, Program, Var, View
from chadllvm.ir.types import Acc
from chadllvm.simplify.walk import Walk


def sink(program: Program) -> Program:
    """Move the names of parts of cells, within their blocks."""
    return map_functions(program, lambda f: with_body(f, _Sinking().block(f.body)))


class _Sinking(Walk):
    """`_waiting`: the names of this block that are not used yet, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[Var, Binding] = {}
        self._results: frozenset[Operand] = frozenset()

    def block(self, block: Block) -> Block:
        outer = self._waiting, self._results
        self._waiting, self._results = {}, frozenset(block.results)
        new = super().block(block)
        self._waiting, self._results = outer
        return new

    def visit(self, binding: Binding) -> None:
        if _names_cells(binding) and self._results.isdisjoint(binding.vars):
            self._waiting.update(dict.fromkeys(binding.vars, binding))
            return
        if self._waiting:
            self._place(free_vars_of(binding.expr))
        self.keep(binding)

    def _place(self, used: Iterable[Var]) -> None:
        """Put the names that are used here, and what they are parts of."""
        for var in used:
            waiting = self._waiting.pop(var, None)
            if waiting is not None:
                for other in waiting.vars:
                    self._waiting.pop(other, None)
                self._place(free_vars_of(waiting.expr))
                self.keep(waiting)


def _names_cells(binding: Binding) -> bool:
    """Whether this does nothing but to name parts of cells, or to choose cells."""
    match binding.expr:
        case View():
            return True
        case If(_, then, orelse):
            inside = (*then.bindings, *orelse.bindings)
            are_cells = all(isinstance(var.type, Acc) for var in binding.vars)
            return bool(binding.vars) and are_cells and all(map(_names_cells, inside))
        case _:
            return False
