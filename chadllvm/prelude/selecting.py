# mypy: allow-untyped-defs, allow-untyped-calls
"""Elements by conditions, places and order, and sets of them, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.api.vectorized import written
from chadllvm.ir.types import Product
from chadllvm.support.overloads import overload

# ---- by conditions ---------------------------------------------------------------


@overload(np.select, choose=())
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Callable[..., Any]:
    """Of each element the first choice whose condition holds, or `default`."""
    tuples = [ty for ty in (condlist, choicelist) if isinstance(ty, Product)]
    counts = {len(ty.fields) for ty in tuples}
    if len(counts) > 1:
        raise ValueError("list of cases must be same length as list of conditions")
    return _selected(counts.pop()) if counts else selected_rows


@cache
def _selected(count: int) -> Callable[..., Any]:
    text = "default"
    for k in reversed(range(count)):
        text = f"np.where(condlist[{k}], choicelist[{k}], {text})"
    head = "select(condlist, choicelist, default=0)"
    return written(head, f"return {text}", {"np": np}, __name__, f"<select {count}>")


def selected_rows(condlist, choicelist, default=0):
    """`select` of arrays of conditions and choices."""
    found = np.where(condlist[0], choicelist[0], default)
    for k in range(len(condlist) - 1, -1, -1):
        found = np.where(condlist[k], choicelist[k], found)
    return found


@overload(np.choose, choose=())
def choose(a: Any, choices: Any) -> Callable[..., Any]:
    """Of each element the choice of its number."""
    if isinstance(choices, Product):
        return _chosen(len(choices.fields))
    return chosen_of_rows


def check_numbers(a, count):
    """Refuse numbers that are those of no choice."""
    if np.any((a < 0) | (a >= count)):
        raise ValueError("invalid entry in choice array")
    return a


@cache
def _chosen(count: int) -> Callable[..., Any]:
    text = f"choices[{count - 1}]"
    for k in reversed(range(count - 1)):
        text = f"np.where(a == {k}, choices[{k}], {text})"
    if count == 1:
        text = "np.where(a == 0, choices[0], choices[0])"
    body = f"a = check(a, {count})\n    return {text}"
    space = {"np": np, "check": check_numbers}
    return written("choose(a, choices)", body, space, __name__, f"<choose {count}>")


def chosen_of_rows(a, choices):
    """`choose` of an array of choices."""
    a = check_numbers(a, len(choices))
    found = np.where(a == 0, choices[0], choices[0])
    for k in range(1, len(choices)):
        found = np.where(a == k, choices[k], found)
    return found


@overload(np.extract, tuples=())
def extract(condition, arr):
    """The elements whose conditions hold, in a vector; conditions may be fewer."""
    return np.ravel(arr)[np.flatnonzero(condition)]


@overload(np.compress, tuples=(), vectors=("condition",))
@jit(static_argnames=("axis",))
def compress(condition, a, axis=None):
    """What is at the places along an axis, or of all elements, whose conditions hold;
    conditions may be fewer, and more do not hold."""
    rows = np.ravel(a) if axis is None else np.moveaxis(a, axis, 0)
    if np.any(condition[len(rows) :]):
        raise IndexError("a condition holds behind the last element")
    found = rows[: len(condition)][condition[: len(rows)]]
    return found if axis is None else np.moveaxis(found, 0, axis)


@overload(np.argwhere, tuples=())
def argwhere(a):
    """The indices of the elements that are not zero, in rows."""
    return np.stack(np.nonzero(a), axis=-1)


# ---- by places -------------------------------------------------------------------


@overload(np.take_along_axis, tuples=())
@jit(static_argnames=("axis",))
def take_along_axis(arr, indices, axis=-1):
    """The elements at indices along an axis, as `argsort` gives them."""
    rows, places = np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1)
    if rows.shape[:-1] != places.shape[:-1]:
        raise IndexError("shape mismatch")
    if np.ndim(rows) == 1:
        return rows[places]
    flat = np.reshape(rows, (-1, rows.shape[-1]))
    at = np.reshape(places, (-1, places.shape[-1]))
    found = np.array([row[place] for row, place in zip(flat, at, strict=True)])
    return np.moveaxis(np.reshape(found, places.shape), -1, axis)


# ---- by order --------------------------------------------------------------------


@overload(np.partition, tuples=())
@jit(static_argnames=("axis",))
def partition(a, kth, axis=-1):
    """The k-th element is where sorting would put it, between smaller and larger ones:
    here all are sorted."""
    return np.sort(_with_place(a, kth, a.shape[axis]), axis=axis)


def _with_place(a, kth, n):
    """The array, if its axis of so many elements has this place."""
    if np.any((kth < -n) | (kth >= n)):
        raise ValueError("kth is out of bounds")
    return a


@overload(np.argpartition, tuples=())
@jit(static_argnames=("axis",))
def argpartition(a, kth, axis=-1):
    """The indices of `partition`: those of all in order."""
    return np.argsort(_with_place(a, kth, a.shape[axis]), axis=axis)


@overload(np.lexsort)
def lexsort(keys):
    """The order by the last key; of equals by the key before it, and so on."""
    order = np.argsort(keys[0], kind="stable")
    for key in keys[1:]:
        order = order[np.argsort(key[order], kind="stable")]
    return order


# ---- sets ------------------------------------------------------------------------


@overload(np.union1d, tuples=())
def union1d(ar1, ar2):
    """What is in either, in order, each once."""
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@overload(np.intersect1d, tuples=())
def intersect1d(ar1, ar2):
    """What is in both, in order, each once."""
    known = np.unique(ar1)
    return known[np.isin(known, ar2)]


@overload(np.setdiff1d, tuples=())
def setdiff1d(ar1, ar2):
    """What is in the first only, in order, each once."""
    known = np.unique(ar1)
    return known[~np.isin(known, ar2)]


@overload(np.setxor1d, tuples=())
def setxor1d(ar1, ar2):
    """What is in one of both only, in order, each once."""
    return np.union1d(np.setdiff1d(ar1, ar2), np.setdiff1d(ar2, ar1))
