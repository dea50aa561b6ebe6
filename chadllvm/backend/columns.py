"""Lists of records and structured arrays as arguments: one array for each leaf.

    [Point(1.0, 2), Point(3.0, 4)]   →   array([1.0, 3.0]), array([2, 4])

Arrays in records get a first dimension more, so they must have equal shapes; so must
lists in lists. What does not fit is named by its place: `points[3].x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, assert_never

import numpy as np

from chadllvm.backend.convert import DTYPES, Converter, expected, found
from chadllvm.backend.results import are_numbers, leaf_types
from chadllvm.ir.record import Kind, ListNames, RecordNames
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
    has_float,
)
from chadllvm.ir.wording import said
from chadllvm.support import call_rules
from chadllvm.support.diagnostic import InternalError

Shape = tuple[int, ...]

_USUAL: dict[Scalar, set[type]] = {
    F64: {float},
    F32: {float, np.float32},
    I64: {int},
    BOOL: {bool},
}
_CONVERT = {F64: "as_float", F32: "as_single", I64: "as_int", BOOL: "as_bool"}


def columns(
    function: str, path: str, ty: Array, value: Any, *, reals: bool = False
) -> list[np.ndarray]:
    """The arrays of the leaves of an array of records, each plain.

    With `reals`, of those leaves only that hold real numbers, as tangents do.

    Raises:
        TypeError: if something is not what the type says.
        ValueError: if lists or arrays at the same place differ in shape.
    """
    if is_structured(ty):
        return _fields(function, path, ty, value, reals)
    if not isinstance(value, list):
        _refuse(function, path, ty, value)
    shape, items = _flat(function, path, ty, value)
    places = Places(function, lambda k: path + _brackets(k, shape), reals)
    return _leaves(places, ty.elem, items, shape)


def is_structured(ty: Array) -> bool:
    """Whether Python's form of an array of records is a structured array."""
    elem = ty.elem
    return (
        isinstance(elem, Product)
        and isinstance(elem.names, RecordNames)
        and elem.names.kind is Kind.ROW
    )


def _refuse(function: str, path: str, ty: Type, value: Any) -> NoReturn:
    raise call_rules.wrong_type(
        f"{function}: parameter {path} must be {expected(ty)}, found {found(value)}"
    )


# ---- structured arrays


def _fields(
    function: str, path: str, ty: Array, value: Any, reals: bool
) -> list[np.ndarray]:
    elem = ty.elem
    assert isinstance(elem, Product) and isinstance(elem.names, RecordNames)
    pairs = list(zip(elem.names, elem.fields, strict=True))
    if reals:
        pairs = [(name, field) for name, field in pairs if has_float(field)]
    names = value.dtype.names if isinstance(value, np.ndarray) else None
    if names not in (tuple(elem.names), tuple(name for name, _ in pairs)):
        _refuse(function, path, ty, value)
    if value.ndim != ty.rank:
        raise call_rules.wrong_shape(
            f"{function}: parameter {path} must have {ty.rank} dimension(s), found "
            f"{value.ndim} (shape {value.shape})"
        )
    arrays: list[np.ndarray] = []
    for name, field in pairs:
        inner = elem.names.path(path, name)
        arrays += _field(function, inner, field, value[name], ty.rank, reals)
    return arrays


def _field(
    function: str, path: str, field: Type, column: np.ndarray, rank: int, reals: bool
) -> list[np.ndarray]:
    match field:
        case Scalar():
            whole = Array(field, rank)
        case Array(Scalar() as scalar, inner):
            whole = Array(scalar, rank + inner)
        case Product():
            return _fields(function, path, Array(field, rank), column, reals)
        case Array() | Sum() | Box() | Fun() | Acc():
            raise InternalError(f"{function}: a field of type {field}")
        case _:
            assert_never(field)
    return [Converter(function, [path], [whole]).as_array(0, column)]


# ---- lists


class Places:
    """Where the items of a column come from, for messages."""

    def __init__(self, function: str, path: Callable[[int], str], reals: bool) -> None:
        self.function = function
        self.path = path
        self.reals = reals

    def inside(self, names: RecordNames, name: str) -> Places:
        path = self.path
        return Places(self.function, lambda k: names.path(path(k), name), self.reals)

    def only(self, kept: Sequence[int]) -> Places:
        """The places of some of the items."""
        path = self.path
        return Places(self.function, lambda k: path(kept[k]), self.reals)

    def item(self, index: int) -> Places:
        path = self.path
        return Places(self.function, lambda k: f"{path(k)}[{index}]", self.reals)

    def converter(self, k: int, ty: Type) -> Converter:
        return Converter(self.function, [self.path(k)], [ty])

    def refuse(self, k: int, ty: Type, value: Any) -> NoReturn:
        _refuse(self.function, self.path(k), ty, value)

    def differ(self, k: int, first: Shape, shape: Shape) -> ValueError:
        return call_rules.SizesDiffer(
            f"{self.function}: parameter {self.path(k)} has shape {shape}, but "
            f"{self.path(0)} has {first}"
        )


def _brackets(k: int, shape: Shape) -> str:
    """The indices of item k of lists of this shape, as they are written."""
    return "".join(f"[{index}]" for index in np.unravel_index(k, shape))


def _flat(
    function: str, path: str, ty: Array, value: list[Any]
) -> tuple[Shape, list[Any]]:
    """The shape and the items of nested lists."""
    shape: Shape = (len(value),)
    items = value
    for _ in range(ty.rank - 1):
        at = [path + _brackets(k, shape) for k in range(len(items))]
        for place, item in zip(at, items, strict=True):
            if not isinstance(item, list):
                _refuse(function, place, Array(ty.elem, 1), item)
            if len(item) != len(items[0]):
                raise call_rules.wrong_shape(
                    f"{function}: parameter {place} has {len(item)} items, but {at[0]} "
                    f"has {len(items[0])}"
                )
        shape = (*shape, len(items[0]) if items else 0)
        items = [inner for item in items for inner in item]
    return shape, items


def _leaves(
    places: Places,
    ty: Type,
    items: Sequence[Any],
    shape: Shape,
    in_sum: bool = False,
) -> list[np.ndarray]:
    """The arrays of the leaves of items of this type.

    `in_sum`: as they are held by a member of a union, with arrays of any sizes.
    """
    if places.reals and not has_float(ty):
        return []
    match ty:
        case Scalar():
            return [scalars(places, ty, items).reshape(shape)]
        case Product(fields, names):
            if isinstance(names, ListNames):
                raise call_rules.wrong_type(
                    f"{places.function}: parameter {places.path(0)} is a {said(ty)} in "
                    "a list of records; pass one list for each field"
                )
            if isinstance(names, RecordNames):
                return _records(places, ty, names, items, shape, in_sum)
            return _tuples(places, ty, fields, items, shape, in_sum)
        case Array(Scalar()) if in_sum:
            return _in_pieces(places, ty, items)
        case Array(Scalar() as elem, rank):
            return [_stacked(places, Array(elem, rank), items, shape)]
        case Array():
            return _inner_lists(places, ty, items, shape)
        case Sum():
            return _members(places, ty, items, shape)
        case Box() | Fun() | Acc():
            raise InternalError(f"{places.function}: a list of {ty}")
        case _:
            assert_never(ty)


def scalars(places: Places, ty: Scalar, items: Sequence[Any]) -> np.ndarray:
    if set(map(type, items)) <= _USUAL[ty]:
        try:
            return np.array(items, DTYPES[ty])
        except OverflowError:  # An integer too large, which is found below.
            pass
    found = [
        getattr(places.converter(k, ty), _CONVERT[ty])(0, item)
        for k, item in enumerate(items)
    ]
    return np.array(found, DTYPES[ty])


def _records(
    places: Places,
    ty: Product,
    names: RecordNames,
    items: Sequence[Any],
    shape: Shape,
    in_sum: bool,
) -> list[np.ndarray]:
    if not names.match_all(items):
        for k, item in enumerate(items):
            places.converter(k, ty).as_record(0, item)
    arrays = []
    for name, field in zip(names, ty.fields, strict=True):
        column = names.column(items, name)
        inside = places.inside(names, name)
        arrays += _leaves(inside, field, column, shape, in_sum)
    return arrays


def _members(
    places: Places, ty: Sum, items: Sequence[Any], shape: Shape
) -> list[np.ndarray]:
    """The members that items of a union are, and the arrays of what each may hold."""
    tags = np.array(_tags(places, ty, items), np.int64)
    arrays = [] if places.reals else [tags.reshape(shape)]
    for index, member in enumerate(ty.payloads):
        at = np.flatnonzero(tags == index).tolist()
        own = [items[k] for k in at]
        parts = _leaves(places.only(at), member, own, (len(at),), True)
        flags = are_numbers(member, reals=places.reals)
        for part, is_whole in zip(parts, flags, strict=True):
            if is_whole:
                arrays.append(part)
                continue
            whole = np.zeros(len(items), part.dtype)
            whole[at] = part
            arrays.append(whole.reshape(shape))
    return arrays


def _in_pieces(places: Places, ty: Array, items: Sequence[Any]) -> list[np.ndarray]:
    """The numbers of arrays, where each begins, and their sizes along each axis."""
    assert isinstance(ty.elem, Scalar)
    arrays = [places.converter(k, ty).as_array(0, item) for k, item in enumerate(items)]
    numbers = [np.empty(0, DTYPES[ty.elem]), *(array.ravel() for array in arrays)]
    if places.reals:
        return [np.concatenate(numbers)]
    sizes = np.array([a.shape for a in arrays], np.int64).reshape(-1, ty.rank)
    ends = np.cumsum([array.size for array in arrays], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends])[: len(arrays)]
    columns = (np.ascontiguousarray(sizes[:, axis]) for axis in range(ty.rank))
    return [np.concatenate(numbers), starts, *columns]


def _tags(places: Places, ty: Sum, items: Sequence[Any]) -> list[int]:
    """For each item the member of the union that it is."""
    found: dict[type, int] = {}
    tags = []
    for k, item in enumerate(items):
        kind = type(item)
        if kind not in found:
            tag = places.converter(k, ty).as_member(0, item)
            if not isinstance(item, dict | tuple) or hasattr(item, "_fields"):
                found[kind] = tag
            tags.append(tag)
        else:
            tags.append(found[kind])
    return tags


def _tuples(
    places: Places,
    ty: Product,
    fields: Sequence[Type],
    items: Sequence[Any],
    shape: Shape,
    in_sum: bool,
) -> list[np.ndarray]:
    for k, item in enumerate(items):
        places.converter(k, ty).as_product(0, item)
    arrays = []
    for index, field in enumerate(fields):
        column = [item[index] for item in items]
        arrays += _leaves(places.item(index), field, column, shape, in_sum)
    return arrays


def _stacked(
    places: Places, ty: Array, items: Sequence[Any], shape: Shape
) -> np.ndarray:
    arrays = [places.converter(k, ty).as_array(0, item) for k, item in enumerate(items)]
    for k, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise places.differ(k, arrays[0].shape, array.shape)
    inner = arrays[0].shape if arrays else (0,) * ty.rank
    assert isinstance(ty.elem, Scalar)
    whole = np.empty((len(arrays), *inner), DTYPES[ty.elem])
    for k, array in enumerate(arrays):
        whole[k] = array
    return whole.reshape(*shape, *inner)


def _inner_lists(
    places: Places, ty: Array, items: Sequence[Any], shape: Shape
) -> list[np.ndarray]:
    """Lists of records, or structured arrays, in records."""
    found = [
        columns(places.function, places.path(k), ty, item, reals=places.reals)
        for k, item in enumerate(items)
    ]
    if not found:
        return [
            np.zeros((*shape, *(0,) * leaf.rank), DTYPES[leaf.elem])
            for leaf in leaf_types(ty)
            if isinstance(leaf, Array)
            and isinstance(leaf.elem, Scalar)
            and (not places.reals or has_float(leaf))
        ]
    arrays = []
    for k, parts in enumerate(found):
        for first, part in zip(found[0], parts, strict=True):
            if part.shape != first.shape:
                raise places.differ(k, first.shape, part.shape)
    for stack in zip(*found, strict=True):
        arrays.append(np.stack(stack).reshape(*shape, *stack[0].shape))
    assert math.prod(shape) == len(found)
    return arrays
