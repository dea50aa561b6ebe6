# mypy: allow-untyped-defs, allow-untyped-calls
"""Sizes of arrays, elements put in and taken out, and comparisons, by NumPy's names."""

from __future__ import annotations

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.support.overloads import overload

# ---- sizes -----------------------------------------------------------------------


@overload(np.size)
def size(a):
    """How many elements there are: of a number one."""
    return 1 if np.ndim(a) == 0 else a.size


@overload(np.shape)
def shape(a):
    """The sizes of an array by its axes."""
    return a.shape


@overload(np.atleast_1d)
def atleast_1d(a):
    """An array with at least one axis."""
    return np.array([a]) if np.ndim(a) == 0 else a


@overload(np.atleast_2d)
def atleast_2d(a):
    """An array with at least two axes: a vector is a row."""
    return np.atleast_1d(a)[None, :] if np.ndim(a) < 2 else a


@overload(np.atleast_3d)
def atleast_3d(a):
    """An array with at least three axes: a vector stands on the middle one."""
    return np.atleast_2d(a)[:, :, None] if np.ndim(a) < 3 else a


# ---- elements put in and taken out -----------------------------------------------


@overload(np.append, tuples=())
@jit(static_argnames=("axis",))
def append(arr, values, axis=None):
    """An array with others behind it, of all their elements if no axis is given."""
    if axis is None:
        return np.concatenate((np.ravel(np.atleast_1d(arr)), _flat(values)))
    return np.concatenate((arr, values), axis=axis)


@overload(np.insert, tuples=())
def insert(arr, obj, values):
    """A vector with a number, or others in order, before the place of an index."""
    k = _place(obj, len(arr), len(arr))
    return np.concatenate((arr[:k], _flat(values), arr[k:]))


@overload(np.delete, tuples=())
def delete(arr, obj):
    """A vector without the element at an index."""
    k = _place(obj, len(arr), len(arr) - 1)
    return np.concatenate((arr[:k], arr[k + 1 :]))


def _flat(values):
    return np.ravel(np.atleast_1d(values))


def _place(k, n, last):
    """An index counted from the front."""
    if k < -n or k > last:
        raise IndexError(f"index {k} is out of bounds for axis 0 with size {n}")
    return k + n if k < 0 else k


# ---- comparisons -----------------------------------------------------------------


@overload(np.isclose, tuples=())
@jit(static_argnames=("equal_nan",))
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """abs(a - b) <= atol + rtol abs(b); infinite ones are close if they are equal."""
    near = np.where(np.isfinite(b), np.abs(a - b) <= atol + rtol * np.abs(b), a == b)
    return near | (np.isnan(a) & np.isnan(b)) if equal_nan else near


@overload(np.allclose, tuples=())
@jit(static_argnames=("equal_nan",))
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close."""
    return np.all(np.isclose(a, b, rtol, atol, equal_nan))


@overload(np.array_equal, tuples=())
def array_equal(a1, a2):
    """Whether arrays have the same shape and elements."""
    if np.ndim(a1) != np.ndim(a2):
        return False
    if a1.shape != a2.shape:
        return False
    return np.all(a1 == a2)
