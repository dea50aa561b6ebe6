"""Functions that make and take functions: composed, iterated, tabulated, replaced."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import chadllvm as cl
from programs.case import case

A = np.array([0.4, -0.7, 1.1])


@cl.jit
def iterated(f: Callable[[float], float], n: int, x: float) -> float:
    for _ in range(n):
        x = f(x)
    return x


@case(0.8, 3, 2)
@cl.jit
def iterated_twice(x: float, n: int, m: int) -> float:
    """A function that iterates is iterated."""

    def inner(t):
        return iterated(lambda s: math.sin(s + x), n, t)

    return iterated(inner, m, x)


@case(0.6)
@cl.jit
def numerals(x: float) -> float:
    """Church's numerals: a number is what repeats a function as often."""

    def plus(m, n):
        return lambda f: lambda t: m(f)(n(f)(t))

    def times(m, n):
        return lambda f: m(n(f))

    one = lambda f: f
    two = plus(one, one)
    six = times(two, plus(two, one))
    return six(lambda t: t * t * x + 0.3)(x)


@case(A, 0.5)
@cl.jit
def folded_functions(a: cl.f64[:], x: float) -> float:
    """The layers of a small network, each a function with its weight."""
    layers = [lambda t, w=w: math.tanh(w * t + x) for w in a]
    y = x
    for layer in reversed(layers):
        y = layer(y) + 0.1 * y
    return y + layers[0](layers[-1](y))


@case(np.array([0, 2, 1, 2, 0]), 0.9)
@cl.jit
def table_of_functions(codes: cl.i64[:], x: float) -> float:
    """Which function is called is known at run time only."""
    table = [
        lambda t, c=c, k=k: (c + t) ** (k + 1) for k, c in enumerate((0.5, x, 1.5))
    ]
    y = x
    for code in codes:
        y = table[code](y) / (1.0 + y * y)
    return y


@case(0.7, True)
@case(0.7, False)
@cl.jit
def function_of_functions_chosen(x: float, flag: bool) -> float:
    """What takes a function is itself chosen, and so is what it is given."""
    twice = lambda f: lambda t: f(f(t))
    both = lambda f: lambda t: f(t) + f(1.5 - t)
    lift = twice if flag else both
    f = math.tanh if x > 0.5 else math.cos
    return lift(lift(f) if flag else f)(x)


@case(1.3, 0.2)
@cl.jit
def replaced_until_small(x: float, eps: float) -> float:
    """The function is replaced by another of the same code in each step."""
    scale = x
    f = lambda t, s=scale: s * math.sin(t)
    y, count = x, 0
    while abs(y) > eps:
        y = f(y)
        count += 1
        if count % 3 == 0:
            f = lambda t, s=0.3 * y + 0.3 * x: s * t
    return y * count


class Rule(NamedTuple):
    applies: Callable[[float], bool]
    rewrite: Callable[[float], float]


@case(2.7, 0.6)
@cl.jit
def rewriting(x: float, a: float) -> float:
    """Rules are tried in order until none applies."""
    large = Rule(lambda t: t > 2.0, lambda t: t * a)
    middle = Rule(lambda t: 0.8 < t <= 2.0, lambda t: t * t * a)
    y = x
    while True:
        if large.applies(y):
            y = large.rewrite(y)
        elif middle.applies(y):
            y = middle.rewrite(y)
        else:
            return y


@case(A, 1.2)
@cl.jit
def curried(a: cl.f64[:], x: float) -> float:
    """Arguments one by one; each function captures all before it."""

    def weighted(w):
        total = np.sum(w)

        def shifted(s):
            scale = total + s
            return lambda t: scale * t + w[0] * s

        return shifted

    from_a = weighted(a)
    return from_a(x)(2.0) * from_a(0.5)(x) + weighted(a * a)(1.0)(x)


@cl.jit
def simpson(f: Callable[[float], float], low: float, high: float, n: int) -> float:
    h = (high - low) / n
    ends = f(low) + f(high)
    odd = sum(f(low + (2 * k + 1) * h) for k in range(n // 2))
    even = sum(f(low + 2 * k * h) for k in range(1, n // 2))
    return h / 3.0 * (ends + 4.0 * odd + 2.0 * even)


@case(0.9, 1.4)
@cl.jit
def integral_of_an_integral(a: float, b: float) -> float:
    """The bounds of the inner one depend on the outer variable."""
    inner = lambda x: simpson(lambda y: math.exp(-x * y * a), 0.0, x, 4)
    return simpson(inner, 0.0, b, 6)


@case(0.7, 4)
@cl.jit
def pair_of_functions_in_a_state(x: float, n: int) -> float:
    """The two change places and grow in each step of a loop."""
    f, g = (lambda t, c=x: c * t), (lambda t, c=1.0: c + t)
    for k in range(n):
        if k % 2 == 0:
            f, g = (lambda t, c=f(0.5): c * t), (lambda t, c=g(0.5): c + t)
    return f(g(x)) + g(f(2.0))


class Stream(NamedTuple):
    """Numbers without end: the state, what comes next, and what is seen of it."""

    state: float
    advance: Callable[[float], float]
    shown: Callable[[float], float]


@case(0.3, 3.4)
@cl.jit
def stream_until(x: float, r: float) -> float:
    """Elements of the logistic map are added while they rise."""

    def mapped(stream, f):
        shown = stream.shown
        return Stream(stream.state, stream.advance, lambda s: f(shown(s)))

    logistic = Stream(x, lambda s: r * s * (1.0 - s), lambda s: s)
    stream = mapped(mapped(logistic, lambda t: t + 1.0), math.log)
    total, seen = 0.0, -1.0
    while stream.shown(stream.state) > seen:
        seen = stream.shown(stream.state)
        total += seen
        stream = Stream(stream.advance(stream.state), stream.advance, stream.shown)
    return total


@case(A, 0.8)
@cl.jit
def early_return_of_a_function(a: cl.f64[:], x: float) -> float:
    """Which closure comes back depends on where a loop is left."""

    def first_above(limit):
        for k in range(len(a)):
            v = a[k]
            if v > limit:
                return lambda t: v * t + k
        return lambda t: t * limit

    return first_above(0.1)(x) + first_above(5.0)(x) * first_above(0.5)(1.0)


@case(0.4, 1.1)
@cl.jit
def dual_numbers(x: float, v: float) -> float:
    """Forward differentiation by the program itself, with pairs and functions."""

    def product(f, g):
        return lambda p: (f(p)[0] * g(p)[0], f(p)[1] * g(p)[0] + f(p)[0] * g(p)[1])

    def sine(f):
        return lambda p: (math.sin(f(p)[0]), math.cos(f(p)[0]) * f(p)[1])

    same = lambda p: p
    value, slope = product(sine(same), product(same, same))((x, v))
    return value * slope


@case(0.9)
@cl.jit
def continuation(x: float) -> float:
    """Each step is told what to do with its result, and on failure."""

    def divided(a, b, succeed, fail):
        return succeed(a / b) if abs(b) > 0.5 else fail(a)

    first = divided(x, x * x, lambda q: q * x + 1.0, lambda a: -a)
    second = divided(x, x - 0.8, lambda q: q, lambda a: a * math.exp(first))
    return divided(second, first, lambda q: q * q, lambda a: a)
