"""A rule of the user's own for what a loop leaves alone is applied once."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from tests.laws.cost_sweep import SIZES, first_order, violations


@cl.custom_vjp
def _squashed(x: cl.f64[:], s: float):
    return np.tanh(s * x)


def _forward(x, s):
    y = np.tanh(s * x)
    return y, (x, y, s)


def _backward(kept, ct):
    x, y, s = kept
    inner = ct * (1.0 - y * y)
    return s * inner, np.sum(x * inner)


_squashed.defvjp(_forward, _backward)


def weighted(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    if len(b) > 0:
        for v in b:
            s += v * np.linalg.norm(_squashed(a, 0.5))
    return s


def shown(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    if len(b) > 0:
        for v in b:
            print(v)
            s += v * np.sum(_failing(a, 0.5))
    return s


@cl.custom_vjp
def _failing(x: cl.f64[:], s: float):
    if x[0] > 0.0:
        raise ValueError("too large")
    return s * x


_failing.defvjp(lambda x, s: (s * x, x), lambda x, ct: (0.5 * ct, np.sum(x * ct)))


def test_it_costs_what_the_value_does() -> None:
    assert not [*violations([*first_order(weighted, SIZES)], SIZES)]


def test_what_a_step_prints_is_printed_first(
    capfd: pytest.CaptureFixture[str],
) -> None:
    compiled = cl.jit(shown)
    a = np.ones(3)
    with pytest.raises(ValueError, match="too large"):
        compiled(a, a, a)
    assert capfd.readouterr().out == "1.0\n"
