"""Lists that grow by one number in each step are what they are in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

pytestmark = pytest.mark.optimised


def two_before(x: cl.f64[:]) -> float:
    c = [x[0], x[1]]
    for i in range(2, len(x)):
        c.append(c[-1] + 0.5 * c[-2] + x[i])
    return sum(v * v for v in c)


def until_large(x: cl.f64[:]) -> float:
    c = [1.0]
    while c[-1] < 50.0 and len(c) < 30:
        c.append(c[-1] * 1.5 + x[len(c) % len(x)])
    return sum(c) * c[-1] + len(c)


def no_step(x: cl.f64[:]) -> float:
    c = [2.0 * x[0]]
    for i in range(len(x) - len(x)):
        c.append(c[-1] + x[i])
    return sum(c)


def in_a_step(x: cl.f64[:]) -> float:
    total = 0.0
    for i in range(len(x)):
        c = [x[i], 1.0]
        for j in range(i):
            c.append(c[-1] * c[-2] + math.sin(x[j]) + len(c))
        total += sum(c) * c[0] + c[-1]
    return total


def from_the_first(x: cl.f64[:]) -> float:
    c = [x[0], 2.0]
    for v in x:
        c.append(c[0] * v + c[1])
    return sum(c)


def what_was_appended(x: cl.f64[:]) -> float:
    c, d = [1, 2], [0.5]
    for v in x:
        c.append(c[-1] + c[-2])
        d.append(d[-1] * 0.5 + c[-1] * v - c[-2])
    return sum(c) + sum(d) * d[-1]


def the_last_again(x: cl.f64[:]) -> float:
    c, d = [x[0]], [1.0]
    for v in x:
        c.append(c[-1])
        d.append(c[-1] * v)
    return sum(c) + sum(d)


MADE = (
    two_before,
    until_large,
    no_step,
    in_a_step,
    from_the_first,
    what_was_appended,
    the_last_again,
)


def over_and_over(x: cl.f64[:]) -> float:
    """To copy the list in each step would be more than to make it."""
    c = [1.0]
    for v in x:
        for _ in range(3):
            c.append(c[-1] * 0.5 + v)
    return sum(c) * len(c)


def anywhere(x: cl.f64[:]) -> float:
    c = [x[0]]
    for i in range(len(x)):
        c.append(c[i // 2] + x[i])
    return sum(c)


def too_far(x: cl.f64[:]) -> float:
    c = [x[0]]
    for i in range(len(x)):
        c.append(c[-1] + (c[-2] if i > 0 else 0.0))
    return sum(c)


X = np.sin(np.arange(1.0, 12.0))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", [*MADE, over_and_over, anywhere, too_far])
def test_values_and_derivatives(function: Callable[..., Any]) -> None:
    compiled, plain = cl.jit(function), cl.jit(function, optimize=0)
    assert compiled(X) == pytest.approx(function(X), rel=1e-12)
    np.testing.assert_allclose(cl.grad(compiled)(X), cl.grad(plain)(X), rtol=1e-10)
    cl.check_grads(compiled, (X,))


@pytest.mark.parametrize("function", MADE)
def test_nothing_is_appended(function: Callable[..., Any]) -> None:
    assert "append(" not in cl.jit(function).show("simplified", X)


def test_a_number_that_is_not_there() -> None:
    def before_the_first(x: cl.f64[:]) -> float:
        c = [x[0]]
        for v in x:
            c.append(c[-2] + v)
        return sum(c)

    with pytest.raises(IndexError, match="index -2 is out of range for size 1"):
        cl.jit(before_the_first)(X)


def test_copies_are_paid_for() -> None:
    """The list is there a second time, once, in the outermost loop."""
    (small, _), (large, _) = (
        cl.jit(over_and_over).report(np.ones(n)).scaling for n in (100, 1000)
    )
    assert large.work < 11 * small.work
