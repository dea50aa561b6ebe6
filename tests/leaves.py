"""The leaves of values, as `simplify/flatten.py` takes values apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from chadllvm.ir.types import Array, Box, Product, Sum, Type
from chadllvm.ir.value import ArrayValue, stack, zero
from chadllvm.simplify.flatten import leaves as leaf_types
from chadllvm.simplify.flatten import parts_of


def leaves(value: Any, ty: Type) -> list[Any]:
    """The leaves of a value; what other constructors of a sum would hold is empty."""
    match ty:
        case Product(fields):
            return all_leaves(value, fields)
        case Sum():
            found: list[Any] = [value.index]
            for index, payload in enumerate(ty.payloads):
                if index == value.index:
                    found += leaves(value.value, payload)
                else:
                    found += map(_nothing, leaf_types(payload))
            return found
        case Array(Product() | Sum() as elem, _):
            rows = [leaves(item, elem) for item in value.data]
            columns = zip(*rows, strict=True) if rows else [() for _ in parts_of(elem)]
            found = []
            for column, part in zip(columns, parts_of(elem), strict=True):
                columns_of = _pieces if part.is_piece else _rows
                found += columns_of(value.shape, column, part.type)
            return found
        case _:
            return [value]


def _rows(shape: tuple[int, ...], column: Sequence[Any], ty: Type) -> list[ArrayValue]:
    """The leaf of an array; arrays in its elements give it further dimensions."""
    rows = stack(column, ty)
    return [ArrayValue((*shape, *rows.shape[1:]), rows.data)]


def _pieces(
    shape: tuple[int, ...], column: Sequence[Any], ty: Type
) -> list[ArrayValue]:
    """The leaves of arrays of sizes of their own: see `simplify/pieces.py`."""
    assert isinstance(ty, Array)
    numbers = [number for array in column for number in array.data]
    starts = [*accumulate((len(array.data) for array in column), initial=0)]
    places = [starts[: len(column)]]
    places += [[array.shape[axis] for array in column] for axis in range(ty.rank)]
    found = ArrayValue((len(numbers),), numbers)
    return [found, *(ArrayValue(shape, place) for place in places)]


def all_leaves(values: Sequence[Any], types: Sequence[Type]) -> list[Any]:
    """The leaves of several values."""
    pairs = zip(values, types, strict=True)
    return [leaf for value, ty in pairs for leaf in leaves(value, ty)]


def _nothing(ty: Type) -> Any:
    match ty:
        case Array(_, rank) | Box(Array(_, rank)):
            return ArrayValue((0,) * rank, [])
        case _:
            return zero(ty)
