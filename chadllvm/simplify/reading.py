"""Elements of windows that branches and loops choose are read where they are.

w = if c { yield u } else { yield v }        u = build(n) { i -> … index(a, k) … }
x = index(w, i)

            →      x = if c { …; yield index(a, k) } else { … }
"""

from __future__ import annotations

from collections.abc import Mapping

from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Binding, Var
from chadllvm.ops.index import Dim, Index
from chadllvm.simplify.codes import Code, Reference, Table
from chadllvm.simplify.walk import Walk


class Reading(Walk):
    """Reads elements of windows where they are."""

    def __init__(
        self, table: Table, windows: Mapping[Var, tuple[Reference, Code]]
    ) -> None:
        super().__init__()
        self._table = table
        self._windows = windows

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (Var() as array, at)) if array in self._windows:
                ref, code = self._windows[array]
                out = Builder(binding.span)
                element = ref.element(code, at, self._table, out)
                for read in out.bindings:  # An owner may be a window itself.
                    self.visit(self.walked(read))
                self.replace(binding.vars[0], self.operand(element))
            case Apply(Dim(), (Var() as array,)) if array in self._windows:
                size = self._windows[array][1].size
                assert size is not None
                self.replace(binding.vars[0], size)
            case _:
                self.keep(binding)
