"""Programs with derivatives that are written by hand, and right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case


class Material(NamedTuple):
    stiffness: cl.f64[:]
    layers: int
    load: float


# ---- by rules for tangents -----------------------------------------------------------


@cl.custom_jvp
def log_sum_exp(x: cl.f64[:]) -> float:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@log_sum_exp.defjvp
def _log_sum_exp_t(primals, tangents):
    (x,), (x_t,) = primals, tangents
    y = log_sum_exp(x)
    total = 0.0
    for k in range(len(x)):
        total += np.exp(x[k] - y) * x_t[k]
    return y, total


@case(np.array([[0.3, 1.2, -0.5], [2.0, 0.1, 0.4]]), 1.3)
@cl.jit
def softmax_losses(logits: cl.f64[:, :], weight: float) -> float:
    s = 0.0
    for k in range(len(logits)):
        s = s + weight * log_sum_exp(logits[k]) - logits[k, k] * s
    return s


@cl.custom_jvp
def solve(a: cl.f64[:, :], b: cl.f64[:]) -> cl.f64[:]:
    return np.linalg.solve(a, b)


@solve.defjvp
def _solve_t(primals, tangents):
    (a, b), (a_t, b_t) = primals, tangents
    x = solve(a, b)
    return x, solve_plainly(a, b_t - a_t @ x)


@cl.jit
def solve_plainly(a: cl.f64[:, :], b: cl.f64[:]) -> cl.f64[:]:
    return np.linalg.solve(a, b)


@case(np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -0.7]))
@cl.jit
def solved_twice(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    x = solve(a, b)
    x[0] = x[0] * b[1]
    y = solve(a + np.eye(2), x)
    return np.sum(y * y) + x[1]


@cl.custom_jvp
def power_of_two(x: float, n: int) -> tuple[float, int]:
    return x * 2.0**n, 2 * n


@power_of_two.defjvp
def _power_of_two_t(primals, tangents):
    x, n = primals
    return power_of_two(x, n), (math.ldexp(tangents[0], n), None)


@case(0.7, 4)
@cl.jit
def while_small(x: float, n: int) -> float:
    k = 0
    while abs(x) < 50.0:
        y, twice = power_of_two(x, k % n)
        x = x + 0.5 * y * y if twice > 2 else x + y
        k += 1
    return x


# ---- by rules for cotangents ---------------------------------------------------------


@cl.custom_vjp
def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _softplus_forward(x):
    return softplus(x), x


def _softplus_backward(x, ct):
    return ct / (1.0 + math.exp(-x))


softplus.defvjp(_softplus_forward, _softplus_backward)


@case(np.array([0.5, -1.0, 2.0]), True)
@case(np.array([0.5, -1.0, 2.0]), False)
@cl.jit
def in_functions(x: cl.f64[:], soft: bool) -> float:
    scale = np.sum(x)

    def scaled(t: float) -> float:
        return softplus(scale * t)

    f = softplus if soft else scaled
    return sum([f(v) * scaled(v) for v in x])


@cl.custom_vjp
def deflection(m: Material, at: cl.f64[:]) -> tuple[cl.f64[:], float]:
    total = np.sum(m.stiffness) * m.layers
    return m.load * at**2 / total, total


def _deflection_forward(m, at):
    out = deflection(m, at)
    return out, (m, at, out)


def _deflection_backward(kept, ct):
    m, at, (bent, total) = kept
    bent_ct, total_ct = ct
    slope = total_ct - np.sum(bent_ct * bent) / total
    by_stiffness = np.full(len(m.stiffness), slope * m.layers)
    by_load = np.sum(bent_ct * at**2) / total
    at_ct = bent_ct * 2.0 * m.load * at / total
    return Material(by_stiffness, m.layers, by_load), at_ct


deflection.defvjp(_deflection_forward, _deflection_backward)


@case(Material(np.array([1.0, 0.5]), 2, 3.0), np.array([0.2, 0.9, 1.4]))
@cl.jit
def beams(m: Material, at: cl.f64[:]) -> float:
    s = 0.0
    for k in range(3):
        bent, total = deflection(Material(m.stiffness * (k + 1.0), k + 1, m.load), at)
        if bent[0] < total:
            s = s + np.sum(bent) * total
            at = at + 0.1 * bent
    return s


@cl.custom_vjp
def fixed_point(
    step: Callable[[cl.f64[:], float], float], a: cl.f64[:], x: float
) -> float:
    for _ in range(80):
        x = step(a, x)
    return x


def _fixed_point_forward(step, a, x):
    x = fixed_point(step, a, x)
    return x, (step, a, x)


def _fixed_point_backward(kept, ct):
    step, a, x = kept
    _, pullback = cl.vjp(step, a, x)
    total = ct
    for _ in range(80):
        total = ct + pullback(total)[1]
    return pullback(total)[0], None


fixed_point.defvjp(_fixed_point_forward, _fixed_point_backward)


@case(np.array([0.9, 0.3]))
@cl.jit
def equilibrium(a: cl.f64[:]) -> float:
    def balance(a: cl.f64[:], x: float) -> float:
        return 0.5 * math.cos(a[0] * x) + a[1] * softplus(x) * 0.2

    return fixed_point(balance, a, 0.5) * a[0]


# ---- derivatives of them inside of programs ------------------------------------------


@case(1.5)
@cl.jit
def newton_on_rules(p: float) -> float:
    x = 1.0
    for _ in range(6):
        value, slope = cl.value_and_grad(softplus)(x)
        x = x - (value - p) / slope
    _, bent = cl.jvp(cl.grad(softplus), (x,), (p,))
    _, pullback = cl.vjp(log_sum_exp, np.array([x, p]))
    return x * bent + pullback(p)[0][1]
