"""Generators, written into the loops that run over them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl


def halves(n, step=1):
    """Beside the functions that run over it."""
    for i in range(0, n, step):
        yield 0.5 * i
        if i > 6:
            return


def endless(k):
    while True:
        yield k
        k += 1


def nested(n):
    yield from halves(n)
    yield -1.0


def plain(x: float, n: int) -> float:
    s = 0.0
    for v in halves(n, step=2):
        s += v * x
    return s


def left(x: float, n: int) -> float:
    s = 0.0
    for k in endless(n):
        if k % 3 == 0:
            continue
        s += math.sin(k * x)
        if s < 0.0 or k > 20:
            break
    else:
        s += 1000.0
    return s


def ended(x: float, n: int) -> float:
    s = x
    for v in halves(n):
        if v == 100.0:
            break
        s = s * x + v
    else:
        s += 1000.0 * x
    return s


def returned(x: float, n: int) -> float:
    for k in endless(1):
        x = 0.5 * x + k
        if k == n:
            return x * x
    return 0.0


def pairs(x: float, n: int) -> float:
    def below(m):
        for i in range(m):
            for j in range(i):
                if i * j > 12:
                    return
                yield i, j

    s = 0.0
    for i, j in below(n):
        for k, (p, q) in enumerate(below(i), 2):
            s += x * (i + j * p - q) + k
    return s


def taken(x: float, n: int) -> float:
    def cubes():
        i = 0
        while i < n:
            yield x * i**3
            i += 1

    b = np.array([v * v for v in cubes()])
    return sum(cubes()) + max(nested(n)) + len(list(halves(n))) + np.sum(b)


def local_state(x: float, n: int) -> float:
    """Names of the generator are its own; what it captures is what it is then."""
    i, s, scale = 7, 0.0, 1.0

    def scaled(m):
        i = 0
        while i < m:
            yield scale * i
            i = i + 1

    for v in scaled(n):
        scale = scale * x
        s += v * i
    return s


def several(x: float, n: int) -> float:
    def both(m):
        yield x
        if m > 3:
            yield x * x
            return
        yield x + m

    s = 0.0
    for outer in range(n):
        for v in both(outer):
            s = s + v * outer
    return s


FUNCTIONS = (plain, left, ended, returned, pairs, taken, local_state, several)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 5, 12])
def test_what_python_does(function: Callable[[float, int], float], n: int) -> None:
    compiled, h = cl.jit(function), 1e-6
    assert compiled(0.7, n) == pytest.approx(function(0.7, n), rel=1e-13)
    slope = (function(0.7 + h, n) - function(0.7 - h, n)) / (2.0 * h)
    assert cl.grad(compiled)(0.7, n) == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_a_plain_loop_is_as_fast_as_without() -> None:
    """A loop without exits is the generator's own: the same operations are counted."""

    def direct(x: float, n: int) -> float:
        s = 0.0
        for i in range(n):
            s += 0.25 * i * x
        return s

    def by_generator(x: float, n: int) -> float:
        def quarters(m):
            for i in range(m):
                yield 0.25 * i

        s = 0.0
        for v in quarters(n):
            s += v * x
        return s

    works = [
        [s.work for s in cl.jit(f).report(0.5, 100).scaling]
        for f in (direct, by_generator)
    ]
    assert works[0] == works[1]


def itself(x: float, n: int) -> float:
    def down(m):
        if m > 0:
            yield m
            yield from down(m - 1)

    s = x
    for v in down(n):
        s += v
    return s


def sent(x: float, n: int) -> float:
    def echo():
        y = yield x
        yield y

    s = 0.0
    for v in echo():
        s += v
    return s


def late(x: float, n: int) -> float:
    def first(k=n):
        yield k

    s = x
    for v in first():
        s += v
    return s


def a_value(x: float, n: int) -> float:
    def one():
        yield x

    found = one()
    return x if found else 0.0


@pytest.mark.parametrize("function", [itself, sent, late, a_value])
def test_refused(function: Any) -> None:
    with pytest.raises(cl.CompileError, match="CL0224") as caught:
        cl.jit(function)(1.0, 3)
    lines, first = inspect.getsourcelines(function)
    line = caught.value.diagnostics[0].span.line
    assert "yield" in lines[line - first]


def own_variables(x: float, k: int, a: cl.f64[:]) -> float:
    """What a comprehension or a lambda binds hides a variable in it alone."""

    def pieces(count):
        for i in range(count):
            ks = [k * v for k, v in enumerate(a)]
            scale = (lambda x: 2.0 * x)(float(i))
            yield sum(ks) / k + scale * x + sum(k for k in range(k))
            if (top := max(k + v for v in a)) > 100.0:
                yield top

    total = 0.0
    for piece in pieces(3):
        total += piece
    return total


def matched(x: float, k: int) -> float:
    def parts(n):
        for i in range(n):
            match (i, k):
                case (0, j):
                    yield x + j
                case (j, _):
                    yield x * j

    j = 10.0
    for part in parts(3):
        j += part
    return j


def test_variables_of_inner_scopes() -> None:
    a = np.array([1.0, 2.5, -4.0])
    for k in (2, 300):
        assert cl.jit(own_variables)(0.5, k, a) == pytest.approx(
            own_variables(0.5, k, a)
        )
    assert cl.jit(matched)(0.5, 3) == matched(0.5, 3)
    cl.check_grads(own_variables, (0.5, 2, a))
