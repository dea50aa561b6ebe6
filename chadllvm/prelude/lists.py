# mypy: allow-untyped-defs, allow-untyped-calls
"""Python's own functions of sequences: of `builtins`, `functools` and `itertools`."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.support.overloads import overload


@overload(builtins.sorted, sequences=("items",))
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
    """The order of numbers, or of tuples of them; arrays have none."""
    if len(keys) == 0:
        return np.arange(0)
    first = keys[0]
    if isinstance(first, tuple):
        return _merged(keys)
    if np.ndim(keys) < 2:
        return np.argsort(keys)
    if len(keys) > 1:
        raise ValueError("The truth value of an array is ambiguous: sort by a `key`")
    return np.zeros(len(keys), dtype=int)


def _merged(keys):
    """The order of what can be compared only: runs of twice the length each time."""
    n, size = len(keys), 1
    order = np.arange(n)
    while size < n:
        before, start = order.copy(), 0
        while start < n:
            i, j = start, start + size
            for place in range(start, min(start + 2 * size, n)):
                is_second = i >= min(start + size, n)
                if not is_second and j < min(start + 2 * size, n):
                    is_second = keys[before[j]] < keys[before[i]]
                order[place] = before[j] if is_second else before[i]
                i, j = (i, j + 1) if is_second else (i + 1, j)
            start += 2 * size
        size *= 2
    return order


def _place(k, n, reverse):
    """k, counted from the end if the order is reversed."""
    return n - 1 - k if reverse else k


@overload(operator.contains, sequences=("items",))
def contains(items, x):
    """Whether an element is equal to x."""
    return any(item == x for item in items)


@overload(range.__contains__)
def is_in_range(x, start, stop=None, step=1):
    """Whether a number is one of a range, which is not run over."""
    if stop is None:
        return 0 <= x < start and x % 1 == 0
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    is_between = start <= x < stop if step > 0 else stop < x <= start
    return is_between and x % step == start % step


@overload(list.index)
def index(items, x):
    """The place of the first element that is equal to x."""
    for k in range(len(items)):
        if items[k] == x:
            return k
    raise ValueError("the value is not in the list")


@overload(list.count)
def count(items, x):
    """How many elements are equal to x."""
    return sum(1 for item in items if item == x)


@overload(builtins.map, sequences=("items", "others", "thirds"))
def map(function, items, others=None, thirds=None):
    """What a function makes of each element, or of the elements of two or three."""
    if others is None:
        return [function(item) for item in items]
    if thirds is None:
        return [function(x, y) for x, y in zip(items, others, strict=False)]
    return [function(x, y, z) for x, y, z in zip(items, others, thirds, strict=False)]


@overload(itertools.starmap, sequences=("items",))
def starmap(function, items):
    """What a function makes of the components of each element."""
    return [function(*item) for item in items]


@overload(builtins.filter, sequences=("items",))
def filter(function, items):
    """The elements that a function finds true."""
    return [item for item in items if function(item)]


@overload(functools.reduce, sequences=("items",))
def reduce(function, items, initial=None):
    """The elements combined from left to right, after `initial` if it is given."""
    if initial is None:
        if len(items) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        total = items[0]
        for k in range(1, len(items)):
            total = function(total, items[k])
        return total
    total = initial
    for item in items:
        total = function(total, item)
    return total


@overload(builtins.max, sequences=("items",))
def largest(items, *, key=None, default=None):
    """The first of the elements with the largest key; `default` if there is none."""
    if default is None:
        if len(items) == 0:
            raise ValueError("max() iterable argument is empty")
        return items[_winner(items, key, _is_larger)]
    return items[_winner(items, key, _is_larger)] if len(items) > 0 else default


@overload(builtins.min, sequences=("items",))
def smallest(items, *, key=None, default=None):
    """The first of the elements with the smallest key; `default` if there is none."""
    if default is None:
        if len(items) == 0:
            raise ValueError("min() iterable argument is empty")
        return items[_winner(items, key, _is_smaller)]
    return items[_winner(items, key, _is_smaller)] if len(items) > 0 else default


def _winner(items, key, is_better):
    """The place of the first element whose key is better than those of all others."""
    best = 0
    if key is None:
        for k in range(1, len(items)):
            if is_better(items[k], items[best]):
                best = k
        return best
    value = key(items[0])
    for k in range(1, len(items)):
        other = key(items[k])
        if is_better(other, value):
            best, value = k, other
    return best


def _is_larger(x, y):
    return x > y


def _is_smaller(x, y):
    return x < y


@overload(itertools.product, sequences=("first", "second", "third"))
def product(first, second, third=None):
    """All pairs of elements of two sequences, or all triples of three."""
    if third is None:
        return [(x, y) for x in first for y in second]
    return [(x, y, z) for x in first for y in second for z in third]


@overload(itertools.combinations, sequences=("items",), choose=("r",))
def combinations(items: Any, r: int) -> Callable[..., Any]:
    """The pairs of different elements in their order, or triples of three."""
    if r not in (2, 3):
        raise ValueError("there are combinations of 2 or 3")
    return pairs_of if r == 2 else triples_of


def pairs_of(items):
    n = len(items)
    return [(items[i], items[j]) for i in range(n) for j in range(i + 1, n)]


def triples_of(items):
    n = len(items)
    return [
        (items[i], items[j], items[k])
        for i in range(n)
        for j in range(i + 1, n)
        for k in range(j + 1, n)
    ]


@overload(itertools.pairwise, sequences=("items",))
def pairwise(items):
    """Each element with the next one."""
    return [(items[k], items[k + 1]) for k in range(len(items) - 1)]


@overload(itertools.chain, sequences=("first", "second", "third"))
def chain(first, second, third=None):
    """The elements of two or three sequences, one after the other."""
    both = [x for x in first] + [y for y in second]
    return both if third is None else both + [z for z in third]


@overload(itertools.islice, sequences=("items",))
def islice(items, start, stop=None, step=1):
    """The elements up to a number of them, or those between two places."""
    if stop is None:
        return [items[k] for k in range(min(start, len(items)))]
    return [items[k] for k in range(start, min(stop, len(items)), step)]


@overload(itertools.repeat)
def repeat(item, times):
    """The same so many times."""
    return [item for _ in range(times)]
