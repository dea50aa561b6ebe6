# mypy: allow-untyped-defs, allow-untyped-calls
"""What runs along an axis: the vectors of an array, and the array of their results."""

from __future__ import annotations

import numpy as np

from chadllvm.api.transforms import jit


@jit(static_argnames=("axis",))
def lanes(a, axis):
    """The rows of a matrix: the vectors along an axis, or all elements for None."""
    if axis is None:
        return np.reshape(a, (1, a.size))
    moved = np.moveaxis(a, axis, -1)
    if np.ndim(a) == 1:
        return a[None, :]
    if np.ndim(a) == 2:
        return moved
    count = 1
    for size in moved.shape[:-1]:
        count = count * size
    return np.reshape(moved, (count, moved.shape[-1]))


@jit(static_argnames=("axis", "keepdims"))
def reduced(found, a, axis, keepdims):
    """Numbers, one for each lane of an array, in the shape of a reduction."""
    if axis is None:
        return np.reshape(found, (1,) * np.ndim(a)) if keepdims else found[0]
    shape = np.moveaxis(a, axis, -1).shape[:-1]
    if keepdims:
        return np.moveaxis(np.reshape(found, (*shape, 1)), -1, axis)
    if np.ndim(a) == 1:
        return found[0]
    return np.reshape(found, shape)
