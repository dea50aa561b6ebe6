"""Arrays that recursive calls update where they are, and hand back."""

from __future__ import annotations

import numpy as np

import chadllvm as cl


def visited_depth_first(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """Depth first: each place once."""
    seen = np.zeros(len(a))

    def visit(i):
        seen[i] = a[i] * b[i]
        for j in (2 * i + 1, 2 * i + 2):
            if j < len(a) and seen[j] == 0.0:
                visit(j)

    visit(0)
    return np.sum(seen * c)


def one_after_another(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def scaled(x, i):
        x[i] = x[i] * b[i]
        if i + 1 < len(x):
            scaled(x, i + 1)

    x = a.copy()
    scaled(x, 0)
    return np.sum(x * c)


def updated_halves(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def moved(x, low, high):
        if high - low == 1:
            x[low] = x[low] * b[low]
        elif high > low:
            middle = (low + high) // 2
            moved(x, low, middle)
            moved(x, middle, high)
            x[low] = x[low] + x[middle]

    x = a.copy()
    moved(x, 0, len(x))
    return np.sum(x * c)


def remembered(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """Calls have a result besides, and read what they have updated."""
    memo = np.full(len(a), -1.0)

    def value(k):
        if memo[k] >= 0.0:
            return memo[k]
        if k < 2:
            memo[k] = a[k]
        else:
            memo[k] = 0.5 * value(k - 1) + 0.25 * value(k - 2) * b[k]
        return memo[k]

    return value(len(a) - 1) + np.sum(memo * c)


def chained(a, memo, k):
    if k == 0:
        return a[0]
    if memo[k] == 0.0:
        memo[k] = 0.5 * chained(a, memo, k - 1) + 0.25 * chained(a, memo, k // 2) + a[k]
    return memo[k]


def handed_on(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """The array is a parameter, and what is returned is something else."""
    memo = np.zeros(len(a))
    return chained(a, memo, len(a) - 1) * np.sum(memo * c)


PROGRAMS = (
    handed_on,
    visited_depth_first,
    one_after_another,
    updated_halves,
    remembered,
)
