# mypy: allow-untyped-defs, allow-untyped-calls
"""Methods of NumPy's elementwise functions: `outer`, `reduce`, `accumulate`."""

from __future__ import annotations

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.support.overloads import overload


def _columns(a, b):
    """`a` with as many axes more as `b` has."""
    return np.reshape(a, a.shape + (1,) * np.ndim(b))


@overload(np.add.outer, tuples=())
def add_outer(a, b):
    """a[i] + b[j]"""
    return _columns(a, b) + b


@overload(np.subtract.outer, tuples=())
def subtract_outer(a, b):
    """a[i] - b[j]"""
    return _columns(a, b) - b


@overload(np.multiply.outer, tuples=())
def multiply_outer(a, b):
    """a[i] * b[j]"""
    return _columns(a, b) * b


@overload(np.divide.outer, tuples=())
def divide_outer(a, b):
    """a[i] / b[j]"""
    return _columns(a, b) / b


@overload(np.power.outer, tuples=())
def power_outer(a, b):
    """a[i] ** b[j]"""
    return _columns(a, b) ** b


@overload(np.minimum.outer, tuples=())
def minimum_outer(a, b):
    """The smaller of a[i] and b[j]."""
    return np.minimum(_columns(a, b), b)


@overload(np.maximum.outer, tuples=())
def maximum_outer(a, b):
    """The larger of a[i] and b[j]."""
    return np.maximum(_columns(a, b), b)


@overload(np.add.reduce, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def add_reduce(a, axis=0, *, keepdims=False):
    """The sum along an axis."""
    return np.sum(a, axis=axis, keepdims=keepdims)


@overload(np.multiply.reduce, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def multiply_reduce(a, axis=0, *, keepdims=False):
    """The product along an axis."""
    return np.prod(a, axis=axis, keepdims=keepdims)


@overload(np.maximum.reduce, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def maximum_reduce(a, axis=0, *, keepdims=False):
    """The largest along an axis."""
    return np.max(a, axis=axis, keepdims=keepdims)


@overload(np.minimum.reduce, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def minimum_reduce(a, axis=0, *, keepdims=False):
    """The smallest along an axis."""
    return np.min(a, axis=axis, keepdims=keepdims)


@overload(np.add.accumulate, tuples=())
@jit(static_argnames=("axis",))
def add_accumulate(a, axis=0):
    """Sums of the first elements along an axis."""
    return np.cumsum(a, axis=axis)


@overload(np.multiply.accumulate, tuples=())
@jit(static_argnames=("axis",))
def multiply_accumulate(a, axis=0):
    """Products of the first elements along an axis."""
    return np.cumprod(a, axis=axis)


@overload(np.maximum.accumulate, tuples=())
@jit(static_argnames=("axis",))
def maximum_accumulate(a, axis=0):
    """The largest of the first elements along an axis."""
    found = np.moveaxis(a, axis, 0).copy()
    for k in range(1, len(found)):
        found[k] = np.maximum(found[k - 1], found[k])
    return np.moveaxis(found, 0, axis)


@overload(np.minimum.accumulate, tuples=())
@jit(static_argnames=("axis",))
def minimum_accumulate(a, axis=0):
    """The smallest of the first elements along an axis."""
    found = np.moveaxis(a, axis, 0).copy()
    for k in range(1, len(found)):
        found[k] = np.minimum(found[k - 1], found[k])
    return np.moveaxis(found, 0, axis)
