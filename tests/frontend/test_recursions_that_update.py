"""Recursive functions with a result that update an array which they hand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

X = np.random.default_rng(0).normal(size=9)


def fibonacci(n, memo):
    if n < 2:
        return 1.0 * n
    if memo[n] >= 0.0:
        return memo[n]
    memo[n] = fibonacci(n - 1, memo) + fibonacci(n - 2, memo)
    return memo[n]


def remembered(x: cl.f64[:]) -> float:
    memo = np.full(20, -1.0)
    return fibonacci(15, memo) * x[0] + memo[7]


def common(a, b, i, j, memo):
    if i == len(a) or j == len(b):
        return 0.0
    if memo[i, j] < 0.0:
        if abs(a[i] - b[j]) < 0.5:
            memo[i, j] = a[i] * b[j] + 1.0 + common(a, b, i + 1, j + 1, memo)
        else:
            first = common(a, b, i + 1, j, memo)
            memo[i, j] = max(first, common(a, b, i, j + 1, memo))
    return memo[i, j]


def longest_common(x: cl.f64[:]) -> float:
    return common(x, x * 1.1, 0, 0, np.full((9, 9), -1.0))


def sorted_part(a, low, high, work):
    if high - low < 2:
        return 0.0
    middle = (low + high) // 2
    found = sorted_part(a, low, middle, work) + sorted_part(a, middle, high, work)
    i, j = low, middle
    for k in range(low, high):
        if j >= high or (i < middle and a[i] <= a[j]):
            work[k] = a[i]
            i += 1
        else:
            work[k] = a[j]
            j += 1
            found += middle - i
    for k in range(low, high):
        a[k] = work[k]
    return found


def inversions(x: cl.f64[:]) -> float:
    a = x * 1.0
    found = sorted_part(a, 0, len(a), np.zeros(len(x)))
    return found + a[0] * a[-1]


def product(a, k, seen):
    seen[k] += 1.0
    return 1.0 if k == 0 else a[k] * product(a, k - 1, seen)


def counted(x: cl.f64[:]) -> float:
    seen = np.zeros(9)
    found = product(x, 5, seen) + product(x, 3, seen)
    return found * float(np.sum(seen * x))


def cheapest(k, used, cost, x):
    if k == 4:
        return cost
    best = 1e9
    for j in range(4):
        if not used[j]:
            used[j] = True
            best = min(best, cheapest(k + 1, used, cost + x[j] * k * x[j], x))
            used[j] = False
    return best


def all_orders(x: cl.f64[:]) -> float:
    return cheapest(0, [False] * 4, 0.0, x)


PROGRAMS = (remembered, longest_common, inversions, counted, all_orders)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    compiled = cl.jit(program)
    assert np.isclose(compiled(X), program(X))
    assert cl.check_grads(compiled, (X,)) is None  # type: ignore[func-returns-value]


def reached(beside, node, seen):
    seen[node] = True
    count = 1
    for other in beside[node]:
        if not seen[other]:
            count += reached(beside, other, seen)
    return count


def all_reached(n: int) -> int:
    beside = [[(i * 2 + 1) % n, (i + 2) % n] for i in range(n)]
    seen = [False] * n
    count = reached(beside, 0, seen)
    return 100 * count + sum(seen)


def placed(row, n, columns):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if all(columns[r] not in (c, c + row - r, c - row + r) for r in range(row)):
            columns[row] = c
            count += placed(row + 1, n, columns)
    return count


def queens(n: int) -> int:
    return placed(0, n, [0] * n)


@pytest.mark.parametrize("program", [all_reached, queens], ids=lambda f: f.__name__)
def test_searches(program: Callable[..., Any]) -> None:
    for n in (4, 6):
        assert cl.jit(program)(n) == program(n)


def of_an_argument(x: cl.f64[:]) -> float:
    return product(x, 3, x)


def of_a_view(x: cl.f64[:]) -> float:
    m = np.ones((9, 9)) * x
    return product(x, 3, m.T[0])


def read_before(x: cl.f64[:]) -> float:
    seen = np.zeros(9)
    return seen[0] + product(x, 3, seen)


@cl.jit
def compiled_product(a, k, seen):
    seen[k] += 1.0
    return 1.0 if k == 0 else a[k] * compiled_product(a, k - 1, seen) + seen[k]


def by_a_compiled_one(x: cl.f64[:]) -> float:
    seen = np.zeros(9)
    return compiled_product(x, 3, seen) + seen[0]


def first_row(rows, k):
    rows[0][k] = 5.0
    return 1.0 if k == 0 else first_row(rows, k - 1) + k


def of_a_list_of_arrays(x: cl.f64[:]) -> float:
    a, b = x * 1.0, x * 2.0
    return first_row([a, b], 3) + a[0]


def of_a_copied_list(x: cl.f64[:]) -> float:
    rows = [x * 1.0, x * 2.0]
    return first_row(rows.copy(), 3) + rows[0][0]


REFUSED = (
    of_a_list_of_arrays,
    of_a_copied_list,
    of_an_argument,
    of_a_view,
    read_before,
    by_a_compiled_one,
)


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_what_would_be_lost_is_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(CompileError, match=r"updated|update"):
        cl.jit(program)(X)
