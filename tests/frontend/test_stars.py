"""Stars: in targets, parameters and calls; functions with some arguments fixed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

V = np.array([0.5, -1.25, 2.0, 0.75])


def total(x, *rest, scale=1.0):  # type: ignore[no-untyped-def]
    return x * scale + sum(rest) * len(rest)


def step(slope, y, t, dt, *args):  # type: ignore[no-untyped-def]
    half = y + 0.5 * dt * slope(y, t, *args)
    return y + dt * slope(half, t + 0.5 * dt, *args)


def decay(y, t, rate, force):  # type: ignore[no-untyped-def]
    return force * t - rate * y


def first_of_tuple(v: cl.f64[:]) -> float:
    first, *rest = (v[0], v[1], v[2])
    rest.append(v[3])
    return first * sum(rest) * len(rest)


def ends_of_array(v: cl.f64[:]) -> float:
    first, *rest, last = v
    return first * last * sum(rest)


def front_of_list(v: cl.f64[:]) -> float:
    *rest, last = [v[0], v[1], 1.0]
    return last * rest[0] - rest[1]


def rows(v: cl.f64[:]) -> float:
    first, *rest = np.outer(v, v)
    one, *others = [v, 2.0 * v, 3.0 * v]
    return np.sum(first) * sum(np.sum(row**2) for row in rest) + np.sum(others[1] * one)


def in_loops(v: cl.f64[:]) -> float:
    found = 0.0
    for x, *rest in [(v[0], v[1], 1.0), (v[2], v[3], 2.0)]:
        found += x * sum(rest)
    (y, *others), z = [v[0], v[1]], v[2]
    w = np.zeros(2)
    w[1], *middle, w[0] = v
    return found * y + others[0] * z * w[0] - w[1] * sum(middle)


def nothing_left(v: cl.f64[:]) -> float:
    x, *rest = [v[0]]
    y, z, *none, w, u = v
    return x * y * z * w * u + len(rest) + len(none)


def variadic(v: cl.f64[:]) -> float:
    def own(*xs, weight=2.0):  # type: ignore[no-untyped-def]
        return weight * xs[0] + sum(xs[1:])

    pair = (v[0], v[1])
    found = total(v[0]) + total(v[0], v[1]) + total(*pair, 1, scale=v[2])
    return found + own(v[0]) * own(*pair, weight=v[3])


def integrated(v: cl.f64[:]) -> float:
    y, z = 1.0, 1.0 * v
    for k in range(4):
        y = step(decay, y, 0.1 * k, 0.1, v[0], v[1])
        z = step(decay, z, 0.1 * k, 0.1, v[0], v)
    return y * np.sum(z)


def keywords(v: cl.f64[:]) -> float:
    def scaled(x, y, z=1.0):  # type: ignore[no-untyped-def]
        return x - 2.0 * y * z

    given = {"x": v[0], "y": v[1]}
    return scaled(**given) + scaled(**given, z=v[2]) + scaled(*[v[0], v[1]], z=2.0)


def fixed(v: cl.f64[:]) -> float:
    one = functools.partial(decay, 2.0, rate=v[1], force=1.0)
    two = functools.partial(total, v[0], scale=2.0)
    return one(v[2]) * two(v[1], v[3]) + two()


CASES: list[Callable[..., Any]] = [
    first_of_tuple,
    ends_of_array,
    front_of_list,
    rows,
    in_loops,
    nothing_left,
    variadic,
    integrated,
    keywords,
    fixed,
]


@pytest.mark.parametrize("function", CASES)
def test_as_in_python(function: Callable[..., Any]) -> None:
    compiled = cl.jit(function)
    assert compiled(V) == pytest.approx(function(V), rel=1e-12)
    cl.check_grads(compiled, (V,))


def test_too_few_values() -> None:
    @cl.jit
    def found(v: cl.f64[:]) -> float:
        x, y, *rest = v
        return x * y + len(rest)

    assert found(np.ones(2)) == 1.0
    with pytest.raises(ValueError, match="expected 2 values to unpack, got 1"):
        found(np.ones(1))


def test_a_variadic_parameter_has_no_name() -> None:
    with pytest.raises(cl.CompileError, match="does not take `rest` by name"):
        cl.jit(lambda x: total(x, rest=1.0))(1.0)


def test_python_calls_with_as_many_arguments_as_parameters() -> None:
    with pytest.raises(cl.CompileError, match="CL0107"):
        cl.jit(total)(1.0, 2.0)
