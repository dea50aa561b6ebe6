"""A copy of an array that nobody looks at any more is another name of it.

    a = …                             a = …
    b = build(n) { i ->
      x = index(a, i)        →        …    b becomes a
      yield x }
    …    without a

The array is one of its own, not a row of another: that could not be updated in place
while the row is read.

CHAD has run by then, for which a copy is a cell of its own: most such copies are what
becomes of the cotangents of the program's own copies. Of several dimensions copies are
kept: one that a loop makes without rows has no columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import Apply, Binding, Block, Function, If, Program, Var, nested
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index
from chadllvm.simplify.shapes import ShapeWalk, Sizes, kept_sizes


def copies(program: Program) -> Program:
    """Put arrays in the place of their last copies."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    found = set(_last_copies(function.body))
    if not found:
        return function
    walk = _Naming(function.params, kept_sizes(function), found)
    return with_body(function, walk.block(function.body))


def _last_copies(block: Block) -> Iterator[Var]:
    """The copies of arrays of the same block that are not used behind them."""
    used = {r for r in block.results if isinstance(r, Var)}
    made = {v for b in block.bindings if not _is_part(b) for v in b.vars}
    for binding in reversed(block.bindings):
        array = _copied(binding)
        if array in made and array not in used:
            yield binding.vars[0]
        used.update(free_vars_of(binding.expr))
        for _, inner in nested(binding.expr):
            yield from _last_copies(inner)


def _is_part(binding: Binding) -> bool:
    """Whether this may be a row of another array, which is not to be kept for it."""
    match binding.expr:
        case If() | Apply(Index()):
            return True
        case _:
            return False


def _copied(binding: Binding) -> Var | None:
    """The array whose elements, at each index, are all that a loop collects."""
    match binding.expr:
        case Apply(Build(), _, (body,)):
            match body.body.bindings:
                case [Binding(found, Apply(Index(), (Var() as array, index)))] if (
                    index is body.params[0] and _same(body.body.results, found)
                ):
                    return array
    return None


def _same(a: Sequence[object], b: Sequence[object]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class _Naming(ShapeWalk):
    """Replaces those of these copies whose size is that of the array."""

    def __init__(self, params: tuple[Var, ...], kept: Sizes, found: set[Var]) -> None:
        super().__init__(params, kept)
        self._chosen = found

    def visit(self, binding: Binding) -> None:
        array = _copied(binding)
        is_last = not self._chosen.isdisjoint(binding.vars)
        if array is not None and is_last and self._is_whole(binding, array):
            self.replace(binding.vars[0], array)
        else:
            super().visit(binding)

    def _is_whole(self, binding: Binding, array: Var) -> bool:
        assert isinstance(binding.expr, Apply)
        if array.type != binding.vars[0].type:
            return False
        size = self.facts.form(binding.expr.args[0])
        return self.is_zero(self.facts.size(array, 0) - size)
