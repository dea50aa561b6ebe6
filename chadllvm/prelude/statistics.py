# mypy: allow-untyped-defs, allow-untyped-calls
"""Statistics of arrays, by NumPy's names: quantiles, averages, covariances, counts."""

from __future__ import annotations

import math

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.prelude.lanes import lanes, reduced
from chadllvm.prelude.searching import count_before
from chadllvm.support.overloads import overload

# ---- quantiles -------------------------------------------------------------------


def _at(row, q):
    """The quantile of sorted elements, on the line between two of them."""
    n = len(row)
    if not 0.0 <= q <= 1.0:
        raise ValueError("Quantiles must be in the range [0, 1]")
    if n == 0:
        return math.nan
    if math.isnan(row[n - 1]):
        return row[n - 1]
    place = q * (n - 1)
    low = int(place)
    high = min(low + 1, n - 1)
    share = place - low
    step = row[high] - row[low]
    if share < 0.5:
        return row[low] + share * step
    return row[high] - (1.0 - share) * step


@overload(np.quantile, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def quantile(a, q, axis=None, *, keepdims=False):
    """The q-th quantile, by the line between neighbours; `q` may be a vector.

    NaN if an element is, or if there are none; `ValueError` if `q` is not in [0, 1].
    """
    rows = np.sort(lanes(1.0 * a, axis), axis=-1)
    if np.ndim(q) == 0:
        return reduced(np.array([_at(row, q) for row in rows]), a, axis, keepdims)
    return np.array(
        [reduced(np.array([_at(r, p) for r in rows]), a, axis, keepdims) for p in q]
    )


@overload(np.percentile, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def percentile(a, q, axis=None, *, keepdims=False):
    """The quantile at q / 100."""
    return quantile(a, q / 100.0, axis=axis, keepdims=keepdims)


@overload(np.median, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def median(a, axis=None, *, keepdims=False):
    """The middle element, or the mean of the two in the middle."""
    rows = np.sort(lanes(1.0 * a, axis), axis=-1)
    return reduced(np.array([_middle(row) for row in rows]), a, axis, keepdims)


def _middle(row):
    n = len(row)
    if n == 0:
        return math.nan
    if math.isnan(row[n - 1]):
        return row[n - 1]
    return 0.5 * (row[(n - 1) // 2] + row[n // 2])


# ---- averages and covariances ----------------------------------------------------


@overload(np.average, tuples=())
@jit(static_argnames=("axis", "keepdims"))
def average(a, axis=None, weights=None, *, keepdims=False):
    """Σ w a / Σ w; weights have the shape of the array, or are those along the axis.

    Where the weights add up to zero it is a `ZeroDivisionError`.
    """
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    w = weights
    if np.ndim(a) != np.ndim(weights):
        moved = np.moveaxis(a, axis, -1)
        w = np.moveaxis(np.broadcast_to(weights, moved.shape), -1, axis)
    elif a.shape != weights.shape and axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ")
    elif a.shape != weights.shape:
        raise ValueError("Shape of weights must be that of a along the axis")
    scale = np.sum(w, axis=axis, keepdims=keepdims)
    if has_zero(scale) or (np.ndim(a) != np.ndim(weights) and np.sum(weights) == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return np.sum(a * w, axis=axis, keepdims=keepdims) / scale


def has_zero(a):
    """Whether a number or an element is zero."""
    if np.ndim(a) == 0:
        return a == 0
    return np.any(a == 0)


@overload(np.cov, tuples=())
@jit(static_argnames=("rowvar", "bias", "ddof"))
def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """The covariances of the rows, or of the columns if not `rowvar`; with `y`, those
    of both. Of a matrix it is a matrix, also of a single row, for which NumPy has a
    number."""
    if y is not None:
        return cov(_both(m, y, rowvar), rowvar=rowvar, bias=bias, ddof=ddof)
    if np.ndim(m) == 1:
        centred = m - np.mean(m)
        return np.sum(centred * centred) / max(len(m) - _less(bias, ddof), 0)
    x = m if rowvar else m.T
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred @ centred.T / max(x.shape[1] - _less(bias, ddof), 0)


@jit(static_argnames=("rowvar",))
def _both(m, y, rowvar):
    """The observations of both."""
    if np.ndim(m) == 1:
        return np.stack((m, y), axis=0 if rowvar else 1)
    return np.concatenate((m, y), axis=0 if rowvar else 1)


@jit(static_argnames=("bias", "ddof"))
def _less(bias, ddof):
    """How much less than the number of observations is divided by."""
    if ddof is not None:
        return ddof
    return 0 if bias else 1


@overload(np.corrcoef, tuples=())
@jit(static_argnames=("rowvar",))
def corrcoef(x, y=None, rowvar=True):
    """The correlations of the rows, or of the columns if not `rowvar`; with `y`, those
    of both. Of a matrix it is a matrix, also of a single row, for which NumPy has a
    number."""
    if y is not None:
        return corrcoef(_both(x, y, rowvar), rowvar=rowvar)
    c = cov(x, rowvar=rowvar)
    if np.ndim(x) == 1:
        return c / c
    scale = np.sqrt(np.diag(c))
    return np.clip(c / scale[:, None] / scale, -1.0, 1.0)


# ---- counts ----------------------------------------------------------------------


@overload(np.bincount, tuples=())
def bincount(x, weights=None, minlength=0):
    """How often each integer from 0 on is there, or the sum of its weights."""
    size = minlength
    for k in x:
        if k < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, k + 1)
    if weights is None:
        counts = np.zeros(size, dtype=int)
        for k in x:
            counts[k] += 1
        return counts
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    totals = np.zeros(size)
    for i in range(len(x)):
        totals[x[i]] += weights[i]
    return totals


@overload(np.digitize, tuples=())
@jit(static_argnames=("right",))
def digitize(x, bins, right=False):
    """The places of numbers among bins that ascend or descend."""
    n = len(bins)
    rises = n == 0 or bins[0] <= bins[n - 1]
    for k in range(n - 1):
        if (bins[k] > bins[k + 1]) if rises else (bins[k] < bins[k + 1]):
            raise ValueError("bins must be monotonically increasing or decreasing")
    edges = bins.copy() if rises else bins[::-1].copy()
    if np.ndim(x) == 0:
        return _place(edges, x, right, rises)
    found = np.array([_place(edges, v, right, rises) for v in np.ravel(x)])
    return np.reshape(found, x.shape)


@jit(static_argnames=("right",))
def _place(edges, x, right, rises):
    if rises:
        return count_before(edges, x, not right)
    return len(edges) - count_before(edges, x, not right)


@overload(np.histogram_bin_edges, tuples=("range",))
def histogram_bin_edges(a, bins=10, range=None):
    """The edges of bins of one width, or the edges themselves."""
    if np.ndim(bins) == 1:
        return 1.0 * bins
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = 0.0, 1.0
    if range is not None:
        low, high = 1.0 * range[0], 1.0 * range[1]
    elif a.size > 0:
        low, high = 1.0 * np.min(a), 1.0 * np.max(a)
    if not low <= high:
        raise ValueError("max must be larger than min in range parameter.")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


@overload(np.histogram, tuples=("range",))
@jit(static_argnames=("density",))
def histogram(a, bins=10, range=None, weights=None, density=False):
    """How many elements each bin has (or their weights), and the edges of the bins.

    A bin has its lower edge, the last one both. `density`: the integral is one.
    """
    edges = histogram_bin_edges(a, bins, range)
    n = len(edges) - 1
    for i in np.arange(n):
        if edges[i] > edges[i + 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    values = np.ravel(a)
    if weights is None:
        found = np.zeros(n, dtype=int)
        for v in values:
            k = _bin(edges, v)
            if k >= 0:
                found[k] += 1
        if density:
            return found / (np.diff(edges) * np.sum(found)), edges
        return found, edges
    if weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    given, totals = np.ravel(weights), np.zeros(n)
    for i in np.arange(len(values)):
        k = _bin(edges, values[i])
        if k >= 0:
            totals[k] += given[i]
    if density:
        return totals / (np.diff(edges) * np.sum(totals)), edges
    return totals, edges


def _bin(edges, v):
    """The bin that a number is in, -1 if in none."""
    n = len(edges) - 1
    if not edges[0] <= v <= edges[n]:
        return -1
    return min(count_before(edges, v, True), n) - 1


@overload(np.unique, tuples=())
@jit(static_argnames=("return_index", "return_inverse", "return_counts"))
def unique(ar, return_index=False, return_inverse=False, return_counts=False):
    """The different elements in order; NaN is one. What is asked for comes in a tuple:
    where each is first, which one each element is, how many there are of each."""
    values = np.ravel(ar)
    order = np.argsort(values)
    n = len(values)
    first = np.zeros(n, dtype=bool)
    number = np.zeros(n, dtype=int)
    count = 0
    for k in range(n):
        here = values[order[k]]
        if k == 0:
            first[k] = True
        else:
            last = values[order[k - 1]]
            first[k] = here != last and not (here != here and last != last)
        count += int(first[k])
        number[order[k]] = count - 1
    starts = np.flatnonzero(first)
    found = values[order[starts]]
    if not (return_index or return_inverse or return_counts):
        return found
    counts = np.diff(np.concatenate((starts, np.array([n]))))
    inverse = np.reshape(number, ar.shape)
    asked = (order[starts],) * return_index + (inverse,) * return_inverse
    return (found, *asked, *(counts,) * return_counts)
