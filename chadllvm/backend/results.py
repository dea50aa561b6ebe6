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
from chadllvm.ir.lists import nested
from chadllvm.ir.record import Kind, ListNames, RecordNames, structured
from chadllvm.ir.types import (
    F32,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
)
from chadllvm.support.diagnostic import InternalError


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
            return [
                column
                for leaf, is_piece in zip(leaf_types(elem), pieces(elem), strict=True)
                for column in columns_of(leaf, rank, is_piece)
            ]
        case Sum(payloads=parts) | Choice(parts):
            return [I64, *(leaf for part in parts for leaf in leaf_types(part))]
        case Box() | Fun() | Acc():
            raise InternalError(f"native code cannot return a {ty}")
        case _:
            assert_never(ty)


def pieces(ty: Result, in_sum: bool = False) -> list[bool]:
    """For each leaf of an element whether it is an array of a size of its own.

    What arrays have for such a leaf stands in `simplify/pieces.py`.
    """
    match ty:
        case Product(parts) | Group(parts):
            return [flag for part in parts for flag in pieces(part, in_sum)]
        case Sum(payloads=parts) | Choice(parts):
            return [False, *(flag for part in parts for flag in pieces(part, True))]
        case _:
            return [in_sum and isinstance(leaf, Array) for leaf in leaf_types(ty)]


def columns_of(leaf: Scalar | Array, rank: int, is_piece: bool) -> list[Array]:
    """The types of the arrays that an array of such leaves consists of."""
    if not isinstance(leaf, Array):
        return [Array(leaf, rank)]
    if not is_piece:
        return [Array(leaf.elem, leaf.rank + rank)]
    return [Array(leaf.elem, 1), *[Array(I64, rank)] * (1 + leaf.rank)]


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


def _values(
    ty: Result, leaves: Sequence[np.ndarray], count: int, in_sum: bool = False
) -> list[Any]:
    """The values of one type along the first axis of their leaves."""
    match ty:
        case None:
            return [None] * count
        case Scalar():
            # An f32 stays NumPy's, which knows its width.
            numbers: list[Any] = list(leaves[0]) if ty == F32 else leaves[0].tolist()
            return numbers
        case Array(elem, _) if isinstance(elem, Scalar):
            return _cut(*leaves) if in_sum else list(leaves[0])
        case Array(elem, rank) | Many(elem, rank):
            each = ([leaf[k] for leaf in leaves] for k in range(count))
            return [rows(elem, rank, own) for own in each]
        case Product(_, ListNames() as own):
            return [nested(own, [leaf[k] for leaf in leaves]) for k in range(count)]
        case Arrays(like):
            return _values(like, leaves, count)
        case Product(parts, names) | Group(parts, names):
            columns = [
                _values(part, own, count, in_sum)
                for part, own in _portions(parts, leaves, in_sum)
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
    for index, (member, own) in enumerate(_portions(members, held, True)):
        at = np.flatnonzero(tags == index)
        chosen = [
            column if is_whole else column[at]
            for column, is_whole in zip(own, are_numbers(member), strict=True)
        ]
        made = _values(member, chosen, len(at), True)
        for k, value in zip(at.tolist(), made, strict=True):
            values[k] = value
    return values


def are_numbers(member: Result, *, reals: bool = False) -> Iterator[bool]:
    """For each column of a member of a union whether it is the numbers of pieces.

    With `reals`, of the columns only that hold real numbers.
    """
    for leaf, is_piece in zip(leaf_types(member), pieces(member, True), strict=True):
        for k, column in enumerate(columns_of(leaf, 1, is_piece)):
            if has_float(column) or not reals:
                yield is_piece and k == 0


def _cut(
    numbers: np.ndarray, starts: np.ndarray, *sizes: np.ndarray
) -> list[np.ndarray]:
    """The pieces that begin at these places among the numbers."""
    shapes = list(zip(*(size.tolist() for size in sizes), strict=True))
    return [
        numbers[start : start + math.prod(shape)].reshape(shape)
        for start, shape in zip(starts.tolist(), shapes, strict=True)
    ]


def _portions(
    parts: Sequence[Result], leaves: Sequence[np.ndarray], in_sum: bool = False
) -> Iterator[tuple[Result, Sequence[np.ndarray]]]:
    """Each part with its own leaves, or columns of elements."""
    start = 0
    for part in parts:
        flags = zip(leaf_types(part), pieces(part, in_sum), strict=True)
        stop = start + sum(len(columns_of(leaf, 1, flag)) for leaf, flag in flags)
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
