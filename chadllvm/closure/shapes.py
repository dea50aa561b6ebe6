"""Which arrays that a body makes have one shape, whatever run of it made them."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.term import Apply, Binding, Operand, Var
from chadllvm.ir.types import Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold


class Shapes:
    """Which arrays made in a loop body have the same shape in every iteration."""

    def __init__(self, bindings: Sequence[Binding], params: Sequence[Var]) -> None:
        self.defined = {v: b for b in bindings for v in b.vars}
        self.params = set(params)

    def is_fixed(self, array: Var) -> bool:
        """The array is built in the body, of a size known in front of the loop."""
        binding = self.defined.get(array)
        match binding and binding.expr:
            case Apply(Build() | Fold(), (n,), (body,)) if self._is_outside(n):
                assert binding is not None
                row = body.body.results[binding.vars.index(array)]
                return not isinstance(row.type, Array)
            case _:
                return False

    def _is_outside(self, operand: Operand) -> bool:
        return operand not in self.defined and operand not in self.params
