"""Loops whose steps commute count up, even if they reverse loops that do.

    l = iadd(n, -1)                     build(n) { i ->
    build(n) { j ->                       x = index(a, i)
      i = isub(l, j)              →       one c[i] x }
      x = index(a, i)
      one c[i] x }

CHAD reverses a loop that carries a state by one that counts down. Where the state has
become a cell the order is free, and loops that run over the same index in the same
direction may be run together. It stands in front of what looks for such loops.
"""

from __future__ import annotations

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import Renaming, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ops.build import Build
from chadllvm.simplify.walk import Walk


def upwards(program: Program) -> Program:
    """Let loops without results count up."""
    return map_functions(program, lambda f: with_body(f, _Upwards().block(f.body)))


class _Upwards(Walk):
    """`_last` has the sizes that variables are one less than."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[Operand, Operand] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="iadd"), (Var() as size, Lit(-1))):
                self._last[binding.vars[0]] = size
            case Apply(Build() as op, (count,), (body,)) if not binding.vars:
                new = self._up(body, count)
                if new is not body:
                    loop = Apply(op, (count,), (new,))
                    binding = Binding((), loop, binding.span)
        self.keep(binding)

    def _up(self, body: Lambda, count: Operand) -> Lambda:
        """The body by what is now the difference of its last index and its index."""
        (index,), block = body.params, body.body
        down = [b for b in block.bindings if self._is_down(b.expr, index, count)]
        if not down or _uses(block, index) != len(down):
            return body
        up = Var(down[0].vars[0].name, index.type)
        left = tuple(b for b in block.bindings if b not in down)
        names = Renaming(dict.fromkeys((b.vars[0] for b in down), up))
        return Lambda((up,), names.block(Block(left, block.results)))

    def _is_down(self, expr: Expr, index: Var, count: Operand) -> bool:
        match expr:
            case Apply(Prim(name="isub"), (last, right)) if right is index:
                return self._last.get(last) is count
            case _:
                return False


def _uses(block: Block, var: Var) -> int:
    """How often a variable is mentioned in a block and those inside of it."""
    found = block.results.count(var)
    for binding in block.bindings:
        found += operands(binding.expr).count(var)
        found += sum(_uses(inner, var) for _, inner in nested(binding.expr))
    return found
