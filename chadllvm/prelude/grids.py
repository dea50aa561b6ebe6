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
