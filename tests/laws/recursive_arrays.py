"""Programs whose recursive functions are given arrays, parts of them, or return some.

All take three arrays of n numbers, and their values are work of n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import chadllvm as cl


@dataclass(frozen=True)
class Two:
    x: cl.f64[:]
    y: cl.f64[:]


def divided(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    if len(a) == 0:
        return 0.0
    return halved(a, b) * 0.5 + halved(c, a)


@cl.jit
def halved(x: cl.f64[:], y: cl.f64[:]) -> float:
    n = len(x)
    if n == 1:
        return x[0] * y[0]
    m = n // 2
    return halved(x[:m], y[:m]) + 0.5 * halved(x[m:], y[m:]) + x[0]


def from_both_ends(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return inwards(a, b, 1.0) + c[0] * b[0]


@cl.jit
def inwards(x: cl.f64[:], y: cl.f64[:], s: float) -> float:
    if len(x) < 2:
        return s
    if x[0] > 0.0:
        return inwards(x[1:], y, s * 0.5 + x[0] * y[0])
    return inwards(x[:-1], x[1:], s * 0.5 + x[len(x) - 1])


def mirrored(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return turned(a, 0.0) + b[0] * c[0]


@cl.jit
def turned(x: cl.f64[:], s: float) -> float:
    if len(x) == 0:
        return s
    return turned(x[:0:-1], s * 0.5 + x[0] * x[0])


def larger_of(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t, k = larger(a, b, c, i, 2)
        s += t[i] * k
    return s


@cl.jit
def larger(
    p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int, depth: int
) -> tuple[cl.f64[:], float]:
    if depth == 0:
        return p, 1.0
    if p[i] > q[i]:
        t, k = larger(p, c, q, i, depth - 1)
        return t, k * p[0]
    t, k = larger(c, p, p, i, depth - 1)
    return t, k + c[i]


def slice_returned(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    n = len(a)
    for i in range(n):
        w = narrowed(a if c[i] > 0.0 else b, c, i, 2)
        s += w[0] * w[len(w) - 1]
    return s


@cl.jit
def narrowed(x: cl.f64[:], c: cl.f64[:], i: int, depth: int) -> cl.f64[:]:
    if depth == 0 or len(x) < 3:
        return x
    if c[(i + depth) % len(c)] > 0.0:
        return narrowed(x[1:], c, i, depth - 1)
    return narrowed(x[:-1], c, i, depth - 1)


def rows_given(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(np.array([1.0, 2.0, 3.0]), a)
    return along(m[0], m[1], m, c, 0)


@cl.jit
def along(p: cl.f64[:], q: cl.f64[:], m: cl.f64[:, :], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 0.0
    if c[i] > 0.0:
        return p[i] * q[i] + along(q, m[i % 3], m, c, i + 1)
    return p[i] + along(p, c, m, c, i + 1)


def records_given(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return of_record(Two(a, b), c, 0)


@cl.jit
def of_record(r: Two, c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 0.0
    k = Two(r.y, r.x) if c[i] > 0.0 else Two(c, r.y)
    return r.x[i] * r.y[i] + of_record(k, c, i + 1)


def options_given(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return of_option(None, a, b, c, 0)


@cl.jit
def of_option(
    k: cl.f64[:] | None, a: cl.f64[:], b: cl.f64[:], c: cl.f64[:], i: int
) -> float:
    if i >= len(c):
        return 0.0
    s = 0.0 if k is None else k[i] * k[0]
    if c[i] > 0.5:
        return s + of_option(a, a, b, c, i + 1)
    if c[i] < -0.5:
        return s + of_option(None, a, b, c, i + 1)
    return s + of_option(b if k is None else k, a, b, c, i + 1)


def by_turns(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return even(a, b, c, 0)


@cl.jit
def even(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 0.0
    return p[i] * p[i] + odd(q, p, c, i + 1)


@cl.jit
def odd(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 1.0
    return p[i] * c[i] + even(q if c[i] > 0.0 else p, c, c, i + 1)


def loops_inside(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return swapping(a, b, c, 0)


@cl.jit
def swapping(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return 0.0
    s = 0.0
    for j in range(3):
        if c[(i + j) % len(c)] > 0.0:
            p, q = q, p
        s += p[i] * q[j % len(q)]
    return s + swapping(p, c, q, i + 1)


def made_outside(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    d = a * b
    s = 0.0
    k = d
    for i in range(len(a)):
        is_middle = i % len(a) == len(a) // 2
        if c[i] > 0.0 or is_middle:
            k = np.sin(b) if is_middle else a
        s += thrice(k, d, i, 3)
    return s


@cl.jit
def thrice(k: cl.f64[:], d: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return k[i]
    return d[i] * 0.5 + thrice(d, k, i, depth - 1) * k[0]


def captured(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def down(x: cl.f64[:], i: int) -> float:
        if i >= len(c):
            return 0.0
        k = b if x[i] > c[i] else x
        return k[i] * c[i] + down(k if c[i] > 0.0 else a, i + 1)

    return down(a, 0)


def window_of_choice(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return either(a, b, c)


@cl.jit
def either(x: cl.f64[:], y: cl.f64[:], c: cl.f64[:]) -> float:
    if len(x) == 0 or len(y) == 0:
        return 0.0
    if x[0] < y[0]:
        return x[0] * y[len(y) - 1] + either(x[1:], y, c)
    return y[0] * c[len(x) - 1] + either(y[1:], x, c)


def returned_or_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x, s = b, 0.0
    for i in range(len(a)):
        if i == 3:
            x = np.sin(x)
        x = exchanged_often(x, c, i % 3)
        s += x[i]
    return s


@cl.jit
def exchanged_often(x: cl.f64[:], y: cl.f64[:], n: int) -> cl.f64[:]:
    if n == 0:
        return x
    return exchanged_often(y, x, n - 1)


def made_by_some_calls(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return damped(a, b, c, 0)


@cl.jit
def damped(x: cl.f64[:], y: cl.f64[:], c: cl.f64[:], i: int) -> float:
    if i >= len(c):
        return x[0] * y[0]
    if i % (len(c) // 3) == 0:
        return damped(x * y, x, c, i + 1) * 0.9 + x[i]
    if c[i] > 0.0:
        return damped(y, x, c, i + 1) + x[i] * x[i]
    return damped(x, y, c, i + 1) + y[i] * x[i]


def made_before_the_calls(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    return replaced(a, b, 0)


@cl.jit
def replaced(x: cl.f64[:], y: cl.f64[:], i: int) -> float:
    if i >= len(y):
        return x[0]
    made = np.sin(y) if i % (len(y) // 3) == 0 else y
    chosen = x if made[i] > 0.0 else made
    return replaced(chosen, made, i + 1) * 0.5 + made[i] * x[i]


def exchanged_and_given(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x, y = a.copy(), b.copy()
    s = 0.0
    for i in range(len(a)):
        s += one_of(x, y, i, 3)
        x[i] = y[i] * c[i]
        if c[i] > 0.5:
            x, y = y, x
    return s


@cl.jit
def one_of(x: cl.f64[:], y: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return x[i] * y[i]
    if y[(i + depth) % len(y)] > 0.0:
        return one_of(y, x, i, depth - 1) * x[i]
    return one_of(x, y, i, depth - 1) + y[i]


def updated_behind_calls(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x = a.copy()
    s = 0.0
    for i in range(len(a)):
        s += small_or_given(x, b, i, 3) * 0.01
        x[i] = s * b[i] * 0.01
    return s + c[0]


@cl.jit
def small_or_given(x: cl.f64[:], y: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return x[i] * y[0]
    if depth % 2 == 0:
        made = y[:3] * 2.0
        return small_or_given(made, x, i % 3, depth - 1) * x[(i + depth) % len(x)]
    return small_or_given(y, x, i % len(y), depth - 1) * x[i % len(x)]


@cl.jit
def taken_in_turns(p: cl.f64[:], q: cl.f64[:], i: int, depth: int) -> cl.f64[:]:
    if depth == 0 or p[i] > q[i]:
        return p
    return taken_in_turns(q, p, i, depth - 1)


def returned_and_given_again(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """What the first recursion returns can be nothing but `a`."""
    d = taken_in_turns(a, a, -1, 2)
    s = d[0] * b[0]
    for i in range(len(a)):
        s += taken_in_turns(a, d, i, 2)[i] * taken_in_turns(b, d, i, 3)[0]
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    divided,
    from_both_ends,
    mirrored,
    larger_of,
    slice_returned,
    rows_given,
    records_given,
    options_given,
    by_turns,
    loops_inside,
    made_outside,
    captured,
    window_of_choice,
    returned_or_made,
    made_by_some_calls,
    made_before_the_calls,
    exchanged_and_given,
    updated_behind_calls,
    returned_and_given_again,
)
