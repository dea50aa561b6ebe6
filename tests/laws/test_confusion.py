"""Derivatives in derivatives are by their own variables (no perturbation confusion).

The classical programs at which tools confuse one derivative's variable with another's;
the right values are in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl


@cl.jit
def siskind_pearlmutter_reverse(x: float) -> float:
    """d/dx (x · d/dy (x + y)) = 1, and not 2."""
    return cl.grad(lambda x: x * cl.grad(lambda y: x + y)(1.0))(x)


@cl.jit
def siskind_pearlmutter_forward(x: float) -> float:
    return cl.jvp(
        lambda x: x * cl.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (x,), (1.0,)
    )[1]


@cl.jit
def forward_in_reverse(x: float) -> float:
    return cl.grad(lambda x: x * cl.jvp(lambda y: x + y, (1.0,), (1.0,))[1])(x)


@cl.jit
def reverse_in_forward(x: float) -> float:
    return cl.jvp(lambda x: x * cl.grad(lambda y: x + y)(1.0), (x,), (1.0,))[1]


@cl.jit
def pullbacks(x: float) -> float:
    return cl.vjp(lambda x: x * cl.vjp(lambda y: x + y, 1.0)[1](1.0)[0], x)[1](1.0)[0]


@cl.jit
def jacobians(x: float) -> float:
    return cl.jacfwd(lambda x: x * cl.jacrev(lambda y: x + y)(1.0))(x)


@cl.jit
def linear_maps(x: float) -> float:
    def outer(x):
        _, inner = cl.linearize(lambda y: x + y, 1.0)
        return x * inner(1.0)

    return cl.linearize(outer, x)[1](1.0)


@pytest.mark.parametrize(
    "function",
    [
        siskind_pearlmutter_reverse,
        siskind_pearlmutter_forward,
        forward_in_reverse,
        reverse_in_forward,
        pullbacks,
        jacobians,
        linear_maps,
    ],
    ids=lambda f: f.name,
)
def test_the_inner_variable_is_not_the_outer(function: Callable[..., Any]) -> None:
    assert function(3.0) == 1.0


@cl.jit
def amazing(x: float, h: float) -> float:
    """d/dx at 0 of what a derivative leaves that is a function of functions.

    d/dx (d/dy f(y + x)) at (x, y) is f'' there: Manzyuk et al., "Perturbation confusion
    in forward automatic differentiation of higher-order functions".
    """

    def shifted(offset):
        return lambda t: math.exp(h * (t + offset))

    def slope(f, t):
        return cl.jvp(f, (t,), (1.0,))[1]

    inner = cl.jvp(lambda offset: slope(shifted(offset), x), (0.0,), (1.0,))[1]
    twice = slope(lambda t: slope(shifted(0.0), t), x)
    return inner - twice


def test_functions_that_are_returned() -> None:
    assert abs(amazing(0.4, 1.3)) < 1e-15


@cl.jit
def nested_thrice(x: float) -> float:
    """d/dx of x · d/dy of (y · d/dz of (x y z² )) = d/dx of x · d/dy of 2 x y² z."""

    def outer(x):
        def middle(y):
            return y * cl.grad(lambda z: x * y * z * z)(x)

        return x * cl.jvp(middle, (x,), (1.0,))[1]

    return cl.grad(outer)(x)


def test_three_of_them() -> None:
    # middle(y) = 2 x² y², outer(x) = x · 4 x² · x = 4 x⁴.
    assert math.isclose(nested_thrice(1.5), 16.0 * 1.5**3, rel_tol=1e-14)


@cl.jit
def shared_capture(x: cl.f64[:]) -> float:
    """The same function, by its argument and by what it has captured."""

    def f(scale):
        return lambda y: np.sum(np.sin(scale * y) * x)

    def by_scale(s):
        return np.dot(cl.grad(f(s))(x), x)

    return cl.grad(by_scale)(0.7)


def test_captured_arrays() -> None:
    x, s = np.array([0.3, -0.5, 0.9]), 0.7
    # by_scale(s) = Σ s cos(s xₖ) xₖ²
    expected = np.sum((np.cos(s * x) - s * x * np.sin(s * x)) * x * x)
    assert math.isclose(shared_capture(x), expected, rel_tol=1e-14)
    moved = cl.jvp(shared_capture, (x,), (x,))[1]
    ends = [shared_capture(x * (1 + step)) for step in (1e-6, -1e-6)]
    assert math.isclose(moved, (ends[0] - ends[1]) / 2e-6, rel_tol=1e-8)
