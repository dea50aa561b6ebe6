# mypy: allow-untyped-defs, allow-untyped-calls
"""Python's own functions of lists."""

from __future__ import annotations

import builtins

import numpy as np

from chadllvm.support.overloads import overload


@overload(builtins.sorted)
def sorted(items, *, key=None, reverse=False):
    """A list of the elements in ascending order, of their keys; equal ones stay so.

    Where numbers are NaN they come last.
    """
    n = len(items)
    if key is None:
        order = _order([items[_place(k, n, reverse)] for k in range(n)])
    else:
        order = _order([key(items[_place(k, n, reverse)]) for k in range(n)])
    return [items[_place(order[_place(k, n, reverse)], n, reverse)] for k in range(n)]


def _order(keys):
    """The order of numbers; arrays have none."""
    if np.ndim(keys) < 2:
        return np.argsort(keys)
    if len(keys) > 1:
        raise ValueError("The truth value of an array is ambiguous: sort by a `key`")
    return np.zeros(len(keys), dtype=int)


def _place(k, n, reverse):
    """k, counted from the end if the order is reversed."""
    return n - 1 - k if reverse else k


@overload(builtins.map)
def map(function, items):
    """What a function makes of each element."""
    return [function(item) for item in items]


@overload(builtins.filter)
def filter(function, items):
    """The elements that a function finds true."""
    return [item for item in items if function(item)]
