"""What a row of the tables of functions of numbers is made of."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from chadllvm.frontend.arithmetic import promoted
from chadllvm.frontend.width import as_weak, floats
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand
from chadllvm.ir.types import BOOL, is_float

Meaning = Callable[..., Operand]

# As many arguments as a call may have.
MANY = 255

# All positions.
EVERY = range(MANY)


@dataclass(frozen=True)
class ScalarFunction:
    """A function of numbers; `meaning(b, *operands)` emits it.

    It takes `arity` of them, or up to `most` if that is more; at the positions in
    `integers`, floats are refused.
    """

    arity: int
    meaning: Meaning
    most: int = 0
    integers: Container[int] = ()


def on_floats(prim: str) -> Meaning:
    """A primitive on floats, to which the arguments are converted."""
    return lambda b, *xs: as_weak(b, b.prim(prim, *floats(b, *xs)), xs)


def of_truths(on_truths: str, meaning: Meaning) -> Meaning:
    """What is a logical operation where both are truth values, as in NumPy."""

    def chosen(b: Builder, x: Operand, y: Operand) -> Operand:
        are_truths = x.type == y.type == BOOL
        return b.prim(on_truths, x, y) if are_truths else meaning(b, x, y)

    return chosen


def either(on_float: str, on_int: str) -> Meaning:
    """A primitive on floats or on integers, as the arguments are."""

    def meaning(b: Builder, *xs: Operand) -> Operand:
        numbers = promoted(b, *xs)
        name = on_float if is_float(numbers[0].type) else on_int
        return as_weak(b, b.prim(name, *numbers), xs)

    return meaning
