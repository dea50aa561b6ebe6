"""A cotangent laid out like the value it belongs to: what a user would be given.

Zeros are written out, and so is an array's element for each of those of the value.
Where the value has no real numbers, integers and truth values are zero.
"""

from __future__ import annotations

from typing import Any

from chadllvm.ir.types import F64, I64, Array, Box, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.array_linear import array_cotangents, content, scattered
from chadllvm.paper.elements import Elements, element
from chadllvm.paper.linear import Linear, free


def spread(linear: Linear, d: Any, value: Any, ty: Type) -> Any:
    """The cotangent of a value of this type, as a value of it."""
    match ty:
        case Product((first, second)):
            a, b = (linear.part(d, k, t, free) for k, t in enumerate(ty.fields))
            x, y = value
            return spread(linear, a, x, first), spread(linear, b, y, second)
        case Sum():
            held = ty.payloads[value.index]
            inner = linear.cast(d, value.index, held, free)
            return Injected(value.index, spread(linear, inner, value.value, held))
        case Array() | Box():
            return _array(linear, d, value, ty)
        case _:
            return linear.number(d) if ty == F64 else 0 if ty == I64 else ()


def _array(linear: Linear, d: Any, value: Elements, ty: Type) -> Elements:
    held = element(content(ty))
    zeros = [linear.zero(held, free) for _ in value.items]
    pairs = array_cotangents(linear, ty).collect(d, free)
    cotangents = scattered(linear, zeros, pairs, held, free)
    both = zip(cotangents, value.items, strict=True)
    return Elements([spread(linear, c, v, held) for c, v in both], value.inner)
