"""Functions with derivatives of their own: `custom_vjp`, `custom_jvp`.

Most rules here are right ones, so that the function without them says what to expect;
where it matters that a rule is taken, the rule is another derivative.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

LEVELS = pytest.mark.parametrize("optimize", [2, 0])


class Point(NamedTuple):
    x: float
    n: int
    y: cl.f64[:]


def plain(x: cl.f64[:], y: float, p: Point, k: int) -> tuple[cl.f64[:], float]:
    """What the rules below are the derivatives of."""
    return y * np.sin(x) + k * p.y, y * p.x * p.n + np.sum(x * x)


def forward(x, y, p, k):
    return plain_jit(x, y, p, k), (x, y, p, k)


def backward(kept, ct):
    x, y, p, k = kept
    a, b = ct
    return (
        a * y * np.cos(x) + 2.0 * b * x,
        np.sum(a * np.sin(x)) + b * p.x * p.n,
        Point(b * y * p.n, p.n, a * k),
        None,
    )


def tangent(primals, tangents):
    x, y, p, k = primals
    x_t, y_t, p_t, _ = tangents
    first = y_t * np.sin(x) + y * np.cos(x) * x_t + k * p_t.y
    second = y_t * p.x * p.n + y * p_t.x * p.n + 2.0 * np.sum(x * x_t)
    return plain_jit(x, y, p, k), (first, second)


plain_jit = cl.jit(plain)


def with_rules(rules: str, optimize: int) -> Any:
    """The function with the rules of these modes."""
    made = cl.custom_vjp(plain, optimize=optimize)
    if "vjp" in rules:
        made.defvjp(forward, backward)
    if "jvp" in rules:
        made.defjvp(tangent)
    return made


ARGS = (
    np.array([0.3, -1.2, 2.0]),
    0.7,
    Point(1.5, 2, np.array([1.0, 2.0, -0.5])),
    3,
)
TANGENTS = (
    np.array([1.0, 0.5, -2.0]),
    -0.3,
    Point(0.2, None, np.array([0.1, -0.2, 0.3])),
    None,
)


def flat(value: Any) -> list[float]:
    """All numbers in a value."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [number for part in value for number in flat(part)]
    return list(np.ravel(value))


def same(first: Any, second: Any) -> None:
    np.testing.assert_allclose(flat(first), flat(second), rtol=1e-11, atol=1e-13)


def loss_of(function: Any, optimize: int) -> Any:
    """A program that calls the function in a loop, in a branch and in a closure."""

    @cl.jit(optimize=optimize)
    def loss(x: cl.f64[:], y: float, p: Point, k: int) -> float:
        def again(t: float) -> float:
            a, b = function(t * x, y, p, k)
            return b + np.sum(a)

        s = again(y)
        for i in range(k):
            if i != 1:
                a, b = function(x, y * i, p, i)
                s = s * 0.5 + a[0] * a[1] * b
        return s

    return loss


@LEVELS
@pytest.mark.parametrize("rules", ["vjp", "jvp", "vjp and jvp"])
class TestRulesAgree:
    """Right rules give what CHAD would have made."""

    def test_values(self, rules: str, optimize: int) -> None:
        same(with_rules(rules, optimize)(*ARGS), plain(*ARGS))

    def test_vjp(self, rules: str, optimize: int) -> None:
        ct = np.array([1.0, -2.0, 0.5]), 1.7
        _, back = cl.vjp(with_rules(rules, optimize), *ARGS)
        _, expected = cl.vjp(plain_jit, *ARGS)
        same(back(ct), expected(ct))

    def test_jvp(self, rules: str, optimize: int) -> None:
        found = cl.jvp(with_rules(rules, optimize), ARGS, TANGENTS)
        same(found, cl.jvp(plain_jit, ARGS, TANGENTS))

    def test_some_held_fixed(self, rules: str, optimize: int) -> None:
        some = None, TANGENTS[1], None, None
        found = cl.jvp(with_rules(rules, optimize), ARGS, some)
        same(found, cl.jvp(plain_jit, ARGS, some))

    @pytest.mark.sweep(share=2)
    def test_gradient_of_a_program(self, rules: str, optimize: int) -> None:
        loss = loss_of(with_rules(rules, optimize), optimize)
        expected = loss_of(plain_jit, 2)
        same(loss(*ARGS), expected(*ARGS))
        for argnums in (0, 1, 2, (0, 1, 2)):
            found = cl.grad(loss, argnums=argnums)(*ARGS)
            same(found, cl.grad(expected, argnums=argnums)(*ARGS))

    @pytest.mark.sweep(share=2)
    def test_second_derivatives(self, rules: str, optimize: int) -> None:
        loss = loss_of(with_rules(rules, optimize), optimize)
        expected = loss_of(plain_jit, 2)
        found = cl.jvp(cl.grad(loss, argnums=(0, 1)), ARGS, TANGENTS)
        same(found, cl.jvp(cl.grad(expected, argnums=(0, 1)), ARGS, TANGENTS))
        found = cl.grad(cl.grad(loss, argnums=1), argnums=1)(*ARGS)
        same(found, cl.grad(cl.grad(expected, argnums=1), argnums=1)(*ARGS))
