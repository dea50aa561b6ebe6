"""Sizes that are computed: none is negative, and none is larger than any array.

    np.repeat(x, n)     →   m = size(area(dim(x), n))
    np.zeros((n, m))    →   size(n), size(m), size(area(imax(n, 1), imax(m, 1)))

A product of sizes saturates (`area`), and `size` refuses what is too large, at the
place of the program that asks for it. What is accepted is so far from the largest i64
that sums of sizes, places in arrays and numbers of bytes are in range without further
checks; the numbers of elements of a shape are so whichever of its sizes are 0.
"""

from __future__ import annotations

from math import prod

from chadllvm.frontend.delayed import Shape
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.broadcast import MOST_ELEMENTS

# So many times any size is still far from the largest i64.
_FEW = 1 << 12


def near(number: int) -> int:
    """A constant step or offset, or one that leads out of every array as well."""
    return min(max(number, -MOST_ELEMENTS), MOST_ELEMENTS)


def size_of(b: Builder, value: Operand) -> Operand:
    """An integer as a size: it fails at run time if it is none."""
    if isinstance(value, Lit) and 0 <= value.value <= MOST_ELEMENTS:
        return value
    return b.prim("size", value)


def times(b: Builder, size: Operand, count: Operand) -> Operand:
    """The size of something that is there so many times."""
    return size_of(b, b.prim("area", size, count))


def checked(b: Builder, shape: Shape) -> Shape:
    """A shape of sizes, none too large, whose number of elements is not either."""
    known = prod(max(int(n.value), 1) for n in shape if isinstance(n, Lit))
    others = [n for n in shape if not isinstance(n, Lit)]
    if len(others) < 2 and known <= (_FEW if others else MOST_ELEMENTS):
        return shape
    total: Operand = Lit(min(known, 2 * MOST_ELEMENTS))
    for size in others:
        total = b.prim("area", b.prim("imax", size, Lit(1)), total)
    size_of(b, total)
    return shape
