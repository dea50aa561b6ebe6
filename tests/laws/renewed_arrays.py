"""Arrays that steps update, and seldom make anew."""

from __future__ import annotations

import numpy as np

import chadllvm as cl


def renewed_and_chosen(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q = a.copy(), b.copy()
    s = 0.0
    for i in range(n):
        if i == 7:
            p = np.zeros(n)
        t = p if i % 2 == 1 else q
        s += t[1] * c[i]
        p[i] = 0.5 * a[i]
    return s


def renewed_in_a_branch(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    p, q = a.copy(), b.copy()
    s = 0.0
    for i in range(len(a)):
        if i % 3 > 1:
            if i == 8:
                p = c * 0.5
            t = p if i % 2 == 1 else q
            s += t[1]
        else:
            p[i] = 0.5 * p[i - 1]
    return s


@cl.jit
def _renewed(a: cl.f64[:], b: cl.f64[:]) -> float:
    n = len(a)
    p = a.copy()
    for i in range(n):
        if i == n // 2:
            p = b * 0.5
        p[i] += 0.5 * p[i // 2]
    return np.sum(p)


def twins(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    """The tangent is made as the value is: what makes both is done once."""
    _, slope = cl.jvp(_renewed, (a, b), (a, b))
    return slope + np.sum(c)


@cl.jit
def _renewed_rows(a: cl.f64[:], b: cl.f64[:]) -> float:
    n = len(a)
    p = np.outer(a, a[:3])
    for i in range(n):
        if i == n // 2:
            p = np.outer(b, b[:3])
        p[i, 1] += 0.5 * p[i // 2, 0]
    return np.sum(p)


def twins_of_rows(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    _, slope = cl.jvp(_renewed_rows, (a, b), (a, b))
    return slope + np.sum(c)


PROGRAMS = (renewed_and_chosen, renewed_in_a_branch, twins, twins_of_rows)
