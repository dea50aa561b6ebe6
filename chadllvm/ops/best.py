"""The least or largest of several numbers: what NaN and zeros are to it (`fold.py`).

The machine compares vectors without looking at the signs of zeros, so that of several
zeros any may win (`least`, `lesser` in `ir/loops.py`). Python gives the first one. Only
if the result is zero does that matter, and then the first zero is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chadllvm.ir.term import Lambda, Lit, literal
from chadllvm.ir.types import F32, is_float

if TYPE_CHECKING:
    from chadllvm.ir.loop_build import LoopBuilder
    from chadllvm.ir.loops import Atom, Slot
    from chadllvm.ir.lowering import Lowering

_NOWHERE = Lit((1 << 63) - 1)


class FirstZero:
    """The first zero of a loop: twice its index, and 1 more if it is -0.0."""

    def __init__(self, loops: LoopBuilder) -> None:
        self._loops = loops
        self._first = loops.slot("zero", _NOWHERE)

    def note(self, index: Atom, value: Atom) -> None:
        """Look at the value of a step."""
        loops = self._loops
        wide = loops.let("widen", value) if value.type == F32 else value
        negative = loops.let("ilt", loops.let("bits", wide), Lit(0))
        place = loops.let("iadd", index, index)
        place = loops.let("iadd", place, loops.let("bool_to_int", negative))
        is_zero = loops.let("feq", value, literal(0, value.type))
        place = loops.let("select", is_zero, place, _NOWHERE)
        loops.set(self._first, loops.let("imin", loops.get(self._first), place))

    def signed(self, best: Atom) -> Atom:
        """The best value, or if that is zero the first zero."""
        loops, zero = self._loops, literal(0, best.type)
        odd = loops.let("iand", loops.get(self._first), Lit(1))
        negative = loops.let("ieq", odd, Lit(1))
        first = loops.let("select", negative, loops.let("neg", zero), zero)
        return loops.let("select", loops.let("feq", best, zero), first, best)


def first_zero(lowering: Lowering, body: Lambda, count: Atom, best: Slot) -> Atom:
    """The best value of a loop, or if that is zero the first zero, which is looked for.

    The body is run again for it, until there is one.
    """
    loops = lowering.loops
    found, zero = loops.get(best), literal(0, best.type)
    steps = loops.let("select", loops.let("feq", found, zero), count, Lit(0))
    go = loops.slot("go", Lit(True))
    with lowering.loop(steps, body, go=go, parallel=False) as index:
        (value,) = lowering.step(body, index, ())
        new = lowering.atom_of(value)
        differs = loops.let("fne", new, zero)
        loops.set(best, loops.let("select", differs, loops.get(best), new))
        loops.set(go, differs)
    return loops.get(best)


def unless_nan(
    loops: LoopBuilder, first: Atom | None, found: Atom, otherwise: Atom | None
) -> Atom:
    """What was found, but if the first element is NaN: Python's builtins keep that."""
    if first is None or otherwise is None:
        return found
    return loops.let("select", loops.let("feq", first, first), found, otherwise)


def is_best(loops: LoopBuilder, new: Atom, best: Atom, nan: bool) -> Atom:
    """Whether a value is the best one; with `nan` a NaN is, if there is one."""
    if not is_float(new.type):
        return loops.let("ieq", new, best)
    is_equal = loops.let("feq", new, best)
    return loops.let("or", is_equal, loops.let("fne", new, new)) if nan else is_equal


def nan_wins(loops: LoopBuilder, less: Atom, new: Atom, old: Atom) -> Atom:
    """Whether the new value is better, or is a NaN where there was none."""
    first = loops.let("and", loops.let("fne", new, new), loops.let("feq", old, old))
    return loops.let("or", less, first)
