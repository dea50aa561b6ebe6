"""Comprehensions and generators with several `for` and `if` clauses."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.3, -1.2, 2.0, 0.1, 4.5])
Y = np.array([1.5, -0.4, 0.8])
EMPTY = np.zeros(0)


class Point(NamedTuple):
    x: float
    y: float


@cl.jit
def weighted(values: cl.f64[:]) -> float:
    """A number that depends on the order of the elements."""
    return sum(v * (k + 1) for k, v in enumerate(values))


@case(X)
@case(EMPTY)
@cl.jit
def positive_roots(x: cl.f64[:]) -> float:
    return weighted(np.array([sqrt(v) * v for v in x if v > 0.0]))


@case(X, 1.0)
@case(EMPTY, 1.0)
@cl.jit
def conditional_sums(x: cl.f64[:], a: float) -> float:
    total = sum(log(v) * a for v in x if v > 0.0)
    count = sum(1 for v in x if v < a)
    integers = sum(k for k, v in enumerate(x) if v > 0.0 if k % 2 == 0)
    return total + count * sum([v * v for v in x if v < a]) + integers * a


@case(np.array([0.3, 0.0, 2.0]), is_smooth=False)
@cl.jit
def untaken_elements_have_no_slope(x: cl.f64[:]) -> float:
    """At zero the slope of the root is infinite, and the tests keep it out."""
    sums = sum(sqrt(v) for v in x if v > 0.0)
    many = sum(sqrt(v) * w for v in x if v > 0.0 for w in x if w > v)
    listed = sum([sqrt(v) * w for v in x if v > 0.0 for w in x])
    best = max(sqrt(v) for v in x if v >= 0.0)
    return sums + many + listed + best


@case(X, 0.5)
@case(np.array([3.0]), 0.5)
@cl.jit
def conditional_extrema(x: cl.f64[:], a: float) -> float:
    least = min(exp(v) * a for v in x if v > a)
    largest = max(v * w * a for v in x if v > a for w in x if w > v - 1.0)
    return least + largest + min(k for k, v in enumerate(x) if v > a)


@case(X, Y)
@case(EMPTY, Y)
@case(X, EMPTY)
@cl.jit
def outer_product(x: cl.f64[:], y: cl.f64[:]) -> float:
    return weighted(np.array([a * b * b for a in x for b in y]))


@case(X, Y, 3)
@case(X, Y, -2)
@cl.jit
def three_clauses(x: cl.f64[:], y: cl.f64[:], n: int) -> float:
    return weighted(
        np.array([a * b ** (k + 1) for a in x[1:] for k in range(n) for b in y * 2])
    )


@case(-2, -3, 1.5)
@case(2, 3, 1.5)
@cl.jit
def negative_lengths(n: int, m: int, a: float) -> float:
    return len([a for _ in range(n) for _ in range(m)]) + a * a


@case(X)
@case(EMPTY)
@cl.jit
def pairs(x: cl.f64[:]) -> float:
    n = len(x)
    return weighted(np.array([(x[i] - x[j]) ** 2 for i in range(n) for j in range(i)]))


@case(X, 1.0)
@cl.jit
def energy_of_pairs(x: cl.f64[:], a: float) -> float:
    n = len(x)
    near = sum(
        a / (1.0 + (x[i] - x[j]) ** 2)
        for i in range(n)
        if x[i] > -1.0
        for j in range(i)
        if x[j] < x[i] or j == 0
    )
    return near * max(x[i] * x[j] for i in range(n) for j in range(i + 1))


@case(X, Y)
@cl.jit
def tests_between(x: cl.f64[:], y: cl.f64[:]) -> float:
    return weighted(
        np.array([a * b for a in x if a > 0.0 if a < 4.0 for b in y if a * b < 1.0])
    )


@case(X, Y)
@cl.jit
def dependent_lists(x: cl.f64[:], y: cl.f64[:]) -> float:
    return weighted(
        np.array([p * q for p in x if p > 0.0 for q in [p + v for v in y if v > p]])
    )


@case(X, Y, 2.0)
@case(EMPTY, EMPTY, 2.0)
@cl.jit
def decisions(x: cl.f64[:], y: cl.f64[:], a: float) -> float:
    total = 0.0
    if any(v * w > 5.0 for v in x if v > 0.0 for w in y if w > 0.0):
        total += a
    if all(v > 0.0 for v in x if v > 1.0):
        total += a * a
    if any([1.0 / v > 3.0 for v in x if v != 0.0]):
        total += a**3
    if all(x[i] < 10.0 for i in range(len(x)) for j in range(i) if x[j] > 0.0):
        total += a**4
    return total + a


@case(X, Y)
@case(EMPTY, Y)
@cl.jit
def tuples_and_records(x: cl.f64[:], y: cl.f64[:]) -> float:
    found = [(k, v * v) for k, v in enumerate(x) if v > 0.0]
    points = [Point(a, a * b) for a in x if a > 0.0 for b in y]
    cross = [Point(b, a) for a in x for b in y if b > 0.0]
    total = sum(k * v for k, v in found) + sum(p.x * p.y for p in points)
    return total + sum(p.x * p.y for p in cross if p.x > p.y)


@case(np.array([[0.3, -1.2], [2.0, 0.7], [1.1, 0.4]]))
@cl.jit
def rows_that_pass(m: cl.f64[:, :]):
    kept = np.array([row * row[0] for row in m if row[1] > 0.0])
    flat = [v * v for row in m for v in row]
    pairs = np.array([p * q for k, p in enumerate(m) for q in m[:k]])
    return kept.sum() + sum(v for v in flat if v < 2.0) + pairs[:, 1].sum()


@case(X, 3)
@cl.jit
def nested_comprehensions(x: cl.f64[:], n: int) -> float:
    table = [[v * w for w in x if w > 0.0] for v in x if v != 0.0]
    return sum(sum(row) for row in table if row[0] > 0.0 for _ in range(n))


@case(X)
@cl.jit
def names_of_their_own(x: cl.f64[:]) -> float:
    v, w = 2.0, 3.0
    total = sum(v * w for v in x for w in [v, 1.0] if w > 0.0)
    return total * v + w * sum(w for w in x if w > v - 2.0)


@case(X, 2)
@cl.jit
def in_a_loop(x: cl.f64[:], n: int) -> float:
    values = [v for v in x if v > 0.0]
    for k in range(n):
        values = [v * w for v in values for w in values if v + w < 8.0 + k]
        values.append(x[k])
    return sum(values)


@case(X, EMPTY, 7)
@cl.jit
def not_reached(x: cl.f64[:], none: cl.f64[:], k: int) -> float:
    """What an inner clause runs over is not looked at if there is no outer step."""
    never = [a * b for a in none for b in x[: 10 // (k - 7)]]
    empty = sum(a * b for a in none for b in [none[k]])
    return len(never) + empty + x[0] * x[0]


@case(np.array([np.nan, 1.0, np.nan, 0.5]), is_smooth=False)
@cl.jit
def least_of_nans(x: cl.f64[:]) -> float:
    first = min(a * b for a in [1.0, 2.0] for b in x)
    other = min(v for v in x if v == v)
    dependent = max(x[j] for i in range(5) for j in range(i) if j > 0)
    return other + dependent + (first if first == first else 0.0)
