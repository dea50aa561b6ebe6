"""What a recursion hands back may be an array that it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl


def same(p: cl.f64[:], n: int) -> cl.f64[:]:
    if n < 1:
        return p
    return same(p, n - 1)


def one_of_two(p: cl.f64[:], q: cl.f64[:], n: int) -> cl.f64[:]:
    if n < 1:
        return p
    return one_of_two(q, p, n - 1)


def halved(p: cl.f64[:], n: int) -> cl.f64[:]:
    if n < 1:
        return p * 0.5
    return halved(p, n - 1)


def result_is_updated(x: cl.f64[:], n: int) -> float:
    p = x * 2.0
    q = same(p, n)
    q[0] = 5.0
    return p[0] + q[0]


def argument_is_updated(x: cl.f64[:], n: int) -> float:
    p = x * 2.0
    q = same(p, n)
    p[0] = 5.0
    return p[0] + q[0]


def second_may_be_updated(x: cl.f64[:], n: int) -> float:
    p, q = x * 2.0, x * 3.0
    r = one_of_two(p, q, n)
    r[0] = 5.0
    return q[0] + r[0]


@pytest.mark.parametrize(
    "function", [result_is_updated, argument_is_updated, second_may_be_updated]
)
def test_another_name_is_read_afterwards(function: Callable[..., Any]) -> None:
    with pytest.raises(cl.CompileError, match=r"CL0804") as failure:
        cl.jit(function)(np.ones(3), 2)
    assert "[0] = 5.0" in str(failure.value)


def nobody_reads_the_argument(x: cl.f64[:], n: int) -> float:
    p = x * 2.0
    q = same(p, n)
    q[0] = 5.0
    return q[0] * q[1]


def result_is_new(x: cl.f64[:], n: int) -> float:
    p = x * 2.0
    q = halved(p, n)
    q[0] = 5.0
    return p[0] * q[1] + q[0]


@pytest.mark.parametrize("function", [nobody_reads_the_argument, result_is_new])
def test_no_other_name_is_read(function: Callable[..., Any]) -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert cl.jit(function)(x, 2) == function(x, 2)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
