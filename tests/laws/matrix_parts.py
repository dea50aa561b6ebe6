"""Programs that choose parts of matrices and of cubes, and pass these on.

All take three arrays of n numbers, and their values are work of n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import chadllvm as cl


@dataclass(frozen=True)
class Table:
    x: cl.f64[:, :]


@dataclass(frozen=True)
class Pair:
    x: cl.f64[:, :]
    y: cl.f64[:, :]


def chosen_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    w = np.outer(b, np.array([0.5, 1.5, 1.0, 2.0]))
    s = 0.0
    for i in range(len(a) - 1):
        t = m[i:, :] if c[i] > 0.0 else w[1:, 2:]
        s += t[0, 0] * t[-1, 1]
    return s


def rows_dropped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    w = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a) - 1):
        w = w[1:, :]
        s += w[0, i % 3] * b[i]
    return s + c[0]


def columns_dropped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    w = m
    s = 0.0
    for i in range(len(a)):
        w = w[:, 1:] if w.shape[1] > 1 and c[i] > -0.5 else m
        s += w[i, 0] * b[i]
    return s


def transposes(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    w = m[:3]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            w = w.T
        elif c[i] < -0.7:
            w = m[i % 2 :, :][:3, ::-1]
        if w.shape[0] == 3:
            s += w[2, 0] * b[i]
        else:
            s += w[0, 1]
    return s


def rows_of_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(np.array([1.0, 2.0, 3.0]), a)
    w = np.outer(b[:3], c)
    s = 0.0
    r = m[0]
    for i in range(len(a)):
        t = m[1:, i:] if c[i] > 0.0 else w[:, ::-1]
        row = t[1]
        s += row[0] * row[len(row) - 1]
        if b[i] > 0.5:
            r = row
        s += r[0]
    return s


def part_of_while(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    w = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    while w.shape[0] > 2:
        x = w[0, 0]
        w = w[2:, ::-1] if x > 0.0 else w[1:, :]
        s += x * w[w.shape[0] - 1, 2]
    return s + b[0] * c[0]


def part_matched(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    u: Table | Pair = Table(m)
    s = 0.0
    for i in range(1, len(a)):
        if c[i] > 0.4:
            u = Table(m[i:, :])
        elif c[i] < -0.4:
            u = Pair(m[:i, 1:], m.T)
        match u:
            case Table(x):
                s += x[0, 2] * b[i]
            case Pair(x, y):
                s += x[x.shape[0] - 1, 1] * y[0, i]
    return s


def case_of_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a)):
        match i % 4:
            case 0:
                t = m[i:, 1:]
            case 1:
                t = m[:, ::-1]
            case 2:
                t = m[::-1]
            case _:
                t = m
        s += t[0, 1] * t[t.shape[0] - 1, 0] * b[i]
    return s + c[0]


def part_captured(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a)):
        w = m[i:, 1:]
        f = (lambda: w[0, 1] * 2.0) if c[i] > 0.0 else (lambda: b[i])  # noqa: B023
        s += f()
    return s


def part_in_record(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    u = Table(np.outer(a, np.array([1.0, 2.0, 3.0])))
    s = 0.0
    for i in range(len(a)):
        if len(u.x) > 1:
            u = Table(u.x[1:, ::-1])
        s += u.x[0, 0] * b[i] + c[i]
    return s


def part_optional(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    k = None
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.3:
            k = m[i:, :]
        elif c[i] < -0.3:
            k = None
        if k is not None:
            s += k[0, 1] * k[-1, 2] * b[i]
    return s


def parts_recursive(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    return total(m) + b[0] * c[0]


@cl.jit
def total(x: cl.f64[:, :]) -> float:
    if len(x) == 0:
        return 0.0
    return x[0, 1] * x[0, 2] + total(x[1:, ::-1])


def halved_recursively(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0]))
    return halved(m, m[:, ::-1], c) + b[0]


@cl.jit
def halved(p: cl.f64[:, :], q: cl.f64[:, :], c: cl.f64[:]) -> float:
    n = len(p)
    if n == 1:
        return p[0, 0] * q[0, 1]
    if c[n % len(c)] > 0.0:
        return halved(p[: n // 2], q[: n // 2], c) + halved(q[n // 2 :], p[n // 2 :], c)
    return halved(q[: n // 2], p[: n // 2], c) - halved(p[n // 2 :], q[n // 2 :], c)


def made_or_part(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a) - 2):
        t = np.outer(b[i : i + 2], c[i : i + 2]) if c[i] > 0.0 else m[i:, :]
        s += t[1, 1] * t[0, 0]
    return s


def made_or_part_kept(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    k = m[:, 1:]
    s = 0.0
    for i in range(len(a) - 2):
        if c[i] > 0.9:
            k = np.outer(b[i : i + 2], c[i : i + 2])
        elif c[i] < -0.5:
            k = m[i:, :]
        s += k[1, 1] * k[0, 0]
    return s


def of_cubes(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0, 4.0]))
    q = np.stack([m, m * 2.0])
    t = q[0, 1:, :]
    u = q[:, :, 2:]
    s = 0.0
    for i in range(len(a) - 1):
        if c[i] > 0.2:
            t = q[i % 2, i:, ::2]
            u = q[:, i:, 1:]
        elif c[i] < -0.2:
            t = u[1, :, :]
            u = q[::-1]
        s += t[0, 1] * u[1, 0, 1] * b[i]
    return s


def ravelled(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.stack((a, b, c))
    s = 0.0
    for i in range(len(a)):
        t = m.ravel()
        s += t[3 * i] * m.reshape(-1)[i]
    return s


def reshaped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        t = a[None, :] if c[i] > 0.0 else b[i:, None]
        s += t[0, 0] * t[t.shape[0] - 1, t.shape[1] - 1]
    return s


def windows_slide(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    w = m[0:2, 0:2]
    s = 0.0
    for i in range(len(a) - 2):
        if c[i] > 0.0:
            w = m[i : i + 2, 1:3]
        elif c[i] < -0.5:
            w = m[i : i + 2, 0:2].T
        s += w[0, 0] * w[1, 1] - w[0, 1] * b[i]
    return s


def summed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """A part that is used as a whole: as much work as it has elements."""
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a) - 2):
        w = m[i : i + 2, 1:3] if c[i] > 0.0 else m[i : i + 2, 0:2]
        s += np.sum(w @ w.T) * b[i]
    return s


def same_part(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 1):
        w = a[1:]
        s += w[i] * b[i]
    return s + c[0]


def part_of_step(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a) - 1):
        w = m[i:, 1:]
        for j in range(2):
            s += w[0, j] * b[i]
    return s + c[0]


def transpose_of_step(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.outer(a, np.array([1.0, 2.0, 3.0]))
    s = 0.0
    for i in range(len(a) - 1):
        r = m.T[2]
        s += r[i] * b[i] + r.shape[0] * c[i]
    return s


def copied_then_updated(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    p = a.copy()
    for i in range(len(a) - 3):
        t = p[i : i + 3].copy()
        p[i] = t[0] * t[2]
        p[i + 1] = p[i] * t[0] * t[1]
        s += t[1]
    return s + b[0] * c[0]


def read_until(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 3):
        w = a[1:]
        for j in range(3):
            s += w[i + j] * b[j]
            if w[j] > 0.9:
                break
    return s + c[0]


PROGRAMS: tuple[Callable[..., float], ...] = (
    chosen_parts, rows_dropped, columns_dropped, transposes, rows_of_parts,
    part_of_while, part_matched, case_of_parts, part_captured, part_in_record,
    part_optional, parts_recursive, halved_recursively, made_or_part,
    made_or_part_kept, of_cubes, reshaped, ravelled, windows_slide, summed,
    same_part, part_of_step, transpose_of_step, copied_then_updated, read_until,
)  # fmt: skip
