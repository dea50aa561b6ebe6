"""What tangents suppose of factors, and that it is no matter where it is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.specialising import Specialiser

ZERO, ONE = np.zeros(3), np.ones(3)
FIRST = np.array([1.0, 0.0, 0.0])


@cl.jit
def rooted(x: cl.f64[:], y: cl.f64[:]) -> float:
    return np.sum(x * np.sqrt(y) + y**3)


@cl.jit
def masked(x: cl.f64[:]) -> float:
    """What is not chosen has infinite slopes."""
    return np.sum(np.where(x > 0.0, x * np.log(x) + np.sqrt(x), x * x))


@cl.jit
def stepped(x: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        level = 1.0
        while level > 0.1:
            level -= 0.3 + 0.1 * v * v
            total += math.pow(abs(v), 1.5) * level
    return total


@cl.jit
def slope_along(x: cl.f64[:], v: cl.f64[:]) -> float:
    """A tangent that decides."""
    _, slope = cl.jvp(rooted, (x, x * x), (v, x * 0.0))
    return 1.0 if slope < 2.0 else 2.0


def along(function: Any, *tangents: Any) -> Callable[..., Any]:
    return lambda *args: cl.jvp(function, args, tangents)


def with_options(options: cl.CompileOptions, function: Any) -> Any:
    return cl.jit(function.py_func, options=options)


EXACT = replace(cl.CompileOptions(), disabled=frozenset({"finite"}))
CASES: dict[str, tuple[Callable[[Any], Callable[..., Any]], Any, tuple[Any, ...]]] = {
    "fixed": (lambda f: along(f, ONE, None), rooted, (ONE, ZERO)),
    "still": (
        lambda f: along(f, FIRST, ZERO),
        rooted,
        (ONE, np.array([0.0, 1.0, 0.0])),
    ),
    "moved": (lambda f: along(f, ONE, ONE), rooted, (ONE, ZERO)),
    "masked": (lambda f: along(f, FIRST), masked, (np.array([0.0, 1.0, -2.0]),)),
    "product": (cl.hvp, masked, (np.array([0.0, 1.0, -2.0]), FIRST)),
    "hessian": (cl.hessian, masked, (np.array([0.0, 1.0, -2.0]),)),
    "nan": (cl.hvp, masked, (np.array([math.nan, 1.0, 2.0]), ONE)),
    "infinite": (cl.hvp, masked, (np.array([math.inf, 1.0, 2.0]), FIRST)),
    "loop": (cl.hvp, stepped, (np.array([0.0, 0.5, -1.0]), ONE)),
    "loop, still": (cl.hessian, stepped, (np.array([0.0, 0.5, 0.0]),)),
    "decides": (
        lambda f: lambda *a: [f(*a)],
        slope_along,
        (np.array([0.0, 1.0, 2.0]), FIRST),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_makes_no_difference(name: str) -> None:
    transform, function, args = CASES[name]
    found = transform(function)(*args)
    for options in (EXACT, cl.CompileOptions(speculate=False)):
        expected = transform(with_options(options, function))(*args)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is compiled from here on."""
    names: list[str] = []
    plain = Specialiser._native

    def native(self: Specialiser, *args: Any) -> Any:
        names.append(self._name)
        return plain(self, *args)

    monkeypatch.setattr(Specialiser, "_native", native)
    return names


def square_and_root(x: cl.f64[:]) -> float:
    return np.sum(x * x * np.sqrt(x))


def test_the_exact_program_is_compiled_where_it_is_needed(compiled: list[str]) -> None:
    product = cl.hvp(cl.jit(square_and_root))
    assert np.allclose(product(ONE, FIRST), [3.75, 0.0, 0.0])
    assert np.allclose(product(4.0 * ONE, ONE), 7.5 * ONE)
    assert len(compiled) == 1
    found = product(ZERO, FIRST)
    assert len(compiled) == 2
    exact = cl.hvp(cl.jit(square_and_root, options=EXACT))
    np.testing.assert_equal(found, exact(ZERO, FIRST))


def third(x: cl.f64[:]) -> float:
    total = 0.0
    for i in range(4):
        total += x[i] ** 3
    return total


def test_failures_are_those_of_the_program() -> None:
    function = cl.jit(third)
    with pytest.raises(IndexError, match="index 3 is out of range for size 3"):
        cl.hvp(function)(ONE, ONE)
    assert np.allclose(cl.hvp(function)(np.ones(4), np.ones(4)), 6.0)
