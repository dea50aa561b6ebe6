"""tanh as the modules have it: how exact it is, and that it costs no calls."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

import chadllvm as cl
from chadllvm.llvm import hyperbolic, optimize

pytestmark = pytest.mark.optimised


@cl.jit
def alone(x: float) -> float:
    return math.tanh(x)


@cl.jit
def each(x: cl.f64[:]) -> cl.f64[:]:
    return np.tanh(x)


@cl.jit(optimize=0)
def plain(x: float) -> float:
    return math.tanh(x)


def numbers() -> np.ndarray:
    """Numbers of every size up to where tanh is 1, more of them about 1."""
    rng = np.random.default_rng(7)
    small = np.exp(rng.uniform(-40.0, 3.2, size=800))
    # The pieces begin and end at odd multiples of ln 2 / 4.
    borders = np.arange(1, 80, 2) * math.log(2.0) / 4.0
    near = np.concatenate([np.nextafter(borders, s) for s in (0.0, 30.0)])
    return np.concatenate([small, rng.uniform(0.0, 3.0, size=800), near])


def test_it_is_exact_to_few_ulps() -> None:
    x = numbers()
    found = each(x)
    with mp.workdps(30):
        for given, got in zip(x, found, strict=True):
            wanted = mp.tanh(mp.mpf(given))
            assert abs(mp.mpf(got) - wanted) <= 2.6 * math.ulp(float(wanted)), given


def test_it_is_odd_and_the_same_in_vectors() -> None:
    x = numbers()[::20]
    assert (each(-x) == -each(x)).all()
    for given, got in zip(x, each(x), strict=True):
        assert got == alone(given) == plain(given)


@pytest.mark.parametrize("function", [alone, plain, lambda x: each(np.full(9, x))[4]])
def test_its_edges(function: Callable[[float], float]) -> None:
    for x in (0.0, 5e-324, 3e-310, 2.3e-308):
        assert math.copysign(1.0, function(-x)) == -1.0
        assert (function(x), function(-x)) == (x, -x)
    for x in (19.1, 20.0, 1e3, 1e308, math.inf):
        assert (function(x), function(-x)) == (1.0, -1.0)
    assert math.isnan(function(math.nan))


def test_it_costs_no_calls() -> None:
    each(np.ones(3))
    alone(1.0)
    for function in (alone, each):
        lines = function.show("asm").splitlines()
        assert not [line for line in lines if "call" in line and "tanh" in line]


def test_what_it_is_long_counts_where_llvm_has_much_to_do() -> None:
    call = f"  %t = call double @{hyperbolic.TANH}(double %x)\n"
    assert hyperbolic.LENGTH > 40
    assert optimize.effort_for(10 * call) != optimize.effort_for(1_000 * call)
