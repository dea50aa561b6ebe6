"""Programs that make or update arrays in loops, and keep them for later steps.

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
class State:
    pos: cl.f64[:]
    vel: cl.f64[:]
    k: int


def made_sometimes(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = a
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            k = b * c
        s += k[i] * k[i]
    return s


def made_every_few_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a[:4] * 2.0
    s = 0.0
    for i in range(len(a) - 4):
        if i % 3 == 0:
            k = a[i : i + 4] * b[i]
        s += k[i % 4] * k[(i + 1) % 4]
    return s


def made_or_old(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    s = 0.0
    for i in range(n):
        t = b * a[i] if i % n == 3 else a
        s += t[i] * c[i]
    return s


def large_once_then_old(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = a
    s = 0.0
    for i in range(n):
        if i == n // 3:
            k = np.sin(b) + k
        elif i == n // 2:
            k = c
        s += k[i]
    return s


def made_in_two_places(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = a
    s = 0.0
    for i in range(n):
        if i == n // 3:
            k = k * b
        if c[i] > 0.0:
            k = c
        if i == n // 2:
            k = np.cos(k)
        s += k[i]
    return s


def made_then_flip(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    d = np.zeros(0)
    k = a
    s = 0.0
    for i in range(n):
        if i == n // 3:
            d = a * b
        if i > n // 3 and c[i] > 0.0:
            k = d
        elif c[i] < -0.4:
            k = b
        s += k[i]
    return s


def small_made_kept(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.5:
            k = np.array([a[i], b[i], c[i]])
        elif c[i] < -0.5:
            k = b
        s += k[i % 3]
    return s


def record_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    st = State(a, b, 0)
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            st = State(st.pos + 0.1 * st.vel, st.vel * 0.5, i)
        elif c[i] > 1.0:
            st = State(a, st.vel, i)
        s += st.pos[i] * st.vel[st.k]
    return s


def union_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    u: One | Two = One(a)
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            u = Two(a * b, c)
        elif c[i] > 0.9:
            u = One(b)
        match u:
            case One(x):
                s += x[i]
            case Two(x, y):
                s += x[i] * y[i]
    return s


def closure_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    f = lambda i: a[i]  # noqa: E731
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            d = a * b
            f = lambda i, d=d: d[i] * 2.0  # noqa: E731
        elif c[i] > 0.9:
            f = lambda i: b[i]  # noqa: E731
        s += f(i)
    return s


def option_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = None
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            k = a * b
        elif c[i] > 0.7:
            k = None
        elif c[i] < -1.0:
            k = c
        if k is not None:
            s += k[i]
    return s


def two_made_states(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a
    q = b
    n = len(a)
    s = 0.0
    for i in range(n):
        if i % n == n // 3:
            p = q * 2.0
        if i % n == n // 2:
            q = p * c
        if c[i] > 0.0:
            p, q = q, p
        s += p[i] * q[i]
    return s


def while_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    i = 0
    s = 0.0
    n = len(a)
    while i < n:
        if i % n == n // 2:
            k = k * b
        elif c[i] > 1.0:
            k = c
        s += k[i]
        i += 1
    return s


def inner_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = 16
    s = 0.0
    for i in range(len(a) // m):
        d = a[i * m : (i + 1) * m] * b[i]
        e = d
        for j in range(m):
            if c[i * m + j] > 0.0:
                e = b
            elif c[i * m + j] < -0.5:
                e = d
            s += e[j]
    return s


def inner_chooses_outer_keeps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = 16
    e = a
    s = 0.0
    for i in range(len(a) // m):
        d = a[i * m : (i + 1) * m] * b[i]
        for j in range(m):
            if c[i * m + j] > 0.0:
                e = b
            elif c[i * m + j] < -0.5:
                e = d
            s += e[j]
    return s


def fresh_then_updated(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    k = a * 1.0
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            k = b * 2.0
        k[i] = k[i] * c[i]
        s += k[(i * 7) % n]
    return s


def history_of_two(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    old = a
    new = b
    s = 0.0
    for i in range(n):
        if i % n == n // 4:
            old, new = new, old * c
        elif i % n == n // 2:
            old, new = new, c
        s += old[i] * new[i]
    return s


def chosen_maximum(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = a
    s = 0.0
    n = len(a)
    for i in range(n):
        if i % (n // 2) == 1:
            k = np.maximum(k, b)
        s += k[i]
    return s


def try_candidates(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = 8
    x = a[:8] * 1.0
    e = x[0]
    s = 0.0
    for i in range(len(a) - 8):
        y = x + 0.1 * b[i : i + 8]
        f = float(np.sum(y * y))
        if f < e or c[i] > 0.0:
            x = y
            e = f
        s += x[i % n]
    return s


def line_search(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x = a * 1.0
    n = len(a)
    best = x
    s = 0.0
    for i in range(n):
        if i % (n // 3) == 1:
            x = x - 0.1 * c
            if x[0] < best[0]:
                best = x
        s += best[i] * x[i]
    return s


def double_buffer_small(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a.copy()
    q = b.copy()
    for i in range(len(a)):
        q[i] = p[i] * c[i] + q[i]
        p, q = q, p
    return p[0] + q[len(q) - 1] * p[len(p) // 2]


def updated_and_read(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a.copy()
    s = 0.0
    k = b
    for i in range(len(a)):
        if c[i] > 0.0:
            k = c
        p[i] = p[i] * k[i]
        s += p[i // 2]
    return s


def updated_in_branch(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a.copy()
    for i in range(1, len(a)):
        if c[i] > 0.0:
            p[i] = p[i - 1] * b[i]
        elif c[i] < -0.5:
            p[i - 1] = p[i] * 0.5
    return p[len(p) - 1] + p[0]


def updated_rows(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.zeros((2, len(a)))
    for i in range(len(a)):
        m[i % 2, i] = a[i] * b[i]
        if c[i] > 0.0:
            m[0, i] = m[1, i] + c[i]
    r = m[0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            r = m[i % 2]
        s += r[i]
    return s


def update_which(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p = a.copy()
    q = b.copy()
    for i in range(len(a)):
        if c[i] > 0.0:
            p[i] = q[i] * 2.0
        else:
            q[i] = p[i] + c[i]
    return p[0] * q[0] + p[len(p) - 1] * q[len(q) - 1]


def accumulated(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    out = np.zeros(len(a))
    k = a
    for i in range(len(a)):
        if c[i] > 0.3:
            k = b
        out[i // 2] += k[i] * k[i]
    return out[0] + out[len(a) // 4]


def updated_option(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    k = None
    s = 0.0
    for i in range(len(a)):
        if k is None:
            k = np.zeros(len(a))
        k[i] = a[i] * b[i]
        s += k[i // 2]
    return s


def update_row_of_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a.copy(), b.copy()]
    for i in range(len(a)):
        items[i % 2][i] = items[(i + 1) % 2][i] * c[i]
    return items[0][0] + items[1][1]


def update_in_record(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x = a.copy()
    y = b.copy()
    st = Two(x, y)
    s = 0.0
    for i in range(len(a)):
        z = c.copy() if i < 0 else c
        s += st.x[i] * z[i]
        if c[i] > 0:
            st = Two(st.y, st.x)
    return s


def buffer_three(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q, r = a.copy(), b.copy(), c.copy()
    n = len(a)
    for i in range(n):
        r[i] = p[i] * q[(i + 1) % n]
        p, q, r = q, r, p
    return p[0] + q[n // 2] * r[n - 1]


def nested_double_buffer(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    n = len(a)
    for i in range(n):
        for j in range(2):
            q[i] = p[(i + j) % n] * 0.5 + c[i]
            p, q = q, p
    return p[0] + q[n // 2]


def stencil(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    u = a[:4] * 1.0
    v = np.zeros(4)
    s = 0.0
    for i in range(len(a)):
        for j in range(1, 3):
            v[j] = u[j] + 0.1 * (u[j - 1] - 2.0 * u[j] + u[j + 1])
        u, v = v, u
        s += u[1] * b[i]
    return s


def chosen_update_copy(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    n = len(a)
    for i in range(n):
        t = a if c[i] > 0.0 else b
        if i % n == 5:
            t = t.copy()
            t[i] = 2.0 * t[i + 1]
        s += t[i]
    return s


def made_and_sliced(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    w = a
    s = 0.0
    for i in range(n):
        if i % n == n // 3:
            w = a * b
        elif c[i] < -1.0:
            w = b[i:]
        elif len(w) > 2:
            w = w[1:]
        s += w[0] * w[len(w) - 1]
    return s


def made_or_sliced(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            w = a * b[1]
        elif c[i] > 0.0:
            w = b[i:]
        else:
            w = a
        s += w[0] * w[len(w) - 1]
    return s


def sliced_from_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    w = a
    v = b
    s = 0.0
    for i in range(n):
        if i % n == n // 3:
            d = w * 2.0 if len(w) > 4 else a * c
            w = d[1:]
            v = d[::2]
        elif c[i] > 1.0:
            w, v = v, w
        s += w[0] * v[len(v) - 1]
    return s


def made_and_read_in_pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    q = b
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            q = np.sin(c)
        for j in range(3):
            s += q[(i + j) % n] * q[j] * a[i]
    return s


def made_in_inner_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    s = 0.0
    for i in range(n):
        q = b
        for j in range(3):
            if i % n == n // 2:
                q = np.sin(c)
            s += q[(i + j) % n] * q[j] * a[i]
    return s


def made_in_no_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    q = c
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            q = a + b
        j = 0
        while j < 3 and i % n == n // 3:
            if a[i] + s < 1e9:
                q = 0.5 * q
            j += 1
        s += q[i] * q[0]
        if c[0] > s + 1e9:
            q = b
    return s


def option_read_in_pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    o = None
    s = 0.0
    for i in range(n):
        if i % n == n // 3:
            o = np.sin(a)
        if o is not None:
            s += o[i] * o[0] * b[i]
    return s + c[0]


def kept_of_a_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    best, most = a, -1e9
    s = 0.0
    for i in range(len(a)):
        found = [a, b, c][i % 3]
        if found[i] > most:
            best, most = found, found[i]
        s += best[i] * best[0]
    return s


def updated_and_chosen(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            p[i] += 1.0
            t = p
        else:
            q[i] += a[i]
            t = q
        s += t[i] * t[0]
    return s


def made_and_passed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    q = b
    s = 0.0
    for i in range(n):
        if i % n == n // 2:
            q = np.sin(c)
        s += _exchanging(q, a, i, 2)
    return s


@cl.jit
def _exchanging(p: cl.f64[:], q: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return p[i] * q[0]
    return 0.5 * _exchanging(q, p, i, depth - 1)


def zeros_from_some_step_on(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    r = c * 0.5
    s = 0.0
    for i in range(len(a)):
        if i == len(a) // 3:
            r = np.zeros(len(a))
        t = r if b[i] < 0.1 else b
        s += t[i] * a[i] + r[i // 2]
    return s


PROGRAMS: tuple[Callable[..., float], ...] = (
    made_sometimes,
    made_every_few_steps,
    made_or_old,
    large_once_then_old,
    made_in_two_places,
    made_then_flip,
    small_made_kept,
    record_made,
    union_made,
    closure_made,
    option_made,
    two_made_states,
    while_made,
    inner_made,
    inner_chooses_outer_keeps,
    fresh_then_updated,
    history_of_two,
    made_and_sliced,
    made_or_sliced,
    sliced_from_made,
    chosen_maximum,
    try_candidates,
    line_search,
    double_buffer_small,
    updated_and_read,
    updated_in_branch,
    updated_rows,
    update_which,
    accumulated,
    updated_option,
    update_row_of_list,
    update_in_record,
    buffer_three,
    nested_double_buffer,
    stencil,
    chosen_update_copy,
    made_and_read_in_pairs,
    made_in_inner_steps,
    made_in_no_steps,
    option_read_in_pairs,
    made_and_passed,
    kept_of_a_list,
    updated_and_chosen,
    zeros_from_some_step_on,
)
