"""What a row of the tables of functions of numbers is made of."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from chadllvm.frontend.arithmetic import promoted, to_float
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand
from chadllvm.ir.types import F64

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
    return lambda b, *xs: b.prim(prim, *(to_float(b, x) for x in xs))


def either(on_float: str, on_int: str) -> Meaning:
    """A primitive on floats or on integers, as the arguments are."""

    def meaning(b: Builder, *xs: Operand) -> Operand:
        xs = tuple(promoted(b, *xs))
        return b.prim(on_float if xs[0].type == F64 else on_int, *xs)

    return meaning
