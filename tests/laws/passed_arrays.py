"""Programs that pass arrays on in loops: by branches, records, unions and functions.

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


@dataclass(frozen=True)
class Two:
    x: cl.f64[:]
    y: cl.f64[:]


@dataclass(frozen=True)
class Pair:
    first: cl.f64[:]
    second: cl.f64[:]
    s: float


@dataclass(frozen=True)
class Outer:
    inner: Pair
    other: cl.f64[:]


def conditional_expression(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t = a if c[i] > 0.5 else (b if c[i] > 0.0 else c)
        s += t[i] * t[len(t) - 1 - i]
    return s


def match_numbers(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        match i % 4:
            case 0:
                t = a
            case 1 | 2:
                t = b
            case _:
                t = c
        s += t[i] * t[i]
    return s


def never_taken(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        if c[i] > 1e9:
            k = b
        s += k[i] * k[i]
    return s


def option_or_none(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t = a if c[i] > 0.0 else None
        if t is not None:
            s += t[i] * b[i]
    return s


def two_lambdas(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        f = (lambda j: a[j] * a[j]) if c[i] > 0.0 else (lambda j: b[j] * c[j])
        s += f(i)
    return s


def nested_loops(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        for j in range(2):
            if c[i] > 0.2 * j:
                k = b
            elif c[i] < -0.2 * j:
                k = a
            s += k[(i + j) % len(a)] * 0.5
        s += k[i] * k[i]
    return s


def swap_in_inner_loop(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    p, q = a, b
    for i in range(len(a)):
        for j in range(3):
            if c[(i + j) % len(c)] > 0.0:
                p, q = q, p
            s += p[i] * q[i]
    return s


def record_swap(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    r = Pair(a, b, 1.0)
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            r = Pair(r.second, r.first, r.s * 0.5)
        s += r.first[i] * r.s
    return s


def nested_record(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    r = Outer(Pair(a, b, 1.0), c)
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.4:
            r = Outer(Pair(r.other, r.inner.first, 0.5), r.inner.second)
        elif c[i] < -0.4:
            r = Outer(r.inner, b)
        s += r.inner.first[i] * r.other[i] * r.inner.s
    return s


def union_state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    u: One | Two = One(a)
    s = 0.0
    for i in range(len(a)):
        match u:
            case One(x):
                s += x[i]
                if c[i] > 0.0:
                    u = Two(x, b)
            case Two(x, y):
                s += x[i] * y[i]
                if c[i] < 0.0:
                    u = One(y)
    return s


def union_each_step(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        u: One | Two = One(a) if c[i] > 0.0 else Two(b, c)
        match u:
            case One(x):
                s += x[i] * x[i]
            case Two(x, y):
                s += x[i] * y[i]
    return s


def closure_state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    f = lambda i: a[i]  # noqa: E731
    g = lambda i: b[i] * b[i]  # noqa: E731
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            f, g = g, f
        s += f(i) + 0.5 * g(i)
    return s


def captured_choice(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    k = a
    for i in range(len(a)):
        if c[i] > 0.3:
            k = b

        def f(j: int) -> float:
            return k[j] * k[j]  # noqa: B023

        s += f(i)
    return s


def local_returns(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def pick(i: int):
        if c[i] > 0.5:
            return a
        for j in range(2):
            if c[(i + j) % len(c)] < -0.5:
                return b
        return c

    s = 0.0
    for i in range(len(a)):
        t = pick(i)
        s += t[i] * t[i]
    return s


def local_swap(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    def order(p, q, i: int):
        if p[i] < q[i]:
            return q, p
        return p, q

    s = 0.0
    p, q = a, b
    for i in range(len(a)):
        p, q = order(p, q, i)
        s += p[i] - 0.5 * q[i] * c[i]
    return s


def early_exit(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    s = 0.0
    for i in range(len(a)):
        if s > 1e12:
            break
        if c[i] > 0.0:
            k = b
            continue
        k = a
        s += k[i] * k[i] + b[i]
    return s + k[0]


def early_return(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    s = 0.0
    for i in range(len(a)):
        if s > 1e12:
            return s * k[i]
        if c[i] > 0.0:
            k = b
        s += k[i] * k[i]
    return s + k[1]


def while_swap(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    i = 0
    s = 0.0
    while i < len(a):
        if a[i] < b[i]:
            a, b = b, a
        s += a[i] * c[i]
        i += 1 if c[i] > -3.0 else 2
    return s


def comprehension(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c]
    t = np.array([(a if c[i] > 0.0 else items[i % 3])[i] for i in range(len(a))])
    return float(np.sum(t * t))


def tuple_of_arrays(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    t = (a, b)
    s = 0.0
    for i in range(len(a)):
        t = (t[1], c) if c[i] > 0.0 else (b, t[0])
        s += t[0][i] * t[1][i]
    return s


def chosen_then_sum_sometimes(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = a
    s = 0.0
    for i in range(n):
        if c[i] > 0.0:
            k = b
        elif c[i] < -0.3:
            k = a
        if i % n == n // 2:
            s += float(np.sum(k * k))
        s += k[i]
    return s


def best_so_far(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    best = c
    s = 0.0
    for i in range(len(a)):
        t = a if i % 2 == 0 else b
        if t[i] > best[i]:
            best = t
        s += best[i] * best[0]
    return s


def optional_state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = None
    last = None
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            last = k
            k = a if c[i] > 0.6 else b
        if k is not None:
            s += k[i]
        if last is not None:
            s += last[i] * 0.5
    return s


def sorted_pair(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        lo, hi = (a, b) if a[i] < b[i] else (b, a)
        for j in range(2):
            s += lo[(i + j) % len(a)] * hi[i]
    return s


def chosen_sum_rarely(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    n = len(a)
    for i in range(n):
        t = a if c[i] > 0.0 else b
        if i % n == 5:
            s += float(np.sum(t))
            s += float(np.dot(t, c))
        s += t[i]
    return s


def integers_chosen(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = np.arange(len(a))
    q = p[::-1]
    s = 0.0
    k = p
    for i in range(len(a)):
        if c[i] > 0.0:
            k = q
        elif c[i] < -0.7:
            k = p
        s += a[k[i]] * b[i]
    return s


def zip_arrays(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    s = 0.0
    for i, (x, y) in enumerate(zip(b, c, strict=True)):
        if x > y:
            k = b
        s += k[i] * x
    return s


@cl.jit
def ends(w: cl.f64[:], depth: int) -> float:
    if depth == 0 or len(w) < 2:
        return w[0]
    return w[-1] + ends(w[1:], depth - 1)


def one_array_and_its_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """The state is one array always, and a recursive call reads parts of it."""
    k = a
    s = 0.0
    for i in range(len(b)):
        s += ends(k, 2) * b[i]
        if c[i] > 0.0:
            k = a
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    conditional_expression,
    match_numbers,
    never_taken,
    option_or_none,
    two_lambdas,
    nested_loops,
    swap_in_inner_loop,
    record_swap,
    nested_record,
    union_state,
    union_each_step,
    closure_state,
    captured_choice,
    local_returns,
    local_swap,
    early_exit,
    early_return,
    while_swap,
    comprehension,
    tuple_of_arrays,
    chosen_then_sum_sometimes,
    best_so_far,
    optional_state,
    sorted_pair,
    chosen_sum_rarely,
    integers_chosen,
    zip_arrays,
    one_array_and_its_parts,
)
