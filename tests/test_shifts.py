"""Sums of exponentials: what they are shifted by has no derivative."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

WITHOUT = cl.CompileOptions(disabled=frozenset({"shifts"}))


def log_sum_exp(x: cl.f64[:]) -> float:
    top = np.max(x)
    return top + math.log(np.sum(np.exp(x - top)))


def shares(x: cl.f64[:]) -> float:
    top = np.max(x)
    e = np.exp(x - top)
    return np.sum(x * (e / np.sum(e)))


def soft_least(x: cl.f64[:]) -> float:
    a, b, g = x[0], x[1], x[2]
    low = min(a, b)
    total = math.exp((low - a) / g) + math.exp((low - b) / g)
    return low - g * math.log(total)


def by_hand(x: cl.f64[:]) -> float:
    top = x[0]
    for v in x:
        if v > top:
            top = v
    total = 0.0
    for v in x:
        total += math.exp(v - top)
    return math.log(total) + top


def used_twice(x: cl.f64[:]) -> float:
    top = np.max(x)
    return 2.0 * top + math.log(np.sum(np.exp(x - top)))


def other_base(x: cl.f64[:]) -> float:
    top = np.max(x)
    return top + math.log2(np.sum(np.exp(x - top)))


def wrong_sign(x: cl.f64[:]) -> float:
    top = np.max(x)
    return top + math.log(np.sum(np.exp(x + top)))


PROGRAMS = (
    log_sum_exp,
    shares,
    soft_least,
    by_hand,
    used_twice,
    other_base,
    wrong_sign,
)
X = np.array([0.5, 1.5, 0.7, 1.5, -1.0])


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives_are_those_with_it(program: Callable[..., float]) -> None:
    with_it = cl.jit(program)
    without = cl.jit(program, options=WITHOUT)
    for derivative in (cl.grad, cl.hessian):
        found, expected = derivative(with_it)(X), derivative(without)(X)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("program", PROGRAMS[:4], ids=lambda p: p.__name__)
def test_neither_the_winner_is_found_nor_its_cotangent(program: Any) -> None:
    text = str(cl.grad(cl.jit(program)).show("simplified"))
    assert "winner" not in text
    assert text.count("stop") == 1


@pytest.mark.parametrize("program", PROGRAMS[4:], ids=lambda p: p.__name__)
def test_what_matters_has_a_derivative(program: Any) -> None:
    assert "stop" not in str(cl.grad(cl.jit(program)).show("simplified"))


def test_shares_where_some_have_none_and_of_one() -> None:
    gradient = cl.grad(cl.jit(log_sum_exp))
    x = np.array([1e300, -math.inf, 1e300])
    np.testing.assert_array_equal(gradient(x), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(gradient(np.array([-7.0])), [1.0])
