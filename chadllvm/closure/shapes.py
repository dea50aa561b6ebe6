"""Which arrays that a body makes have one shape, whatever run of it made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chadllvm.ir.term import Apply, Binding, Close, Open, Operand, Var
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index, Sized, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update

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
        return self._is_made(array) and self._is_fixed(array, self._inside)

    def _is_made(self, array: Operand) -> bool:
        """Each run of the body makes the array, or what it updates to have it."""
        binding = self._inside.get(array)
        match binding and binding.expr:
            case Apply(Build() | Fold() | Zeros()):
                return True
            case Close(cell):
                return self._opened(cell, self._inside) is not None
            case Apply(Update() | Sized(), (old, *_)):
                return self._is_made(old)
            case Apply(Iterate(), (_, *inits)):
                assert binding is not None
                position = _position(binding, array)
                return position >= len(inits) or self._is_made(inits[position])
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
                if position < len(inits):
                    return self._is_kept(body.params[1 + position], inside)
                if n in inside:
                    return False
                rows = _with(inside, body.body.bindings, body.params)
                row = body.body.results[position]
                return not isinstance(row.type, Array) or self._is_fixed(row, rows)
            case Apply(Index() | Update() | Sized(), (whole, *_)):
                return self._is_fixed(whole, inside)
            case Apply(Zeros(), sizes):
                return inside.keys().isdisjoint(sizes)
            case Close(cell):
                dims = self._opened(cell, inside)
                return dims is not None and inside.keys().isdisjoint(dims)
            case _:
                return False

    def _opened(self, cell: Operand, inside: _Inside) -> Sequence[Operand] | None:
        """The sizes of a cell of numbers that is opened in the body."""
        binding = inside.get(cell)
        match binding and binding.expr:
            case Open(Array(Scalar()), sizes):
                return sizes
            case _:
                return None

    def _is_kept(self, state: Var, inside: _Inside) -> bool:
        """A state of a loop in the body that keeps the shape of a fixed array."""
        return state in self._steady and self._is_fixed(self._steady[state], inside)


def _with(
    inside: _Inside, bindings: Sequence[Binding], params: Sequence[Var]
) -> dict[Operand, Binding | None]:
    """What is inside of one more body."""
    new: dict[Operand, Binding | None] = {**inside, **dict.fromkeys(params)}
    new.update((v, b) for b in bindings for v in b.vars)
    return new


def _position(binding: Binding, array: Operand) -> int:
    return next(k for k, var in enumerate(binding.vars) if var is array)
