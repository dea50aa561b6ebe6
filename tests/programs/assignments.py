"""Assignments to parts of arrays, and lists that grow."""

from __future__ import annotations

import math

import numpy as np

import chadllvm as cl
from programs.case import case

X = np.array([0.7, -1.3, 0.4, 2.1, -0.6, 1.7, 0.9])
M = np.array([[0.6, -1.2, 0.4], [1.9, 0.7, -0.3], [0.2, 1.1, 2.3], [-0.8, 0.5, 1.4]])
PLACES = np.array([1, 4, 1, 0])


# ---- slices ----------------------------------------------------------------------


@case(X)
@cl.jit
def smoothed_inside(x: cl.f64[:]) -> float:
    a = np.zeros_like(x)
    b = np.sin(x)
    a[1:-1] = 0.5 * (b[:-2] + b[2:])
    return np.sum(a * a) + a[0]


@case(X)
@cl.jit
def shifted_over_itself(x: cl.f64[:]) -> float:
    """The right side is computed before anything is written."""
    a = x.copy()
    a[1:] = a[:-1] * 2.0
    a[:-1] = a[1:] + a[:-1]
    return np.sum(a * a * x)


@case(X)
@cl.jit
def turned_around(x: cl.f64[:]) -> float:
    a = x * x
    a[::-1] = a
    a[::2] = a[1::2][0]
    a[-2:] = a[:2] * 3.0
    return np.sum(a * x)


@case(X, 2, 5)
@case(X, -4, 100)
@case(X, 5, 2)
@cl.jit
def bounds_of_slices(x: cl.f64[:], low: int, high: int) -> float:
    a = x.copy()
    a[low:high] = 0.25
    a[low:high:2] += x[low:high:2] * x[0]
    return np.sum(a * a * x)


@case(M)
@cl.jit
def rows_and_columns(m: cl.f64[:, :]) -> float:
    a = m.copy()
    a[:, 1] = m[:, 0] * m[:, 2]
    a[2, 1:] += a[0, 1:] * a[1, :-1]
    a[0] = 2.0 * a[1]
    a[-1][::2] = a[0, 0]
    a[3] *= a[2]
    return np.sum(a * a * m)


@case(M)
@cl.jit
def interior(m: cl.f64[:, :]) -> float:
    a = m.copy()
    for _ in range(3):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return np.sum(a * a)


@case(M, X[:3])
@cl.jit
def stretched_values(m: cl.f64[:, :], v: cl.f64[:]) -> float:
    a = np.zeros(m.shape)
    a[:] = v
    a[1:3, :] -= m[:1]
    a[:, :] *= m[:, 0:1]
    a[..., 0] = v[1]
    a[:, None, 2] = m[:, 1:2]
    return np.sum(a * a)


@case(X[:1], X)
@case(X, X[::-1].copy())
@cl.jit
def sizes_of_one_assigned(v: cl.f64[:], x: cl.f64[:]) -> float:
    """Whether the value is stretched is known at run time only."""
    a = x * 2.0
    a[:] = v * v
    a += v
    return np.sum(a * x)


@case(M)
@cl.jit
def part_of_the_same_array(m: cl.f64[:, :]) -> float:
    """A row is a view: it is read before the rest is overwritten."""
    a = m.copy()
    row = a[0]
    a[1:] = row * 2.0
    return np.sum(a * m)


@case(M)
@cl.jit
def slice_of_the_same_array(m: cl.f64[:, :]) -> float:
    a = m * m
    part = a[:-1]
    a[1:] = part
    return np.sum(a * m)


@case(X)
@cl.jit
def whole_array_augmented(x: cl.f64[:]) -> float:
    a = np.ones(len(x))
    for k in range(3):
        a *= x
        a += k
        a -= 0.5 * a
        a /= 1.5
        a **= 2
    return np.sum(a)


@case(X)
@cl.jit
def filled_in_one_branch(x: cl.f64[:]) -> float:
    a = x.copy()
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            a[i:] *= x[i]
        else:
            a[: i + 1] = total
        total += a[i]
    return np.sum(a) + total


@case(X)
@cl.jit
def integers_assigned(x: cl.f64[:]) -> float:
    count = np.zeros(4, dtype=int)
    count[1:3] = 2
    count[::3] += 5
    a = x.copy()
    a[:4] = count
    return np.sum(a * x) + count[0]


@case(X)
@cl.jit
def filled(x: cl.f64[:]) -> float:
    a = np.empty_like(x)
    a.fill(x[1] * x[0])
    return np.sum(a * x)


@case(X, 20)
@cl.jit
def waves(x: cl.f64[:], steps: int) -> float:
    """The wave equation, stepped in place with three arrays."""
    old, now = x.copy(), x * 0.9
    new = np.zeros_like(x)
    for _ in range(steps):
        curve = now[:-2] - 2.0 * now[1:-1] + now[2:]
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + 0.2 * curve
        old, now, new = now, new, old
    return np.sum(now * now)


@case(M)
@cl.jit
def elimination_by_rows(m: cl.f64[:, :]) -> float:
    a = m[:3].copy()
    for k in range(3):
        for i in range(k + 1, 3):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return a[0, 0] * a[1, 1] * a[2, 2]


# ---- index arrays and masks ------------------------------------------------------


@case(X, PLACES)
@cl.jit
def last_one_stays(x: cl.f64[:], places: cl.i64[:]) -> float:
    a = x.copy()
    a[places] = x[: len(places)] * x[1]
    return np.sum(a * a)


@case(X, PLACES)
@cl.jit
def not_accumulated(x: cl.f64[:], places: cl.i64[:]) -> float:
    a = x.copy()
    a[places] += x[: len(places)]
    a[places] *= 2.0
    return np.sum(a * a)


@case(X, PLACES)
@cl.jit
def accumulated_at(x: cl.f64[:], places: cl.i64[:]) -> float:
    a = np.zeros(5)
    np.add.at(a, places, x[: len(places)] * x[0])
    np.add.at(a, places, 1.0)
    return np.sum(a * a * a)


@case(M, np.array([2, 0]))
@cl.jit
def places_of_rows(m: cl.f64[:, :], rows: cl.i64[:]) -> float:
    a = m.copy()
    a[rows] = m[1:3] * m[0]
    a[rows, 1] -= m[2, 2]
    np.add.at(a, (rows, rows), m[:2, 0])
    return np.sum(a * a)


@case(X)
@cl.jit
def masked_numbers(x: cl.f64[:]) -> float:
    a = x * x
    a[x < 0.0] = 0.25
    a[a > 1.0] *= x[0]
    a[np.abs(x) > 1.0] -= 0.5
    return np.sum(a * x)


@case(M)
@cl.jit
def masked_arrays(m: cl.f64[:, :]) -> float:
    a = m.copy()
    positive = m > 0.0
    a[positive] = np.arange(np.sum(positive)) * m[0, 0]
    a[m[:, 0] > 0.5] = m[0]
    a[m[:, 1] > 0.55, 1] += 2.0
    return np.sum(a * m)


@case(M)
@cl.jit
def rectified(m: cl.f64[:, :]) -> float:
    """Where the mask holds, nothing flows back."""
    a = np.sqrt(np.abs(m) + 0.1)
    a[m < 0.0] = 0.0
    return np.sum(a * a * a)


# ---- lists -----------------------------------------------------------------------


@case(X)
@cl.jit
def kept_elements(x: cl.f64[:]) -> float:
    kept = []
    for v in x:
        if v > 0.0:
            kept.append(v * v)
    return sum(kept[k] * (k + 1) for k in range(len(kept)))


@case(X)
@cl.jit
def read_while_growing(x: cl.f64[:]) -> float:
    a = [x[0]]
    for v in x:
        a.append(0.5 * a[-1] + v)
        if len(a) > 3 and v > 0.0:
            a.append(a[-3] * v)
    return a[-1] * a[len(a) // 2]


@case(X)
@cl.jit
def list_as_a_stack(x: cl.f64[:]) -> float:
    s = []
    for i in range(len(x)):
        s.append(x[i])
        s.append(math.sin(x[i]))
        if i % 3 == 2:
            for _ in range(2):
                a = s.pop()
                b = s.pop()
                s.append(a * b + 0.5)
    total = 0.0
    for v in s:
        total = 0.5 * total + v
    return total


@case(X, 3)
@cl.jit
def lists_in_loops(x: cl.f64[:], n: int) -> float:
    out = []
    for i in range(n):
        row = []
        for v in x:
            if v > 0.37 * i:
                row.append(v * i)
                out.append(v)
        out.append(sum(row))
    out.extend(x)
    return sum(v * v for v in out)


@case(X, M)
@cl.jit
def list_of_rows(x: cl.f64[:], m: cl.f64[:, :]) -> float:
    rows = []
    for i in range(len(m)):
        if m[i, 0] > 0.0:
            rows.append(m[i] * x[i])
    a = np.array(rows)
    return np.sum(a * a) + rows[1][2]


@case(X)
@cl.jit
def list_of_pairs(x: cl.f64[:]) -> float:
    pairs = []
    for i in range(len(x)):
        if i % 2 == 0:
            pairs.append((x[i], i))
    pairs.append((1, 2))
    return sum(v * v * i for v, i in pairs)


@case(X)
@cl.jit
def integers_become_floats(x: cl.f64[:]) -> float:
    a = []
    a.append(1)
    for v in x:
        a.append(v)
    b = []
    for i in range(3):
        b.append(i)
    return a[0] * a[2] + a[b[2]] // 1 + b[1] // 2


@case(X)
@cl.jit
def length_before_the_first(x: cl.f64[:]) -> float:
    """What the list holds is not known yet where its length is asked for."""
    peaks = []
    for v in x:
        if len(peaks) == 0 or v > peaks[-1]:
            peaks.append(v)
    return sum(p * p for p in peaks) * len(peaks)


@case(X)
@cl.jit
def grown_and_changed(x: cl.f64[:]) -> float:
    a = []
    for k in range(len(x)):
        a.append(x[k])
        a[k // 2] += x[k] * a[-1]
    return sum(v * w for v, w in zip(a, x, strict=False))


@case(X)
@cl.jit
def grown_in_both_branches(x: cl.f64[:]) -> float:
    small, large = [], []
    for v in x:
        if abs(v) < 1.0:
            small.append(v)
        else:
            large.append(v * v)
            if len(small) > 0:
                large.append(small[-1])
    return sum(small) * sum(large)


@case(X)
@cl.jit
def displays_and_sums_of_lists(x: cl.f64[:]) -> float:
    a = [x[0], 2, x[1] * x[2]]
    b = [0.5] * 3 + a
    b += [x[3]]
    n = 2
    c = n * [v for v in x]
    c[3] = b[-1]
    d = [[0.0] * n for _ in range(3)]
    d[1][1] = x[4]
    d[2] = [x[5], 1.0]
    return sum(u * v for u, v in zip(b, c, strict=False)) + d[1][1] * d[2][0] + len(c)


@case(X)
@cl.jit
def squares_below(x: cl.f64[:]) -> float:
    return sum_of_squares(selected(x, 0.5)) + len(selected(x, 1.0))


@cl.jit
def selected(x: cl.f64[:], limit: float):
    found = []
    for v in x:
        if v > limit:
            found.append(v)
    return np.array(found)


@cl.jit
def sum_of_squares(x: cl.f64[:]):
    return np.sum(x * x)


@case(0.3, 3)
@cl.jit
def adaptive_steps(start: float, digits: int) -> float:
    """How many steps are taken depends on the data."""
    times, values = [0.0], [start]
    step, tolerance = 0.1, 10.0**-digits
    for _ in range(60):
        t, y = times[-1], values[-1]
        if t < 1.0:
            slope = math.cos(t) - y
            error = abs(step * step * (math.sin(t) + slope)) * 0.5
            if error < tolerance:
                times.append(t + step)
                values.append(y + step * slope)
                step *= 1.3
            else:
                step *= 0.5
    total = 0.0
    for k in range(1, len(times)):
        total += (times[k] - times[k - 1]) * values[k]
    return total


# ---- one value for several targets ------------------------------------------------


@case(X)
@cl.jit
def mirrored(x: cl.f64[:]) -> float:
    n = len(x)
    a = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            a[i, j] = a[j, i] = x[i] * x[j] if i != j else x[i]
    return np.sum(a @ x)


@case(X, 3)
@cl.jit
def targets_from_left_to_right(x: cl.f64[:], n: int) -> float:
    """The element is written before the index changes."""
    a = x.copy()
    i = 1
    a[i] = i = n
    b = (b, c) = d = (a[0], a[1] * x[2])
    return a @ x + i * x[0] + b * c * d[1]


@case(X)
@cl.jit
def one_row_for_two(x: cl.f64[:]) -> float:
    a = np.zeros((3, len(x)))
    a[0] = a[2] = x * x
    a[1, 0] = last = a[2, 1] = np.sin(a[0, 0])
    return np.sum(a * x) + last
