"""Functions as values: local ones, passed on, chosen, stored, returned."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case


@case(1.5, 1)
@case(1.5, -1)
@cl.jit
def chosen_function(x: float, k: int) -> float:
    y = 2.0 * x

    def times(t, c=3.0):
        return t * y + c * t

    f = times if k > 0 else lambda t: t * t * y
    return f(x) + times(x, c=1.0)


@cl.jit
def midpoint(f: Callable[[float], float], low: float, high: float, n: int) -> float:
    total, step = 0.0, (high - low) / n
    for i in range(n):
        total += f(low + (i + 0.5) * step) * step
    return total


@case(1.2, 0.7)
@cl.jit
def integrals(x: float, y: float) -> float:
    decay = midpoint(lambda t: math.exp(-x * t), 0.0, y, 40)
    return decay * midpoint(math.sin, 0.0, x, 20)


@case(0.8, np.array([0.5, -1.0, 2.0]))
@cl.jit
def captured_array(x: float, a: cl.f64[:]) -> float:
    weights = np.exp(-(a**2))

    def model(t):
        return np.sum(weights * np.sin(t * a))

    return model(x) + model(x * x) * weights[0]


@case(0.3)
@cl.jit
def returned_function(x: float) -> float:
    def composed(f, g):
        return lambda t: f(g(t))

    def square(t):
        return t * t + x

    twice = composed(square, math.sin)
    return composed(twice, square)(x) + twice(2.0)


@case(2.0, 5)
@case(2.0, 0)
@cl.jit
def array_of_functions(x: float, n: int) -> float:
    fs = [lambda t, k=k: t**k * x for k in range(n)]
    total = 0.0
    for f in fs:
        total += f(1.1)
    return total


@case(0.6, 4)
@cl.jit
def changing_function(x: float, n: int) -> float:
    def double(t):
        return 2.0 * t

    def shrink(t, c=x):
        return c * t + 1.0

    f = double
    y = x
    for _ in range(n):
        y = f(y)
        if y > 2.0:
            f = shrink
    return y


class Kernel(NamedTuple):
    shape: Callable[[float], float]
    width: float


@case(0.9, np.array([0.2, 1.1, -0.4]))
@cl.jit
def function_in_a_record(h: float, xs: cl.f64[:]) -> float:
    kernel = Kernel(lambda t: math.exp(-0.5 * t * t), h)
    total = 0.0
    for x in xs:
        total += kernel.shape(x / kernel.width) / kernel.width
    return total


@case(1.3, 0.4)
@cl.jit
def pair_of_functions(x: float, y: float) -> float:
    up, down = (lambda t: t + x), (lambda t: t - y)
    pair = (up, down)
    f, g = pair
    return f(g(x)) * pair[0](y)


@case(0.7)
@cl.jit
def nested_definitions(x: float) -> float:
    def outer(a):
        def inner(b):
            return a * b + x

        return inner(a) + inner(2.0)

    return outer(x) + outer(1.0)


@case(np.array([1.0, 2.0, 3.0]), 1.5)
@cl.jit
def function_in_a_loop(a: cl.f64[:], p: float) -> float:
    total = 0.0
    for i in range(len(a)):
        w = a[i] * p

        def weighted(t):
            return w * t + a[0]

        total += weighted(p) * weighted(w)
    return total


@case(np.array([0.5, 1.5, -0.5]), 0.3)
@cl.jit
def mapped(a: cl.f64[:], c: float) -> float:
    f = lambda t: math.tanh(c * t)
    return sum(f(t) for t in a) + cl.fold(lambda s, t: s * f(t) + t, a)


@case(1.1, True)
@case(1.1, False)
@cl.jit
def functions_of_two_branches(x: float, flag: bool) -> float:
    if flag:
        k = 2.0 * x
        f = lambda t: k * t
    else:
        f = math.cos
    return f(x) + f(2.0 * x)


# ---- lists of functions that hold arrays -----------------------------------------


@case(np.array([0.5, -1.0, 2.0]), 5)
@case(np.array([0.5, -1.0, 2.0]), 0)
@cl.jit
def listed_with_arrays(x: cl.f64[:], n: int) -> float:
    y = x * x
    listed = [lambda t: t * np.sum(y), lambda t: t + y[0], lambda t: t * x[-1] + y[1]]
    total = 1.0
    for i in range(n):
        total = listed[i % len(listed)](total) * 0.5
    return total + sum(f(0.5) for f in listed)


@case(np.array([0.5, -1.0, 2.0]), 4)
@cl.jit
def made_in_a_loop(x: cl.f64[:], n: int) -> float:
    def scaled(t):
        return t * np.sum(x)

    fixed = [scaled, lambda t: t - x[1], scaled]
    listed = []
    for i in range(n):
        y = x * (i + 1.0)
        if i % 2 == 0:
            listed.append(lambda t, y=y: t * y[0])
        else:
            listed.append(lambda t, y=y: t + np.sum(y[1:]))
    total, k = 1.0, 0
    while k < len(listed):
        total = listed[k](fixed[k % 3](total)) * 0.3
        k += 1
    return total


@case(np.array([1.0, -0.5, 2.0]), np.diag([1.0, 2.0, 0.5]) + 0.1)
@cl.jit
def solved_in_a_chosen_function(a: cl.f64[:], m: cl.f64[:, :]) -> float:
    """A buffer is made on each of several ways, and no loop is near all of them."""
    total = 0.0
    for f in (
        lambda t: t * sum(np.linalg.solve(m + np.eye(len(a)), a)),
        math.sin,
        lambda t: t * t,
    ):
        total += f(np.sum(np.sqrt(np.sum(m * m, axis=0))))
        total += f(sum(np.any(m > 1.0, axis=0)))
    return total


@case(np.array([0.3, 0.7, 1.1, 0.4, 0.9]), 3)
@case(np.array([0.5]), 0)
@cl.jit
def functions_with_state(x: cl.f64[:], n: int) -> float:
    """Local functions see, update and assign what is around them."""
    memo, calls, total = np.full(len(x), -1.0), 0, 0.0
    taken: list[float] = []

    def product(k):
        nonlocal calls
        calls += 1
        if memo[k] < 0.0:
            taken.append(x[k] * calls)
            memo[k] = x[k] * rate
        return memo[k]

    def deeper(k):
        nonlocal calls
        calls += k
        return x[0] if k == 0 else x[k] * rate + deeper(k - 1)

    for k in range(n + 1):
        rate = 0.5 * (k + 1)
        total += product(k) * rate + product(k // 2)
        total += deeper(k)
    return total + sum(taken) * calls
