"""Programs that pass slices, rows and elements of lists on, in loops and recursion.

All take three arrays of n numbers, and their values are work of n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import chadllvm as cl


@dataclass(frozen=True)
class One:
    x: cl.f64[:]


TWO = np.array([1.0, -0.5])


@dataclass(frozen=True)
class Two:
    x: cl.f64[:]
    y: cl.f64[:]


def shrinking_both(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    v = a
    w = b
    s = 0.0
    while len(v) > 1 and len(w) > 1:
        if v[0] < w[0]:
            s += v[0] * w[0]
            v = v[1:]
        else:
            s += w[0]
            w = w[1:]
    return s + c[0]


def slice_of_choice(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        if c[i] > 0.0:
            k = b
        t = k[i:]
        s += t[0] * t[len(t) - 1]
    return s


def halves(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        w = a
        for _ in range(2):
            w = w[: len(w) // 2] if c[i] > 0.0 else w[len(w) // 2 :]
        s += w[0] * b[i]
    return s


def small_window_kept(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    w = a[0:5]
    s = 0.0
    for i in range(len(a) - 5):
        if c[i] > 0.0:
            w = b[i : i + 5]
        elif c[i] < -0.5:
            w = a[i : i + 5]
        s += w[0] * w[4]
    return s


def column_views(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    k = m[:, 0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            k = m[:, i % 3]
        elif c[i] < -0.8:
            k = b
        s += k[i]
    return s


def transposed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a)):
        t = m.T[i % 3] if c[i] > 0.0 else b
        s += t[i]
    return s


def reversed_slices(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(1, len(a)):
        t = a[::-1] if c[i] > 0.0 else b[::2]
        s += t[i // 2] * t[0]
    return s


def slice_passed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        s += head(a[i:] if c[i] > 0.0 else b)
    return s


@cl.jit
def head(x: cl.f64[:]) -> float:
    return x[0] * x[len(x) - 1]


def slice_in_record(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    u = One(a)
    s = 0.0
    for i in range(len(a)):
        if len(u.x) > 1:
            u = One(u.x[1:])
        s += u.x[0] * b[i]
    return s


def slice_in_union(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(1, len(a)):
        u: One | Two = One(a[i:]) if c[i] > 0.0 else Two(b[:i], c)
        match u:
            case One(x):
                s += x[0]
            case Two(x, y):
                s += x[len(x) - 1] * y[i]
    return s


def slice_captured(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        w = a[i:]
        f = (lambda: w[0] * 2.0) if c[i] > 0.0 else (lambda: b[i])  # noqa: B023
        s += f()
    return s


def queue(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    w = a
    s = 0.0
    while len(w) > 2:
        x = w[0]
        w = w[2:] if x > 0.0 else w[1:]
        s += x * w[len(w) - 1]
    return s


def recursive_tail(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return total(a) + b[0] * c[0]


@cl.jit
def total(x: cl.f64[:]) -> float:
    if len(x) == 0:
        return 0.0
    return x[0] * x[0] + total(x[1:])


def recursive_returns_array(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t = choose(a, b, c, i, 3)
        s += t[i] * t[0]
    return s


@cl.jit
def choose(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int, depth: int) -> cl.f64[:]:
    if depth == 0:
        return p
    if c[(i + depth) % len(c)] > 0.0:
        return choose(q, p, c, i, depth - 1)
    return choose(p, c, q, i, depth - 1)


def recursive_choice(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return descend(a, b, c, 0)


@cl.jit
def descend(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 0.0
    k = p if c[i] > 0.0 else q
    return k[i] * k[i] + descend(q, k, c, i + 1)


def recursive_swap(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return alternate(a, b, c, 0, 0.0)


@cl.jit
def alternate(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int, s: float) -> float:
    if i >= len(c):
        return s
    if c[i] > 0.0:
        return alternate(q, p, c, i + 1, s + p[i] * q[i])
    return alternate(p, q, c, i + 1, s + p[i] * c[i])


def recursive_in_loop(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        if c[i] > 0.0:
            k = b
        s += weigh(k, c, i, 3)
    return s


@cl.jit
def weigh(k: cl.f64[:], c: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return k[i]
    t = k if depth % 2 == 0 else c
    return t[i] * 0.5 * weigh(t, c, i, depth - 1)


def recursive_split(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return split(a, b, c, 0, len(a))


@cl.jit
def split(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], lo: int, hi: int) -> float:
    if hi - lo == 1:
        return p[lo] * q[lo]
    mid = (lo + hi) // 2
    if c[lo] > 0.0:
        p, q = q, c
    return split(p, q, c, lo, mid) + 0.5 * split(q, p, c, mid, hi)


def rows_of_matrix(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(np.array([1.0, 2.0, 3.0]), a)
    r = m[0]
    s = 0.0
    for i in range(len(a)):
        if b[i] > 0.4:
            r = m[i % 3]
        s += r[i] * c[i]
    return s


def row_or_array(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(np.array([1.0, 2.0]), a)
    s = 0.0
    for i in range(len(a)):
        r = m[i % 2] if c[i] > 0.0 else b
        s += r[i] * r[i]
    return s


def matrix_rows_swapped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    p = m[0]
    q = m[1]
    s = 0.0
    for i in range(len(a)):
        p, q = q, m[i]
        if c[i] > 0.0:
            p, q = q, p
        s += p[0] * q[1]
    return s


def row_from_function(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(np.array([1.0, 2.0, 3.0]), a)

    def row(i: int):
        if c[i] > 0.0:
            return m[i % 3]
        return b

    s = 0.0
    r = a
    for i in range(len(a)):
        if i % 3 == 0:
            r = row(i)
        s += r[i]
    return s


def chosen_length(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t = a if c[i] > 0.0 else b[: len(b) // 2]
        s += len(t) * t[i % len(t)]
    return s


def tree_of_choices(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            if a[i] > 0.0:
                t, u = a, b
            else:
                t, u = b, c
        elif b[i] > 0.0:
            t, u = c, a
        else:
            t = a[i:]
            u = b
        s += t[0] * u[i]
    return s


def list_state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c, a * 2.0]
    r = items[0]
    j = 0
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            j = (j + 1) % len(items)
            r = items[j]
        s += r[i] * b[i]
    return s


def element_of_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        t = items[i % 3]
        s += t[i] * t[i]
    return s


def two_lists(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = [a, b]
    q = [c, a, b]
    s = 0.0
    for i in range(len(a)):
        u = p[i % 2] if c[i] > 0.0 else q[i % 3]
        s += u[i] * u[i]
    return s


def swapped_lists(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = [a, b]
    q = [c, a]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            p, q = q, p
        s += p[i % 2][i] * q[0][i]
    return s


def growing_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a[:3] * 1.0]
    s = 0.0
    for i in range(len(a) - 3):
        if c[i] > 0.0:
            items.append(a[i : i + 3] * b[i])
        t = items[len(items) // 2]
        s += t[i % 3]
    return s


def growing_list_of_old(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a]
    s = 0.0
    for i in range(len(a)):
        if i % (len(a) // 4) == 0:
            items.append(b if c[i] > 0.0 else c)
        t = items[-1]
        s += t[i] * t[i]
    return s


def list_of_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a * float(j + 1) for j in range(3)]
    k = items[0]
    s = 0.0
    for i in range(len(a)):
        k = items[i % 3] if c[i] > 0.0 else k
        s += k[i] * b[i]
    return s


def list_of_pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [Two(a, b), Two(b, c), Two(c, a)]
    t = items[0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            t = items[i % 3]
        s += t.x[i] * t.y[i]
    return s


def list_of_rows(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q, r = np.outer(TWO, a), np.outer(TWO, b), np.outer(TWO, c)
    items = [Two(p[0], q[0]), Two(q[1], r[1]), Two(r[0], p[1])]
    t = items[0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            t = items[i % 3]
        s += t.x[i] * t.y[i]
    return s


def list_of_closures(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    fs = [lambda i: a[i], lambda i: b[i] * 2.0, lambda i: c[i] * c[i]]
    s = 0.0
    for i in range(len(a)):
        s += fs[i % 3](i)
    return s


def loop_over_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        for t in [a, b]:
            if t[i] > 0.0:
                s += t[i] * c[i]
    return s


def loop_over_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        last = b
        for t in [a, a[1:], a[::2]]:
            if i < len(t) and t[i] > 0.0:
                s += t[i] * c[i]
                last = t
        s += last[i // 4] * len(last) / len(a)
    return s


def part_or_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    s = 0.0
    for i in range(n):
        match i % 3:
            case 0:
                t = a
            case 1:
                t = b[1:]
            case _:
                t = np.sin(c) if i % n == 3 * (n // 6) + 2 else c
        s += t[0] * t[i // 2]
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    shrinking_both,
    slice_of_choice,
    halves,
    small_window_kept,
    column_views,
    transposed,
    reversed_slices,
    slice_passed,
    slice_in_record,
    slice_in_union,
    slice_captured,
    queue,
    recursive_tail,
    recursive_returns_array,
    recursive_choice,
    recursive_swap,
    recursive_in_loop,
    recursive_split,
    rows_of_matrix,
    row_or_array,
    matrix_rows_swapped,
    row_from_function,
    chosen_length,
    tree_of_choices,
    list_state,
    element_of_list,
    two_lists,
    swapped_lists,
    growing_list,
    growing_list_of_old,
    list_of_made,
    list_of_pairs,
    list_of_rows,
    list_of_closures,
    loop_over_list,
    loop_over_parts,
    part_or_made,
)
