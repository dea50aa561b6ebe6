"""What compiled functions write where Python has no word: `fold`, `build`, and more.

They are ordinary Python functions as well, and give the same results outside of
compiled code, in the same order of operations.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

EMPTY_FOLD = "fold() of no elements"


def fold(function: Callable[[T, T], T], items: Iterable[T]) -> T:
    """Combine all elements by an associative function, such as a product of matrices.

    Blocks of about as many elements as there are blocks are combined from left to right
    each, then their results: blocks do not need each other, in the gradient neither, so
    that they can run on several threads. Both take time in proportion to the number of
    elements, and the gradient keeps one value for each.

    Args:
        function: combines two elements to one of the same type, and is associative.
        items: an array (whose elements are its rows, if it has several dimensions), or
            a list of numbers, arrays or tuples.

    Raises:
        ValueError: if there are no elements.
    """
    rest = list(items)
    if not rest:
        raise ValueError(EMPTY_FOLD)
    length = math.isqrt(len(rest) - 1) + 1
    whole = len(rest) // length * length
    blocks = [rest[k : k + length] for k in range(0, whole, length)]
    results = [functools.reduce(function, block) for block in blocks]
    return functools.reduce(function, [*results, *rest[whole:]])


def build(
    shape: int | tuple[int, ...] | list[int], function: Callable[..., Any]
) -> Any:
    """The array whose element at i, j, … is `function(i, j, …)`.

    Args:
        shape: a size, or a tuple or list of sizes.
        function: takes an index for each size, and returns a number or an array; a
            function that returns tuples gives a list.

    Raises:
        ValueError: if a size is negative.
    """
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if any(size < 0 for size in sizes):
        raise ValueError("negative dimensions are not allowed")
    return _as_array(_nested(sizes, function, ()), sizes)


def _nested(
    sizes: tuple[int, ...], function: Callable[..., Any], indices: tuple[int, ...]
) -> Any:
    if len(indices) == len(sizes):
        return function(*indices)
    return [_nested(sizes, function, (*indices, k)) for k in range(sizes[len(indices)])]


def _as_array(nested: Any, sizes: tuple[int, ...]) -> Any:
    """Nested lists as an array, unless they hold tuples."""
    first = nested
    for _ in sizes:
        if not first:
            return np.zeros(sizes)
        first = first[0]
    return nested if isinstance(first, tuple) else np.array(nested)


def stop_gradient(x: T) -> T:
    """A copy of x that no derivative goes through.

    Its gradient and its tangent are zero, whatever x depends on, in derivatives of
    derivatives as well.

    Args:
        x: a number, an array, or a tuple, record or list of such.
    """
    return copy.deepcopy(x)


def pause(label: str, stage: str, *values: Any) -> Any:
    """Where the interpreter stops (`frontend/pausing.py`); Python does nothing."""
