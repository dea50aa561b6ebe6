"""Whether arrays that are written side by side in a list have one shape.

    [x, x * 2.0]    →   n and n              a regular array, of two rows
    [x, x[1:]]      →   n and n - 1          a list of arrays, each of its own size
    [x, y]          →   n and m              a regular array

Sizes are compared by what they are where the arrays that they come from are large. Two
that come from different arrays are taken for equal: if that is wrong it is found when
the program runs. An annotation decides where it matters.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from chadllvm.frontend.context import Context, Settled
from chadllvm.frontend.delayed import Shape, same_size, shape_of
from chadllvm.ir.op import Prim, ProgramError
from chadllvm.ir.term import Apply, Binding, Call, Expr, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64, Array
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Sized
from chadllvm.ops.update import Update

# What arrays have along each axis, in turn; numbers are smaller, so that they are in
# range.
_SIZES = (1_000_004, 1_200_007)
_FIRST, _STEP = 10_007, 1_009


def differ(cx: Context, elements: Sequence[ast.expr]) -> bool:
    """Whether elements written side by side, which are computed, differ in shape."""
    parts = [e.elts for e in elements if isinstance(e, ast.List)]
    if any(differ(cx, inner) for inner in parts):
        return True
    shapes = [_shape(cx, e) for e in elements]
    return any(_differ(cx, first, second) for first, second in pairwise(shapes))


def _shape(cx: Context, node: ast.expr) -> Shape:
    """The sizes of an element; of a list they are those of its first one."""
    if isinstance(node, ast.List):
        return (Lit(len(node.elts)), *(_shape(cx, node.elts[0]) if node.elts else ()))
    assert isinstance(node, Settled)
    return shape_of(cx, node, node.value) if isinstance(node.value.type, Array) else ()


def _differ(cx: Context, first: Shape, second: Shape) -> bool:
    return any(
        not same_size(n, m) and _sizes_differ(cx, n, m)
        for n, m in zip(first, second, strict=False)
    )


def _sizes_differ(cx: Context, n: Operand, m: Operand) -> bool:
    samples = [_Sample(cx, size) for size in _SIZES]
    if all(sample.value(n) == sample.value(m) for sample in samples):
        return False
    own, other = (samples[0].sources(size) for size in (n, m))
    if own & other or not own | other:
        return True
    return bool(own and other) and not any(isinstance(s, tuple) for s in own | other)


class _Sample:
    """What sizes are where all arrays have this size, and numbers are any.

    What a size comes from are numbers, and pairs of an array and an axis.
    """

    def __init__(self, cx: Context, size: int) -> None:
        self.cx, self.size = cx, size
        blocks = [cx.prelude, *(b for b, _ in cx.enclosing), cx.builder]
        bindings = [x for b in blocks for x in b.bindings]
        self._defined: dict[Var, Binding] = {v: x for x in bindings for v in x.vars}
        self._values: dict[Operand, tuple[int, frozenset[object]]] = {}
        self._numbers: dict[Operand, int] = {}

    def value(self, operand: Operand) -> int:
        return self._known(operand)[0]

    def sources(self, operand: Operand) -> frozenset[object]:
        return self._known(operand)[1]

    def _known(self, operand: Operand) -> tuple[int, frozenset[object]]:
        if isinstance(operand, Lit):
            return int(operand.value), frozenset()
        if operand not in self._values:
            binding = self._defined.get(operand)
            expr = None if binding is None else binding.expr
            self._values[operand] = self._computed(operand, expr)
        return self._values[operand]

    def _computed(
        self, operand: Var, expr: Expr | None
    ) -> tuple[int, frozenset[object]]:
        match expr:
            case Apply(Dim(axis), (Var() as array,)):
                return self._dimension(array, axis)
            case Apply(Prim() as op, args) if all(a.type in (I64, BOOL) for a in args):
                known = [self._known(arg) for arg in args]
                try:
                    value = op.meaning(*(number for number, _ in known))
                except (ProgramError, ArithmeticError):
                    return self._number(operand)
                return value, frozenset().union(*(found for _, found in known))
            case _:
                return self._number(operand)

    def _number(self, operand: Var) -> tuple[int, frozenset[object]]:
        count = len(self._numbers)
        number = self._numbers.setdefault(operand, _FIRST + _STEP * count)
        return number, frozenset([operand])

    def _dimension(self, array: Var, axis: int) -> tuple[int, frozenset[object]]:
        shape = self.cx.shapes.get(array) or self.cx.scope.known_shape(array)
        binding = self._defined.get(array)
        match binding and binding.expr:
            case _ if shape and not self._is_own(shape[axis], array):
                return self._known(shape[axis])
            case Apply(Build(), (count,)) if axis == 0:
                return self._known(count)
            case Apply(Alias() | Update() | Sized(), (Var() as whole, *_)):
                return self._dimension(whole, axis)
            case Apply(Index(), (Var() as whole, *indices)):
                return self._dimension(whole, axis + len(indices))
            case Call(_, args):
                # Arrays of one size are made of arrays of one size.
                given = [a for a in args if a.type == array.type and isinstance(a, Var)]
                if given:
                    return self._dimension(given[0], axis)
        return self.size, frozenset([(array, axis)])

    def _is_own(self, size: Operand, array: Var) -> bool:
        """Whether a size is known by nothing but the array itself."""
        binding = self._defined.get(size) if isinstance(size, Var) else None
        match binding and binding.expr:
            case Apply(Dim(), (whole,)):
                return whole is array
        return False
