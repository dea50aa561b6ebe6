"""Supposes that no size is 1 by chance, so that nothing is stretched at run time.

    r = broadcast(n, m)                   s = same(n, m)
    z = build(r) { i ->                   z = build(n) { i ->
      j = stretch(i, n)           →         x = index(a, i)
      x = index(a, j)                       y = index(b, i)
      k = stretch(i, m)                     …
      y = index(b, k)
      …

A size of 1 that is known, as of a new axis, is stretched for good. Of sizes that are
not known, NumPy stretches the one that turns out to be 1. With `speculate` they are
supposed to be equal; where they are not, the call fails, and is repeated by a program
that was not speculated. What is read in order can be proved to be in range, fused and
differentiated without cells.
"""

from __future__ import annotations

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import Apply, Binding, Lit, Operand, Program, Var
from chadllvm.ir.types import I64
from chadllvm.simplify.walk import Walk


def stretch(program: Program, *, speculate: bool) -> Program:
    """Decide what is stretched; with `speculate`, only what surely has size 1."""
    return map_functions(
        program, lambda f: with_body(f, _Stretching(speculate).block(f.body))
    )


class _Stretching(Walk):
    def __init__(self, speculate: bool) -> None:
        super().__init__()
        self.speculate = speculate

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="broadcast"), (n, m)):
                self._broadcast(binding, n, m)
            case Apply(Prim(name="fits"), (n, m)) if self.speculate:
                agreed = Apply(PRIMS["same"], (n, m))
                self.keep(Binding(binding.vars, agreed, binding.span))
            case Apply(Prim(name="stretch"), (index, size)):
                self._stretch(binding, index, size)
            case _:
                self.keep(binding)

    def _broadcast(self, binding: Binding, n: Operand, m: Operand) -> None:
        (result,) = binding.vars
        if n is m or m == Lit(1):
            self.replace(result, n)
        elif n == Lit(1):
            self.replace(result, m)
        elif self.speculate:
            agreed = Apply(PRIMS["same"], (n, m))
            self.keep(Binding((Var("same", I64),), agreed, binding.span))
            self.replace(result, n)
        else:
            self.keep(binding)

    def _stretch(self, binding: Binding, index: Operand, size: Operand) -> None:
        (result,) = binding.vars
        if size == Lit(1):
            self.replace(result, Lit(0))
        elif self.speculate or isinstance(size, Lit):
            self.replace(result, index)
        else:
            self.keep(binding)
