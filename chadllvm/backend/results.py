"""Results of a call as Python values: arrays own the memory native code gave them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.backend.runtime import runtime
from chadllvm.diagnostic import InternalError
from chadllvm.ir.types import Acc, Array, Box, Fun, Product, Scalar, Sum, Type


def array_maker(elem: Scalar) -> Callable[[int, tuple[int, ...]], np.ndarray]:
    """A function from the address and the shape of a released block to an array.

    The array is writable and owns the block, which is freed together with it (or with
    the last view of it).
    """
    dtype, ndarray = DTYPES[elem], np.ndarray
    ffi, free = runtime().ffi, runtime().lib.chad_free
    cast, gc, buffer, size = ffi.cast, ffi.gc, ffi.buffer, DTYPES[elem].itemsize

    def make(address: int, shape: tuple[int, ...]) -> np.ndarray:
        block = gc(cast("void *", address), free)
        count = math.prod(shape)
        if not count:
            return np.empty(shape, dtype)
        return ndarray(shape, dtype, buffer(block, count * size))

    return make


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple of results."""

    parts: tuple[Result, ...]


# What a call returns. None stands for the gradient by what holds no real numbers.
Result: TypeAlias = Type | Group | None


def leaf_types(ty: Result) -> list[Scalar | Array]:
    """The types of the flat results that a result consists of, in order.

    An array of tuples is a tuple of arrays there.
    """
    match ty:
        case Scalar():
            return [ty]
        case Product(parts) | Group(parts):
            return [leaf for part in parts for leaf in leaf_types(part)]
        case None:
            return []
        case Array(elem, rank):
            return [_stacked(leaf, rank) for leaf in leaf_types(elem)]
        case Sum() | Box() | Fun() | Acc():
            raise InternalError(f"native code cannot return a {ty}")
        case _:
            assert_never(ty)


def _stacked(leaf: Scalar | Array, rank: int) -> Array:
    if isinstance(leaf, Array):
        return Array(leaf.elem, leaf.rank + rank)
    return Array(leaf, rank)


def rows(ty: Array, leaves: Sequence[np.ndarray]) -> list[Any]:
    """An array of tuples as nested lists of tuples, from the arrays of its leaves."""
    if not leaves:
        raise InternalError("native code cannot return an array of empty tuples")
    inner: Type = Array(ty.elem, ty.rank - 1) if ty.rank > 1 else ty.elem
    return [_entry(inner, [leaf[k] for leaf in leaves]) for k in range(len(leaves[0]))]


def _entry(ty: Type, leaves: Sequence[Any]) -> Any:
    match ty:
        case Scalar():
            return leaves[0].item()
        case Array(elem, _) if isinstance(elem, Scalar):
            return leaves[0]
        case Array():
            return rows(ty, leaves)
        case Product(fields):
            return _tuple(fields, leaves)
        case _:
            raise InternalError(f"native code cannot return a {ty}")


def _tuple(fields: Sequence[Type], leaves: Sequence[Any]) -> tuple[Any, ...]:
    values, start = [], 0
    for field in fields:
        stop = start + len(leaf_types(field))
        values.append(_entry(field, leaves[start:stop]))
        start = stop
    return tuple(values)
