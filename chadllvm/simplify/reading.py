"""Elements of windows that branches and loops choose are read where they are.

w = if c { yield u } else { yield v }        u = build(n) { i -> … index(a, k) … }
x = index(w, i)

            →      x = if c { …; yield index(a, k) } else { … }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chadllvm.ir.term import Apply, Binding, Operand, Var
from chadllvm.ir.types import Array
from chadllvm.ops.index import Dim, Index, Sized
from chadllvm.simplify.codes import Code, Coding, Table
from chadllvm.simplify.reference import Reference
from chadllvm.simplify.walk import Walk


class Reading(Walk):
    """Reads elements of windows where they are."""

    def __init__(
        self, table: Table, windows: Mapping[Var, tuple[Reference, Code]]
    ) -> None:
        super().__init__()
        self._table = table
        self._windows = {**windows}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (Var() as array, *at)) if array in self._windows:
                self._index(binding, *self._windows[array], at)
            case Apply(Sized(), (Var() as array, *_)) if array in self._windows:
                self._windows[binding.vars[0]] = self._windows[array]
            case Apply(Dim(axis), (Var() as array,)) if array in self._windows:
                self.replace(binding.vars[0], self._windows[array][1].sizes[axis])
            case _:
                self.keep(binding)

    def _index(
        self, binding: Binding, ref: Reference, code: Code, at: Sequence[Operand]
    ) -> None:
        """An element of a window, or a row, which is a window as well."""
        (var,), out = binding.vars, Coding(binding.span)
        if isinstance(var.type, Array):
            row = out.row(code, at)
            self._windows[var] = replace(ref, var=var), row
        else:
            element = ref.element(code, at, self._table, out)
        for read in out.bindings:  # An owner may be a window itself.
            self.visit(self.walked(read))
        if not isinstance(var.type, Array):
            self.replace(var, self.operand(element))
