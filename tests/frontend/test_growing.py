"""Lists in a list that grow: buckets, neighbours, groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

RNG = np.random.default_rng(0)
X = RNG.normal(size=23)
EDGES = RNG.integers(0, 6, size=(24, 2))


def buckets(x: cl.f64[:], k: int) -> float:
    found = [[] for _ in range(k)]
    for v in x:
        found[int(abs(v) * 2.0) % k].append(v)
    return sum(sum(b) / len(b) * b[0] for b in found if b)


def groups(x: cl.f64[:], k: int) -> float:
    found = [[x[0]]]
    for v in x[1:]:
        if found[-1][0] * v > 0.0:
            found[-1].append(v * len(found[-1]))
        else:
            found.append([v, v * k])
    return sum(g[0] * len(g) * g[-1] for g in found)


def each_step(x: cl.f64[:], k: int) -> float:
    total = 0.0
    for step in range(4):
        cells = [[] for _ in range(k)]
        for i in range(len(x)):
            cells[int(abs(x[i]) * 2.0 + step) % k].append(i)
        for cell in cells:
            for i in cell:
                for j in cell:
                    if i < j:
                        total += x[i] * x[j]
    return total


def pairs(x: cl.f64[:], k: int) -> float:
    events = [[] for _ in range(k)]
    for i, v in enumerate(x):
        events[i % k].append((i, v * v))
    return sum(i * v for each in events for i, v in each)


def elements(x: cl.f64[:], k: int) -> float:
    rows = [[1.0, 2.0], [3.0]]
    for v in x:
        rows[0][-1] += v
        rows[1].append(v * rows[0][1])
        rows[1][0] *= v
        rows[-1][1] = v
    return rows[0][1] * rows[1][0] + rows[1][k]


def replaced(x: cl.f64[:], k: int) -> float:
    rows = [[0.0], [], []]
    for i, v in enumerate(x):
        rows[i % 3].append(v)
        if i % 5 == k:
            rows[1] = [q * 0.5 for q in rows[1]]
            rows[2] = []
            rows[0] = [*rows[0][1:], v]
        if len(rows[0]) > 4:
            rows[0].clear()
    rows[1].sort(key=lambda v: -v)
    return sum(rows[0]) + 2.0 * sum(rows[1]) + 3.0 * sum(rows[2]) + rows[1][0]


def extended(x: cl.f64[:], k: int) -> float:
    rows: list[list[float]] = [[] for _ in range(2)]
    for v in x:
        rows[0].extend([v, v * v])
        rows[1] += [v]
        rows[1].extend(np.sin(v) * i for i in range(k))
        rows[1].extend(rows[0][-2:])
    return sum(i * v for row in rows for i, v in enumerate(row))


def shortened(x: cl.f64[:], k: int) -> float:
    stacks = [[], [], []]
    total = 0.0
    for i, v in enumerate(x):
        stacks[-(i % 3) - 1].append(v)
        while len(stacks[0]) > k:
            w = stacks[0].pop()
            stacks[1].append(w * 0.5)
            total += w * stacks[0][0]
    return total + sum(sum(s) for s in stacks)


def named(x: cl.f64[:], k: int) -> float:
    rows = [[1.0] for _ in range(k)]
    for row in rows:
        row.append(x[0])
    for i, row in enumerate(rows):
        row.append(x[i] * len(row))
        row[0] += i
    for i in range(9):
        one = rows[i % k]
        one.append(x[i] * one[-1])
        if len(one) > 4:
            one[0] = one.pop()
    return sum(i * sum(row) for i, row in enumerate(rows))


def handed_on(x: cl.f64[:], k: int) -> float:
    rows = [[] for _ in range(k)]
    for i, v in enumerate(x):
        rows[i % k].append(v)
    longest = max(rows, key=len)
    return sum(longest) * sums(rows)


def sums(rows: list[list[float]]) -> float:
    return sum(row[-1] for row in rows if row)


def kept(x: cl.f64[:], k: int) -> float:
    rows = [[x[0], x[1], x[2]], [x[3]]]
    part, array = rows[0][1:], np.array(rows[0])
    same, order = list(rows[0]), sorted(rows[0])
    more, again = [*rows[0], 1.0], rows[0].copy()
    rows[0].pop()
    rows[0].append(x[5])
    rows[1].append(x[6])
    rows[0][0] = 7.0
    rows[0].append(1.0)
    found = sum(part) + array[0] * array[2] + sum(same) * order[0] + sum(more)
    return found + again[2] * k + sum(rows[0]) * sum(rows[1])


def taken_apart(x: cl.f64[:], k: int) -> float:
    rows = [[] for _ in range(k)]
    for v in x[:6]:
        rows[0].append(v)
        if len(rows[0]) == 2:
            low, high = rows[0]
            rows[1].append(low * high + k)
            rows[0].clear()
    array = np.asarray(rows[1])
    rows[1][0] = 5.0
    return sum(rows[1]) * array[0] + max(rows[1]) + rows[1].index(5.0)


def in_order(x: cl.f64[:], k: int) -> float:
    """What is assigned is computed in front of its place."""
    rows = [[0.0, 0.0, 0.0] for _ in range(3)]
    waiting = [x[0], x[1], x[2]]
    rows[len(waiting) - 1][0] = waiting.pop()
    rows[len(waiting) - 1] = [waiting.pop(), 1.0 * k, 2.0]
    rows[0].append(x[3])
    return sum(
        (i + 1) * (j + 2) * v for i, r in enumerate(rows) for j, v in enumerate(r)
    )


def moved_on(x: cl.f64[:], k: int) -> float:
    """What is taken from one list is put into another, or added up."""
    rows = [[] for _ in range(3)]
    total = 0.0
    for i, v in enumerate(x[:7]):
        rows[i % 3].append(v)
        if len(rows[0]) > 1:
            rows[-1].append(rows[0].pop())
    rows[k - 2].append(rows[2].pop())
    total += rows[2].pop()
    total *= rows[1].pop()
    return total + sum(k * sum(row) for k, row in enumerate(rows)) + rows[2][-1]


PROGRAMS = (
    *(buckets, groups, each_step, pairs, elements, replaced, extended, shortened),
    *(named, handed_on, kept, taken_apart, in_order, moved_on),
)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    compiled = cl.jit(program)
    gradient = cl.grad(compiled)
    slow = cl.grad(cl.jit(program, options=cl.CompileOptions(optimize=0)))
    for k in (2, 3):
        assert np.isclose(compiled(X, k), program(X, k))
        assert np.allclose(slow(X, k), gradient(X, k))
    assert cl.check_grads(compiled, (X, 3)) is None  # type: ignore[func-returns-value]


def distances(edges: cl.i64[:, :], n: int) -> list[int]:
    beside: list[list[int]] = [[] for _ in range(n)]
    for i in range(len(edges)):
        a, b = edges[i, 0], edges[i, 1]
        beside[a].append(b)
        beside[b].append(a)
    found = [-1] * n
    found[0], queue = 0, [0]
    while queue:
        a = queue.pop(0)
        for b in beside[a]:
            if found[b] < 0:
                found[b] = found[a] + 1
                queue.append(b)
    return found


def test_neighbours_are_integers() -> None:
    found = cl.jit(distances)(EDGES, 6)
    assert found.dtype == np.int64
    assert found.tolist() == distances(EDGES, 6)


def far(n: int, k: int) -> int:
    rows = [[0] for _ in range(n)]
    rows[k].append(1)
    return rows[k][2]


def drained(n: int, k: int) -> int:
    rows = [[0] for _ in range(n)]
    last = 0
    for _ in range(k):
        last = rows[0].pop()
    return last


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (far, (3, 3), "index 3 is out of range for size 3"),
        (far, (3, 1), "range"),
        (drained, (1, 2), "pop from empty list"),
    ],
)
def test_errors_are_pythons(
    function: Callable[..., Any], args: tuple[int, ...], message: str
) -> None:
    with pytest.raises(IndexError):
        function(*args)
    with pytest.raises(IndexError, match=message):
        cl.jit(function)(*args)


def of_a_name(x: cl.f64[:]) -> float:
    row = [x[0]]
    rows = [row, [x[1]]]
    rows[0].append(x[2])
    return sum(row)


def by_two_names(x: cl.f64[:]) -> float:
    rows = [[x[0]]]
    others = rows
    others[0].append(x[1])
    rows[0].append(x[2])
    return sum(rows[0])


def appended_name(x: cl.f64[:]) -> float:
    rows = []
    row = [x[0]]
    rows.append(row)
    rows[-1].append(x[1])
    return sum(row)


def set_first(row: list[float], v: float) -> None:
    row[0] = v


def by_a_function(x: cl.f64[:]) -> float:
    rows = [[1.0] for _ in range(2)]
    rows[0].append(x[0])
    set_first(rows[0], x[1])
    rows[0].append(x[2])
    return sum(rows[0])


def while_it_is_read(x: cl.f64[:]) -> float:
    rows = [[1.0, 2.0], [3.0]]
    for v in rows[0]:
        if len(rows[0]) < 6:
            rows[0].append(v * x[0])
    return sum(rows[0])


def behind_its_loop(x: cl.f64[:]) -> float:
    rows = [[v] for v in x[:3]]
    for row in rows:
        row.append(1.0)
    return row[0] + rows[0][1]


def changed_places(x: cl.f64[:]) -> float:
    rows = [[x[0]], [x[1]]]
    rows[0].append(x[2])
    rows[0], rows[1] = rows[1], rows[0]
    return rows[0][0]


def in_two_lists(x: cl.f64[:]) -> float:
    rows = [[x[0]], [x[1]]]
    chosen = []
    for v in x:
        rows[0].append(v)
        chosen.append(rows[0])
    return sum(chosen[0])


def one_of_two(x: cl.f64[:]) -> float:
    rows = [[x[0]], [x[1]]]
    least = min(rows[0], rows[1])
    rows[0].append(x[2])
    rows[1].append(x[3])
    return sum(least)


def read_later(x: cl.f64[:]) -> float:
    rows = [[x[0]], [x[1]]]
    pairs = zip(rows[0], rows[1], strict=False)
    rows[0].append(x[2])
    rows[1].append(x[3])
    return sum(a * b for a, b in pairs)


def of_itself(x: cl.f64[:]) -> float:
    rows = [[v] for v in x]
    rows[0].append(x[1])
    rows = [[v] for v in rows[0]]
    rows[0].append(x[2])
    return rows[0][1]


def found_by_its_size(x: cl.f64[:]) -> float:
    rows = [[x[0], x[1]], [x[2]]]
    rows[len(rows[0]) - 1].append(rows[0].pop())
    return rows[1][-1]


OTHERS = (
    *(of_a_name, by_two_names, appended_name, by_a_function, while_it_is_read),
    *(behind_its_loop, changed_places, in_two_lists, one_of_two, read_later),
    *(of_itself, found_by_its_size),
)


@pytest.mark.parametrize("program", OTHERS, ids=lambda f: f.__name__)
def test_lists_with_other_names_are_refused(program: Callable[..., Any]) -> None:
    assert np.isfinite(program(X))
    with pytest.raises(CompileError, match=r"grows|another name|used elsewhere"):
        cl.jit(program)(X)
