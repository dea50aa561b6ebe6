"""Arrays as values of terms, and how they come from the interpreter and go there.

The paper's arrays have one dimension. Those of the core have several, and a row of one
is an array: so they are arrays of arrays here, that also know all their dimensions,
since an array without rows cannot ask its rows. `box`es are left out: what they refer
to may be an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from chadllvm.ir.op import ProgramError
from chadllvm.ir.types import BOOL, Array, Box, Product, Sum, Type
from chadllvm.ir.value import ROWS_DIFFER, ArrayValue, Injected
from chadllvm.support.diagnostic import InternalError


@dataclass(frozen=True, slots=True)
class Elements:
    """An array: its elements, and the dimensions after the first."""

    items: Sequence[Any]
    inner: tuple[int, ...] = ()

    @property
    def dims(self) -> tuple[int, ...]:
        """All dimensions."""
        return (len(self.items), *self.inner)


def element(ty: Type) -> Type:
    """The type of an array's elements."""
    assert isinstance(ty, Array)
    return ty.elem if ty.rank == 1 else Array(ty.elem, ty.rank - 1)


def stacked_rows(rows: Elements, rank: int) -> Elements:
    """An array of arrays of `rank` dimensions as one array that knows all its own.

    Raises:
        ProgramError: if the rows differ in their dimensions.
    """
    found = {row.dims for row in rows.items}
    if len(found) > 1:
        raise ProgramError(ValueError, ROWS_DIFFER)
    return Elements(rows.items, found.pop() if found else (0,) * rank)


def resized(array: Elements, inner: tuple[int, ...]) -> Elements:
    """The array with these dimensions after the first, which it has if it has elements.

    Raises:
        InternalError: if it has elements and others.
    """
    if array.inner == inner:
        return array
    if prod(array.dims) or prod((len(array.items), *inner)):
        raise InternalError(f"rows of {array.inner} that are of {inner}")
    return Elements([resized(row, inner[1:]) for row in array.items], inner)


def to_elements(value: ArrayValue, convert: Any, shape: tuple[int, ...]) -> Elements:
    """An array of the interpreter, its elements converted."""
    count, *rest = shape
    if not rest:
        return Elements([convert(x) for x in value.data])
    step = prod(rest)
    rows = (value.data[k * step : (k + 1) * step] for k in range(count))
    inner = tuple(rest)
    items = [to_elements(ArrayValue(inner, row), convert, inner) for row in rows]
    return Elements(items, inner)


def from_elements(array: Elements, convert: Any) -> ArrayValue:
    """The inverse of `to_elements`."""
    if not array.inner:
        return ArrayValue(array.dims, [convert(x) for x in array.items])
    rows = [from_elements(row, convert) for row in array.items]
    return ArrayValue(array.dims, [x for row in rows for x in row.data])


def from_binary(value: Any, ty: Type) -> Any:
    """The value of a term as the interpreter has it, of type `ty` of the core."""
    match ty:
        case Product(fields):
            return _components(value, fields)
        case Sum():
            return _injected(value, ty)
        case Box(content):
            return from_binary(value, content)
        case Array(elem, _):
            return from_elements(value, lambda x: from_binary(x, elem))
        case _:
            return bool(value.index) if ty == BOOL else value


def _components(value: Any, fields: Sequence[Type]) -> tuple[Any, ...]:
    found: list[Any] = []
    for ty in reversed(fields[1:]):
        value, last = value
        found.append(from_binary(last, ty))
    return (from_binary(value, fields[0]), *reversed(found)) if fields else ()


def _injected(value: Any, ty: Sum) -> Injected:
    index = 0
    while index < len(ty.payloads) - 1:
        side, value = value.index, value.value
        if side == 0:
            break
        index += 1
    return Injected(index, from_binary(value, ty.payloads[index]))
