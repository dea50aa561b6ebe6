"""Which loops run over nearly all of an array: all indices but a few.

    n = dim[0](a)
    m = iadd(n, -2)
    k = imax(m, 0)
    build(k) { i -> … }                 all indices of a but two

What such a loop does may cost as much again for each index of the array, a constant
times of what it did, unless it runs no step at all.
"""

from __future__ import annotations

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Apply, Block, Function, Lit, Operand

# How many indices may be left out.
_FEW = 4


class Nearly:
    """Compares the sizes in a function."""

    def __init__(self, function: Function) -> None:
        self._least: dict[Operand, Operand] = {}
        self._less: dict[Operand, Operand] = {}
        self._learn(function.body)

    def _learn(self, block: Block) -> None:
        for binding in everywhere(block):
            match binding.expr:
                case Apply(Prim(name="imax"), (size, Lit(0))):
                    self._least[binding.vars[0]] = size
                case Apply(Prim(name="iadd"), (size, Lit(value))):
                    if -_FEW <= value <= 0:
                        self._less[binding.vars[0]] = size

    def all_of(self, count: Operand, size: Operand) -> bool:
        """Whether a loop of so many steps leaves out a few indices at most."""
        if count == size:
            return True
        less = self._least.get(count, count)
        return size in (less, self._less.get(less))
