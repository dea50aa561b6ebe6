"""Lists in a list that grow: where a list has no room, its elements move."""

from __future__ import annotations

import chadllvm as cl


def buckets(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = [[] for _ in range(8)]
    for k in range(len(a)):
        found[k * k % 8].append(a[k] * b[k])
    s = 0.0
    for row in found:
        for k in range(len(row)):
            s += row[k] * c[k]
    return s


def one_for_each(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = [[a[k]] for k in range(len(a))]
    for k in range(len(a)):
        found[k * 7 % len(a)].append(b[k])
        found[0].append(c[k] * found[k][0])
    return sum(row[0] * row[-1] for row in found) + found[0][len(a) // 2]


def runs(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = [[a[0]]]
    s = 0.0
    for k in range(1, len(a)):
        if c[k] > 0.5:
            found[-1].append(a[k] * b[k])
        else:
            found.append([b[k]])
        s += found[-1][0] * found[len(found) // 2][-1]
    return s + len(found)


PROGRAMS = (buckets, one_for_each, runs)
