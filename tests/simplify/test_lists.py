"""Lists of arrays that are there anyway hold numbers, and mean what they did."""

from __future__ import annotations

import linecache
from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl
from tests.simplify.random_lists import Writer


def program(seed: int) -> Callable[..., float]:
    text, name = Writer(seed).text(), f"<lists {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    namespace: dict[str, Callable[..., float]] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.sweep(share=12)
@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed: int) -> None:
    function = program(seed)
    args = tuple(np.random.default_rng(seed).normal(size=(3, 7)))
    ones = tuple(np.ones((3, 7)))
    found = cl.jit(function)(*args)
    assert np.isclose(found, function(*args), rtol=1e-9, atol=1e-9)
    slopes = cl.grad(function, argnums=(0, 1, 2))(*args)
    assert np.isclose(cl.jvp(function, args, ones)[1], np.sum(slopes), rtol=1e-7)
    plain = cl.jit(function, options=cl.CompileOptions(optimize=0))
    expected = cl.grad(plain, argnums=(0, 1, 2))(*args)
    np.testing.assert_allclose(slopes, expected, rtol=1e-7, atol=1e-7)


@cl.jit
def chosen(a: cl.f64[:], b: cl.f64[:], n: int) -> float:
    items = [a if i % 2 == 0 else b for i in range(n)]
    s = 0.0
    for item in items:
        s += item[0]
    return s


def test_sizes_that_differ_are_an_error_as_before() -> None:
    a, b = np.ones(3), np.ones(4)
    assert chosen(a, b, 1) == 1.0
    with pytest.raises(ValueError, match="sizes 3 and 4 do not match"):
        chosen(a, b, 2)
    assert chosen(a, b, 0) == 0.0


@cl.jit
def appended(a: cl.f64[:], b: cl.f64[:], n: int) -> float:
    items = [a]
    for _ in range(n):
        items.append(b)
    return items[-1][0]


def test_appended_sizes_that_differ_are_an_error() -> None:
    assert appended(np.ones(3), np.ones(4), 0) == 1.0
    with pytest.raises(ValueError, match="do not match"):
        appended(np.ones(3), np.ones(4), 1)
    with pytest.raises(IndexError):
        appended(np.ones(0), np.ones(0), 1)


def state_that_is_one_array(a: cl.f64[:], b: cl.f64[:]) -> float:
    items = [a]
    last = a
    for i in range(len(a)):
        last = items[i // 2]
        items.append(last)
    return last[0] * items[-1][1] + b[0]


def made_in_front_of_what_it_takes(a: cl.f64[:], b: cl.f64[:]) -> float:
    last = b
    items = [(b if a[i] > 9.0 else last) for i in range(len(a))]
    others = [a]
    for _ in range(1, len(a)):
        items.append(others[-1])
    s = 0.0
    for i in range(len(items)):
        s += items[i][i % len(a)]
    return s + others[-1][0]


@pytest.mark.parametrize(
    "function", [state_that_is_one_array, made_in_front_of_what_it_takes]
)
def test_programs(function: Callable[..., float]) -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 7))
    assert np.isclose(cl.jit(function)(a, b), function(a, b))
    cl.check_grads(function, (a, b))
