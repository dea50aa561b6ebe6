"""Loops written with counters of their own are what loops over a range are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted
from chadllvm.ir.interp import evaluate
from chadllvm.ir.parse import parse
from chadllvm.llvm.optimize import Effort
from chadllvm.simplify.inductions import inductions

# Our own statements are counted, whatever LLVM makes of them.
LITTLE = Effort(0, 0, loops=False, tidy=True)


def over_a_range(a: cl.f64[:], n: int) -> float:
    s = 0.0
    for i in range(n):
        s += a[i] * a[i]
    return s


def while_below(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, 0
    while i < n:
        s += a[i] * a[i]
        i += 1
    return s


def while_at_most(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, 0
    while n - 1 >= i:
        s += a[i] * a[i]
        i = i + 1
    return s


def until_a_break(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, 0
    while True:
        if i >= n:
            break
        s += a[i] * a[i]
        i += 1
    return s


def downwards(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, n
    while i > 0:
        i -= 1
        s += a[i] * a[i]
    return s


def from_the_end(a: cl.f64[:], n: int) -> float:
    s = 0.0
    for i in range(1, n + 1):
        s += a[-i] * a[-i]
    return s


def a_counter_beside(a: cl.f64[:], n: int) -> float:
    s, k = 0.0, -1
    for _ in range(n):
        k += 1
        s += a[k] * a[k]
    return s


def appended(a: cl.f64[:], n: int) -> float:
    squares = []
    for i in range(n):
        squares.append(a[i] * a[i])
    return float(sum(squares))


def while_not_at(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, 0
    while i != n:
        s += a[i] * a[i]
        i += 1
    return s


def until_it_is_zero(a: cl.f64[:], n: int) -> float:
    s, i = 0.0, n
    while i:
        i -= 1
        s += a[i] * a[i]
    return s


ALIKE = (
    while_below,
    while_not_at,
    until_it_is_zero,
    while_at_most,
    until_a_break,
    downwards,
    from_the_end,
    a_counter_beside,
    appended,
)


def _operations(
    function: Callable[..., Any], argnums: tuple[int, ...] | None, size: int
) -> int:
    counted = Counted(function, argnums, cl.CompileOptions(), effort=LITTLE)
    _, count = counted(np.ones(size), size)
    return int(count)


@pytest.mark.parametrize("argnums", [None, (0,)], ids=["value", "gradient"])
@pytest.mark.parametrize("function", ALIKE, ids=lambda f: f.__name__)
def test_each_takes_the_work_of_a_range(
    function: Callable[..., Any], argnums: tuple[int, ...] | None
) -> None:
    """But for indices that are computed, and what is done once."""
    most = _operations(over_a_range, argnums, 1000)
    assert _operations(function, argnums, 1000) <= 1.9 * most + 60


def two_that_meet(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, low, high = 0.0, 0, n - 1
    while low < high:
        s += a[low] * a[high]
        low += 1
        high -= 1
    return s, (low, high)


def in_steps(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i, k = 0.0, -2, 5
    while i <= n:
        s = s * 0.5 + a[i % len(a)]
        i += 3
        k -= 2
    return s, (i, k)


def at_least_once(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i = 0.0, 0
    while True:
        s += a[i % len(a)]
        i += 2
        if i >= n:
            break
    return s, (i, 0)


def with_another_end(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i = 0.0, 0
    while i < n and s < 1.5:
        if a[i] < -2.0:
            break
        s += a[i]
        i += 1
    return s, (i, 0)


def where_it_ends(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i = 0.0, 0
    while True:
        if i >= n:
            s *= 3.0
            break
        s += a[i]
        i += 1
    return s, (i, 0)


def for_two_reasons(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i, k = 0.0, 0, n - 6
    while i < n and k > 0:
        s += a[i]
        i += 1
    return s, (i, k)


def far_away(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i, last = 0.0, 0, 2**63 - 8 + n
    while i <= last:
        s += a[i % len(a)]
        if s > 2.0 or i > n:
            break
        i += 1
    return s, (i, 0)


def nested(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i, k = 0.0, 0, 0
    while i < n:
        j = i
        while j >= 0:
            s += a[i] * a[j]
            j -= 2
            k += 1
        i += 1
    return s, (i, k)


def past_a_bound(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    """A negative bound is never met."""
    s, i = 0.0, 0
    while i != n:
        if i > 20:
            break
        s += a[i % len(a)]
        i += 1
    return s, (i, 0)


def away_from_a_bound(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    """It begins there, or behind it, and is asked for behind a step."""
    s, i, k = 0.0, 2, 0
    while True:
        s += a[i % len(a)] * 0.5
        i += 1
        if i == n or k > 11:
            break
        k += 1
    return s, (i, k)


def back_to_a_bound(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, i, k = 0.0, 4, 0
    while n != i and k < 9:
        i -= 1
        k += 1
        s += a[i % len(a)] * s + 1.0
    return s, (i, k)


def two_that_may_pass(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    s, low, high = 0.0, 0, n
    while low != high:
        s += a[low % len(a)]
        low += 1
        high -= 1
        if low > 9:
            break
    return s, (low, high)


def or_else(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    """A step that is the last of all, and one that finds the bound."""
    s, i, k = 0.0, 0, 0
    for _ in range(3):
        if i >= n:
            s += 0.25
            break
        s += a[i]
        i += 1
    else:
        s, k = s * 3.0, 1
    for _ in range(2):
        s += a[k] * 0.5
        k += 1
        if k >= n:
            break
    else:
        s *= 2.0
    return s, (i, k)


def only_to_find(a: cl.f64[:], n: int) -> tuple[float, tuple[int, int]]:
    """Nothing is done where the bound is found."""
    s, i, k = 0.0, 0, 0
    for _ in range(3):
        if i >= n:
            break
        s += a[i]
        i += 1
    else:
        k = 7
    for _ in range(5):
        if i == n:
            break
        i -= 1
    else:
        k += 1
    return s, (i, k)


STEPPED = (
    or_else,
    only_to_find,
    past_a_bound,
    away_from_a_bound,
    back_to_a_bound,
    two_that_may_pass,
    two_that_meet,
    in_steps,
    at_least_once,
    with_another_end,
    where_it_ends,
    for_two_reasons,
    far_away,
    nested,
)


@pytest.mark.parametrize("function", STEPPED, ids=lambda f: f.__name__)
def test_results_and_derivatives_are_right(function: Callable[..., Any]) -> None:
    a = np.random.default_rng(1).standard_normal(7)
    plain = cl.jit(optimize=0, cache=False)(function)
    default = cl.jit(cache=False)(function)
    for n in (-3, 0, 1, 2, 6, 7):
        value, counters = default(a, n)
        expected, ends = function(a, n)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        assert counters == ends
        slopes = [cl.grad(f, has_aux=True)(a, n)[0] for f in (default, plain)]
        np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-12)


# What ends a loop is asked in front of a step or behind it, of an order or of a number.
LOOPS = """
def main(n: i64, m: i64) {{
  g, l, y = iterate[while]({most}, {starts}, m, 0.0) {{ i, go: bool, j, x: f64 ->
    c = {test}(j, n)
    h, k, z = if c {{
      a = iadd(j, 1)
      b = add(x, 1.5)
      yield true, a, b
    }} else {{
      yield false, j, x
    }}
    yield h, k, z
  }}
  first = {test}(m, n)
  d, p, w = iterate[while]({most}, first, m, 0.0) {{ i, go: bool, j, x: f64 ->
    a = iadd(j, 1)
    b = add(x, 1.5)
    c = {test}(a, n)
    yield c, a, b
  }}
  q, r, v = iterate[while]({most}, {starts}, m, 0.0) {{ i, go: bool, j, x: f64 ->
    a = iadd(j, 1)
    b = add(x, 1.5)
    c = {test}(a, n)
    yield c, a, b
  }}
  return g, l, y, d, p, w, q, r, v
}}
"""


@pytest.mark.parametrize("test", ["ilt", "ile", "ine"])
@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("starts", ["true", "false"])
def test_no_more_steps_than_a_number(test: str, most: int, starts: str) -> None:
    """Also whether the loop would go on is what it was."""
    program = parse(LOOPS.format(test=test, most=most, starts=starts))
    counted = inductions(program)
    for n in range(-2, 7):
        for m in (-1, 0, 2):
            assert evaluate(counted, n, m) == evaluate(program, n, m)
