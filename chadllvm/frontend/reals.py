"""What a value's cotangent or tangent may be given as: its reals, in its containers.

A record of which some fields are integers cannot be made without them. So what stands
in the place of an integer is not looked at, if it is no real.
"""

from __future__ import annotations

from chadllvm.frontend.arithmetic import convert, join
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import NONE, Product, Type, has_float


def fits(found: Type, wanted: Type) -> bool:
    """Whether a value of this type can be a cotangent or tangent of that type.

    What belongs to integers and booleans may be anything without reals.
    """
    if wanted == NONE:
        return not has_float(found)
    if isinstance(found, Product) and isinstance(wanted, Product):
        if found.names != wanted.names or len(found.fields) != len(wanted.fields):
            return False
        return all(map(fits, found.fields, wanted.fields))
    return join(found, wanted) == wanted


def as_reals(b: Builder, value: Operand, wanted: Type) -> Operand:
    """A value that fits, as a cotangent or tangent of this type."""
    if wanted == NONE and value.type != NONE:
        return b.one(Tuple((), NONE.names))
    if isinstance(wanted, Product):
        parts = [
            as_reals(b, b.one(Proj(value, k)), field)
            for k, field in enumerate(wanted.fields)
        ]
        return b.one(Tuple(tuple(parts), wanted.names))
    return convert(b, value, wanted)
