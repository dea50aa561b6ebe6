"""A part of a cell gets its name where that is used first, not where CHAD made it.

    c = open …                     c = open …
    row = view c[i]
    one c d                  →     one c d
    one row e                      row = view c[i]
                                   one row e

For a cell takes over the buffer of what is added to it first, if that is all of the
cell (`lower/inplace.py`); one that has parts by then has to be filled with zeros, and
added to: in a loop over rows, each step would cost the array. It stands at the end,
behind all that moves bindings.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import Binding, Block, Operand, Program, Var, View
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
        is_view = isinstance(binding.expr, View)
        if is_view and self._results.isdisjoint(binding.vars):
            self._waiting[binding.vars[0]] = binding
            return
        if self._waiting:
            self._place(free_vars_of(binding.expr))
        self.keep(binding)

    def _place(self, used: Iterable[Var]) -> None:
        """Put the names that are used here, and what they are parts of."""
        for var in used:
            waiting = self._waiting.pop(var, None)
            if waiting is not None:
                self._place(free_vars_of(waiting.expr))
                self.keep(waiting)
