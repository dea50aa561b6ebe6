# mypy: allow-untyped-defs, allow-untyped-calls
"""Arrays of places and powers, and arrays with margins, by NumPy's names."""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written
from chadllvm.ir.types import Array, Product, Scalar
from chadllvm.prelude.factorisations import EPS
from chadllvm.support.overloads import overload

# ---- grids -----------------------------------------------------------------------


@overload(np.meshgrid, tuples=(), vectors=("x", "y", "z"))
@jit(static_argnames=("indexing",))
def meshgrid(x, y, z=None, *, indexing="xy"):
    """The coordinates of a grid, an array for each axis, in a tuple."""
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n, m = len(x), len(y)
    if z is None:
        if indexing == "ij":
            return (
                np.broadcast_to(x[:, None], (n, m)).copy(),
                np.broadcast_to(y, (n, m)).copy(),
            )
        return (
            np.broadcast_to(x, (m, n)).copy(),
            np.broadcast_to(y[:, None], (m, n)).copy(),
        )
    shape = (n, m, len(z))
    found = (
        np.broadcast_to(x[:, None, None], shape).copy(),
        np.broadcast_to(y[:, None], shape).copy(),
        np.broadcast_to(z, shape).copy(),
    )
    if indexing == "ij":
        return found
    return (
        np.swapaxes(found[0], 0, 1),
        np.swapaxes(found[1], 0, 1),
        np.swapaxes(found[2], 0, 1),
    )


@overload(np.logspace, tuples=())
@jit(static_argnames=("endpoint",))
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    """Powers of a base, whose exponents are at one distance."""
    return base ** np.linspace(start, stop, num, endpoint=endpoint)


@overload(np.geomspace, tuples=())
@jit(static_argnames=("endpoint",))
def geomspace(start, stop, num=50, endpoint=True):
    """Numbers of one sign, each the same multiple of the one before."""
    if start == 0.0 or stop == 0.0:
        raise ValueError("Geometric sequence cannot include zero")
    exponents = np.linspace(0.0, math.log(stop / start), num, endpoint=endpoint)
    found = start * np.exp(exponents)
    if num > 0:
        found[0] = start
    if endpoint and num > 1:
        found[num - 1] = stop
    return found


# ---- indices ---------------------------------------------------------------------


@overload(np.tril_indices)
@jit(static_argnames=("k",))
def tril_indices(n, k=0, m=None):
    """The rows and the columns of what is at and below the k-th diagonal."""
    return np.nonzero(np.tri(n, m, k))


@overload(np.triu_indices)
@jit(static_argnames=("k",))
def triu_indices(n, k=0, m=None):
    """The rows and the columns of what is at and above the k-th diagonal."""
    return np.nonzero(np.tri(n, m, k - 1) == 0.0)


@overload(np.diag_indices)
def diag_indices(n):
    """The rows and the columns of the diagonal."""
    return np.arange(n), np.arange(n)


@overload(np.unravel_index, choose=())
def unravel_index(indices: Any, shape: Any) -> FunctionType:
    """The indices, in a tuple, of the elements of these numbers."""
    return _unravelled(_count(shape))


@cache
def _unravelled(count: int) -> FunctionType:
    lines = [f"{_names(count)} = shape"]
    rests = ["k"]
    for axis in reversed(range(1, count)):
        rests.append(f"k{axis}")
        lines.append(f"k{axis} = {rests[-2]} // n{axis}")
    parts = [f"{k} % n{count - 1 - j}" for j, k in enumerate(rests[:-1])]
    lines += [
        f"if np.any((k < 0) | ({rests[-1]} >= n0)):",
        "    raise ValueError('index is out of bounds for array')",
        f"return ({', '.join([rests[-1], *reversed(parts)])},)",
    ]
    body = "\n    ".join(lines)
    return written(
        "unravel_index(k, shape)", body, {"np": np}, __name__, f"<unravel {count}>"
    )


def _count(ty: Any) -> int:
    if not isinstance(ty, Product) or not ty.fields:
        raise ValueError("a tuple of sizes is expected")
    return len(ty.fields)


def _names(count: int) -> str:
    return "".join(f"n{k}, " for k in range(count))


@overload(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims):
    """The numbers of the elements at these indices, an array for each axis."""
    found = 0 * multi_index[0]
    for k, n in zip(multi_index, dims, strict=True):
        if np.any((k < 0) | (k >= n)):
            raise ValueError("invalid entry in coordinates array")
        found = found * n + k
    return found


@overload(np.indices, choose=())
def indices(dimensions: Any) -> FunctionType:
    """The index along each axis, of all elements of an array of these sizes."""
    return _indices(_count(dimensions))


@cache
def _indices(count: int) -> FunctionType:
    parts = []
    for k in range(count):
        shape = "".join(f"n{k}, " if axis == k else "1, " for axis in range(count))
        row = f"np.reshape(np.arange(n{k}), ({shape}))"
        parts.append(f"np.broadcast_to({row}, dimensions)")
    body = f"{_names(count)} = dimensions\n    return np.stack(({', '.join(parts)},))"
    return written(
        "indices(dimensions)", body, {"np": np}, __name__, f"<indices {count}>"
    )


# ---- polynomials -----------------------------------------------------------------


@overload(np.vander, tuples=(), vectors=("x",))
@jit(static_argnames=("increasing",))
def vander(x, N=None, increasing=False):
    """Powers of each element in a row, the highest first unless `increasing`."""
    count = len(x) if N is None else N
    found = np.ones((len(x), max(count, 0)), dtype=x.dtype)
    for k in range(1, count):
        found[:, k] = found[:, k - 1] * x
    return found if increasing else found[:, ::-1]


@overload(np.polyval, tuples=(), vectors=("p",))
def polyval(p, x):
    """The polynomial with these coefficients, the highest power's first."""
    value = 0.0 * x
    for c in p:
        value = value * x + c
    return value


@overload(np.polyfit, tuples=(), vectors=("x", "y"))
@jit(static_argnames=("deg",))
def polyfit(x, y, deg):
    """The coefficients of the polynomial of a degree that is closest to the points."""
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    powers = np.vander(1.0 * x, deg + 1)
    size = np.sqrt(np.sum(powers * powers, axis=0))
    return np.linalg.lstsq(powers / size, y, len(x) * EPS)[0] / size


@overload(np.polyder, tuples=(), vectors=("p",))
def polyder(p):
    """The coefficients of a polynomial's derivative."""
    n = max(len(p) - 1, 0)
    return p[:n] * np.arange(n, 0, -1)


@overload(np.polyint, tuples=(), vectors=("p",))
def polyint(p, m=1, k=0.0):
    """The coefficients of a polynomial's integral that is `k` at 0."""
    if m != 1:
        raise ValueError("it is there for m = 1")
    return np.concatenate((p / np.arange(len(p), 0, -1), np.array([1.0 * k])))


@overload(np.polyadd, tuples=(), vectors=("a1", "a2"))
def polyadd(a1, a2):
    """The coefficients of the sum of two polynomials."""
    n = max(len(a1), len(a2))
    return _filled(a1, n) + _filled(a2, n)


@overload(np.polysub, tuples=(), vectors=("a1", "a2"))
def polysub(a1, a2):
    """The coefficients of the difference of two polynomials."""
    n = max(len(a1), len(a2))
    return _filled(a1, n) - _filled(a2, n)


def _filled(p, n):
    return np.concatenate((np.zeros(n - len(p), dtype=p.dtype), p))


@overload(np.polymul, tuples=(), vectors=("a1", "a2"))
def polymul(a1, a2):
    """The coefficients of the product of two polynomials, without zeros in front."""
    return np.convolve(_without_zeros(a1), _without_zeros(a2))


def _without_zeros(p):
    k = 0
    while k < len(p) - 1 and p[k] == 0:
        k += 1
    return p[k:]


# ---- margins ---------------------------------------------------------------------


_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@overload(np.pad, choose=("mode",), tuples=("pad_width",))
def pad(
    array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None
) -> FunctionType:
    """The array with margins: one width, `(before, after)`, or such a pair an axis.

    In the margins are a constant (`constant`), the nearest element (`edge`), or the
    array again: mirrored without and with the edge (`reflect`, `symmetric`), or in
    its period (`wrap`).
    """
    if not isinstance(array, Array):
        raise ValueError("an array is expected")
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}")
    match pad_width:
        case Product((Product(), *_)) if len(pad_width.fields) == array.rank:
            widths = "pad_width[{0}][0], pad_width[{0}][1]"
        case Product((Scalar(), Scalar())):
            widths = "pad_width[0], pad_width[1]"
        case Scalar():
            widths = "pad_width, pad_width"
        case _:
            raise ValueError("a width, two, or two for each axis, in tuples")
    return _padding(array.rank, widths, mode)


@cache
def _padding(rank: int, widths: str, mode: str) -> FunctionType:
    """The function for arrays of a rank."""
    lines = [
        f"array = np.moveaxis(padded(np.moveaxis(array, {k}, 0), {widths.format(k)}, "
        f"{mode!r}, constant_values), 0, {k})"
        for k in range(rank)
    ]
    return written(
        f"pad_{mode}(array, pad_width, constant_values=0.0)",
        "\n    ".join([*lines, "return array"]),
        {"np": np, "padded": _padded},
        __name__,
        f"<pad {rank} {widths} {mode}>",
    )


@jit(static_argnames=("mode",))
def _padded(a, before, after, mode, value):
    """Margins at the first axis."""
    n = len(a)
    if before < 0 or after < 0:
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        found = np.full((before + n + after, *a.shape[1:]), value, dtype=a.dtype)
        found[before : before + n] = a
        return found
    if n == 0 and before + after > 0:
        raise ValueError("can't extend empty axis using modes other than 'constant'")
    order = np.array([_origin(k - before, n, mode) for k in range(before + n + after)])
    return np.take(a, order, axis=0)


@jit(static_argnames=("mode",))
def _origin(k, n, mode):
    """The place in the array that a place in or beside it repeats."""
    if mode == "edge":
        return min(max(k, 0), n - 1)
    if mode == "wrap":
        return k % n
    if mode == "reflect":
        j = k % max(2 * n - 2, 1)
        return j if j < n else 2 * n - 2 - j
    j = k % (2 * n)
    return j if j < n else 2 * n - 1 - j
