# mypy: allow-untyped-defs, allow-untyped-calls
"""Sizes of arrays, elements put in and taken out, and comparisons, by NumPy's names."""

from __future__ import annotations

import math

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
@jit(static_argnames=("axis",))
def insert(arr, obj, values, axis=None):
    """An array with a number or others, of fewer axes, before the place of an index:
    along an axis, or among all elements if none is given."""
    rows = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    k = _place(obj, len(rows), len(rows))
    if np.ndim(rows) == 1:
        return np.concatenate((rows[:k], np.atleast_1d(values), rows[k:]))
    between = np.broadcast_to(values, rows.shape[1:])[None]
    return np.moveaxis(np.concatenate((rows[:k], between, rows[k:])), 0, axis)


@overload(np.delete, tuples=())
@jit(static_argnames=("axis",))
def delete(arr, obj, axis=None):
    """An array without what is at an index: along an axis, or of all elements."""
    rows = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    k = _place(obj, len(rows), len(rows) - 1)
    found = np.concatenate((rows[:k], rows[k + 1 :]))
    return found if axis is None else np.moveaxis(found, 0, axis)


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


@overload(math.isclose)
def isclose_numbers(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """abs(a - b) <= max(rel_tol max(abs(a), abs(b)), abs_tol), or a == b."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


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


@overload(np.isin, tuples=())
def isin(element, test_elements):
    """Whether each element is one of others; NaN is none."""
    known = np.sort(np.ravel(test_elements))
    if len(known) == 0:
        return (element == element) & False
    places = np.minimum(np.searchsorted(known, element), len(known) - 1)
    return known[places] == element


@overload(math.dist)
def distance(p, q):
    """Of two vectors; that of tuples of coordinates is written out."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return np.linalg.norm(np.asarray(p) - np.asarray(q))
