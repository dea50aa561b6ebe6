# mypy: allow-untyped-defs, allow-untyped-calls
"""Places in sorted arrays, and values between them, by NumPy's names."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.ir.types import Array
from chadllvm.support.overloads import overload


def _is_less(x, y):
    """Whether x is sorted before y: NaN comes last."""
    return x < y or (x == x and y != y)


@jit(static_argnames=("counts_equals",))
def count_before(a, v, counts_equals):
    """How many elements of a sorted vector are less than a value, or equal to it.

    Each step halves what is left, without a branch: it may run in lanes.
    """
    n = len(a)
    low, high = 0, n
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        here = a[min(middle, n - 1)]
        is_before = not _is_less(v, here) if counts_equals else _is_less(here, v)
        is_open = low < high
        low, high = (
            middle + 1 if is_open and is_before else low,
            middle if is_open and not is_before else high,
        )
    return low


@overload(np.ndarray.searchsorted, choose=("side",), tuples=())
@overload(np.searchsorted, choose=("side",), tuples=())
def searchsorted(a: Any, v: Any, side: str = "left") -> Callable[..., Any]:
    """How many elements of a sorted vector are less than `v`, or with `side="right"`
    not greater: an `int`, or an array of them. NaN comes last."""
    check_vector(a, "a")
    if side not in ("left", "right"):
        raise ValueError("side is 'left' or 'right'")
    return places_left if side == "left" else places_right


def check_vector(ty: Any, name: str) -> None:
    """Refuse what is no vector.

    Raises:
        ValueError: if it is none.
    """
    if not isinstance(ty, Array) or ty.rank != 1:
        raise ValueError(f"`{name}` is a vector")


def places_left(a, v):
    """`side="left"`"""
    if np.ndim(v) == 0:
        return count_before(a, v, False)
    found = np.array([count_before(a, u, False) for u in np.ravel(v)])
    return np.reshape(found, v.shape)


def places_right(a, v):
    """`side="right"`"""
    if np.ndim(v) == 0:
        return count_before(a, v, True)
    found = np.array([count_before(a, u, True) for u in np.ravel(v)])
    return np.reshape(found, v.shape)


@overload(bisect.bisect_left)
def bisect_left(a, x):
    """How many elements of a sorted list are less than a number."""
    return count_before(a, x, False)


@overload(bisect.bisect_right)
def bisect_right(a, x):
    """How many elements of a sorted list are not greater than a number."""
    return count_before(a, x, True)


@overload(np.interp, choose=(), tuples=())
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None
) -> Callable[..., Any]:
    """The heights `fp` at ascending points `xp`, linear between them and constant
    outside; NaN at NaN. At a knot the slope is that of the piece to its right, 0 at the
    last one."""
    check_vector(xp, "xp")
    check_vector(fp, "fp")
    return interpolated


def interpolated(x, xp, fp, left=None, right=None):
    """`left` and `right` are what is outside."""
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if np.ndim(x) == 0:
        return _height(x, xp, fp, left, right)
    found = np.array([_height(v, xp, fp, left, right) for v in np.ravel(x)])
    return np.reshape(found, x.shape)


def _height(x, xp, fp, left, right):
    n = len(xp)
    count = count_before(xp, x, True)
    k, m = max(count - 1, 0), min(count, n - 1)
    x0, x1, y0, y1 = xp[k], xp[m], 1.0 * fp[k], 1.0 * fp[m]
    is_flat = k == m  # Outside, or at the last point.
    slope = (0.0 if is_flat else y1 - y0) / (1.0 if is_flat else x1 - x0)
    y = y0 + slope * (0.0 if is_flat and (x == x or n == 1) else x - x0)
    # Beside an infinite height what is finite is seen from its own side.
    there = y1 + slope * (x - x1)
    there = y0 if x == x0 or (there != there and y0 == y1) else there
    y = there if y != y and x == x else y
    if left is not None:
        y = left if x < xp[0] else y
    if right is not None:
        y = right if x > xp[n - 1] else y
    return y
