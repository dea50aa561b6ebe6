"""Sizes of arrays that are combined element by element: equal, or 1 and stretched.

    r = broadcast(n, m)         the size of the result along an axis
    fits(n, m)                  m, into which n values are put: n is m or 1
    k = stretch(i, n)           the index into the operand of size n: 0 if n is 1

NumPy decides at run time which operand is stretched. A size of 1 that is seen only then
is rare, and what reads an array at a `stretch` cannot be proved to read it in order; so
`simplify/stretch.py` supposes that it does not happen.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ops.scalar.row import row
from chadllvm.support.diagnostic import Span

SIZES_DIFFER = "operands could not be broadcast together: sizes {0} and {1}"
NO_FIT = "could not broadcast input array of size {0} into size {1}"
NOT_EQUAL = "sizes {0} and {1} do not match"
NEGATIVE = "negative dimensions are not allowed"
TOO_LARGE = "array too large"
EMPTY_FOLD = "fold() of no elements"
EMPTY_POP = "pop from empty list"
NOT_UNPACKED = "expected {1} values to unpack, got {0}"
MASK_DIFFERS = "a mask of size {0} for a dimension of size {1}"

# No memory holds more elements. So sizes may be added, and an index and a literal.
MOST_ELEMENTS = 1 << 44


def _broadcast(n: int, m: int) -> int:
    if n != m and n != 1 and m != 1:
        raise ProgramError(ValueError, SIZES_DIFFER.format(n, m))
    return m if n == 1 else n


def _broadcast_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    n, m = args
    stretches, is_one = loops.let("ieq", n, Lit(1)), loops.let("ieq", m, Lit(1))
    fits = loops.let("or", loops.let("ieq", n, m), loops.let("or", stretches, is_one))
    loops.check(fits, "ValueError", SIZES_DIFFER, span, n, m)
    return loops.let("select", stretches, m, n)


def _fits(size: int, into: int) -> int:
    if size not in (1, into):
        raise ProgramError(ValueError, NO_FIT.format(size, into))
    return into


def _fits_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    size, into = args
    is_one = loops.let("ieq", size, Lit(1))
    fits = loops.let("or", loops.let("ieq", size, into), is_one)
    loops.check(fits, "ValueError", NO_FIT, span, size, into)
    return into


def _stretch(index: int, size: int) -> int:
    return 0 if size == 1 else index


def _stretch_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    index, size = args
    return loops.let("select", loops.let("ieq", size, Lit(1)), Lit(0), index)


def _same(n: int, m: int) -> int:
    if n != m:
        raise ProgramError(ValueError, NOT_EQUAL.format(n, m))
    return n


def _mask_size(n: int, m: int) -> int:
    if n != m:
        raise ProgramError(IndexError, MASK_DIFFERS.format(n, m))
    return n


def _mask_size_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ieq", *args), "IndexError", MASK_DIFFERS, span, *args)
    return args[0]


def _same_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ieq", *args), "ValueError", NOT_EQUAL, span, *args)
    return args[0]


def _unpacked(n: int, names: int) -> int:
    if n != names:
        raise ProgramError(ValueError, NOT_UNPACKED.format(n, names))
    return n


def _unpacked_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ieq", *args), "ValueError", NOT_UNPACKED, span, *args)
    return args[0]


def _size(n: int) -> int:
    if n < 0:
        raise ProgramError(ValueError, NEGATIVE)
    if n > MOST_ELEMENTS:
        raise ProgramError(MemoryError, TOO_LARGE)
    return n


def _filled(n: int) -> int:
    if n < 1:
        raise ProgramError(ValueError, EMPTY_FOLD)
    return n


def _filled_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ilt", Lit(0), args[0]), "ValueError", EMPTY_FOLD, span)
    return args[0]


def _poppable(n: int) -> int:
    if n < 1:
        raise ProgramError(IndexError, EMPTY_POP)
    return n


def _poppable_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ilt", Lit(0), args[0]), "IndexError", EMPTY_POP, span)
    return args[0]


def _size_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (size,) = args
    loops.check(loops.let("ile", Lit(0), size), "ValueError", NEGATIVE, span)
    fits = loops.let("ile", size, Lit(MOST_ELEMENTS))
    loops.check(fits, "MemoryError", TOO_LARGE, span)
    return size


row("broadcast", "ii->i", _broadcast, lowering=_broadcast_l, can_fail=True)
# The size of a value, and that of the part of an array that it is put into.
row("fits", "ii->i", _fits, lowering=_fits_l, can_fail=True)
row("stretch", "ii->i", _stretch, lowering=_stretch_l)
# Two sizes that have to be equal.
row("same", "ii->i", _same, lowering=_same_l, can_fail=True)
# The size of an array and the number of names that it is unpacked into.
row("unpacked", "ii->i", _unpacked, lowering=_unpacked_l, can_fail=True)
# The same of a mask and what it is a mask of.
row("mask_size", "ii->i", _mask_size, lowering=_mask_size_l, can_fail=True)
# A size that a user gives, or that is computed of such.
row("size", "i->i", _size, lowering=_size_l, can_fail=True)
# The size of what is folded.
row("filled", "i->i", _filled, lowering=_filled_l, can_fail=True)
# The size of a list that the last element is taken from.
row("poppable", "i->i", _poppable, lowering=_poppable_l, can_fail=True)
