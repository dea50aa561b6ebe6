"""A number times its root is one operation.

    r = sqrt(x)                       r = sqrt(x)
    y = mul(x, r)              →      y = root_cube(x)

The numbers are the same to the bit. But the product's derivative takes the root's by x,
a quotient, times x, which is 3/2 sqrt x in the end, without a division, and at 0 as
well; that is how distances are cubed. What is NaN depends on it, so that it is done in
every mode to what the user wrote within one function, before anything else tells which
numbers are equal, and never to a derivative's own operations.
"""

from __future__ import annotations

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import Apply, Binding, Operand, Program
from chadllvm.ir.types import F64
from chadllvm.simplify.walk import Walk


def roots(program: Program) -> Program:
    """Find the products of numbers and their roots."""
    return map_functions(program, lambda f: with_body(f, _Roots().block(f.body)))


class _Roots(Walk):
    """`of` has the numbers that variables are the roots of; an f32's is rounded first,
    so that the product is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[Operand, Operand] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="sqrt"), (x,)) if x.type == F64:
                self.of[binding.vars[0]] = x
            case Apply(Prim(name="mul"), (x, y)) if self._is_root(x, y):
                binding = self._cube(binding, y)
            case Apply(Prim(name="mul"), (x, y)) if self._is_root(y, x):
                binding = self._cube(binding, x)
            case _:
                pass
        self.keep(binding)

    def _is_root(self, root: Operand, x: Operand) -> bool:
        return self.of.get(root) is x

    def _cube(self, binding: Binding, x: Operand) -> Binding:
        return Binding(binding.vars, Apply(PRIMS["root_cube"], (x,)), binding.span)
