"""Results of a call as Python values: arrays own the memory native code gave them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat, starmap
from typing import Any, TypeAlias, assert_never

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.backend.runtime import runtime
from chadllvm.diagnostic import InternalError
from chadllvm.ir.lists import nested
from chadllvm.ir.record import Kind, ListNames, RecordNames, structured
from chadllvm.ir.types import F32, I64, Acc, Array, Box, Fun, Product, Scalar, Sum, Type


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
    """A tuple of results, or a record of them if there are names."""

    parts: tuple[Result, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Many:
    """A list of results, or a structured array: as an array of products is one."""

    elem: Group | Choice
    rank: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several results; which one a number tells, in front of all their parts."""

    members: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Arrays:
    """A list of arrays like another list, of which it has all but the numbers."""

    like: Product


# What a call returns. None stands for the gradient by what holds no real numbers.
Result: TypeAlias = Type | Group | Many | Choice | Arrays | None


def leaf_types(ty: Result) -> list[Scalar | Array]:
    """The types of the flat results that a result consists of, in order.

    An array of tuples is a tuple of arrays there.
    """
    match ty:
        case Scalar():
            return [ty]
        case Product(parts) | Group(parts):
            return [leaf for part in parts for leaf in leaf_types(part)]
        case Arrays(like):
            return leaf_types(like)
        case None:
            return []
        case Array(elem, rank) | Many(elem, rank):
            return [_stacked(leaf, rank) for leaf in leaf_types(elem)]
        case Sum(payloads=parts) | Choice(parts):
            return [I64, *(leaf for part in parts for leaf in leaf_types(part))]
        case Box() | Fun() | Acc():
            raise InternalError(f"native code cannot return a {ty}")
        case _:
            assert_never(ty)


def _stacked(leaf: Scalar | Array, rank: int) -> Array:
    if isinstance(leaf, Array):
        return Array(leaf.elem, leaf.rank + rank)
    return Array(leaf, rank)


def rows(elem: Result, rank: int, leaves: Sequence[np.ndarray]) -> Any:
    """An array of products as its user has it, from the arrays of its leaves.

    A structured array if its elements are rows of one, else nested lists.
    """
    if not leaves:
        raise InternalError("native code cannot return an array of empty tuples")
    if _is_row(elem):
        return _structured(elem, leaves, leaves[0].shape[:rank])
    count = len(leaves[0])
    if rank == 1:
        return _values(elem, leaves, count)
    return [rows(elem, rank - 1, [leaf[k] for leaf in leaves]) for k in range(count)]


def _is_row(ty: Result) -> bool:
    names = ty.names if isinstance(ty, Product | Group) else ()
    return isinstance(names, RecordNames) and names.kind is Kind.ROW


def _values(ty: Result, leaves: Sequence[np.ndarray], count: int) -> list[Any]:
    """The values of one type along the first axis of their leaves."""
    match ty:
        case None:
            return [None] * count
        case Scalar():
            # An f32 stays NumPy's, which knows its width.
            numbers: list[Any] = list(leaves[0]) if ty == F32 else leaves[0].tolist()
            return numbers
        case Array(elem, _) if isinstance(elem, Scalar):
            return list(leaves[0])
        case Array(elem, rank) | Many(elem, rank):
            each = ([leaf[k] for leaf in leaves] for k in range(count))
            return [rows(elem, rank, own) for own in each]
        case Product(_, ListNames() as own):
            return [nested(own, [leaf[k] for leaf in leaves]) for k in range(count)]
        case Arrays(like):
            return _values(like, leaves, count)
        case Product(parts, names) | Group(parts, names):
            columns = [
                _values(part, own, count) for part, own in _portions(parts, leaves)
            ]
            if isinstance(names, RecordNames) and names.kind is Kind.NONE:
                return [None] * count
            # Without columns nothing says how many there are.
            items = zip(*columns, strict=True) if columns else repeat((), count)
            if not isinstance(names, RecordNames):
                return list(items)
            return list(starmap(names.make, items))
        case Sum(payloads=members) | Choice(members):
            return _chosen(members, leaves, count)
        case _:
            raise InternalError(f"native code cannot return a {ty}")


def _chosen(
    members: Sequence[Result], leaves: Sequence[np.ndarray], count: int
) -> list[Any]:
    """Each value as the member that it is; only those are made."""
    tags, *held = leaves
    values: list[Any] = [None] * count
    for index, (member, own) in enumerate(_portions(members, held)):
        at = np.flatnonzero(tags == index)
        made = _values(member, [leaf[at] for leaf in own], len(at))
        for k, value in zip(at.tolist(), made, strict=True):
            values[k] = value
    return values


def _portions(
    parts: Sequence[Result], leaves: Sequence[np.ndarray]
) -> Iterator[tuple[Result, Sequence[np.ndarray]]]:
    """Each part with its own leaves."""
    start = 0
    for part in parts:
        stop = start + len(leaf_types(part))
        yield part, leaves[start:stop]
        start = stop


def _structured(
    ty: Result, leaves: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """A structured array; the gradient has no field for what holds no real numbers."""
    assert isinstance(ty, Product | Group)
    parts = ty.fields if isinstance(ty, Product) else ty.parts
    names, fields = [], []
    pairs = zip(ty.names, _portions(parts, leaves), strict=True)
    for name, (part, own) in pairs:
        if not own:
            continue
        names.append(name)
        fields.append(_structured(part, own, shape) if _is_row(part) else own[0])
    return structured(names, fields, shape)
