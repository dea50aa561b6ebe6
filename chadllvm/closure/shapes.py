"""Which arrays that a body makes have one shape, whatever run of it made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chadllvm.ir.term import Apply, Binding, Operand, Var
from chadllvm.ir.types import Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Zeros
from chadllvm.ops.iterate import Iterate

# Where the variables of a body are bound, and of the loops in it that are looked into;
# what they are run with has None.
_Inside = Mapping[Operand, Binding | None]


class Shapes:
    """Which arrays of a loop body have the same shape in every iteration.

    `steady`: states of loops that have the shape of their initial values in every step,
    with these. `nexts`: what a step makes of the states of the loop itself.
    """

    def __init__(
        self,
        bindings: Sequence[Binding],
        params: Sequence[Var],
        steady: Mapping[Operand, Operand],
        nexts: Mapping[Var, Operand] = MappingProxyType({}),
    ) -> None:
        self._inside = _with({}, bindings, params)
        self._steady = steady
        self._nexts = nexts

    def is_fixed(self, array: Var) -> bool:
        """The array is made in the body, of sizes known in front of the loop.

        Or it is a state of such sizes that each step makes anew: to store what is only
        handed on would be more work than the step does.
        """
        if array in self._nexts:
            return array in self._steady and self._is_made(self._nexts[array])
        return array in self._inside and self._is_fixed(array, self._inside)

    def _is_made(self, array: Operand) -> bool:
        binding = self._inside.get(array)
        match binding and binding.expr:
            case Apply(Build() | Fold() | Zeros()):
                return True
            case _:
                return False

    def _is_fixed(self, array: Operand, inside: _Inside) -> bool:
        if array in self._steady and inside.get(array) is None:
            return self._is_fixed(self._steady[array], inside)
        binding = inside.get(array)
        if binding is None:
            return array not in inside
        match binding.expr:
            case Apply(Build() | Fold() | Iterate(stops=False), (n, *inits), (body,)):
                position = _position(binding, array)
                if n in inside or position < len(inits):
                    return False
                rows = _with(inside, body.body.bindings, body.params)
                row = body.body.results[position]
                return not isinstance(row.type, Array) or self._is_fixed(row, rows)
            case Apply(Zeros(), sizes):
                return inside.keys().isdisjoint(sizes)
            case _:
                return False


def _with(
    inside: _Inside, bindings: Sequence[Binding], params: Sequence[Var]
) -> dict[Operand, Binding | None]:
    """What is inside of one more body."""
    new: dict[Operand, Binding | None] = {**inside, **dict.fromkeys(params)}
    new.update((v, b) for b in bindings for v in b.vars)
    return new


def _position(binding: Binding, array: Operand) -> int:
    return next(k for k, var in enumerate(binding.vars) if var is array)
