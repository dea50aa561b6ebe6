"""Supposes that sizes of parameters are 1, which they were in a call.

                                          d = dim[0](b)
                                          s = same(d, 1)
    n = dim[0](a)                         n = dim[0](a)
    m = dim[0](b)                   →     r = broadcast(n, 1)
    r = broadcast(n, m)                   …
    …

What is stretched is known then (`stretch`). With other sizes the call fails, and is
repeated by a program that supposes nothing of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import Apply, Binding, Block, Lit, Program, Var, nested
from chadllvm.ops.index import Dim
from chadllvm.simplify.walk import Walk

# The position of an array among the leaves of the parameters, and an axis of it.
Axis = tuple[int, int]

_STRETCHING = frozenset({"broadcast", "fits", "stretch"})


def stretches(program: Program) -> bool:
    """Whether it may matter to a program that sizes are 1."""
    waiting = [function.body for function in program.functions]
    while waiting:
        for binding in waiting.pop().bindings:
            match binding.expr:
                case Apply(Prim(name=name)) if name in _STRETCHING:
                    return True
            waiting += [inner for _, inner in nested(binding.expr)]
    return False


def suppose_ones(program: Program, ones: Sequence[Axis]) -> Program:
    """Put 1 in the place of sizes of the entry's parameters, which are compared."""
    *others, entry = program.functions
    axes = [(entry.params[k], axis) for k, axis in ones]
    out = Builder(entry.span)
    for param, axis in axes:
        out.prim("same", out.one(Apply(Dim(axis), (param,))), Lit(1))
    body = _Supposing(axes).block(entry.body)
    body = Block((*out.bindings, *body.bindings), body.results)
    return Program((*others, with_body(entry, body)))


class _Supposing(Walk):
    """Puts 1 in the place of sizes."""

    def __init__(self, axes: Collection[tuple[Var, int]]) -> None:
        super().__init__()
        self._axes = axes

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Dim(axis), (Var() as array,)) if (array, axis) in self._axes:
                self.replace(binding.vars[0], Lit(1))
            case _:
                self.keep(binding)
