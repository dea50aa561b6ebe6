"""Loops that give a new cell all of its elements, one contribution each.

    c = open f64[:, :](n, m)            c is not cleared, and v is stored
    build(n) { i ->
      build(m) { j ->
        one c[i, j] v } }

    last = iadd(n, -1)                  the same: a loop may go backwards, as reverse
    iterate(n, …) { j, … ->             loops do
      i = isub(last, j)
      one c[i] v
      … }

An array that a derivative gives back is such a cell where its sizes are asked for even
if it is empty (`pointwise.py` makes arrays of all others).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Apply, Binding, Block, Lambda, One, Operand, Var, View
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate


def only_contribution(
    loop: Apply, cell: Operand, dims: Sequence[Operand], last: Mapping[Operand, Var]
) -> Binding | None:
    """What adds to each element of a cell of these sizes once; None if nothing does.

    `last` are the variables known to be one less than a size.
    """
    indices: tuple[set[Operand], ...] = ()
    node: Apply | None = loop
    for depth, size in enumerate(dims):
        if node is None or not _runs_each_once(node) or node.args[0] is not size:
            return None
        indices = (*indices, _indices(node.bodies[0], size, last))
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


def _indices(body: Lambda, size: Operand, last: Mapping[Operand, Var]) -> set[Operand]:
    """What takes each value below the size once: the index, also from the end."""
    index = body.params[0]
    found: set[Operand] = {index}
    for binding in body.body.bindings:
        match binding.expr:
            case Apply(Prim(name="isub"), (end, i)) if i is index:
                if last.get(end) is size:
                    found.update(binding.vars)
    return found


def _mentioning(block: Block, cell: Operand) -> Binding | None:
    """The only binding that mentions a cell."""
    found = [b for b in block.bindings if cell in free_vars_of(b.expr)]
    return found[0] if len(found) == 1 and cell not in block.results else None


def _viewed(
    binding: Binding | None, cell: Operand, indices: Sequence[set[Operand]]
) -> Var | None:
    """The name of a row of the cell, at the indices of the loops."""
    match binding.expr if binding else None:
        case View(c, at) if binding and c is cell and _same(at, indices):
            return binding.vars[0]
    return None


def _adds(binding: Binding, cell: Operand, indices: Sequence[set[Operand]]) -> bool:
    match binding.expr:
        case One(c, at, value):
            return c is cell and value is not cell and _same(at, indices)
    return False


def _same(at: Sequence[Operand], indices: Sequence[set[Operand]]) -> bool:
    pairs = zip(at, indices, strict=False)
    return len(at) == len(indices) and all(a in found for a, found in pairs)
