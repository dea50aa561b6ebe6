"""Numba: values alone, for it has no derivatives.

Where Numba takes the program as it is, it is the same source text; the others are the
same loops without what it does not know. All as `njit` compiles by default, which
rounds as Python does; `with_numba_fast` is the same with `fastmath`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from bench.kernels import Case
from bench.peers import Prepared
from chadllvm.api.compiled import Function

REFUSED = {"trees": "no recursive types that hold either of two classes"}

NO_GRADIENT = "no derivatives"

# What Numba takes as it is.
SAME = frozenset(
    {
        *("polynomial_fit", "hopper", "nbody", "bundle_adjustment", "soft_warp"),
        *("monte_carlo", "newton", "quadrature"),
    }
)


def log_sum_exp(x):
    top = x[0]
    for value in x:
        top = max(top, value)
    total = 0.0
    for value in x:
        total += math.exp(value - top)
    return top + math.log(total)


def gmm(alpha, means, q, lower, x, gamma, m):
    n, d = x.shape
    k = len(alpha)
    diagonal = np.exp(q)
    centred, terms = np.empty(d), np.empty(k)
    likelihood = 0.0
    for i in range(n):
        for j in range(k):
            square, at = 0.0, 0
            for row in range(d):
                centred[row] = x[i, row] - means[j, row]
            for row in range(d):
                white = diagonal[j, row] * centred[row]
                for column in range(row):
                    white += lower[j, at + column] * centred[column]
                square += white * white
                at += row
            terms[j] = alpha[j] + np.sum(q[j]) - 0.5 * square
        likelihood += log_sum_exp(terms)
    squares = np.sum(diagonal * diagonal) + np.sum(lower * lower)
    prior = m * np.sum(q) - 0.5 * gamma**2 * squares
    constant = -0.5 * n * d * math.log(2.0 * math.pi)
    return constant + likelihood - n * log_sum_exp(alpha) + prior


def kmeans(points, centres):
    total = 0.0
    for i in range(len(points)):
        least = math.inf
        for j in range(len(centres)):
            square = 0.0
            for k in range(points.shape[1]):
                square += (points[i, k] - centres[j, k]) ** 2
            least = min(least, square)
        total += least
    return total


def hidden_markov(start, moves, emission, seen):
    n = len(start)
    a, after, sums = start + emission[seen[0]], np.empty(n), np.empty(n)
    for t in range(1, len(seen)):
        for j in range(n):
            for i in range(n):
                sums[i] = a[i] + moves[j, i]
            after[j] = log_sum_exp(sums) + emission[seen[t], j]
        a, after = after, a
    return log_sum_exp(a)


def heat(start, target, rate, steps):
    n, m = start.shape
    u, after = start.copy(), start.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                after[i, j] = u[i, j] + rate * (around - 4.0 * u[i, j])
        u, after = after, u
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += (u[i, j] - target[i, j]) ** 2
    return total


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def lstm(weights, biases, ends, hidden, cell, sequence):
    h, c = hidden.copy(), cell.copy()
    n, x = sequence.shape[1], np.empty(sequence.shape[1])
    total = 0.0
    for t in range(len(sequence) - 1):
        for i in range(n):
            x[i] = sequence[t, i] * ends[0, i]
        for k in range(len(weights)):
            w, b = weights[k], biases[k]
            for i in range(n):
                forget = sigmoid(x[i] * w[0, i] + b[0, i])
                let_in = sigmoid(h[k, i] * w[1, i] + b[1, i])
                let_out = sigmoid(x[i] * w[2, i] + b[2, i])
                change = math.tanh(h[k, i] * w[3, i] + b[3, i])
                c[k, i] = c[k, i] * forget + let_in * change
                x[i] = h[k, i] = let_out * math.tanh(c[k, i])
        linear, count, exponentials = 0.0, 0.0, 2.0
        for i in range(n):
            y = x[i] * ends[1, i] + ends[2, i]
            linear += sequence[t + 1, i] * y
            count += sequence[t + 1, i]
            exponentials += math.exp(y)
        total += linear - count * math.log(exponentials)
    return -total / ((len(sequence) - 1) * n)


PROGRAMS: dict[str, Callable[..., Any] | None] = {
    **dict.fromkeys(SAME),
    "gmm": gmm,
    "kmeans": kmeans,
    "hidden_markov": hidden_markov,
    "heat": heat,
    "lstm": lstm,
}


def prepare(name: str, case: Case, fastmath: bool = False) -> Prepared:
    """The value."""
    plain = PROGRAMS[name] or case.program
    program, arguments = translated(plain, njit(fastmath=fastmath), {}), case.arguments
    return Prepared(lambda: program(*arguments), why=NO_GRADIENT)


def translated(function: Any, compiled: Any, done: dict[int, Any]) -> Any:
    """A function of ours or of this file, and those that it calls, compiled by Numba.

    `done`: what is translated already, by identity; a function may call itself.
    """
    plain = getattr(function, "py_func", function)
    if id(plain) in done:
        return done[id(plain)]
    names = dict(plain.__globals__)
    made = FunctionType(plain.__code__, names, plain.__name__)
    done[id(plain)] = result = compiled(made)
    for name in plain.__code__.co_names:
        called = names.get(name)
        if (
            isinstance(called, Function)
            or getattr(called, "__module__", "") == __name__
        ):
            names[name] = translated(called, compiled, done)
    return result
