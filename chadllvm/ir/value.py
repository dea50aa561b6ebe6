"""Values of the core as the interpreter has them, and their Python and NumPy forms.

Numbers are Python's `float` (an f32 is one that has been rounded), `int` and `bool`,
products are tuples, an array is an `ArrayValue` whose elements may be any value, a
sum's value is `Injected`, a box is the array it refers to, a function is a `Closure`,
and a cell is a `Cell`, the only one that is ever written to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, assert_never

import numpy as np

from chadllvm.ir.lists import flattened, nested
from chadllvm.ir.op import ProgramError
from chadllvm.ir.record import ListNames, RecordNames
from chadllvm.ir.term import Lambda, Var, literal
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    list_elem,
    to_single,
)
from chadllvm.ir.union import member_of
from chadllvm.support.diagnostic import InternalError

ROWS_DIFFER = "rows of different lengths"

_DTYPES = {F64: np.float64, F32: np.float32, I64: np.int64, BOOL: np.bool_}


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A regular array: its shape, and its elements in row-major order."""

    shape: tuple[int, ...]
    data: list[Any]

    @classmethod
    def filled(cls, shape: tuple[int, ...], value: Any) -> ArrayValue:
        """An array of this shape with one value everywhere."""
        return cls(shape, [value] * math.prod(shape))

    def at(self, indices: Sequence[int]) -> Any:
        """The element at these indices, or the row if they are fewer than the rank."""
        offset, rest = locate(self.shape, indices)
        if not rest:
            return self.data[offset]
        return ArrayValue(rest, self.data[offset : offset + math.prod(rest)])


@dataclass(frozen=True, slots=True)
class Injected:
    """A value of a sum: the index of its constructor, and what that one holds."""

    index: int
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function value: the lambda and the values of the variables it captures."""

    function: Lambda
    captured: dict[Var, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Recursive:
    """The function that the body of a recursion calls: the first parameter is itself.

    `finish` makes the results of a call of what the body gives.
    """

    body: Lambda
    captured: dict[Var, Any]
    finish: Callable[[tuple[Any, ...]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A part of a buffer that contributions are added to; views share the buffer.

    The cell of a scalar has the shape (). That of an array of boxes is a buffer of
    cells, each for the array that one box refers to.
    """

    data: list[Any]
    offset: int
    shape: tuple[int, ...]

    @classmethod
    def opened(cls, content: Type, dims: Sequence[Any]) -> Cell:
        """A new cell that holds zero; `dims` as in `Open`."""
        if isinstance(content, Array) and isinstance(content.elem, Box):
            return cls.like(content, *dims)
        elem = content.elem if isinstance(content, Array) else content
        return cls([zero(elem)] * math.prod(dims), 0, tuple(dims))

    @classmethod
    def like(cls, ty: Array, array: ArrayValue) -> Cell:
        """A cell of the shape of an array, and of all arrays in it."""
        if not isinstance(ty.elem, Box):
            return cls.opened(ty, array.shape)
        content = ty.elem.content
        return cls([cls.like(content, a) for a in array.data], 0, array.shape)

    @property
    def size(self) -> int:
        """The number of scalars and cells in the buffer."""
        inner = (c.size for c in self.data if isinstance(c, Cell))
        return len(self.data) + sum(inner)

    def view(self, indices: Sequence[int]) -> Cell:
        """The cell of the part at these indices, through a box if it is one."""
        offset, rest = locate(self.shape, indices)
        place = self.offset + offset
        if indices and not rest and isinstance(self.data[place], Cell):
            inner: Cell = self.data[place]
            return inner
        return Cell(self.data, place, rest)

    def add(self, value: Any) -> int:
        """Add a value of the cell's shape; returns the number of scalars added."""
        if not self.shape:
            self.data[self.offset] = plus(self.data[self.offset], value)
            return 1
        is_nothing = not value.data and 0 in self.shape
        if value.shape != self.shape and not is_nothing:
            raise InternalError(f"{value.shape} added to a cell of {self.shape}")
        added = len(value.data)
        for k, item in enumerate(value.data, self.offset):
            if isinstance(item, ArrayValue):
                added += self.data[k].add(item)
            else:
                self.data[k] = plus(self.data[k], item)
        return added

    def total(self) -> Any:
        """What the cell holds."""
        if not self.shape:
            return self.data[self.offset]
        end = self.offset + math.prod(self.shape)
        held = self.data[self.offset : end]
        items = [c.total() if isinstance(c, Cell) else c for c in held]
        return ArrayValue(self.shape, items)


@dataclass(frozen=True, slots=True, eq=False)
class Rows(Cell):
    """The cell of rows that are numbered from `base` on; those below are not there.

    What is added to these is lost, and they hold zero.
    """

    base: int

    def view(self, indices: Sequence[int]) -> Cell:
        row, *rest = indices
        if row < self.base:
            return Cell([0.0], 0, ())
        return Cell.view(self, (row - self.base, *rest))


def locate(
    shape: tuple[int, ...], indices: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """Where the part at these indices begins in row-major order, and its shape."""
    offset = 0
    for dim, index in zip(shape, indices, strict=False):
        if not 0 <= index < dim:
            raise InternalError(f"index {tuple(indices)} into an array of {shape}")
        offset = offset * dim + index
    rest = shape[len(indices) :]
    return offset * math.prod(rest), rest


def zero(ty: Type) -> Any:
    """The zero of a type that has one without knowing a shape."""
    match ty:
        case Scalar():
            return literal(0, ty).value
        case Product(fields):
            return tuple(map(zero, fields))
        case Array() | Box() | Sum() | Fun() | Acc():
            raise InternalError(f"the zero of {ty} depends on a value")
        case _:
            assert_never(ty)


def plus(a: Any, b: Any) -> Any:
    """The sum of two scalars, component-wise for products."""
    if isinstance(a, tuple):
        return tuple(map(plus, a, b))
    return a + b


def rounded(value: Any, ty: Type) -> Any:
    """What was computed in f64, as a value of its type: f32 is rounded."""
    if ty == F32:
        return to_single(value)
    if isinstance(ty, Array) and ty.elem == F32:
        return ArrayValue(value.shape, list(map(to_single, value.data)))
    if isinstance(ty, Array) and isinstance(ty.elem, Box):
        return ArrayValue(
            value.shape, [rounded(item, ty.elem.content) for item in value.data]
        )
    return value


def stack(values: Sequence[Any], ty: Type) -> ArrayValue:
    """Values of type `ty` along a new first axis; arrays must have equal shapes.

    Of no arrays, the further dimensions are 0.

    Raises:
        ProgramError: if the shapes differ.
    """
    if not isinstance(ty, Array):
        return ArrayValue((len(values),), list(values))
    shape = values[0].shape if values else (0,) * ty.rank
    if any(row.shape != shape for row in values):
        raise ProgramError(ValueError, ROWS_DIFFER)
    return ArrayValue((len(values), *shape), [x for row in values for x in row.data])


def to_value(obj: Any, ty: Type | None = None) -> Any:
    """A Python or NumPy object as a value, of type `ty` if it is given.

    Without a type, an ndarray, scalar or tuple gives the value it looks like; with one,
    lists and integers are converted to the arrays and floats that the type wants.
    """
    if ty is None:
        return _guess(obj)
    match ty:
        case Scalar():
            return literal(obj, ty).value
        case Product(fields, names):
            parts = _parts(obj, ty, names)
            return tuple(to_value(o, f) for o, f in zip(parts, fields, strict=True))
        case Sum() if isinstance(obj, Injected):
            return Injected(obj.index, to_value(obj.value, ty.payloads[obj.index]))
        case Sum():
            tag = member_of(ty, obj)
            if tag is None:
                raise InternalError(f"{obj!r} is no {ty}")
            return Injected(tag, to_value(obj, ty.payloads[tag]))
        case Array(Scalar() as elem, rank):
            return _from_numpy(np.asarray(obj, _DTYPES[elem]), rank)
        case Array(elem, rank):
            shape, items = _flatten(obj, rank)
            return ArrayValue(shape, [to_value(item, elem) for item in items])
        case Box(content):
            return to_value(obj, content)
        case Fun() | Acc():
            raise InternalError(f"no Python object is a {ty}")
        case _:
            assert_never(ty)


def _parts(obj: Any, ty: Product, names: tuple[str, ...]) -> Any:
    """The components of a tuple, a record or a list of arrays."""
    if isinstance(names, ListNames):
        dtype = _DTYPES[list_elem(ty)]
        return flattened(names, np.dtype(dtype), "list", obj, _Reader(dtype))
    return names.parts(obj) if isinstance(names, RecordNames) else obj


@dataclass(frozen=True)
class _Reader:
    """Takes what NumPy takes."""

    dtype: type[np.generic]

    def array(self, path: str, item: Any) -> np.ndarray:
        return np.asarray(item, self.dtype)

    def refuse(self, path: str, item: Any) -> NoReturn:
        raise InternalError(f"{path} is no list")


def _guess(obj: Any) -> Any:
    if isinstance(obj, np.ndarray):
        return _from_numpy(obj, obj.ndim)
    if isinstance(obj, np.generic):
        return obj.item()
    return tuple(map(_guess, obj)) if isinstance(obj, tuple) else obj


def _from_numpy(array: np.ndarray, rank: int) -> ArrayValue:
    if array.size == 0 and array.ndim < rank:
        array = array.reshape(array.shape + (0,) * (rank - array.ndim))
    if array.ndim != rank:
        raise InternalError(f"an array of {array.ndim} dimensions, not {rank}")
    return ArrayValue(array.shape, array.ravel().tolist())


def _flatten(obj: Any, rank: int) -> tuple[tuple[int, ...], list[Any]]:
    """The shape and the elements of nested lists."""
    if rank == 0:
        return (), [obj]
    rows = [_flatten(row, rank - 1) for row in obj]
    inner = rows[0][0] if rows else (0,) * (rank - 1)
    return (len(rows), *inner), [item for _, items in rows for item in items]


def from_value(value: Any, ty: Type) -> Any:
    """A value as Python has it: arrays of scalars as ndarrays, others as lists."""
    match ty:
        case Scalar():
            return np.float32(value) if ty == F32 else value
        case Fun():
            return value
        case Product(fields, names):
            parts = tuple(map(from_value, value, fields))
            if isinstance(names, ListNames) and all(p is not None for p in parts):
                return nested(names, parts)
            return parts
        case Sum():
            payload = ty.payloads[value.index]
            return Injected(value.index, from_value(value.value, payload))
        case Array(Scalar() as elem, _):
            return np.array(value.data, _DTYPES[elem]).reshape(value.shape)
        case Array(elem, _):
            items = iter([from_value(item, elem) for item in value.data])
            return _nested_lists(value.shape, items)
        case Box(content):
            return from_value(value, content)
        case Acc(content):
            return from_value(value.total(), content)
        case _:
            assert_never(ty)


def _nested_lists(shape: tuple[int, ...], items: Iterator[Any]) -> Any:
    if not shape:
        return next(items)
    return [_nested_lists(shape[1:], items) for _ in range(shape[0])]
