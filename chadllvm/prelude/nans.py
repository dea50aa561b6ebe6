# mypy: allow-untyped-defs, allow-untyped-calls
"""Reductions that leave out NaN: its slope is zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.ir.types import F32, Array, is_float
from chadllvm.prelude.lanes import lanes, reduced
from chadllvm.prelude.statistics import has_zero, median, quantile
from chadllvm.support.overloads import overload

LARGEST = float(np.finfo(np.float64).max)
LARGEST_SINGLE = float(np.finfo(np.float32).max)


def _filled(a, value):
    """An array with a number in the place of NaN."""
    if a.dtype == int:
        return a
    return np.where(np.isnan(a), value, a)


@overload(np.nan_to_num, choose=(), tuples=())
def nan_to_num(
    x: Any, *, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Callable[..., Any]:
    """With numbers for NaN and infinities, for these the largest floats by default."""
    elem = x.elem if isinstance(x, Array) else x
    if not is_float(elem):
        return _unchanged
    return _finite_singles if elem == F32 else _finite


def _unchanged(x, nan=0.0, posinf=0.0, neginf=0.0):
    return x


def _finite(x, nan=0.0, posinf=LARGEST, neginf=-LARGEST):
    found = np.where(np.isfinite(x), x, nan)
    return np.where(x == math.inf, posinf, np.where(x == -math.inf, neginf, found))


def _finite_singles(x, nan=0.0, posinf=LARGEST_SINGLE, neginf=-LARGEST_SINGLE):
    return _finite(x, nan=nan, posinf=posinf, neginf=neginf)


@jit(static_argnames=("axis", "keepdims"))
def _count(a, axis, keepdims):
    return np.count_nonzero(~np.isnan(a), axis=axis, keepdims=keepdims)


@overload(np.nansum, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nansum(a, axis=None, *, keepdims=False):
    """0 if all are NaN."""
    return np.sum(_filled(a, 0.0), axis=axis, keepdims=keepdims)


@overload(np.nanprod, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanprod(a, axis=None, *, keepdims=False):
    """1 if all are NaN."""
    return np.prod(_filled(a, 1.0), axis=axis, keepdims=keepdims)


@overload(np.nanmean, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanmean(a, axis=None, *, keepdims=False):
    """NaN if all are."""
    total = nansum(a, axis=axis, keepdims=keepdims)
    return total / _count(a, axis, keepdims)


@overload(np.nanvar, tuples=())
@jit(static_argnames=("axis", "ddof", "keepdims"))
def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    """NaN if there are not more than `ddof`."""
    centred = _filled(a - nanmean(a, axis=axis, keepdims=True), 0.0)
    total = np.sum(centred * centred, axis=axis, keepdims=keepdims)
    count = _count(a, axis, keepdims) - ddof
    return np.where(count > 0, total / count, math.nan)


@overload(np.nanstd, tuples=())
@jit(static_argnames=("axis", "ddof", "keepdims"))
def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    """The square root of `nanvar`."""
    return np.sqrt(nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims))


@overload(np.nanmax, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanmax(a, axis=None, *, keepdims=False):
    """NaN if all are; `ValueError` of nothing."""
    found = np.max(_filled(a, -math.inf), axis=axis, keepdims=keepdims)
    if a.dtype == int:
        return found
    return np.where(_count(a, axis, keepdims) > 0, found, math.nan)


@overload(np.nanmin, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanmin(a, axis=None, *, keepdims=False):
    """NaN if all are; `ValueError` of nothing."""
    found = np.min(_filled(a, math.inf), axis=axis, keepdims=keepdims)
    if a.dtype == int:
        return found
    return np.where(_count(a, axis, keepdims) > 0, found, math.nan)


@overload(np.nanargmax, tuples=())
@jit(static_argnames=("axis",))
def nanargmax(a, axis=None):
    """`ValueError` if all are NaN."""
    if has_zero(_count(a, axis, False)):
        raise ValueError("All-NaN slice encountered")
    return np.argmax(_filled(a, -math.inf), axis=axis)


@overload(np.nanargmin, tuples=())
@jit(static_argnames=("axis",))
def nanargmin(a, axis=None):
    """`ValueError` if all are NaN."""
    if has_zero(_count(a, axis, False)):
        raise ValueError("All-NaN slice encountered")
    return np.argmin(_filled(a, math.inf), axis=axis)


@overload(np.nancumsum, tuples=())
@jit(static_argnames=("axis",))
def nancumsum(a, axis=None):
    """Sums of the first elements."""
    return np.cumsum(_filled(a, 0.0), axis=axis)


@overload(np.nancumprod, tuples=())
@jit(static_argnames=("axis",))
def nancumprod(a, axis=None):
    """Products of the first elements."""
    return np.cumprod(_filled(a, 1.0), axis=axis)


@overload(np.nanmedian, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanmedian(a, axis=None, *, keepdims=False):
    """NaN if all are."""
    found = np.array([median(row[~np.isnan(row)]) for row in lanes(a, axis)])
    return reduced(found, a, axis, keepdims)


@overload(np.nanquantile, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanquantile(a, q, axis=None, *, keepdims=False):
    """NaN if all are; `q` is a number."""
    rows = lanes(a, axis)
    found = np.array([quantile(row[~np.isnan(row)], q) for row in rows])
    return reduced(found, a, axis, keepdims)


@overload(np.nanpercentile, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def nanpercentile(a, q, axis=None, *, keepdims=False):
    """The quantile at q / 100."""
    return nanquantile(a, q / 100.0, axis=axis, keepdims=keepdims)
