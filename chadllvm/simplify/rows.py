"""Supposes that the arguments have rows, where loops keep sizes of rows.

    n = dim[0](a)                          w = within(0, n)
    m = dim[1](a)                          n = dim[0](a)
    b = iterate(t, a) { _, s ->      →     m = dim[1](a)
      d = dim[1](s)                        b = iterate(t, a) { _, s ->
      …                                      d = dim[1](s)
      yield r }                              …

What a loop makes of no rows has no columns, unless `sized` says which, so a state that
a step makes anew may have the columns of its initial value only if it has rows
(`shapes`): what asks for them outside of a loop over rows must look at the state, a
derivative keeps them for each step, and the compiler does not know that two states are
of one size. With `speculate`, the call fails where such an argument has no rows, and is
repeated by a program that was not speculated.
"""

from __future__ import annotations

from collections.abc import Iterator

from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import Apply, Block, Function, Lit, Program, Var
from chadllvm.ops.index import Dim
from chadllvm.simplify.affine import Form
from chadllvm.simplify.shapes import Kept, ShapeWalk, Sizes, kept_sizes


def rows(program: Program, *, speculate: bool) -> Program:
    """Suppose that there are rows, where that says something of a loop's states."""
    if not speculate or len(program.functions) > 1:
        return program
    function = program.entry
    kept = kept_sizes(function)
    if not any(Kept.WITH_ROWS in axes for axes in kept.values()):
        return program
    walk = _Asked(function.params, kept)
    walk.block(function.body)
    if not walk.asked:
        return program
    return Program((with_body(function, _checked(function, walk.asked)),))


def _checked(function: Function, asked: dict[tuple[Var, int], None]) -> Block:
    out = Builder(function.span)
    for array, axis in asked:
        size = out.one(Apply(Dim(axis), (array,)))
        out.prim("within", Lit(0), size)
    return Block((*out.bindings, *function.body.bindings), function.body.results)


class _Asked(ShapeWalk):
    """Finds the sizes of parameters that are to be positive."""

    def __init__(self, params: tuple[Var, ...], kept: Sizes) -> None:
        super().__init__(params, kept)
        self._params = frozenset(params)
        self.asked: dict[tuple[Var, int], None] = {}

    def _given(self, array: Var, axis: int) -> tuple[Form, ...]:
        forms = super()._given(array, axis)
        self.asked.update(dict.fromkeys(self._sizes_of(forms)))
        return forms

    def _sizes_of(self, forms: tuple[Form, ...]) -> Iterator[tuple[Var, int]]:
        """The sizes of parameters that these forms are one less than."""
        for form in forms:
            match [*form.plus(1).terms.items()]:
                case [((var,), 1)] if var in self.facts.size_of:
                    array, axis = self.facts.size_of[var]
                    if array in self._params:
                        yield array, axis
