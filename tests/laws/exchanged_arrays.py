"""Programs that exchange arrays on a condition, or in inner loops, and update them.

All take three arrays of n numbers, and their values are work of n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import chadllvm as cl


def double_buffer_chosen(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        q[i] = p[(i + 1) % n] * 0.5 + c[i]
    return p[0] + q[n // 2]


def inner_sweeps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    for i in range(n):
        for j in range(2):
            for k in range(3):
                q[(i + k) % n] = p[(i + j) % n] * 0.5 + c[(i + k) % n]
            p, q = q, p
    return p[0] + q[n // 2]


def three_rotated(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q, r = a.copy(), b.copy(), c.copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        if c[i] > 0.3:
            p, q, r = q, r, p
        elif c[i] < -0.5:
            q, r = r, q
        q[i] = p[(i + 1) % n] * 0.5 + c[i]
        for k in range(2):
            r[(i + k) % n] += q[i] * 0.1
        s += r[i // 2]
    return p[0] + q[n // 2] + s * r[1 % n]


def in_while(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    i = 0
    while i < n and abs(p[0]) < 1e9:
        if c[i] > 0.0:
            p, q = q, p
            q[i] = p[i // 2] * 0.5
        else:
            p[i] = q[i] + c[i]
        i += 1
    return p[0] + q[n // 2] * p[i - 1]


def borrowed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        t = p if c[i] > 0.0 else q
        s += t[i] * 0.5
        if c[i] > 0.0:
            p, q = q, p
        q[i] = p[(i + 1) % n] * 0.5 + c[i]
        s += sum([p[j] for j in range(2)])
    return s


def with_sum(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a[:4].copy(), b[:4].copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        q[i % 4] = np.sum(p) * 0.1 + c[i]
        s += np.dot(p, q)
    return s


def matrices(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q = np.zeros((2, n)), np.ones((2, n))
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        q[i % 2, i] = p[0, (i + 1) % n] * 0.5 + a[i]
    return p[0, 0] + q[1, n // 2]


def pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q, x, y = a.copy(), b.copy(), c.copy(), np.zeros(n)
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        else:
            x, y = y, x
        q[i] = p[(i + 1) % n] * 0.5 + y[i]
        x[i // 2] += y[i] * q[i]
    return p[0] + q[n // 2] + x[n // 2] * y[0]


def updated_after(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        q[i] = p[(i + 1) % n] * 0.5 + c[i]
    p[0] = q[1 % n] * 2.0
    return p[0] + p[n // 2] * q[n // 2]


def returned_sum(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        q[i] = p[(i + 1) % n] * 0.5 + c[i]
    r = p + q * q
    return np.sum(r * a)


def outer_scratch(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a[:3].copy()
    n = len(a)
    for i in range(n):
        q = np.zeros(3)
        for j in range(3):
            q[j] = p[(j + 1) % 3] * 0.5 + c[i]
            if c[i] > 0:
                p, q = q, p
    return p[0]


def updated_behind_a_scatter(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q = a.copy(), b.copy()
    for i in range(n):
        for k in range(2):
            p[(i + k) % n] += b[i]
        if c[i] > 0.2:
            p[(i + 2) % n] = q[i // 2] * p[i]
    return p[0] + q[n // 2] + 0.1 * p[n - 1]


def updated_in_inner_branches(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q, r = a.copy(), b.copy(), c * 0.5
    for i in range(n):
        for k in range(2):
            p[i // 2] += r[(i + k) % n] * 0.5 + c[i]
            q[(i + k) % n] += b[i] * q[(i + k) % n] - 0.1
        if c[i] > 0.2:
            q, r = r, q
            p[(i + 2) % n] = np.sin(q[i // 2]) * p[i]
    return p[0] + q[n // 2] * r[1 % n] + 0.1 * p[n - 1]


def chosen_and_kept(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q, r = a.copy(), b.copy(), c * 0.5
    s = 0.0
    for i in range(n):
        for _ in range(2):
            p, q = q, p
            t = q if i % 3 == 1 else r
            s += t[i] * 0.3
        r[i // 2] = p[(i + 2) % n] * 0.5 + c[i]
        p[i // 2] = 0.2 * np.sum(r[:2]) + a[i]
    return s + p[0] + q[n // 2] * r[1 % n]


def exchanged_or_outside(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    d = c * 0.5
    n = len(a)
    s = 0.0
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        t = d if b[i] > 0.0 else q
        u = (a if i % 3 == 0 else d) if a[i] > 0.0 else p
        s += t[0] * u[i]
        q[(i + 2) % n] += q[i // 2] * 0.5 + c[i]
    return p[0] + q[n // 2] * s


def exchanged_or_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        t = np.sin(p) * q if i % n == n // 2 else q
        s += t[0] * t[i]
        q[(i + 2) % n] += p[i // 2] * 0.5 + c[i]
    return p[0] + q[n // 2] * s


def exchanged_and_reset(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        p[i] = q[0] * 0.1 + p[i] * c[i]
        if i % n == n // 3:
            p, q = q, np.zeros(n)
        elif c[i] > 0.0:
            p, q = q, p
        s += p[i] * q[0]
    return s


def exchanged_and_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q, r = a.copy(), b.copy(), c.copy()
    n = len(a)
    s = 0.0
    for i in range(n):
        if c[i] > 0.0:
            p, q = q, p
        if i % n == n // 2:
            q = np.sin(p)
        elif i % n == n // 3:
            r, q = q, np.cos(r)
        p[i] += q[0] * 0.1
        q[i] = r[i // 2] * b[i]
        s += p[i] * r[0]
    return s


def exchanged_inside_and_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x, y, s = b.copy(), c.copy(), 0.0
    for i in range(len(a)):
        for k in range(2):
            if a[i] > 0.5 + k:
                x, y = y, x
        if i == 4:
            x = np.sin(x)
        x[i] = a[i] * y[i]
        s += x[i] * y[0]
    return s


def made_in_an_inner_loop(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    s = 0.0
    for i in range(len(a)):
        for j in range(2):
            if j == 1 and i == 3:
                p = p * 0.5
            p, q = q, p
        p[i] = p[i] + s * 0.01 * c[i]
        s += q[i]
    return s


def updated_before_it_is_exchanged(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    old, u = a.copy(), b.copy()
    s = 0.0
    for i in range(len(a)):
        if i == 5:
            new = u.copy()
            for j in range(1, len(u) - 1):
                new[j] = 2.0 * u[j] - old[j] + 0.1 * c[j]
            old, u = u, new
        s += old[i] * u[i]
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    double_buffer_chosen,
    inner_sweeps,
    three_rotated,
    in_while,
    borrowed,
    with_sum,
    matrices,
    pairs,
    updated_after,
    returned_sum,
    outer_scratch,
    updated_behind_a_scatter,
    updated_in_inner_branches,
    chosen_and_kept,
    exchanged_or_outside,
    exchanged_or_made,
    exchanged_and_reset,
    exchanged_and_made,
    exchanged_inside_and_made,
    made_in_an_inner_loop,
    updated_before_it_is_exchanged,
)
