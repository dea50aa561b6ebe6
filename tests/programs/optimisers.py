"""Minima, roots and fixed points of functions that are arguments, with their slopes."""

import math
from collections.abc import Callable

import numpy as np

import chadllvm as cl
from programs.case import case


@cl.jit
def descended(
    f: Callable[[float], float], start: float, rate: float, steps: int
) -> float:
    """Where gradient descent gets to."""
    slope = cl.grad(f)
    x = start
    for _ in range(steps):
        x = x - rate * slope(x)
    return x


@case(0.4, 1.3)
@cl.jit
def saddle_by_descent(x: float, a: float) -> float:
    """Descent in descent: the function is one of itself, at other types."""

    def height(u, v):
        return a * u * u - v * v + 0.5 * math.sin(u * v)

    def highest(u):
        return height(u, descended(lambda v: -height(u, v), x, 0.3, 3))

    return highest(descended(highest, x, 0.2, 3))


@cl.jit(static_argnames="n")
def derivative(f: Callable[[float], float], n: int, x: float) -> float:
    """The derivative of order n, which calls itself n times."""
    if n == 0:
        return f(x)
    return derivative(cl.grad(f), n - 1, x)


@case(0.7, 1.2)
@cl.jit
def derivatives_by_count(x: float, a: float) -> float:
    f = lambda t: math.exp(a * t) * t
    return derivative(f, 0, x) + derivative(f, 1, x) * derivative(f, 3, a)


@cl.jit(static_argnames="n")
def taylor(f: Callable[[float], float], at: float, step: float, n: int) -> float:
    """The series of n terms, by derivatives of derivatives."""
    if n == 0:
        return 0.0
    rest = lambda t: taylor(cl.grad(f), t, step, n - 1)
    return f(at) + step * rest(at) / (5 - n)


@case(0.3, 0.4)
@cl.jit
def series_of_sine(x: float, h: float) -> float:
    return taylor(lambda t: math.sin(t), x, h, 3)


@cl.jit
def root(f: Callable[[float], float], low: float, high: float) -> float:
    """By halving; no slope goes through the comparisons."""
    low_is_below = f(low) < 0.0
    while True:
        middle = 0.5 * (low + high)
        if high - low < 1e-9 or middle == low:
            break
        if (f(middle) < 0.0) == low_is_below:
            low = middle
        else:
            high = middle
    return middle


@case(2.0, 0.7)
@cl.jit
def polished_root(p: float, q: float) -> float:
    """A last step of Newton's gives the root the slope that it should have."""

    def f(x):
        return x**3 + q * x - p

    x = root(f, 0.0, 4.0)
    fixed = x - f(x) / cl.grad(f)(x)
    return fixed * fixed


@case(1.7, 0.4)
@cl.jit
def secant(a: float, b: float) -> float:
    def f(x):
        return math.exp(b * x) - a * x * x

    before, x, count = 0.0, 1.0, 0
    while abs(f(x)) > 1e-3:
        before, x = x, x - f(x) * (x - before) / (f(x) - f(before))
        count += 1
        if count == 50:
            raise ArithmeticError(f"no root near {x}")
    return x * b


@cl.jit
def along(
    f: Callable[[cl.f64[:]], float], x: cl.f64[:], direction: cl.f64[:], slope: float
) -> float:
    """The step that makes f small enough, halved until it does (Armijo)."""
    step, value = 1.0, f(x)
    for _ in range(40):
        if f(x + step * direction) < value + 1e-4 * step * slope:
            return step
        step *= 0.5
    raise ArithmeticError("no step makes it smaller")


@case(np.array([-0.4, 0.6]), 3.0)
@cl.jit
def line_search(start: cl.f64[:], a: float) -> float:
    def valley(v):
        return a * (v[1] - v[0] * v[0]) ** 2 + (1.0 - v[0]) ** 2

    x = start
    for _ in range(4):
        value, gradient = cl.value_and_grad(valley)(x)
        if value < 1e-8:
            break
        x = x + along(valley, x, -gradient, -np.dot(gradient, gradient)) * -gradient
    return valley(x)


@case(np.array([[2.6, -0.2, 0.4], [-0.2, 1.7, -0.3], [0.4, -0.3, 3.3]]), np.ones(3))
@cl.jit
def conjugate_gradients(m: cl.f64[:, :], b: cl.f64[:]) -> float:
    """The matrix is known by what it does, until the residual is small."""

    def solve(apply):
        x, r = np.zeros(len(b)), b
        p, size = r, np.dot(r, r)
        while size > 1e-3:
            q = apply(p)
            step = size / np.dot(p, q)
            x, r = x + step * p, r - step * q
            before, size = size, np.dot(r, r)
            p = r + (size / before) * p
        return x

    return np.sum(solve(lambda v: m @ v) ** 3)


@case(0.8, 1.1)
@cl.jit
def steffensen(a: float, x: float) -> float:
    """A fixed point, whose slope is the one that the iteration has."""

    def better(g):
        def step(t):
            one = g(t)
            two = g(one)
            bend = two - 2.0 * one + t
            return t if abs(bend) < 1e-6 else t - (one - t) ** 2 / bend

        return step

    g = better(lambda t: math.cos(a * t))
    y = x
    while abs(g(y) - y) > 1e-4:
        y = g(y)
    return y
