"""Copies for branches that give two results one array, of which one is updated.

    p, r = if c then                      p, r = if c then
      x = build(n) …                        x = build(n) …
      yield x, x               →            y = build(n) { j -> index(x, j) }
    else yield p, r                         yield x, y
    p' = update(p, i, v)   with r         else yield p, r

Behind the branch nobody knows which way it went, and so the update would copy each
time. Here a copy costs no more than to make the array, which this branch did.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial

from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import rebuild, with_body
from chadllvm.ir.term import Apply, Binding, Block, Function, If, Lambda, Operand, Var
from chadllvm.ir.types import I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Sized

# A result of a branch: the binding, 0 or 1 for the side of it, and which result it is.
Twin = tuple[Binding, int, int]


def apart(function: Function, twins: Set[Twin]) -> Function:
    """The function with copies for these results."""

    def changed(block: Block) -> Block:
        return Block(tuple(map(binding, block.bindings)), block.results)

    def binding(old: Binding) -> Binding:
        expr = rebuild(old.expr, changed)
        if isinstance(expr, If):
            then, orelse = map(partial(side, old), (0, 1), (expr.then, expr.orelse))
            expr = If(expr.cond, then, orelse)
        return Binding(old.vars, expr, old.span)

    def side(old: Binding, way: int, block: Block) -> Block:
        out = Builder(old.span)
        results = [
            copy_of(out, result) if (old, way, k) in twins else result
            for k, result in enumerate(block.results)
        ]
        return Block((*block.bindings, *out.bindings), tuple(results))

    return with_body(function, changed(function.body))


def copy_of(out: Builder, array: Operand) -> Var:
    """A new array with the elements of another one."""
    assert isinstance(array, Var)
    assert isinstance(array.type, Array)
    sizes = [out.one(Apply(Dim(k), (array,))) for k in range(array.type.rank)]
    index, row = Var("i", I64), out.child()
    part = row.one(Apply(Index(), (array, index)))
    (copy,) = out.apply(
        Build(), sizes[:1], [Lambda((index,), row.block([part]))], [array.name]
    )
    if sizes[1:]:  # Of no rows it has its columns, too.
        copy = out.one(Apply(Sized(), (copy, *sizes[1:])), array.name)
    return copy
