"""Sequences, graphs, sparse matrices: tables in order, orders found on the way."""

import bisect
import math
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case

WORD = np.array([0, 1, 1, 2, 0])
TRANSITIONS = np.array([[0.7, 0.3], [0.4, 0.6]])
EMISSIONS = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])


@case(WORD, TRANSITIONS, EMISSIONS)
@cl.jit
def viterbi(
    word: cl.i64[:], transitions: cl.f64[:, :], emissions: cl.f64[:, :]
) -> float:
    """The best path by its indices, and its weight once more along it."""
    n, states = len(word), len(transitions)
    score = np.log(emissions[:, word[0]])
    came_from = np.zeros((n, states), int)
    for t in range(1, n):
        new = np.zeros(states)
        for j in range(states):
            best = 0
            for i in range(1, states):
                if score[i] + math.log(transitions[i, j]) > (
                    score[best] + math.log(transitions[best, j])
                ):
                    best = i
            came_from[t, j] = best
            new[j] = score[best] + math.log(
                transitions[best, j] * emissions[j, word[t]]
            )
        score = new
    state = np.argmax(score)
    weight = 1.0
    for t in range(n - 1, 0, -1):
        weight *= transitions[came_from[t, state], state]
        state = came_from[t, state]
    return np.max(score) + weight


@case(np.array([0.4, 1.1, 0.7, 1.5]), np.array([0.1, -0.4, 0.5, 0.9]), 0.8)
@cl.jit
def particle_filter(seen: cl.f64[:], start: cl.f64[:], noise: float) -> float:
    """Particles are drawn again by their weights, at even places of the sum."""
    n = len(start)
    particles, evidence = start, 0.0
    for t in range(len(seen)):
        moved = 0.9 * particles + 0.2 * np.sin(particles + t)
        weights = np.exp(-0.5 * ((seen[t] - moved) / noise) ** 2)
        total = np.sum(weights)
        evidence += math.log(total / n)
        reached, k, chosen = weights[0], 0, []
        for i in range(n):
            while reached < (i + 0.5) / n * total:
                k += 1
                reached += weights[k]
            chosen.append(k)
        particles = moved[np.array(chosen)]
    return evidence + np.mean(particles)


# A matrix in compressed rows: where rows begin, the columns, the entries.
ROWS = np.array([0, 2, 3, 6])
COLUMNS = np.array([0, 2, 1, 0, 1, 2])


@case(
    ROWS, COLUMNS, np.array([4.0, 0.5, 3.0, -0.3, 0.8, 5.0]), np.array([1.0, 2.0, -1.0])
)
@cl.jit
def gauss_seidel(
    rows: cl.i64[:], columns: cl.i64[:], entries: cl.f64[:], b: cl.f64[:]
) -> float:
    """Sweeps over a sparse matrix until nothing changes."""
    x = np.zeros(len(b))
    while True:
        largest = 0.0
        for i in range(len(b)):
            rest, diagonal = b[i], 1.0
            for k in range(rows[i], rows[i + 1]):
                if columns[k] == i:
                    diagonal = entries[k]
                else:
                    rest -= entries[k] * x[columns[k]]
            new = rest / diagonal
            largest = max(largest, abs(new - x[i]))
            x[i] = new
        if largest < 1e-4:
            return np.dot(x, x)


@case(np.array([[0.0, 0.7, 2.5], [0.7, 0.0, 0.9], [2.5, 0.9, 0.0]]))
@cl.jit
def shortest_path(lengths: cl.f64[:, :]) -> float:
    """Dijkstra's, ended at once when the last node is reached."""
    n = len(lengths)
    distance = np.full(n, math.inf)
    distance[0] = 0.0
    done = np.zeros(n, int)
    while True:
        at = -1
        for k in range(n):
            if done[k] == 0 and (at < 0 or distance[k] < distance[at]):
                at = k
        if at == n - 1:
            return distance[at] ** 2
        done[at] = 1
        for k in range(n):
            if at != k and distance[at] + lengths[at, k] < distance[k]:
                distance[k] = distance[at] + lengths[at, k]


@case(np.array([0.3, -1.2, 2.0, 0.7, 1.4]), 0.5)
@cl.jit
def quicksort(x: cl.f64[:], weight: float) -> float:
    """Ranges wait in a list; the result is a weighted sum of what is sorted."""
    a = x.copy()
    waiting = [(0, len(a) - 1)]
    while waiting:
        low, high = waiting.pop()
        if low >= high:
            continue
        pivot, i, j = a[(low + high) // 2], low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i, j = i + 1, j - 1
        waiting += [(low, j), (i, high)]
    total = 0.0
    for k, v in enumerate(a):
        total += weight**k * v * k
    return total


@case(np.array([[0.5, 1.5], [0.3, 0.8], [1.7, 0.2]]), 0.7)
@cl.jit
def first_pair_in_reach(points: cl.f64[:, :], reach: float) -> float:
    """Nested loops are left from the inside, from two places."""
    closest = math.inf
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            gap = np.sum((points[i] - points[j]) ** 2)
            if gap < reach * reach:
                return gap * reach
            for v in points[j]:
                if v > 10.0:
                    return -v
            closest = min(closest, gap)
    return closest


@case(np.array([0.9, 0.4, 1.3, 0.7]), 0.3)
@cl.jit
def binary_search(steps: cl.f64[:], target: float) -> float:
    """In a running sum, then by a straight line between two of its values."""
    knots = np.cumsum(steps * steps)
    low, high = 0, len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] > target * knots[-1]:
            high = middle
        else:
            low = middle
    return low + (target * knots[-1] - knots[low]) / (knots[high] - knots[low])


@case(1.5, 3)
@cl.jit
def lists_as_conditions(x: float, n: int) -> float:
    """A list is true if it holds anything; what is popped goes on at once."""
    left, right = [(x * k, k) for k in range(n)], []
    total = 1.0
    while left or total < 0.0:
        value, k = left.pop()
        total += value
        if (right and right[-1] < value) or not left:
            total *= 0.5
        else:
            right.append(value + k)
    return total + len(right)


class Pair(NamedTuple):
    """What has methods of the names that lists have."""

    first: float
    second: float

    def append(self, value):
        return Pair(self.second, value)

    def pop(self):
        return self.first * 2.0, self.second


@case(0.7)
@cl.jit
def methods_called_as_those_of_lists(x: float) -> float:
    pair = Pair(x, x * x).append(3.0)
    pair = pair.append(x)
    first, second = pair.pop()
    both = pair.pop()
    return first * second + both[0]


@case(np.array([0.7, -1.2, 0.4]), 1)
@cl.jit
def slices_of_lists_are_lists(x: cl.f64[:], k: int) -> float:
    xs = [v * v for v in x]
    tail = xs[k:]
    tail[0] = 0.5
    longer = (xs[:k] if k > 0 else xs[1:]) + [x[0]] + tail * 2
    rows = [[v * w for v in x] for w in x]
    turned = rows[k:] + rows[:k]
    return sum(v * i for i, v in enumerate(longer)) + turned[-1][2] * xs[1]


@case(0.7, 3)
@cl.jit
def rows_of_lists_are_lists(x: float, n: int) -> float:
    """`+` and `*` join and repeat rows wherever they come from, and add arrays."""
    rows = [[x * i, x + i] for i in range(n)]
    first, last = rows[0], rows[n - 1]
    total = 0.0
    for k, row in enumerate(rows):
        longer = row + rows[k - 1] if k > 0 else row * 2
        total += sum(longer) * len(longer)
        first = first + row
    arrays = [np.array(row) for row in rows]
    both = np.array(rows)[0] + rows[1]
    return total + first[-2] * len(first + last) + sum(arrays[0] + arrays[1]) * both[1]


@case(0.7, 2)
@cl.jit
def lists_in_tuples_and_from_functions(x: float, n: int) -> float:
    def powers(k):
        return [x**i for i in range(k)]

    def falling(k):
        if k == 0:
            return [x]
        shorter = falling(k - 1)
        return shorter + shorter[:1]

    double = lambda v: v + v  # noqa: E731
    pair = (powers(n), falling(n))
    named = {"low": [x, 1.0], "high": np.array([x, 2.0])}
    last = None
    for k in range(n):
        last = named["low"] * (k + 1)
    ends = 0.0 if last is None else len(last + pair[0])
    wide = double(pair[1])
    return ends * wide[-1] + len(wide) * sum(double(named["high"]))


@case(np.array([[0.7, -0.2, 0.5], [0.3, 1.1, -0.6]]))
@cl.jit
def matrices_taken_back(m: cl.f64[:, :]) -> float:
    """The cotangents of what is taken are those of a matrix."""
    pieces = [2.0 * m, m * m]
    pieces.append(m + 1.0)
    last = pieces.pop()
    return sum(np.sum(p * p) * p[1, 2] for p in pieces) + np.sum(last * m)


@case(np.array([0.4, -1.2, 0.9]), 2)
@case(np.array([0.4, 0.5, 0.9]), 7)
@cl.jit
def members(x: cl.f64[:], n: int) -> float:
    """What is in a list, a tuple or a range, and where, and how often."""
    items = [v for v in x] + [x[0], x[1]]
    pairs, seen, total = [(i, v > 0.0) for i, v in enumerate(x)], [], 0.0
    for k in range(-4, 2 * n):
        if k % 3 not in seen:
            seen.append(k % 3)
            total += x[k % 3]
        is_between = k in range(9, -2, -3) or k not in range(n) or k in range(0, 9, 4)
        total = total * 0.5 + x[0] * is_between + 2 * (0.5 * k in range(1, n))
    total += items.count(x[0]) * x[1] + items.index(x[1]) + seen.index(max(seen))
    total += x[2] if (1, True) in pairs and 0 < n in (0.5, 2, x[0]) else -x[2]
    low, high = bisect.bisect_left(sorted(seen), 1), bisect.bisect(sorted(items), x[0])
    return total + (x[1] if n in (k * k for k in seen) else x[0]) * low * high
