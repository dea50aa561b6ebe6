"""Whether arrays share memory, and which arrays a value holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from chadllvm.backend.foreign import as_numpy

# So many steps a test for shared memory may take, which is exponential in general.
_MOST_WORK = 1 << 16


def share(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays share memory, as far as that is found out in short time."""
    if not np.may_share_memory(first, second):
        return False
    try:
        # The stubs know of none and all alone.
        most: Any = _MOST_WORK
        return np.shares_memory(first, second, max_work=most)
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements of an array may share memory, as windows do that overlap."""
    if array.flags.forc:
        return False
    axes = zip(map(abs, array.strides), array.shape, strict=True)
    extent = array.itemsize
    for stride, size in sorted(axis for axis in axes if axis[1] != 1):
        if stride < extent and array.size:
            return True
        extent += stride * (size - 1)
    return False


def arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in an argument, and those that NumPy makes of what is no number there:
    of buffers, and of what other libraries have, in the same memory."""
    match value:
        case None | bool() | int() | float() | str() | np.generic():
            return
        case np.ndarray():
            yield value
        case list() | tuple():
            for part in value:
                yield from arrays(part)
        case dict():
            for part in value.values():
                yield from arrays(part)
        case _ if is_dataclass(value):
            for field in fields(value):
                yield from arrays(getattr(value, field.name))
        case _:
            yield as_numpy(value, "an argument")
