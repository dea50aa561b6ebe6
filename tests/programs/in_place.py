"""Arrays written in place: in branches, by swaps, in functions, as tables."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.2, 0.4, 2.1, -0.3])
Y = np.array([1.1, 0.2, -0.8, 0.5])
M = np.array([[0.5, 1.0, -0.7], [2.0, 0.3, 1.1], [-0.4, 0.9, 0.6]])
ORDER = np.array([2, 0, 1, 1, 4, 3, 0])


# Branches that make a new array, update the old one, or leave it.


@case(X, 7)
@cl.jit
def renewed_or_left(x: cl.f64[:], steps: int) -> float:
    a = x.copy()
    total = 0.0
    for i in range(steps):
        if i % 3 == 1:
            a = a * a + 0.1
        total += a[i % len(a)] * x[i % len(x)]
    return total + a[0]


@case(X, 7)
@cl.jit
def renewed_or_updated(x: cl.f64[:], steps: int) -> float:
    a = x.copy()
    for i in range(steps):
        if i % 4 == 3:
            a = np.sin(a)
        elif i % 4 == 2:
            a[i % len(a)] = a[(i + 1) % len(a)] * a[0]
        a[0] += 0.5 * a[1] * a[1]
    return np.sum(a * a)


@case(np.zeros(0), 3)
@case(X, 5)
@cl.jit
def renewed_when_empty(x: cl.f64[:], steps: int) -> float:
    a = x.copy()
    b = np.ones(2)
    for i in range(steps):
        if i % 2 == 0:
            a = a * 2.0
            b = b * np.sum(a) + 1.0
    return np.sum(b) + np.sum(a)


@case(M, ORDER)
@case(M[:, :2], ORDER[:1])
@cl.jit
def rows_to_choose_from(m: cl.f64[:, :], order: cl.i64[:]) -> float:
    """Branches give rows of one array, by indices that they compute, or others."""
    total, last = 0.0, m[0]
    for k in range(len(order)):
        i = order[k] % len(m)
        row = m[i] if k % 2 == 0 else m[len(m) - 1 - i]
        if row[0] > 1.0:
            row = m[0]
        elif k == 3:
            row = row * 2.0
        other = m[i] if k % 3 == 0 else last
        total += row[k % len(row)] * other[0] * other[1] + row[0] ** 2
        if k % 4 == 1:
            last = m[i]
    return total * last[1]


@case(X, 6)
@cl.jit
def two_that_are_renewed(x: cl.f64[:], steps: int) -> float:
    a, b = x.copy(), x * 2.0
    for i in range(steps):
        if i % 2 == 0:
            a = a + 0.1 * b
        else:
            b[i % len(b)] = a[0] * b[1]
        if i == 3:
            b = a * b
    return np.sum(a * b)


@case(X, 6)
@cl.jit
def the_argument_or_a_new_array(x: cl.f64[:], steps: int) -> float:
    total = 0.0
    for i in range(steps):
        b = x
        if i % 3 == 1:
            b = x * x
        total += b[i % len(x)] * b[0]
    return total


@case(X, 8)
@cl.jit
def one_of_many_arrays(x: cl.f64[:], steps: int) -> float:
    y = x * 3.0
    total = 0.0
    for i in range(steps):
        if i % 4 == 0:
            b = np.exp(x)
        elif i % 4 == 1:
            b = x
        elif i % 4 == 2:
            b = y
        else:
            b = x * y
        total += b[i % len(x)] * b[(i + 2) % len(x)]
    return total


# Swaps.


@case(X)
@cl.jit
def reversed_by_swaps(x: cl.f64[:]) -> float:
    a = x * x
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]
    return sum(a[i] * x[i] for i in range(n))


@case(X)
@cl.jit
def sorted_by_swaps(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return sum(a[i] * (i + 1.0) for i in range(len(a)))


@case(M, 0, 2)
@cl.jit
def rows_swapped(m: cl.f64[:, :], i: int, j: int) -> float:
    a = m.copy()
    a[[i, j]] = a[[j, i]]
    a[i, 0], a[j, 1] = a[j, 2] * 2.0, a[i, 1]
    return np.sum(a * a * m)


@case(X, Y)
@cl.jit
def exchanged_between_arrays(x: cl.f64[:], y: cl.f64[:]) -> float:
    a, b = x.copy(), y.copy()
    for i in range(len(b)):
        a[i], b[len(b) - 1 - i] = b[i] * a[i], a[i + 1]
    return np.sum(a) + np.sum(b * y)


# Copies in functions.


@cl.jit
def normalised(a: cl.f64[:], place: int):
    b = a.copy()
    b[place] = b[place] + np.sum(b * b)
    b[0] -= 1.0
    return b


@case(X, 4)
@cl.jit
def by_a_function_that_copies(x: cl.f64[:], steps: int) -> float:
    a = x
    for i in range(steps):
        a = 0.1 * normalised(a, i)
    return np.sum(a * x)


@case(X)
@cl.jit
def rows_made_by_a_function(x: cl.f64[:]) -> float:
    rows = np.array([normalised(x, i) for i in range(len(x))])
    return np.sum(rows * x[:, None])


@case(M)
@cl.jit
def rows_updated_in_nested_loops(m: cl.f64[:, :]) -> float:
    a = m.copy()
    n, k = a.shape
    for i in range(1, n):
        for j in range(k):
            a[i, j] = a[i, j] * a[i - 1, k - 1 - j]
        a[i] = a[i] / (1.0 + a[i - 1] * a[i - 1])
        a[i, 1:] += a[i, :-1]
    return np.sum(a)


# Tables.


@case(X, Y, 0.5)
@cl.jit
def soft_warp(x: cl.f64[:], y: cl.f64[:], gamma: float) -> float:
    t = np.full((len(x) + 1, len(y) + 1), 1e3)
    t[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            a, b, c = t[i - 1, j], t[i, j - 1], t[i - 1, j - 1]
            low = min(a, b, c)
            total = math.exp((low - a) / gamma) + math.exp((low - b) / gamma)
            total += math.exp((low - c) / gamma)
            t[i, j] = (x[i - 1] - y[j - 1]) ** 2 + low - gamma * math.log(total)
    return t[len(x), len(y)]


@case(M)
@cl.jit
def cheapest_path(m: cl.f64[:, :]) -> float:
    t = m.copy()
    n, k = t.shape
    for i in range(n):
        for j in range(k):
            if i > 0 and j > 0:
                t[i, j] += min(t[i - 1, j], t[i, j - 1])
            elif i > 0:
                t[i, j] += t[i - 1, j]
            elif j > 0:
                t[i, j] += t[i, j - 1]
    return t[n - 1, k - 1]


@case(np.array([0.9, 1.7, 0.4, 2.2]), np.array([1, 3, 2, 4]), 6)
@cl.jit
def knapsack(worth: cl.f64[:], weight: cl.i64[:], capacity: int) -> float:
    best = np.zeros(capacity + 1)
    for k in range(len(worth)):
        for c in range(capacity, weight[k] - 1, -1):
            best[c] = max(best[c], best[c - weight[k]] + worth[k])
    return best[capacity]


@case(X, ORDER)
@cl.jit
def at_places_in_turn(x: cl.f64[:], order: cl.i64[:]) -> float:
    a = x.copy()
    for k in order:
        a[k] = 0.9 * a[k] + a[k - 1] / (1.0 + a[k] * a[k])
    return np.sum(a)


# Slices whose step is known at run time.


@case(X, 0, 5, 2)
@case(X, 4, -6, -2)
@case(X, -2, 9, 3)
@case(X, 3, 1, 1)
@cl.jit
def read_by_steps(x: cl.f64[:], i: int, j: int, k: int) -> float:
    part = x[i:j:k]
    return np.sum(part * part) + np.sum(x[::k] * x[::-1][::k])


@case(X, 1, 5, 2)
@case(X, -1, 0, -3)
@case(X, 9, -9, -1)
@cl.jit
def written_by_steps(x: cl.f64[:], i: int, j: int, k: int) -> float:
    a = x * x
    a[i:j:k] = 2.0 * a[i:j:k] * x[i:j:k]
    a[::k] += x[::k]
    a[j::k] = 0.5
    return np.sum(a * a)


@case(M, 2, -1)
@cl.jit
def tables_by_steps(m: cl.f64[:, :], k: int, back: int) -> float:
    a = m.copy()
    a[::k, ::back] *= m[::k, :]
    a[::back] = a * m
    return np.sum(a[1::k, ::k]) + np.sum(a * a)


@case(X)
@cl.jit
def a_sieve_of_steps(x: cl.f64[:]) -> float:
    a = x.copy()
    for k in range(1, len(x)):
        a[k::k] *= 0.5 + a[k - 1] * a[k - 1]
    return np.sum(a)


@case(X, Y, 7)
@cl.jit
def an_old_array_without_slope(x: cl.f64[:], y: cl.f64[:], steps: int) -> float:
    fixed = np.floor(y)
    total = 0.0
    for i in range(steps):
        b = fixed
        if i % 3 == 1:
            b = y * x[i % len(x)]
        elif i % 3 == 2:
            b = x * x
        total += b[i % len(y)] * (b[0] + i)
    return total


@case(X)
@cl.jit
def shortened_by_del(x: cl.f64[:]) -> float:
    stack = [1.0]
    for v in x:
        stack.append(stack[-1] * v)
        if v < 0.0:
            stack[-2] += v * v
            del stack[-1]
        stack[-1] += 0.5
    return sum(v * v for v in stack)


@case(X, 4)
@cl.jit
def kept_after_changing_places(x: cl.f64[:], steps: int) -> float:
    """The reverse needs what the one of the two is that is not updated."""
    a, b = x.copy(), 2.0 * x
    total = 0.0
    for i in range(steps):
        for _ in range(3):
            a, b = b, a
        c = np.sin(a)
        total += c[i] * c[1]
        b[i] = 0.5
    return np.sum(a) + np.sum(b) + total


@case(np.array([0.7, -1.2, 0.4]), 3)
@cl.jit
def an_element_updated_in_loops_that_may_not_run(x: cl.f64[:], n: int) -> float:
    xs = [x[0], x[1]]
    for i in range(n - 2):
        xs[1] += x[i] * xs[1]
    return sum(v * v for v in (xs[1:] if n > 1 else xs))


@case(np.array([0.3, 0.7, 1.1]), 1)
@cl.jit
def kept_by_an_inner_loop_and_written_by_the_outer_one(x: cl.f64[:], n: int) -> float:
    """The reverse keeps what the inner loop begins with: it is not for the step."""
    a, b = x * 1.0, x * x
    m = np.outer(x, b)
    s = 0.2
    for i in range(n + 1):
        for j in range(len(a)):
            if a[0] < b[1]:
                if s > 0.3:
                    b[:2] *= m[j, 1]
                else:
                    m[j] += x
                if a[0] < b[1]:
                    a[:2] *= x[j]
                    if n > 0:
                        m[n] += b
                        s += a[0]
            s *= s
            a = np.sin(b)
        m[(i + 1) % 3] += m[0] * s
        a[1:] *= a.max()
    return s + np.sum(a * b) + np.sum(m)


@case(np.array([0.3, -0.7, 1.1]), 1)
@cl.jit
def begun_by_an_inner_loop_that_may_return(x: cl.f64[:], n: int) -> float:
    """What the reverse keeps of the inner loop is what the outer one has had."""
    a, b = x * 1.0, x * x
    m = np.outer(x, b)
    s = 0.2
    for i in range(n + 1):
        s += math.sin(m[1, (i + 1) % 3] + a[len(a) - 1])
        a[i] += a[(i + 1) % 3]
        for j in range(n + 1):
            if n > 0:
                if s > 3.0:
                    return s * a[0]
                s *= x[n] * m[j, n]
            m[j] += b
            s += math.sin(np.sum(m[0]))
    return s + np.sum(a * s) + np.sum(m)


# ---- parts of an array by other parts of it --------------------------------------


@case(np.array([0.5, -1.0, 2.0, 0.3]), True)
@case(np.array([0.5, -1.0, 2.0, 0.3]), False)
@cl.jit
def by_one_of_two_parts(x: cl.f64[:], c: bool) -> float:
    y = x * 1.0
    y[::2] = y[1::2] if c else y[::2]
    y[1:] = y[:-1] if c else y[1:]
    y[1:] += (y[:-1] if c else y[1:]) * y[0]
    part = y[:-1]
    y[1:] = part
    pair = (y[1::2], y[::2])
    y[::2] = pair[0] if c else pair[1]
    for i in range(3):
        y[i:] = y[: len(y) - i] if c else y[i:] * 2.0
    return np.sum(y * np.arange(4.0))


@case(np.array([[0.5, -1.0], [2.0, 0.3]]), True)
@case(np.array([[0.5, -1.0], [2.0, 0.3]]), False)
@cl.jit
def by_one_of_two_rows(m: cl.f64[:, :], c: bool) -> float:
    def turned(v):
        return v[::-1]

    a = m * 1.0
    a[:, 0] = a[:, 1] if c else a[0]
    a[0] = turned(a[0])
    a[a > 0.0] = a[0] if np.sum(a > 0.0) == 2 else a[1, :1]
    np.add.at(a, np.array([0, 1]), a.T if c else a)
    other = a if c else m
    a[:] = other[::-1]
    return np.sum(a * m)


@case(np.array([[0.5, -1.0, 0.2], [2.0, 0.3, -0.4], [0.1, 0.7, 1.1]]))
@cl.jit
def products_in_place(m: cl.f64[:, :]) -> float:
    """`@=` reads all of the old value before it writes."""
    a, v = m * 1.0, m[0] * 2.0
    a @= m
    a @= a
    a[:, ::-1] @= a.T
    a[:1] @= m
    a[1] @= a
    v @= a
    return np.sum(a * m) + np.sum(v * v)


# Loops over what is made of an array that their steps update: it is made before them.


@case(X, 0.3)
@cl.jit
def loop_over_a_copy(x: cl.f64[:], c: float) -> float:
    a = x * c
    for v in a.copy():
        a[0] += v * v
    for v, w in zip(np.sin(a), reversed(2.0 * a), strict=True):
        a[1] += c * v * w
    return np.sum(a * a)


@case(X, 0.3)
@cl.jit
def loop_over_what_is_filled(x: cl.f64[:], c: float) -> float:
    a = np.zeros(len(x))
    for k, v in enumerate(a + x):
        a[k:] += c * v
        a = a[::-1] * v
    return np.sum(a * x)
