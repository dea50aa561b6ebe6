"""Programs of f32. None is annotated: given f64 they are programs of that.

A number of Python's own takes the width of what is beside it, so that all of them stay
what their arguments are.
"""

import math
from typing import Any, NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import single_case

A = np.array([0.5, -1.25, 2.0, 0.75, 1.5], np.float32)
B = np.array([1.5, 0.25, -0.5, 1.0, 0.125], np.float32)
M = np.array([[2.0, 0.5, 0.25], [0.5, 3.0, -0.5], [0.25, -0.5, 1.5]], np.float32)
N = np.array([[1.0, -2.0], [0.5, 1.5], [-1.0, 0.25]], np.float32)
X = np.float32(0.7)
Y = np.float32(-1.3)

SCALE = 0.3
OFFSETS = (0.25, 1)


class Spring(NamedTuple):
    """A record of scalars and an array."""

    stiffness: Any
    rest: Any
    points: np.ndarray


@single_case(X, Y)
@cl.jit
def arithmetic(x, y):
    return (x + 2.5) * y - x / 3.0 + 2.0**x - (x % 0.3) + abs(y) ** 1.5 - x**3


@single_case(X, Y)
@cl.jit
def functions(x, y):
    a = math.exp(x) + np.sin(y) * math.log(x) + math.sqrt(x) - math.atan2(y, x)
    return a + np.tanh(y) * math.pi + np.hypot(x, 2.0) + math.erf(x) + math.lgamma(x)


@single_case(X, 3)
@cl.jit
def integers_beside(x, n):
    return x * n + n - x / (n + 1) + n**2 * x + x**n


@single_case(X)
@cl.jit
def constants_from_outside(x):
    scaled = SCALE * x + OFFSETS[0] * OFFSETS[1]
    return scaled * math.sqrt(2.0 * math.pi) + np.pi * x - math.log(2.0)


@single_case(A, B)
@cl.jit
def reductions(a, b):
    total = np.sum(a * b) + np.mean(a) - np.std(b) + np.prod(b) + np.max(a)
    return total + a @ b + np.sum(np.exp(-a * a)) + np.min(a + b)


@single_case(M, N)
@cl.jit
def products_of_matrices(m, n):
    p = m @ n
    return np.sum(p * p) + np.sum(n.T @ n) + np.sum(np.outer(n[:, 0], m[0])) * 0.5


@single_case(A)
@cl.jit
def sum_from_a_literal(a):
    total = 0.0
    for value in a:
        total += value * value
    return total


@single_case(A, X)
@cl.jit
def literals_carried(a, x):
    """A weight that only literals go into has the width of what it weighs."""
    total, sign = 0.0, 1.0
    for i in range(len(a)):
        weight = 1.0 if i == 0 else 0.5
        total += sign * weight * a[i] ** 2
        sign = -sign
    return total * x


@single_case(A, 4)
@cl.jit
def recurrence(a, n):
    x, v = a[0], a[1]
    for _ in range(n):
        x, v = x + 0.1 * v, v - 0.1 * math.sin(x)
    return x * v


@single_case(A)
@cl.jit
def updated(a):
    b = a.copy()
    for i in range(1, len(b)):
        b[i] += 0.5 * b[i - 1]
    b[0] = 2.0
    b[1:3] *= 1.5
    return b


@single_case(A, B)
@cl.jit
def masked(a, b):
    c = np.where(a > 0.0, a * b, 0.25)
    d = a.copy()
    d[a < 0.0] = 0.0
    return np.sum(c * d) + np.sum(np.maximum(a, 0.0)) + np.sum(np.clip(b, 0.0, 1.0))


@single_case(A)
@cl.jit
def scans(a):
    s = np.cumsum(a)
    return np.sum(s * s) + np.sum(np.cumprod(a)) + s[-1]


@single_case(A, X)
@cl.jit
def pieces(a, x):
    y = 1.0
    if x > 0.5:
        y = np.sum(a) * x
    return y if y > 100.0 else 2.0 * y


@single_case(Spring(np.float32(2.0), np.float32(0.5), A))
@cl.jit
def record(s):
    total = 0.0
    for i in range(len(s.points) - 1):
        length = s.points[i + 1] - s.points[i] - s.rest
        total += 0.5 * s.stiffness * length**2
    return total


@single_case({"w": M, "b": M[0], "x": M[1]})
@cl.jit
def dictionary(p):
    return np.sum(np.tanh(p["w"] @ p["x"] + p["b"]))


@single_case([(X, A[:3]), (Y, B[:3])])
@cl.jit
def list_of_tuples(items):
    total = 0.0
    for x, a in items:
        total += x * np.sum(a * a)
    return total


@single_case((X, (Y, A)))
@cl.jit
def nested_tuple(t):
    x, (y, a) = t
    return x * y * np.sum(a), (x, a * y)


@single_case(M, A[:3])
@cl.jit
def linear_system(m, b):
    x = np.linalg.solve(m, b)
    return x @ x + np.linalg.det(m) + np.sum(np.linalg.inv(m)) + np.linalg.norm(b)


@single_case(M)
@cl.jit
def factorised(m):
    c = np.linalg.cholesky(m)
    sign, size = np.linalg.slogdet(m)
    return np.sum(c * c) + sign * size


@single_case(A, B)
@cl.jit
def array_result(a, b):
    return np.concatenate((a, 2.0 * b[1:])) + 0.5


@single_case(X)
@cl.jit
def displays(x):
    c, s = math.cos(x), math.sin(x)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return turn @ np.array([x, 1.0, 2.0 * x])


@single_case(A)
@cl.jit
def grown(a):
    kept = []
    for value in a:
        if value > 0.0:
            kept.append(value * value)
    return sum(kept) + len(kept) * a[0]


@single_case(A, B)
@cl.jit
def folds(a, b):
    best = cl.fold(lambda x, y: x * y + x + y, a)
    return best + sum(x * y for x, y in zip(a, b, strict=False)) + max(a) - min(b)


@single_case(A, B)
@cl.jit
def picked(a, b):
    """Of some elements: their sum, and the largest of them."""
    return sum(x * y for x, y in zip(a, b, strict=False) if x > 0.2) + max(
        x * x for x in a if x < 1.0
    )


@cl.jit
def bump(x, width):
    return math.exp(-((x / width) ** 2))


@single_case(A, X)
@cl.jit
def calls(a, x):
    """A literal handed to a function is weak in there as well."""
    return sum(bump(v, 0.5) for v in a) + bump(x, 2.0) * bump(1.5, x)


@single_case(A)
@cl.jit
def sorted_and_searched(a):
    s = np.sort(a)
    place = np.searchsorted(s, 0.6)
    return s[0] * s[-1] + s[place] + np.interp(0.6, s, a * a)


@single_case(M)
@cl.jit
def rows_and_columns(m):
    return (
        np.sum(m, axis=0) * np.mean(m, axis=1) + np.max(m, axis=1) + np.var(m, axis=0)
    )


@single_case(A, 2)
@cl.jit
def gathered(a, n):
    order = np.argsort(a)
    b = a[order] * np.arange(len(a))
    c = np.zeros_like(a)
    np.add.at(c, order % n, b)
    return c


@single_case(X)
@cl.jit
def untaken_pole(x):
    """What is not taken contributes nothing, at this width as well."""
    pole = 1.0 / (x - x) if x > 5.0 else x * x
    return pole if x > 0.0 else math.log(-x)


@single_case(A, X)
@cl.jit
def until(a, x):
    """States that are Python's own numbers for some steps, or for all."""
    total, step, i = 0.0, 1.0, 0
    while step > 1e-2:
        total += step * a[i] * x
        step *= 0.5
        i = (i + 1) % len(a)
        if total > 3.0:
            total = 0.5
            break
    return total * step


@single_case(A, 5)
@cl.jit
def reduced_numbers(a, n):
    weights = [0.5, 0.25] * 2 + [1.5]
    steps = [0.5 * i for i in range(n)]
    total = sum(3.0 for _ in range(n))
    total += sum(sum(0.1 * i for i in range(j)) for j in range(n) if j != 2)
    extreme = max(0.5 * i for i in range(n)) + min(i - 0.5 for i in range(n) if i > 1)
    made = sum(weights) + max(steps) + math.prod([1.5, 0.5]) + math.fsum(steps)
    return a * total + a / extreme + made * a[0]


@single_case(A)
@cl.jit
def numbers_beside(a):
    weights = [0.5, 0.25, 2.0, 1.0, 3.0]
    table = [[0.5, 1.0], [2.0, 3.0]]
    total = a[0] * weights[1] + a[1] * table[1][0]
    for w in weights:
        total += w * a[2]
    return (
        total
        + sum(v * w for v, w in zip(a, weights, strict=True))
        + sum(w * i for i, w in enumerate(table[0]))
    )


@single_case(A, 2)
@cl.jit
def functions_of_numbers(a, n):
    def half(i):
        return 0.5 * i

    listed = [lambda t: t * np.sum(a), lambda t: t, math.sqrt, lambda t: t + a[0]]
    total = 1.0
    for f in listed:
        total = f(total) + listed[n](0.5)
    return a * half(n) + half(2.0) * a[0] + total + a * float(n + 1)
