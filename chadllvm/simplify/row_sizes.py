"""The sizes of the rows of lists, as far as the program asks for them and checks them.

n = dim[1](xs)                   the size of the rows of xs
e = ieq(k, 0)                    that of ys, which has k rows; the other one if it
m = iselect(e, n, dim[1](ys))    has none
s = same(n, m)                   both are equal from here on
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from chadllvm.ir.op import Prim
from chadllvm.ir.term import Apply, Binding, Expr, Lit, Operand, Var
from chadllvm.ops.index import Dim, Index


@dataclass(frozen=True)
class _IfAny:
    """A size of so many rows, or another one if there are none."""

    number: Operand
    other: Operand
    own: Operand


class RowSizes:
    """Learns from bindings in order; what is learned in a scope is known there."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[Operand, int], Operand] = {}
        # What elements are of, and at how many indices.
        self._elements: dict[Operand, tuple[Operand, int]] = {}
        self._asked: set[Operand] = set()
        self._if_any: dict[Operand, _IfAny] = {}
        # The numbers that were added up, and those that are 0 on a condition.
        self._sums: dict[Operand, set[Operand]] = {}
        self._none: dict[Operand, Operand] = {}
        # For sizes that were found to be equal, the one of them that was first.
        self._equal: dict[Operand, Operand] = {}

    @contextmanager
    def scope(self) -> Iterator[None]:
        sizes, equal = {**self._sizes}, {**self._equal}
        yield
        self._sizes, self._equal = sizes, equal

    def enter(self, array: Var, *counts: Operand) -> None:
        """An array has these sizes along its first axes."""
        for axis, count in enumerate(counts):
            self._sizes.setdefault((array, axis), count)

    def learn(self, binding: Binding) -> None:
        """Enter what a binding says of sizes."""
        match binding.expr:
            case Apply(Index(), (array, *at)):
                self._elements[binding.vars[0]] = array, len(at)
            case Apply(Dim(axis), (array,)):
                size = binding.vars[0]
                self._asked.add(size)
                self._are_equal(self._sizes.setdefault((array, axis), size), size)
            case Apply(Prim(name=name), args):
                self._learn_number(binding.vars[0], name, args)

    def _learn_number(self, var: Var, name: str, args: Sequence[Operand]) -> None:
        match name, args:
            case "iadd", _:
                self._sums[var] = {*args}
            case "ieq", (number, Lit(0)):
                self._none[var] = number
            case "iselect", (cond, other, own) if cond in self._none:
                self._if_any[var] = _IfAny(self._none[cond], other, own)
            case "imax", (size, Lit(0)) if self._is_size(size):
                self._are_equal(size, var)
            case "same", (one, other):
                self._are_equal(one, other)

    def _is_size(self, operand: Operand) -> bool:
        """Whether a number is a size, so that it is not negative."""
        found = self._if_any.get(operand)
        if found is None:
            return operand in self._asked
        return self._is_size(found.own) and self._is_size(found.other)

    def _are_equal(self, one: Operand, other: Operand) -> None:
        first, second = self._first(one), self._first(other)
        if first != second:
            self._equal[second] = first

    def _first(self, size: Operand) -> Operand:
        while size in self._equal:
            size = self._equal[size]
        return size

    def _of(self, array: Operand, axis: int) -> Operand | None:
        """The size of an array that is known by a name, or by the number of what it was
        made of; a list's are its elements'."""
        while (array, axis) not in self._sizes:
            if array not in self._elements:
                return None
            array, count = self._elements[array]
            axis += count
        return self._sizes[array, axis]

    def are(self, array: Var, axis: int, counts: Sequence[Operand]) -> bool:
        """Whether these are the sizes of an array from an axis on."""
        sizes = [self._of(array, axis + k) for k in range(len(counts))]
        known = [self._first(size) for size in sizes if size is not None]
        return known == [*map(self._first, counts)]

    def of_side(
        self, asked: Expr, taken: bool, count: Operand
    ) -> dict[Operand, Operand]:
        """What sizes are for an index below a count where it is below a number or not.

        Of two lists that were joined the one that the index is in is not empty.
        """
        match asked:
            case Apply(Prim(name="ilt"), (_, number)):
                pass
            case _:
                return {}
        found: dict[Operand, Operand] = {}
        for size, one in self._if_any.items():
            if taken and one.number == number:
                found[size] = one.own
            elif not taken and self._sums.get(count) == {number, one.number}:
                found[self._first(size)] = one.own
        return found
