"""`report(...).scaling`: work and span, counted, and what many cores make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.scaling import CORES

X = np.linspace(0.1, 1.0, 400_000)


@cl.jit
def energy(x: cl.f64[:]) -> float:
    return sum(math.sin(v) * v for v in x)


@cl.jit
def chained(x: cl.f64[:]) -> float:
    y = 0.5
    for v in x:
        y = math.sin(y) + v
    return y


def test_what_is_spread_scales() -> None:
    value, both = energy.report(X).scaling
    assert (value.what, both.what) == ("value", "value and gradient")
    for found in (value, both):
        assert 0 < found.span <= found.time < found.work
        assert 8 < found.speedup <= min(CORES, found.most)
        assert str(found.span) in str(found)
    assert value.work < both.work < 8 * value.work


def test_steps_that_need_each_other_do_not() -> None:
    for found in chained.report(X).scaling:
        assert found.span == found.time == found.work
        assert found.speedup == 1.0


@cl.jit
def looked_up(table: cl.f64[:], places: cl.i64[:]) -> float:
    return sum(math.exp(math.sin(table[p])) for p in places)


def test_merges_of_large_copies_scale() -> None:
    """By one thread at a time they would take as long as the chunks."""
    places = np.arange(300_000) * 7919 % 20_000
    found = cl.grad(looked_up).report(X[:20_000], places).scaling[0]
    assert found.work / found.span > 12
    assert found.speedup > 12


def test_work_is_that_of_the_arguments() -> None:
    once, twice = (chained.report(x).scaling[0].work for x in (X[:1000], X[:2000]))
    assert 1.9 < twice / once < 2.1


def test_a_gradient_is_counted_by_itself() -> None:
    (found,) = cl.grad(chained).report(X).scaling
    assert found.what == "gradient"


def test_without_arguments_nothing_is_counted() -> None:
    with pytest.raises(ValueError, match="give `report` the arguments"):
        _ = chained.report().scaling


def test_an_error_is_that_of_the_call() -> None:
    @cl.jit
    def first(x: cl.f64[:]) -> float:
        return x[0]

    with pytest.raises(IndexError):
        _ = first.report(X[:0]).scaling
