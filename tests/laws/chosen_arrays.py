"""Programs that choose arrays of n numbers in each of n steps, and read one element.

Their values are work of n, and so are their gradients, however the array is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import chadllvm as cl


@dataclass(frozen=True)
class Plain:
    x: cl.f64[:]


@dataclass(frozen=True)
class Scaled:
    x: cl.f64[:]
    s: float


def branches(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        if i % 3 == 0:
            t = a
        elif i % 3 == 1:
            t = b
        else:
            t = c
        s += t[i] * t[i]
    return s


def state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        if i == len(a) // 2:
            k = b
        s += k[i] * k[i]
    return s


def state_of_while(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    i = 0
    while i < len(a) and s < 1e300:
        if b[i] > c[i]:
            k = b
        s += k[i] * k[i]
        i += 1
    return s


def parameter(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        if b[i] > c[i]:
            c = b
        s += c[i] * c[i] * a[i]
    return s


def option(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = None
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            k = a
        elif c[i] < -0.3:
            k = None
        if k is not None:
            s += k[i] * k[i] * b[i]
    return s


def closure(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    f = lambda i: a[i] * a[i]  # noqa: E731
    for i in range(len(a)):
        if c[i] > 0.0:
            f = lambda i: b[i] * 3.0  # noqa: E731
        s += f(i)
    return s


def union(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    u: Plain | Scaled = Plain(a)
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.4:
            u = Scaled(b, s)
        elif c[i] < -0.4:
            u = Plain(c)
        match u:
            case Plain(x):
                s += 0.1 * x[i]
            case Scaled(y, q):
                s += 0.1 * y[i] * q
    return s


def list_of_unions(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [Plain(a), Scaled(b, 2.0), Plain(c)]
    s = 0.0
    for i in range(len(a)):
        match items[i % 3]:
            case Plain(x):
                s += x[i] * x[i]
            case Scaled(x, k):
                s += x[i] * k
    return s


def record(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    r = Scaled(a, 1.0)
    for i in range(len(a)):
        if c[i] > 0.0:
            r = Scaled(b, 2.0)
        s += r.x[i] * r.s
    return s


def returned(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def pick(i: int):
        if i % 3 == 0:
            return a, 1.0
        if i % 3 == 1:
            return b, 2.0
        return c, 3.0

    s = 0.0
    for i in range(len(a)):
        t, k = pick(i)
        s += t[i] * k
    return s


def swap(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            a, b = b, a
        s += a[i] * a[i]
    return s


def rotation(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        a, b, c = b, c, a
        s += a[i] * b[i] + c[i]
        if s > 3.0:
            a, c = c, a
            s = s * 0.5
    return s + a[0] * b[0] * b[0]


def rows_of_a_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c]
    s = 0.0
    r = items[0]
    for i in range(len(a)):
        s += r[i] * r[i]
        if i % 5 == 0:
            r = items[(i * 7) % 3]
    return s


def ragged_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [x[k:] for k, x in enumerate([a, b, c])]
    r = items[1]
    s = 0.0
    for i in range(len(a) - 2):
        if c[i] > 0.0:
            r = items[i % 3]
        elif c[i] < -0.5:
            r = a
        s += r[i] * r[i]
    return s


def one_of_a_display(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        r = [a, b[1:], a[i:]][i % 3]
        s += r[0] * c[i] * len(r)
    return s


def rows_or_arrays(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a[:3], b[:3])
    r = m[0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.2:
            r = m[i % 3]
        elif c[i] < -0.2:
            r = a
        s += r[i % 3] * r[(i + 1) % 3]
    return s


def shrinking(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    w = a
    for _ in range(len(a)):
        s += w[0] * w[0]
        w = w[1:]
    return s


def slices(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 1):
        t = a[i:] if c[i] > 0.0 else b[1:]
        s += t[0] * t[0]
    return s


def slices_of_slices(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    w = a
    for i in range(len(a)):
        if len(w) < 3:
            w = b[i:]
        elif c[i] > 0.0:
            w = w[1:]
        elif c[i] < -1.0:
            w = w[::-1]
        if len(w) > 0:
            s += w[0] * w[-1] + len(w)
    return s


def inner_loops(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        t = k
        for j in range(3):
            if c[(i + j) % len(c)] > 0.0:
                t = b if j % 2 == 0 else c
            s += t[i] * k[i]
        if s > 0.1:
            k = t
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    branches, state, state_of_while, parameter, option, closure, union, list_of_unions,
    record, returned, swap, rotation, rows_of_a_list, ragged_list, one_of_a_display,
    rows_or_arrays, shrinking, slices, slices_of_slices, inner_loops,
)  # fmt: skip
