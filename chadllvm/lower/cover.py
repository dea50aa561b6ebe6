"""Loops that give a new cell all of its elements, one contribution each.

    c = open f64[:, :](n, m)            c is not cleared, and v is stored
    build(n) { i ->
      build(m) { j ->
        one c[i, j] v } }

An array that a derivative gives back is such a cell where its sizes are asked for even
if it is empty (`pointwise.py` makes arrays of all others).
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Apply, Binding, Block, One, Operand, Var, View
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate


def only_contribution(
    loop: Apply, cell: Operand, dims: Sequence[Operand]
) -> Binding | None:
    """What adds to each element of a cell of these sizes once; None if nothing does."""
    indices: tuple[Var, ...] = ()
    node: Apply | None = loop
    for depth, size in enumerate(dims):
        if node is None or not _runs_each_once(node) or node.args[0] is not size:
            return None
        indices = (*indices, node.bodies[0].params[0])
        found = _mentioning(node.bodies[0].body, cell)
        while isinstance(view := _viewed(found, cell, indices), Var):
            cell, indices = view, ()
            found = _mentioning(node.bodies[0].body, cell)
        if found is None:
            return None
        if depth == len(dims) - 1:
            return found if _adds(found, cell, indices) else None
        node = found.expr if isinstance(found.expr, Apply) else None
    return None


def _runs_each_once(node: Apply) -> bool:
    """Whether a loop runs all of its iterations; one that stops early does not."""
    return isinstance(node.op, Build) or node.op in (Iterate(), Fold("add"))


def _mentioning(block: Block, cell: Operand) -> Binding | None:
    """The only binding that mentions a cell."""
    found = [b for b in block.bindings if cell in free_vars_of(b.expr)]
    return found[0] if len(found) == 1 and cell not in block.results else None


def _viewed(
    binding: Binding | None, cell: Operand, indices: tuple[Var, ...]
) -> Var | None:
    """The name of a row of the cell, at the indices of the loops."""
    match binding.expr if binding else None:
        case View(c, at) if binding and c is cell and _same(at, indices):
            return binding.vars[0]
    return None


def _adds(binding: Binding, cell: Operand, indices: tuple[Var, ...]) -> bool:
    match binding.expr:
        case One(c, at, value):
            return c is cell and value is not cell and _same(at, indices)
    return False


def _same(first: Sequence[Operand], second: Sequence[Operand]) -> bool:
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) and all(a is b for a, b in pairs)
