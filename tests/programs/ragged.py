"""Lists of arrays, each of its own size."""

from __future__ import annotations

from math import exp, sin

import numpy as np

import chadllvm as cl
from programs.case import case

ROWS = [
    np.array([1.0, -2.0, 0.5]),
    np.array([0.3]),
    np.zeros(0),
    np.array([2.0, 1.5, -0.7, 0.1]),
]
FULL = [np.array([1.0, -2.0, 0.5]), np.array([0.3]), np.array([2.0, 1.5])]
ONE = [np.array([0.4, 0.8])]
NONE: list[np.ndarray] = []
TABLES = [np.array([[1.0, 2.0, -0.5], [0.3, 0.1, 0.9]]), np.array([[2.0], [0.7]])]
GROUPS = [FULL, [], ONE, [np.zeros(0), np.array([0.2, 0.6, -1.0])]]
LISTS = [[1.0, -2.0], [0.5], [], [3.0, 0.25, 1.5]]
X = np.array([0.5, -1.0, 2.0])


@case(ROWS)
@case(NONE)
@cl.jit
def sum_of_sums(xs: list[cl.f64[:]]) -> float:
    return sum(np.sum(x * x) for x in xs)


@case(ROWS)
@case(NONE)
@cl.jit
def loops(xs: list[cl.f64[:]]) -> float:
    total = 0.0
    for x in xs:
        for v in x:
            total += v * v * (1.0 + total * 0.01)
    for i in range(len(xs)):
        for j in range(len(xs[i])):
            total += sin(xs[i][j]) * (i + j)
    return total


@case(FULL)
@case(ONE)
@cl.jit
def elements(xs: list[cl.f64[:]]) -> float:
    last = xs[-1]
    return xs[0][1] * last[-1] + xs[0][0] ** 2 * len(xs[0]) + len(last)


@case(ROWS, X)
@case(NONE, X)
@cl.jit
def zipped(xs: list[cl.f64[:]], w: cl.f64[:]) -> float:
    total = 0.0
    for x, v in zip(xs, w, strict=False):
        total += np.sum(x) * v
    for k, x in enumerate(xs):
        total += np.dot(x, x) * k
    for x, y in zip(xs, xs[1:], strict=False):  # noqa: RUF007
        total += np.sum(x) * np.sum(y)
    for x in reversed(xs):
        total = 0.5 * total + np.sum(x)
    return total


@case(ROWS, 0.7)
@case(NONE, 0.7)
@cl.jit
def made_of_others(xs: list[cl.f64[:]], a: float) -> float:
    ys = [np.exp(a * x) for x in xs]
    zs = [y[1:] * y[:-1] for y in ys if len(y) > 1]
    return sum(np.sum(y) for y in ys) + sum(np.sum(z) for z in zs) * len(zs)


@case(5, 0.7)
@case(0, 0.7)
@cl.jit
def triangle(n: int, a: float) -> float:
    rows = [[exp(-a * j) * i for j in range(i)] for i in range(n)]
    columns = [a * np.arange(i) for i in range(n)]
    total = 0.0
    for row, column in zip(rows, columns, strict=True):
        for v, w in zip(row, column, strict=True):
            total += v * w + v
    return total


@case(6, 0.3)
@cl.jit
def pascal(n: int, x: float) -> float:
    """Each row is made of the one before it."""
    rows: list[list[float]] = [[1.0]]
    for _ in range(n):
        last = rows[-1]
        middle = [last[k] + x * last[k + 1] for k in range(len(last) - 1)]
        rows.append([1.0] + middle + [x])  # noqa: RUF005
    return sum(sum(row) for row in rows)


@case(FULL)
@cl.jit
def appended(xs: list[cl.f64[:]]) -> float:
    rows = []
    for i in range(len(xs)):
        rows.append(xs[i] * 2.0)
        rows.append(xs[i][0] * np.ones(i))
    last = rows.pop()
    total = 0.0
    for row in rows:
        total += np.sum(row**2)
    return total * len(rows) + np.sum(last)


@case(FULL, X)
@cl.jit
def replaced(xs: list[cl.f64[:]], x: cl.f64[:]) -> float:
    ys = [y * 1.0 for y in xs]
    ys[0] = x * x
    ys[1] = x[1:] * ys[0][0]
    ys[2] = ys[1] * 2.0
    ys[-1] = ys[0] + x
    return sum(np.sum(y * y) for y in ys) + ys[1][0] * len(ys[1])


@case(FULL, X)
@cl.jit
def changed(xs: list[cl.f64[:]], x: cl.f64[:]) -> float:
    ys = [y * 1.0 for y in xs]
    ys[0][1] = x[0] * ys[1][0]
    ys[0][1:] *= x[1:]
    ys[2][0] += ys[0][2] * x[2]
    ys[2][1] **= 2
    ys[1] += x[0]
    ys[0][:] = ys[0] * ys[0][0]
    return sum(np.sum(y * y * y) for y in ys)


@case(FULL, 4)
@cl.jit
def updated_in_a_loop(xs: list[cl.f64[:]], n: int) -> float:
    """Each step reads and writes elements of several arrays."""
    ys = [np.sin(x) for x in xs]
    for _ in range(n):
        for i in range(len(ys)):
            for j in range(len(ys[i])):
                ys[i][j] = ys[i][j] * ys[0][0] + 0.1 * j
    return sum(np.sum(y) for y in ys)


@case(ROWS, 3)
@case(NONE, 3)
@cl.jit
def carried(xs: list[cl.f64[:]], n: int) -> float:
    k = 0
    while k < n:
        xs = [x * (1.0 + 0.1 * x) for x in xs]
        if k == 1:
            xs = [x[::-1] for x in xs]
        k += 1
    return sum(x[0] * 2.0 + np.sum(x) for x in xs if len(x))


@case(FULL, 0.5)
@case(FULL, -0.5)
@cl.jit
def chosen(xs: list[cl.f64[:]], a: float) -> float:
    ys = xs if a > 0.0 else [2.0 * x for x in xs[:2]]
    zs = ys[1:]
    if a > 0.2:
        zs = xs
    return sum(np.sum(y * y) for y in ys) + a * np.sum(zs[0])


@cl.jit
def norms(xs: list[cl.f64[:]]) -> cl.f64[:]:
    return np.array([np.dot(x, x) for x in xs])


@cl.jit
def scaled(xs: list[cl.f64[:]], a: float) -> list[cl.f64[:]]:
    return [a * x for x in xs]


@case(ROWS, 0.5)
@case(NONE, 0.5)
@cl.jit
def passed_to_functions(xs: list[cl.f64[:]], a: float) -> float:
    def weighed(k: int) -> float:
        return np.sum(xs[k]) * a

    ys = scaled(xs, a)
    return np.sum(norms(ys)) + sum(weighed(k) for k in range(len(xs)))


@case(ROWS)
@cl.jit
def joined(xs: list[cl.f64[:]]) -> float:
    flat = np.concatenate(xs)
    both = np.concatenate([2.0 * x for x in xs] + xs)
    return np.sum(flat * flat * np.arange(len(flat))) + np.max(both)


@case(FULL)
@cl.jit
def copies_are_their_own(xs: list[cl.f64[:]]) -> float:
    ys = [x.copy() for x in xs]
    ys[0][0] = 5.0
    row = xs[1].copy()
    row[0] = 7.0
    return ys[0][0] * xs[0][0] + row[0] * xs[1][0] + np.sum(ys[0])


@case(TABLES)
@cl.jit
def tables(ms: list[cl.f64[:, :]]) -> float:
    total = 0.0
    for m in ms:
        total += np.sum(m @ m.T) + m[0, 0] * m[-1][-1]
    squares = [m.T @ m for m in ms]
    squares[0][0, 1] = ms[1][0, 0]
    squares[1] = ms[0] * 2.0
    squares.append(ms[0][:, 1:])
    return total + sum(np.sum(s * s) for s in squares) * len(squares)


@case(GROUPS)
@case([])
@cl.jit
def groups(gs: list[list[cl.f64[:]]]) -> float:
    total = 0.0
    for g in gs:
        for k, x in enumerate(g):
            total += np.sum(x * x) * (k + len(g))
    if len(gs) > 0:
        total += gs[0][0][1] * gs[-1][1][-1]
    return total


@case(GROUPS)
@cl.jit
def groups_made(gs: list[list[cl.f64[:]]]) -> float:
    doubled = [[2.0 * x for x in g] for g in gs]
    firsts = [g[:1] for g in doubled if len(g) > 0]
    every = []
    for g in gs:
        every.append([x * x for x in g])
    total = 0.0
    for g in doubled + firsts + every:
        for x in g:
            total += np.sum(x)
    return total * len(firsts)


@case(LISTS)
@cl.jit
def lists_of_numbers(xs: list[list[float]]) -> float:
    longest = max(len(x) for x in xs)
    joined = xs[0] + xs[-1]
    ys = [[2.0 * v for v in x if v > 0.0] for x in xs]
    ys[0] = [v * v for v in joined]
    ys[1][0] = xs[0][1]
    ys.append([xs[1][0]])
    return sum(sum(x) for x in xs) * longest + sum(sum(y) for y in ys) + len(joined)


@case(FULL)
@cl.jit
def gathered(xs: list[cl.f64[:]]) -> float:
    """Elements in an order that the data decide."""
    total = 1.0
    where = [2, 0, 1, 0]
    for k in where:
        total += total * xs[k][len(xs[k]) // 2]
    return total


@case(FULL)
@cl.jit
def taken_from_the_end(xs: list[cl.f64[:]]) -> float:
    a, b, c = xs
    rows = [a, b * a[0], c]
    total = 0.0
    while rows:
        last = rows.pop()
        total = total * 0.5 + np.sum(last * last)
    return total + b[0] + len(rows)


@case(4, X)
@cl.jit
def unequal_pieces(n: int, x: cl.f64[:]) -> float:
    pieces = []
    for i in range(n):
        pieces.append(x[: i % 3] * i)
    while len(pieces) > 2:
        last = pieces.pop()
        pieces[0] = np.concatenate((pieces[0], last))
    return np.sum(pieces[0] ** 2) + len(pieces[0])


@case(np.arange(6.0).reshape(2, 3))
@cl.jit
def rows_of_an_array(m: cl.f64[:, :]) -> float:
    """A regular array where a list is expected."""
    rows: list[cl.f64[:]] = [m[0] * m[1], m[1]]
    rows.append(m[0][:2])
    return np.sum(norms(rows)) + np.sum(norms(m))


@case(FULL, X)
@cl.jit
def gradients_inside(xs: list[cl.f64[:]], x: cl.f64[:]) -> float:
    slopes = cl.grad(sum_of_sums)(xs)
    step = [y - 0.1 * s for y, s in zip(xs, slopes, strict=True)]
    _, pullback = cl.vjp(scaled, xs, x[0])
    back, along = pullback(step)
    return sum(np.sum(s * y) for s, y in zip(step, back, strict=True)) + along


# ---- lists made of themselves, and written out -----------------------------------


@case(FULL)
@case(ONE)
@cl.jit
def appended_of_its_own(xs: list[cl.f64[:]]) -> float:
    rows = [x * 1.0 for x in xs]
    rows.append(rows[0] * 2.0)
    rows.append(rows[0].copy())
    for i in range(3):
        rows.append(rows[i][::-1] * rows[-1][0])
    rows += rows
    rows.extend(rows[1:])
    rows.append(rows[0])
    return sum(np.sum(row**3) * (k + 1) for k, row in enumerate(rows))


@case(FULL)
@cl.jit
def replaced_by_its_own(xs: list[cl.f64[:]]) -> float:
    rows = [x * 1.0 for x in xs]
    rows.append(rows[0].copy())
    rows[-1][1] = 5.0
    rows[-1][1:] += rows[-1][:-1]
    rows[0] = rows[1] * rows[2][0]
    rows[2] = rows[2][::-1] if len(xs) > 1 else rows[0]
    return sum(np.sum(np.sin(row)) * (k + 1) for k, row in enumerate(rows))


@case(X)
@case(X[:1])
@cl.jit
def written_out(x: cl.f64[:]) -> float:
    rows = [x, x[1:] * 2.0]
    rows.append(x[:1] * rows[0][0])
    total = 0.0
    for k, row in enumerate(rows):
        total += np.sum(row**2) * (k + 1)
    return total


@case(X, 3)
@cl.jit
def lists_in_two_loops(x: cl.f64[:], n: int) -> float:
    """Both lists refer to `x`, and what the inner steps make is kept by the outer."""
    kept, total = [x], 0.0
    for i in range(n):
        z, inner = x * (i + 1.0), [x]
        for k in range(2):
            inner.append(z)
            z = np.sin(z) * (k + 1.0)
        kept.append(z)
        total += sum(row[0] * row[1] for row in inner)
    return total + sum(np.sum(row**2) for row in kept)


@case(X, 4)
@cl.jit
def states_of_a_list(x: cl.f64[:], n: int) -> float:
    """What was taken from a list stays when the list grows."""
    states, total = [x * 1.0], 0.0
    best = states[0]
    for i in range(n):
        last = states[-1]
        states.append(np.sin(last) * (1.0 + i * 0.5))
        if states[-1][0] > best[0]:
            best = states[-1]
        total += last[0] * states[-1][1]
    return total + best[1]


@case(X, 1)
@case(X, 0)
@case(X, 3)
@cl.jit
def cut_in_two(x: cl.f64[:], k: int) -> float:
    parts = [x[:k] * 1.0, x[k:] * 2.0]
    for i in range(len(parts)):
        for j in range(len(parts[i])):
            parts[i][j] *= parts[i][j] * (i + j)
    return np.sum(np.concatenate(parts) * x)


@case(X)
@cl.jit
def lists_written_out(x: cl.f64[:]) -> float:
    lists = [[x[0], 1.0], [x[1] * x[2]]]
    nested = [[x, x[1:]], [x * x]]
    joined = lists[0] + lists[1]
    return sum(joined) * len(joined) + sum(np.sum(a) for b in nested for a in b)


@case(X, X[1:])
@case(X, X)
@cl.jit
def declared(x: cl.f64[:], y: cl.f64[:]) -> float:
    rows: list[cl.f64[:]] = [x, y]
    return np.sum(rows[0]) * np.sum(rows[1] ** 2)


@case(X, 3)
@case(X, 0)
@cl.jit
def changing_places(x: cl.f64[:], n: int) -> float:
    """What a list refers to is found though elements go from place to place."""
    parts = [x * 2.0, x[1:] * 3.0, x[2:]]
    for k in range(n):
        last = parts[0]
        parts[0] = parts[1]
        parts[1] = last
        parts[1], parts[2], parts[0] = parts[k % 2], parts[0] * x[0], parts[2]
    return np.sum(parts[0]) * parts[1][0] + len(parts[2]) * np.sum(parts[2] ** 2)
