"""Arrays in tuples of lists: each of a size of its own."""

from __future__ import annotations

import numpy as np

import chadllvm as cl


def fixed_pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = [(a, 1.0), (b[1:], 2.0), (c[::2], 0.5)]
    s = 0.0
    for i in range(len(a) // 2 - 1):
        v, k = found[i % 3]
        s += k * v[i] * v[0]
    return s


def fixed_pair_kept(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = [(a, b), (b, c)]
    best, other = found[0]
    s = 0.0
    for i in range(len(a)):
        if c[i] > best[i]:
            best, other = found[i % 2]
        s += best[i] * other[-1]
    return s


def appended_pairs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = []
    for k in range(4):
        items.append((a[k:], b[k]))
    s = 0.0
    for i in range(len(a) - 4):
        v, k = items[i % 4]
        s += v[i] * k * v[-1]
    return s


def one_pair_of_many(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [(a[: k % 3 + 1], c[k]) for k in range(len(a))]
    s = 0.0
    for i in range(len(items)):
        v, k = items[i]
        s += v[0] * k + items[-1][0][-1]
    return s


def pair_as_a_state(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [(a[k:] * 1.0, b[k]) for k in range(3)]
    v, k = items[0]
    s = 0.0
    for i in range(len(a) - 3):
        if c[i] > 0.5:
            v, k = items[i % 3]
        s += v[i] * k
    return s


def pairs_made_again(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [(a[k:] * 1.0, b[k]) for k in range(3)]
    for _ in range(3):
        items = [(v * 0.5, k + v[0]) for v, k in items]
    s = 0.0
    for i in range(len(a) - 3):
        v, k = items[i % 3]
        s += v[i] * k
    return s


def arrays_added(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    parts = [a, b, c]
    total = sum(parts) + sum(p * k for k, p in enumerate(parts))
    s = 0.0
    for i in range(len(a)):
        s += total[i] * parts[i % 3][-1]
    return s + np.sum(total)


PROGRAMS = (
    fixed_pairs,
    fixed_pair_kept,
    appended_pairs,
    one_pair_of_many,
    pair_as_a_state,
    pairs_made_again,
    arrays_added,
)
