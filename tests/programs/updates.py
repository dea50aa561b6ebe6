"""Arrays that are filled, updated and carried through loops."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.2, 0.4, 2.1, -0.3])
M = np.array([[0.5, 1.0, -0.7], [2.0, 0.3, 1.1], [-0.4, 0.9, 0.6]])


@case(X)
@cl.jit
def filled(x: cl.f64[:]) -> float:
    a = [0.0 for _ in range(len(x))]
    for i in range(len(x)):
        a[i] = x[i] * x[i]
    return sum(a[i] * x[i] for i in range(len(x)))


@case(X, 6)
@cl.jit
def running_product(x: cl.f64[:], n: int) -> float:
    a = [1.0 for _ in range(n)]
    a[0] = x[0]
    for i in range(1, n):
        a[i] = a[i - 1] * x[i % len(x)] + 0.1
        if a[i] > 0.5:
            a[i] -= 0.3 * a[i - 1]
    return a[n - 1] + a[n // 2]


@case(X)
@cl.jit
def swapped_elements(x: cl.f64[:]) -> float:
    a = [v * v for v in x]
    a[0], a[-1] = a[-1], 2.0 * a[0]
    return a[0] * x[0] + a[-1] * x[1]


@case(X, 4)
@cl.jit
def double_buffer(x: cl.f64[:], steps: int) -> float:
    old = [v for v in x]
    new = [v for v in x]
    for _ in range(steps):
        for i in range(1, len(x) - 1):
            new[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * math.sin(old[i + 1])
        old, new = new, old
    return sum(v * v for v in old) + new[1]


@case(X, 5)
@cl.jit
def sweeps_in_place(x: cl.f64[:], sweeps: int) -> float:
    u = [v for v in x]
    for _ in range(sweeps):
        for i in range(1, len(x) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 0.1 * u[i] * u[i]
    return sum(v * v for v in u)


@case(M)
@cl.jit
def eliminated(m: cl.f64[:, :]) -> float:
    """The determinant by Gaussian elimination without pivots."""
    n = len(m)
    a = [[m[i, j] for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= factor * a[k][j]
    product = 1.0
    for k in range(n):
        product = product * a[k][k]
    return product


@case(M, X)
@cl.jit
def rows_replaced(m: cl.f64[:, :], x: cl.f64[:]) -> float:
    a = [[v for v in row] for row in m]
    a[1] = [x[j] * a[0][j] for j in range(3)]
    a[2] = [v for v in a[1]]
    a[0][2] = a[2][1] * a[1][0]
    return sum(sum(v * v for v in row) for row in a)


@case(X, X[::-1].copy())
@cl.jit
def alignment(x: cl.f64[:], y: cl.f64[:]) -> float:
    """A table of soft minima, filled row by row (dynamic time warping)."""
    n, m = len(x), len(y)
    t = [[0.0 for _ in range(m + 1)] for _ in range(n + 1)]
    for i in range(1, n + 1):
        t[i][0] = t[i - 1][0] + 1.0
    for j in range(1, m + 1):
        t[0][j] = t[0][j - 1] + 1.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = x[i - 1] - y[j - 1]
            a, b, c = t[i - 1][j], t[i][j - 1], t[i - 1][j - 1]
            low = min(a, min(b, c))
            s = math.exp(low - a) + math.exp(low - b) + math.exp(low - c)
            t[i][j] = d * d + low - math.log(s)
    return t[n][m]


@case(X, np.array([1, 3, 1, 0, 1, 4]))
@cl.jit
def histogram(x: cl.f64[:], places: cl.i64[:]) -> float:
    h = [0.0 for _ in range(len(x))]
    for k in range(len(places)):
        h[places[k]] += x[k % len(x)] * x[k % len(x)]
    return sum(h[i] * h[i] * x[i] for i in range(len(x)))


@case(X, True)
@case(X, False)
@cl.jit
def in_one_branch(x: cl.f64[:], flag: bool) -> float:
    a = [v for v in x]
    for i in range(1, len(x)):
        if flag and a[i] > 0.0:
            a[i] = a[i] * a[i - 1]
        elif not flag:
            a[i - 1] = a[i] + 1.0
            a[i] = a[i] * 2.0
    return sum(v * w for v, w in zip(a, x, strict=False))


@case(X)
@cl.jit
def the_old_value_is_captured(x: cl.f64[:]) -> float:
    """Each step reads an element and overwrites it: its old value is on the tape."""
    a = [v for v in x]
    for i in range(len(x)):
        a[0] = a[0] * a[0] * 0.3 + math.sin(a[i])
    return a[0]


@case(X, 3)
@cl.jit
def made_anew_in_each_step(x: cl.f64[:], steps: int) -> float:
    u = [v for v in x]
    for k in range(steps):
        new = [0.0 for _ in range(len(x))]
        for i in range(len(x)):
            new[i] = u[i] * u[(i + 1) % len(x)]
            if i > k:
                new[i - 1] += 0.5 * u[i]
        u = new
    return sum(u)


@cl.jit
def smoothed(x: cl.f64[:]):
    y = [v for v in x]
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0
    return y


@case(X)
@cl.jit
def by_functions(x: cl.f64[:]) -> float:
    a = smoothed(x)
    a[0] = a[1] * x[0]
    b = smoothed(a)
    return sum(p * q for p, q in zip(b, x, strict=False))


@case(np.arange(6.0), 4)
@cl.jit
def some_integers(x: cl.f64[:], n: int) -> float:
    count = [0 for _ in range(n)]
    for i in range(len(x)):
        count[i % n] += i
    return sum(x[i] * count[i % n] * x[i] for i in range(len(x)))


@case(M)
@cl.jit
def rows_swapped(m: cl.f64[:, :]) -> float:
    """An inner loop leaves the array where it was, or in another buffer."""
    a = m.copy()
    for i in range(3):
        for j in range(3):
            if a[j, i] > 0.95:
                t = a[i].copy()
                a[i] = a[j]
                a[j] = t
        a[i] *= 0.5 + i
    return np.sum(a[0] * a[1] * a[2]) + a[0, 1]


@case(M, X)
@cl.jit
def renewed_in_an_inner_loop(m: cl.f64[:, :], x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(3):
        for j in range(3):
            if m[j, i] > 0.95:
                a = a[::-1] * m[i, j]
            else:
                a[i] += a[j]
        a[0] += 1.0
    return np.sum(a * a)


@case(np.array([1.3, 0.4, 2.2, 0.9, 1.7]))
@cl.jit
def best_partition(x: cl.f64[:]) -> float:
    """A table of the best of several: some are left out, one table has no better."""
    best = np.zeros(len(x) + 1)
    least = np.zeros(len(x) + 1)
    for j in range(1, len(x) + 1):
        most, low = -1e300, x[0]
        for i in range(j):
            most = max(most, best[i] + math.sin(x[i] * x[j - 1]) * (j - i))
            if x[i] < 2.0:
                cost = least[i] + (x[j - 1] - x[i]) ** 2 + 0.1 * x[i]
                if cost < low:
                    low = cost
        best[j] = most
        least[j] = low
    return best[-1] * least[-1] + least[2]


@case(X, np.array([0.9, -1.0, 0.1, 2.0]), 0.35)
@cl.jit
def local_alignment(x: cl.f64[:], y: cl.f64[:], gap: float) -> float:
    """What was just written is read again."""
    h = np.zeros((len(x) + 1, len(y) + 1))
    best = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            h[i, j] = max(0.0, h[i - 1, j - 1] + 0.5 - abs(x[i - 1] - y[j - 1]))
            h[i, j] = max(h[i, j], h[i - 1, j] - gap, h[i, j - 1] - gap)
            best = max(best, h[i, j] * (1.0 + 0.01 * j))
    return best


@case(np.array([1.2, 0.7, 1.9, 0.8, 1.4]))
@cl.jit
def cheapest_product(d: cl.f64[:]) -> float:
    """An element of a table is compared with all there are before it has its value."""
    n = len(d) - 1
    t = np.zeros((n, n))
    w = np.zeros(n)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            t[i, j] = 1e300
            for k in range(i, j):
                q = t[i, k] + t[k + 1, j] + d[i] * d[k + 1] * d[j + 1]
                if q < t[i, j]:
                    t[i, j] = q
    for i in range(n):
        for j in range(i):
            if d[j] < d[i]:
                w[i] = max(w[i], w[j] + d[i] * d[j])
    return t[0, n - 1] + w[n - 1] * w[2]


@case(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.5]]), X[:3])
@cl.jit
def solved_in_place(m: cl.f64[:, :], b: cl.f64[:]) -> float:
    """Cholesky's factor over the matrix, and the solution over the right-hand side."""
    a, x = m.copy(), b.copy()
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            if i == j:
                a[i, i] = math.sqrt(a[i, i])
            else:
                a[i, j] /= a[j, j]
    for i in range(n):
        for k in range(i):
            x[i] -= a[i, k] * x[k]
        x[i] /= a[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= a[k, i] * x[k]
        x[i] /= a[i, i]
    return x[0] * x[1] + x[2] + math.log(a[2, 2])


# Sizes that get a name after what was updated.


@case(X, 2)
@cl.jit
def sizes_named_after_branches_and_loops(x: cl.f64[:], k: int) -> float:
    a = x * 2.0
    table = np.outer(x, a)
    for i in range(len(a)):
        a[i] = x[i] * x[i]
    n = len(a)
    if k > 1:
        table[0] = table[0] * 3.0
    rows, columns = table.shape[0], len(table[1])
    while k > 0:
        k -= 1
        table[k] += a
    m = table.shape[1]
    return np.sum(a * n) + np.sum(table * m) + rows * columns * a[0]


@case(X, np.array([0.4, 1.3]), 0)
@case(X, np.array([0.4, 1.3]), 1)
@cl.jit
def an_element_read_at_two_places(x: cl.f64[:], steps: cl.f64[:], n: int) -> float:
    """In the second derivative a branch of the loop binds nothing."""
    a = x * 1.0
    for _ in steps:
        a[0] += a[n]
    return a[n] * a[n]
