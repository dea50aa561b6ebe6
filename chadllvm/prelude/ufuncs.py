# mypy: allow-untyped-defs, allow-untyped-calls
"""Elementwise functions that are made of others, and the methods `outer`, `reduce` and
`accumulate` of such, by NumPy's names."""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.support.overloads import overload


@overload(np.divmod, tuples=())
def divmod_of(x1, x2):
    """`x1 // x2` and `x1 % x2`"""
    return x1 // x2, x1 % x2


@overload(np.isposinf, tuples=())
def isposinf(x):
    """Whether it is infinite and positive."""
    return x == math.inf


@overload(np.isneginf, tuples=())
def isneginf(x):
    """Whether it is infinite and negative."""
    return x == -math.inf


@overload(np.conjugate, tuples=())
def conjugate(x):
    """The number itself: all are real."""
    return 1 * x


@overload(np.real, tuples=())
def real(val):
    """The number itself: all are real."""
    return val


@overload(np.imag, tuples=())
def imag(val):
    """0: all are real."""
    return np.abs(0 * np.sign(np.where(val == val, val, 0)))


@overload(np.angle, tuples=())
@jit(static_argnames=("deg",))
def angle(z, deg=False):
    """0 of a positive number, π of a negative one, or 180."""
    found = np.arctan2(0.0, z)
    return np.degrees(found) if deg else found


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
