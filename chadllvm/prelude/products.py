# mypy: allow-untyped-defs, allow-untyped-calls
"""Products of arrays: `einsum`, `tensordot`, `kron`, and of stacks.

    "ij,jk->ik"     a @ b, after the indices of each operand are put in order
    "ij,ij->i"      a sum for each element of the result
    "ij,jk,kl->il"  two operands at a time, from the left

An operand's indices are those of the batch (in the other one and the result), its own,
and those that are summed over; sizes of one index must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

import chadllvm as cl
from chadllvm.api.vectorized import written
from chadllvm.ir.types import Array
from chadllvm.support.overloads import newer, overload

Types = tuple[Any, ...]


# ---- einsum ----------------------------------------------------------------------


@overload(np.einsum, choose=("subscripts",), tuples=())
def einsum(subscripts: str, /, *operands: Any) -> FunctionType:
    """Sums of products over the indices that the result has not, as in `"ij,jk->ik"`;
    the subscripts are a constant without `...`. Sizes of one index are equal."""
    parts, result = _parsed(subscripts)
    if len(parts) != len(operands):
        raise ValueError(f"{len(parts)} operands are named, {len(operands)} given")
    for part, ty in zip(parts, operands, strict=True):
        rank = _rank(ty)
        if rank != len(part):
            raise ValueError(f"`{part}` is for {len(part)} dimensions, not {rank}")
    return _of_subscripts(parts, result)


def _rank(ty: Any) -> int:
    return ty.rank if isinstance(ty, Array) else 0


def _parsed(subscripts: str) -> tuple[tuple[str, ...], str]:
    """The indices of each operand, and of the result."""
    text = "".join(subscripts.split())
    left, arrow, result = text.partition("->")
    parts = tuple(left.split(","))
    indices = "".join(parts)
    if not (indices + result).isalpha() and indices + result:
        raise ValueError("subscripts are letters, `,` and `->`")
    if not arrow:
        result = "".join(i for i in sorted(set(indices)) if indices.count(i) == 1)
    if len(set(result)) < len(result) or not set(result) <= set(indices):
        raise ValueError(f"`{result}` has an index twice, or one of no operand")
    return parts, result


@cache
def _of_subscripts(parts: tuple[str, ...], result: str) -> FunctionType:
    """The function for operands with these indices."""
    names = [f"x{k}" for k in range(len(parts))]
    lines: list[str] = []
    known, value = parts[0], names[0]
    for k in range(1, len(parts)):
        later = set("".join(parts[k + 1 :]) + result)
        kept = "".join(i for i in dict.fromkeys(known + parts[k]) if i in later)
        lines += _pair(value, known, names[k], parts[k], kept, f"y{k}")
        known, value = kept, f"y{k}"
    lines += _single(value, known, result)
    title = "_".join((*parts, "to", result or "number"))
    return written(
        f"einsum_{title}({', '.join(names)})",
        "\n    ".join(lines),
        {"np": np, "build": cl.build},
        __name__,
        f"<einsum {title}>",
    )


def _single(x: str, indices: str, result: str) -> list[str]:
    """Lines that return what an array is with other indices, some summed over."""
    if indices == result:
        return [f"return {x}"]
    if len(set(indices)) == len(indices):
        axes = [k for k, i in enumerate(indices) if i not in result]
        left = [i for i in indices if i in result]
        order = tuple(left.index(i) for i in result)
        summed = f"np.sum({x}, axis={tuple(axes)})" if axes else x
        return [f"return {_transposed(summed, order)}"]
    lines, sizes = _sizes({x: indices})
    made = _built(f"{x}[{_list(indices)}]", indices, result, sizes)
    return [*lines, f"return {made}"]


class _Roles(NamedTuple):
    """The indices of two operands, by what they do."""

    batch: str
    left: str
    right: str
    summed: str


def _pair(x: str, xs: str, y: str, ys: str, kept: str, name: str) -> list[str]:
    """Lines that bind the product of two arrays, with the indices that are kept."""
    lines, sizes = _sizes({x: xs, y: ys})
    roles = _Roles(
        "".join(i for i in kept if i in xs and i in ys),
        "".join(i for i in kept if i in xs and i not in ys),
        "".join(i for i in kept if i not in xs and i in ys),
        "".join(dict.fromkeys(i for i in xs + ys if i not in kept)),
    )
    is_regular = len(set(xs)) == len(xs) and len(set(ys)) == len(ys)
    is_shared = all(i in xs and i in ys for i in roles.summed)
    if is_regular and is_shared and roles.left and roles.right and roles.summed:
        return [*lines, *_products(x, xs, y, ys, kept, name, roles, sizes)]
    indices = "".join(dict.fromkeys(xs + ys))
    factors = " * ".join(f"{a}[{_list(i)}]" if i else a for a, i in ((x, xs), (y, ys)))
    return [*lines, f"{name} = {_built(factors, indices, kept, sizes)}"]


def _products(
    x: str, xs: str, y: str, ys: str, kept: str, name: str, roles: _Roles, sizes: Any
) -> list[str]:
    """The same as products of matrices, one for each element of the batch."""
    batch, left, right, summed = roles
    a = _transposed(x, tuple(xs.index(i) for i in batch + left + summed))
    b = _transposed(y, tuple(ys.index(i) for i in batch + summed + right))
    found = batch + left + right
    order = tuple(found.index(i) for i in kept)
    lines = [
        f"a_{name} = {_grouped(a, (batch, left, summed), sizes)}",
        f"b_{name} = {_grouped(b, (batch, summed, right), sizes)}",
    ]
    product = f"a_{name} @ b_{name}"
    if batch:
        each = f"a_{name}[i] @ b_{name}[i] for i in range({_size(batch, sizes)})"
        product = f"np.array([{each}])"
    if max(map(len, (batch, left, right))) > 1:
        product = f"np.reshape({product}, ({_list(sizes[i] for i in found)},))"
    return [*lines, f"{name} = {_transposed(product, order)}"]


def _grouped(array: str, groups: tuple[str, ...], sizes: dict[str, str]) -> str:
    """An array with one axis for each group of indices, none for an empty one."""
    if max(map(len, groups)) == 1:
        return array
    return f"np.reshape({array}, ({_list(_size(g, sizes) for g in groups if g)},))"


def _sizes(operands: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Names of the indices' sizes, and the lines that bind and compare them."""
    sizes: dict[str, str] = {}
    lines = []
    for array, indices in operands.items():
        for axis, index in enumerate(indices):
            size = f"{array}.shape[{axis}]"
            if index not in sizes:
                sizes[index] = f"n_{array}_{index}"
                lines.append(f"{sizes[index]} = {size}")
                continue
            message = f"einsum: sizes of the index {index!r} do not match"
            lines += [
                f"if {size} != {sizes[index]}:",
                f"    raise ValueError({message!r})",
            ]
    return lines, sizes


def _built(element: str, indices: str, result: str, sizes: dict[str, str]) -> str:
    """The array of sums of products over the indices that are not in the result."""
    summed = [i for i in dict.fromkeys(indices) if i not in result]
    loops = " ".join(f"for {i} in range({sizes[i]})" for i in summed)
    value = f"sum({element} {loops})" if loops else element
    if not result:
        return value
    shape = _list(sizes[i] for i in result)
    return f"build(({shape},), lambda {_list(result)}: {value})"


def _transposed(array: str, order: tuple[int, ...]) -> str:
    if order == tuple(range(len(order))):
        return array
    if order == (1, 0):
        return f"({array}).T"
    return f"np.transpose({array}, {order})"


def _size(indices: str, sizes: dict[str, str]) -> str:
    return " * ".join(sizes[i] for i in indices)


def _list(words: Any) -> str:
    return ", ".join(words)


# ---- others ----------------------------------------------------------------------


@overload(np.tensordot, choose=("axes",), tuples=())
def tensordot(a: Any, b: Any, axes: Any = 2) -> FunctionType:
    """A sum of products over axes of both: the last ones of the one and the first ones
    of the other, or those in a pair of axes or of tuples of them."""
    rank, other = _rank(a), _rank(b)
    pair = (range(rank - axes, rank), range(axes)) if isinstance(axes, int) else axes
    first, second = (np.atleast_1d(part).tolist() for part in pair)
    if len(first) != len(second):
        raise ValueError("as many axes of the one as of the other")
    if not all(-rank <= i < rank for i in first):
        raise ValueError(f"`a` has {rank} axes")
    if not all(-other <= i < other for i in second):
        raise ValueError(f"`b` has {other} axes")
    first, second = [i % rank for i in first], [i % other for i in second]
    letters = "abcdefghijklmnopqrstuvwxyz"
    x = letters[:rank]
    free = iter(letters[rank:])
    y = "".join(
        x[first[second.index(k)]] if k in second else next(free) for k in range(other)
    )
    left = [i for k, i in enumerate(x) if k not in first]
    right = [i for k, i in enumerate(y) if k not in second]
    return _of_subscripts((x, y), "".join(left + right))


@overload(np.kron, choose=(), tuples=())
def kron(a: Any, b: Any) -> Callable[..., Any]:
    """The Kronecker product of vectors and matrices."""
    ranks = _rank(a), _rank(b)
    if ranks == (1, 1):
        return kron_of_vectors
    if max(ranks) > 2 or min(ranks) < 1:
        raise ValueError("it is there for vectors and matrices")
    return kron_of_matrices


def kron_of_vectors(a, b):
    """Each element of `a` times all of `b`."""
    return np.ravel(a[:, None] * b)


def kron_of_matrices(a, b):
    """Each element of `a` times all of `b`; a vector is a row."""
    a, b = _matrix(a), _matrix(b)
    (n, m), (p, q) = a.shape, b.shape
    if n * p == 0:
        return np.ravel(a)[:0, None] * np.zeros(m * q, dtype=b.dtype)
    return np.array(
        [
            [a[i // p, j // q] * b[i % p, j % q] for j in range(m * q)]
            for i in range(n * p)
        ]
    )


def _matrix(a):
    return a[None, :] if np.ndim(a) == 1 else a


# ---- products of stacks ----------------------------------------------------------


@overload(newer("numpy.matvec"), tuples=())
def matvec(x1, x2):
    """Products of matrices and vectors, of the last axes."""
    return np.sum(x1 * x2[..., None, :], axis=-1)


@overload(newer("numpy.vecmat"), tuples=())
def vecmat(x1, x2):
    """Products of vectors and matrices, of the last axes."""
    return np.sum(x1[..., :, None] * x2, axis=-2)


@overload(newer("numpy.vecdot"), tuples=())
@overload(newer("numpy.linalg.vecdot"), tuples=())
@cl.jit(static_argnames=("axis",))
def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along an axis."""
    return np.sum(x1 * x2, axis=axis)
