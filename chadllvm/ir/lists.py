"""Lists of arrays of different sizes, as Python has them and as the core does.

    [array([1., 2.]), array([]), array([3.])]   ↔   items     1. 2. 3.
                                                    starts_1  0 2 2 3

See `ListNames` for what the parts are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any, NoReturn, Protocol

import numpy as np

from chadllvm.ir.record import ListNames

# What messages call the item of this number.
_Place = Callable[[int], str]


class Reader(Protocol):
    """Takes items as arrays, or refuses them."""

    def array(self, path: str, item: Any) -> np.ndarray:
        """The item as an array of the right dtype and rank."""

    def refuse(self, path: str, item: Any) -> NoReturn:
        """The item is no list."""


def flattened(
    names: ListNames, dtype: np.dtype[Any], path: str, value: Any, reader: Reader
) -> list[np.ndarray]:
    """The parts of a list, in the order of their names, without a window."""
    level: Sequence[Any] = value
    place = _outermost(path)
    starts: list[np.ndarray] = []
    if not _is_list(value):
        reader.refuse(path, value)
    for _ in range(names.depth - 1):
        for k, item in enumerate(level):
            if not _is_list(item):
                reader.refuse(place(k), item)
        starts.append(_ends(map(len, level), len(level)))
        place = _inside(place, starts[-1])
        level = list(chain.from_iterable(level))
    arrays = _arrays(names, dtype, level, place, reader)
    starts.append(_ends((a.size for a in arrays), len(arrays)))
    flat = arrays if names.rank == 1 else [a.ravel() for a in arrays]
    items = np.concatenate(flat) if flat else np.empty(0, dtype)
    if names.rank == 1:
        return [items, *reversed(starts)]
    shapes = np.array([a.shape for a in arrays], np.int64)
    return [items, shapes.reshape(len(arrays), names.rank), *reversed(starts)]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray) and value.ndim > 0
    )


def _ends(sizes: Any, count: int) -> np.ndarray:
    """Where each of some pieces begins, and where the last one ends."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, count), out=starts[1:])
    return starts


def _outermost(path: str) -> _Place:
    """What the items of a list are called."""
    return lambda k: f"{path}[{k}]"


def _inside(outer: _Place, starts: np.ndarray) -> _Place:
    """What the items of items are called."""

    def place(k: int) -> str:
        index = bisect_right(starts, k) - 1
        return f"{outer(index)}[{k - starts[index]}]"

    return place


def _arrays(
    names: ListNames,
    dtype: np.dtype[Any],
    level: Sequence[Any],
    place: _Place,
    reader: Reader,
) -> Sequence[np.ndarray]:
    """The innermost arrays; plain ones, which are most, are taken as they are."""
    is_plain = (
        set(map(type, level)) <= {np.ndarray}
        and {a.dtype for a in level} <= {dtype}
        and {a.ndim for a in level} <= {names.rank}
    )
    if is_plain:
        return list(level)
    return [reader.array(place(k), item) for k, item in enumerate(level)]


def nested(names: ListNames, parts: Sequence[Any]) -> list[Any]:
    """The list that consists of these parts; its arrays are views of `items`."""
    items: np.ndarray = parts[0]
    numbers = [part.tolist() for part in parts[1 : len(parts) - 2 * names.is_part]]
    sizes = numbers.pop(0) if names.rank > 1 else None
    level: list[Any] = [items[lo:hi] for lo, hi in pairwise(numbers[0])]
    if sizes is not None:
        level = [a.reshape(shape) for a, shape in zip(level, sizes, strict=True)]
    for starts in numbers[1:]:
        level = [level[lo:hi] for lo, hi in pairwise(starts)]
    if not names.is_part:
        return level
    first, count = parts[-2:]
    return level[first : first + count]
