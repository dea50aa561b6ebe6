# mypy: allow-untyped-defs, allow-untyped-calls
"""Sampled functions: convolution, differences, sums, windows, by NumPy's names."""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written
from chadllvm.ir.types import Array
from chadllvm.support.overloads import newer, overload

# ---- convolution -----------------------------------------------------------------


@overload(np.convolve, tuples=(), vectors=("a", "v"))
@jit(static_argnames=("mode",))
def convolve(a, v, mode="full"):
    """Σ a[k] v[n - k]: `full`, or `same` or `valid`, which are the middle of it."""
    n, m = len(a), len(v)
    if n == 0:
        raise ValueError("a cannot be empty")
    if m == 0:
        raise ValueError("v cannot be empty")
    if mode == "valid":
        return _inside(a, v[::-1]) if n >= m else _inside(v, a[::-1])
    if mode == "full":
        return _everywhere(a, v[::-1]) if n >= m else _everywhere(v, a[::-1])
    if mode == "same":
        first = (min(n, m) - 1) // 2
        return convolve(a, v)[first : first + max(n, m)]
    raise ValueError("mode must be one of 'full', 'same', 'valid'")


def _inside(a, w):
    """Σ a[n + k] w[k], where all of w is inside of a."""
    m = len(w)
    return np.array([np.sum(a[i : i + m] * w) for i in range(len(a) - m + 1)])


def _everywhere(a, w):
    """The same, and with what is inside of a where w stands out at an end."""
    n, m = len(a), len(w)
    first = [np.sum(a[: i + 1] * w[m - 1 - i :]) for i in range(m - 1)]
    last = [np.sum(a[n - m + i :] * w[: m - i]) for i in range(1, m)]
    return np.concatenate((np.array(first), _inside(a, w), np.array(last)))


@overload(np.correlate, tuples=(), vectors=("a", "v"))
@jit(static_argnames=("mode",))
def correlate(a, v, mode="valid"):
    """Σ a[n + k] v[k]: `valid`, `same` or `full`."""
    n, m = len(a), len(v)
    if mode == "same" and m > n:
        return convolve(a, v[::-1])[n // 2 : n // 2 + m]
    return convolve(a, v[::-1], mode=mode)


# ---- differences and integrals ---------------------------------------------------


@overload(np.gradient, choose=("axis", "edge_order"), tuples=())
def gradient(
    f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1
) -> FunctionType:
    """Differences along an axis, or along all, in a tuple if there are several; for
    each a step or places may be given."""
    rank = f.rank if isinstance(f, Array) else 0
    if edge_order not in (1, 2):
        raise ValueError("`edge_order` is 1 or 2")
    given = range(rank) if axis is None else np.atleast_1d(axis).tolist()
    axes = tuple(k % rank for k in given)
    has_places = any(isinstance(each, Array) for each in spacing)
    if not axes or len(spacing) not in ((0, 1, len(axes)), (len(axes),))[has_places]:
        raise ValueError("one step for all axes, or a step or places for each")
    return _gradient(axes, len(spacing), edge_order)


@cache
def _gradient(axes: tuple[int, ...], spacings: int, edge_order: int) -> FunctionType:
    """The function for these axes."""
    steps = [f"h{k}" for k in range(spacings)]
    given = steps if spacings > 1 else (steps or ["1.0"]) * len(axes)
    parts = [
        f"np.moveaxis(slopes(np.moveaxis(f, {axis}, 0), {step}, {edge_order}), "
        f"0, {axis})"
        for axis, step in zip(axes, given, strict=True)
    ]
    return written(
        f"gradient({', '.join(['f', *steps])})",
        f"return {', '.join(parts)}",
        {"np": np, "slopes": _slopes},
        __name__,
        f"<gradient {axes} {spacings} {edge_order}>",
    )


@jit(static_argnames=("edge_order",))
def _slopes(f, h, edge_order):
    """Differences along the first axis; `h` is a step, or the places."""
    n = len(f)
    if n <= edge_order:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    out = np.zeros_like(1.0 * f)
    if np.ndim(h) == 0:
        out[1 : n - 1] = (f[2:] - f[: n - 2]) / (2.0 * h)
        if edge_order == 1:
            out[0] = (f[1] - f[0]) / h
            out[n - 1] = (f[n - 1] - f[n - 2]) / h
        else:
            out[0] = (-1.5 * f[0] + 2.0 * f[1] - 0.5 * f[2]) / h
            out[n - 1] = (0.5 * f[n - 3] - 2.0 * f[n - 2] + 1.5 * f[n - 1]) / h
        return out
    if len(h) != n:
        raise ValueError("when 1d, distances must match the length of the dimension")
    for k in range(1, n - 1):
        a, b = h[k] - h[k - 1], h[k + 1] - h[k]
        left, right = -b / (a * (a + b)), a / (b * (a + b))
        out[k] = left * f[k - 1] + (b - a) / (a * b) * f[k] + right * f[k + 1]
    a, b = h[1] - h[0], h[n - 1] - h[n - 2]
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / a
        out[n - 1] = (f[n - 1] - f[n - 2]) / b
        return out
    c, d = h[2] - h[1], h[n - 2] - h[n - 3]
    out[0] = (
        -(2.0 * a + c) / (a * (a + c)) * f[0]
        + (a + c) / (a * c) * f[1]
        - a / (c * (a + c)) * f[2]
    )
    out[n - 1] = (
        b / (d * (d + b)) * f[n - 3]
        - (b + d) / (d * b) * f[n - 2]
        + (2.0 * b + d) / (b * (d + b)) * f[n - 1]
    )
    return out


@overload(newer("numpy.trapezoid"), tuples=())
@jit(static_argnames=("axis",))
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """∫ y along an axis, by trapezia: at places `x`, or at steps of `dx`."""
    rows = np.moveaxis(y, axis, -1)
    middle = 0.5 * (rows[..., 1:] + rows[..., :-1])
    if x is None:
        return np.sum(middle * dx, axis=-1)
    if np.ndim(x) == 1:
        return np.sum(middle * np.diff(x), axis=-1)
    return np.sum(middle * np.diff(np.moveaxis(x, axis, -1)), axis=-1)


@overload(np.unwrap, tuples=())
@jit(static_argnames=("axis",))
def unwrap(p, discont=None, axis=-1, *, period=2.0 * math.pi):
    """Angles without their jumps along an axis: where a step is larger than half a
    period, and `discont`, whole periods are added to all that follow."""
    rows = np.moveaxis(p, axis, -1)
    step, half = np.diff(rows), 0.5 * period
    near = (step + half) % period - half
    near = np.where((near == -half) & (step > 0.0), half, near)
    most = half if discont is None else max(discont, half)
    added = np.where(np.abs(step) < most, 0.0, near - step)
    rest = rows[..., 1:] + np.cumsum(added, axis=-1)
    return np.moveaxis(np.concatenate((rows[..., :1], rest), axis=-1), -1, axis)


@overload(newer("numpy.cumulative_sum"), tuples=())
@jit(static_argnames=("axis", "include_initial"))
def cumulative_sum(x, /, *, axis=None, include_initial=False):
    """The sums of the first elements along an axis, behind 0 if `include_initial`."""
    rows = _rows(x, axis)
    first = np.zeros_like(rows[..., :1])
    return _running(np.cumsum(rows, axis=-1), first, axis, include_initial)


@overload(newer("numpy.cumulative_prod"), tuples=())
@jit(static_argnames=("axis", "include_initial"))
def cumulative_prod(x, /, *, axis=None, include_initial=False):
    """The products of the first elements along an axis, behind 1 if
    `include_initial`."""
    rows = _rows(x, axis)
    first = np.ones_like(rows[..., :1])
    return _running(np.cumprod(rows, axis=-1), first, axis, include_initial)


@jit(static_argnames=("axis",))
def _rows(x, axis):
    if axis is None and np.ndim(x) > 1:
        raise ValueError("of several axes one must be chosen")
    return np.moveaxis(x, 0 if axis is None else axis, -1)


@jit(static_argnames=("axis", "include_initial"))
def _running(found, first, axis, include_initial):
    if include_initial:
        found = np.concatenate((first, found), axis=-1)
    return np.moveaxis(found, -1, 0 if axis is None else axis)


# ---- windows ---------------------------------------------------------------------


def _places(M):
    """The places of a window's points, from -1 to 1."""
    return np.arange(1 - M, M, 2) / max(M - 1, 1)


@overload(np.bartlett)
def bartlett(M):
    """A window that rises and falls along a line, 0 at its ends."""
    return 1.0 - np.abs(_places(M))


@overload(np.hanning)
def hanning(M):
    """0.5 + 0.5 cos: 0 at the ends of the window."""
    return 0.5 + 0.5 * np.cos(math.pi * _places(M))


@overload(np.hamming)
def hamming(M):
    """0.54 + 0.46 cos"""
    return 0.54 + 0.46 * np.cos(math.pi * _places(M))


@overload(np.blackman)
def blackman(M):
    """0.42 + 0.5 cos x + 0.08 cos 2x"""
    x = math.pi * _places(M)
    return 0.42 + 0.5 * np.cos(x) + 0.08 * np.cos(2.0 * x)


@overload(np.kaiser)
def kaiser(M, beta):
    """I₀(β sqrt(1 - x²)) / I₀(β) for x from -1 to 1."""
    x = _places(M)
    return np.i0(beta * np.sqrt(1.0 - x * x)) / np.i0(beta)
