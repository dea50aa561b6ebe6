"""Sets of integers in programs with derivatives: graph walks, worklists, filters."""

from __future__ import annotations

import math

import numpy as np

import chadllvm as cl
from programs.case import case

EDGES = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 1], [5, 6]])
PRIMES = {2, 3, 5, 7}


@case(3, 97, 0.5)
@case(0, 1, 0.5)
@cl.jit
def walk_to_a_cycle(start: int, n: int, x: float) -> float:
    seen = set()
    i, total = start, x
    while i not in seen:
        seen.add(i)
        i = (i * i + 1) % n
        total = 1.01 * total + 1e-3 * math.sin(total * i)
    return total * len(seen)


@case(EDGES, np.linspace(0.3, 0.9, 7), 0)
@case(EDGES, np.linspace(0.3, 0.9, 7), 5)
@cl.jit
def reached_nodes(edges: cl.i64[:, :], weights: cl.f64[:], start: int) -> float:
    visited: set[int] = set()
    waiting = [start]
    total = 0.0
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        total = math.sin(total) + weights[node] ** 2
        for a, b in edges:
            if a == node and b not in visited:
                waiting.append(b)
    for node in sorted(visited):
        total += weights[node] * node
    return total


@case(np.array([3, 1, 3, -7, 1, 12]), np.array([0.4, 1.2, 0.3, 0.5, -0.2, 2.0]))
@cl.jit
def first_of_each(keys: cl.i64[:], x: cl.f64[:]) -> float:
    seen = {12, int(keys[0]) + 100}
    total = 1.0
    for k, v in zip(keys, x, strict=True):
        if k in seen:
            total += 0.5 * v
        else:
            total *= v
            seen.add(k)
    return total * len(seen)


@case(9, 0.7)
@case(40, 0.7)
@cl.jit
def algebra_of_sets(n: int, x: float) -> float:
    a = {i * 7 % 13 for i in range(n)}
    b, c = set(range(5)), set([1, 2, n])
    total = len(a | b) * x + len(a & b) * x**2 + len(a - b) + len(a ^ b)
    if b <= a and a >= {1}:
        total *= x
    if a == b or b < c or (a != b and n > 20):
        total += x**3
    for v in sorted(a & PRIMES):
        total = total * 0.5 + math.sin(v * total)
    if n in {1, 9, 5} or 2 in (n, 7):
        total -= 2.0 * x
    return total + sum(a) * x + max(a) + min(b) * x


@case(50, 0.3)
@case(0, 0.3)
@cl.jit
def sets_that_shrink(n: int, x: float) -> float:
    s = set(range(n))
    for i in range(0, n, 3):
        s.discard(i)
        s.discard(i + 1000)
    for i in range(1, n, 3):
        s.remove(i)
    for i in range(0, n, 2):
        s.add(i)
    s.update([1, 2, 3])
    s |= {4, 5}
    t, u = set(s), s.copy()
    t.add(-1)
    total = x * len(t.union([99])) + s.isdisjoint(t) + s.issubset(t)
    while u:
        last = u.pop()
        total += math.cos(last * x) / (1.0 + last)
    return total + x * len(s) + (x if s else 1.0)


@cl.jit
def cycle_of(i: int, seen: set[int]) -> set[int]:
    if i in seen:
        return seen
    return cycle_of((i * i + 1) % 31, seen | {i})


@case(3, 0.4)
@cl.jit
def recursive_cycle(start: int, x: float) -> float:
    def damped(k, seen, value):
        if k in seen or k > 40:
            return value
        return damped(2 * k + 1, seen | {k}, math.sin(value) + k * x)

    return damped(start, {8}, x) * len(cycle_of(start, set()))


@case({1, 2, 30}, 4, 0.6)
@case(set(), 4, 0.6)
@cl.jit
def argument_set(wanted: set[int], n: int, x: float) -> float:
    more = wanted | {n} if n > 3 else set()
    pair = (more, x)
    chosen, y = pair

    def picked(t):
        return t * y if 30 in chosen else t + y

    return picked(2.0 * x) + sum(x**i for i in range(n) if i in more)
