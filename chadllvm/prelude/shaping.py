# mypy: allow-untyped-defs, allow-untyped-calls
"""Arrays turned, cut into pieces, and put beside each other, by NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from types import FunctionType
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written
from chadllvm.ir.types import Array
from chadllvm.prelude.lanes import lanes, reduced
from chadllvm.support.overloads import newer, overload

# ---- turned ----------------------------------------------------------------------


@overload(np.fliplr, tuples=())
def fliplr(m):
    """The columns in reverse order."""
    return np.flip(m, 1)


@overload(np.flipud, tuples=())
def flipud(m):
    """The rows in reverse order."""
    return np.flip(m, 0)


@overload(np.rot90, tuples=())
def rot90(m, k=1):
    """The first two axes turned by k right angles, from the first to the second."""
    turns = k % 4
    if turns == 0:
        return m.copy()
    if turns == 2:
        return np.flip(np.flip(m, 0), 1)
    swapped = np.swapaxes(m, 0, 1)
    return np.flip(swapped, 0) if turns == 1 else np.flip(swapped, 1)


@overload(newer("numpy.matrix_transpose"), tuples=())
@overload(newer("numpy.linalg.matrix_transpose"), tuples=())
def matrix_transpose(x, /):
    """The last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


# ---- diagonals and triangles -----------------------------------------------------


@overload(np.tri)
@jit(static_argnames=("k",))
def tri(N, M=None, k=0):
    """1 at and below the k-th diagonal, else 0."""
    return np.tril(np.ones((N, N if M is None else M)), k)


@overload(np.diagflat, tuples=())
@jit(static_argnames=("k",))
def diagflat(v, k=0):
    """The elements of an array on a diagonal of a matrix."""
    return np.diag(np.ravel(v), k)


# ---- pieces ----------------------------------------------------------------------


@overload(np.split, choose=("indices_or_sections", "axis"))
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> FunctionType:
    """So many pieces of one size, or those between indices, in a tuple."""
    return _pieces(_rank(ary), indices_or_sections, axis, is_equal=True)


@overload(np.array_split, choose=("indices_or_sections", "axis"))
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> FunctionType:
    """So many pieces, of which the first ones may be larger by one, or those between
    indices, in a tuple."""
    return _pieces(_rank(ary), indices_or_sections, axis, is_equal=False)


@overload(np.vsplit, choose=("indices_or_sections",))
def vsplit(ary: Any, indices_or_sections: Any) -> FunctionType:
    """`split` by rows."""
    return split(ary, indices_or_sections)


@overload(np.hsplit, choose=("indices_or_sections",))
def hsplit(ary: Any, indices_or_sections: Any) -> FunctionType:
    """`split` by columns; of a vector by elements."""
    return split(ary, indices_or_sections, min(1, _rank(ary) - 1))


def _rank(ty: Any) -> int:
    if not isinstance(ty, Array):
        raise ValueError("an array is expected")
    return ty.rank


_MOST_PIECES = 64


def _pieces(rank: int, given: Any, axis: int, *, is_equal: bool) -> FunctionType:
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    if isinstance(given, int):
        if not 1 <= given <= _MOST_PIECES:
            raise ValueError(f"there are 1 to {_MOST_PIECES} pieces")
        return _equal_pieces(given, axis % rank, is_equal)
    return _between(tuple(np.atleast_1d(given).tolist()), axis % rank)


@cache
def _equal_pieces(count: int, axis: int, is_equal: bool) -> FunctionType:
    lines = [f"n = x.shape[{axis}]", f"size, rest = n // {count}, n % {count}"]
    if is_equal:
        message = "array split does not result in an equal division"
        lines += ["if rest != 0:", f"    raise ValueError({message!r})"]
    ends = [f"{k} * size + min({k}, rest)" for k in range(count + 1)]
    return _cut(lines, ends, axis, f"{count} {axis} {is_equal}")


@cache
def _between(places: tuple[int, ...], axis: int) -> FunctionType:
    ends = ["0", *map(str, places), f"x.shape[{axis}]"]
    return _cut([], ends, axis, f"{places} {axis}")


def _cut(lines: list[str], ends: Sequence[str], axis: int, key: str) -> FunctionType:
    """The function that gives what is between places along an axis."""
    before = ":, " * axis
    parts = [f"x[{before}{low} : {high}]" for low, high in pairwise(ends)]
    body = "\n    ".join([*lines, f"return ({', '.join(parts)},)"])
    return written("pieces(x)", body, {}, __name__, f"<pieces {key}>")


@overload(np.trim_zeros, tuples=(), vectors=("filt",))
@jit(static_argnames=("trim",))
def trim_zeros(filt, trim="fb"):
    """A vector without the zeros in front (`"f"`) and at the end (`"b"`)."""
    first, last = 0, len(filt)
    while "f" in trim and first < last and filt[first] == 0:
        first += 1
    while "b" in trim and last > first and filt[last - 1] == 0:
        last -= 1
    return filt[first:last]


@overload(np.ediff1d, tuples=())
def ediff1d(ary):
    """The differences of neighbouring elements."""
    return np.diff(np.ravel(ary))


# ---- beside each other -----------------------------------------------------------


@overload(np.dstack)
def dstack(tup):
    """Arrays joined along the third axis: vectors are rows of one matrix."""
    if np.ndim(tup[0]) == 1:
        return np.stack(tup, axis=-1)[None]
    if np.ndim(tup[0]) == 2:
        return np.stack(tup, axis=-1)
    return np.concatenate(tup, axis=2)


# ---- as lists and numbers --------------------------------------------------------


@overload(np.ndarray.tolist, choose=())
def tolist(a: Any) -> FunctionType:
    """The elements in lists, a list for each row."""
    return _listed(_rank(a))


@cache
def _listed(rank: int) -> FunctionType:
    text = "x0"
    for k in range(rank):
        text = f"[{text} for x{k} in x{k + 1}]"
    return written(f"tolist(x{rank})", f"return {text}", {}, __name__, f"<list {rank}>")


@overload(np.ndarray.item)
def item(a):
    """The only element."""
    if np.size(a) != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return np.ravel(a)[0]


# ---- of the same shape -----------------------------------------------------------


@overload(np.ix_, tuples=())
def ix_(rows, columns, others=None):
    """Indices of all pairs, or triples, of places."""
    if others is None:
        return rows[:, None], columns[None, :]
    return rows[:, None, None], columns[None, :, None], others[None, None, :]


@overload(np.resize, tuples=("new_shape",))
def resize(a, new_shape):
    """The elements again and again, as many as the new shape has."""
    found = np.zeros(new_shape, a.dtype)
    flat = np.ravel(a)
    return np.reshape(flat[np.arange(found.size) % len(flat)], found.shape)


@overload(np.broadcast_arrays, choose=())
def broadcast_arrays(*args: Any) -> FunctionType:
    """The arrays in the shape that they broadcast to, in a tuple."""
    return _broadcast(len(args))


@cache
def _broadcast(count: int) -> FunctionType:
    names = [f"x{k}" for k in range(count)]
    shape = " + ".join(f"0.0 * {name}" for name in names)
    parts = ", ".join(f"np.broadcast_to({name}, shape)" for name in names)
    body = f"shape = np.shape({shape})\n    return ({parts},)"
    head = f"broadcast_arrays({', '.join(names)})"
    return written(head, body, {"np": np}, __name__, f"<broadcast {count}>")


# ---- elements, lanes, indices ----------------------------------------------------


@overload(np.ndindex)
def ndindex(shape, second=None, third=None):
    """A list of the indices of an array of one, two or three axes."""
    if isinstance(shape, tuple):
        return ndindex(*shape)
    if second is None:
        return [(i,) for i in range(shape)]
    if third is None:
        return [(i, j) for i in range(shape) for j in range(second)]
    axes = range(shape), range(second), range(third)
    return [(i, j, k) for i in axes[0] for j in axes[1] for k in axes[2]]


@overload(np.ndenumerate)
def ndenumerate(arr):
    """A list of indices and elements, of arrays of one, two or three axes."""
    return [(index, arr[index]) for index in ndindex(arr.shape)]


@overload(np.apply_along_axis)
@jit(static_argnames=("axis",))
def apply_along_axis(func1d, axis, arr):
    """What a function makes of each vector along an axis: a number, or a vector."""
    found = np.array([func1d(row) for row in lanes(arr, axis)])
    if np.ndim(found) == 1:
        return reduced(found, arr, axis, False)
    if np.ndim(arr) == 1:
        return found[0]
    shape = np.moveaxis(arr, axis, -1).shape[:-1]
    return np.moveaxis(np.reshape(found, (*shape, found.shape[1])), -1, axis)


@overload(np.fromiter, sequences=("iter",))
@jit(static_argnames=("dtype",))
def fromiter(iter, dtype, count=-1):
    """Of a generator: with a `count` of its first elements, which must be there."""
    if count > len(iter):
        raise ValueError("iterator too short")
    return np.array(iter[:count] if count >= 0 else iter, dtype=dtype)
