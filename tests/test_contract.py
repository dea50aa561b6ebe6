"""`contract=False`: each product and each sum is rounded by itself, wherever it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves

import chadllvm as cl

X = np.random.default_rng(5).normal(size=1003)


def square_and(a: float, b: float) -> float:
    return a**2 + b


def difference(a: float, b: float) -> float:
    return a * b - 0.1


def elements(x: cl.f64[:]):
    return x * x[::-1] + x * 0.1


def loop(x: cl.f64[:]):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * x[i] - 0.3 * x[i]
    return out


def recurrence(x: cl.f64[:]) -> float:
    position, speed = 0.1, 0.2
    for i in range(len(x)):
        position = position * 0.9 + speed * x[i]
        speed = speed * 0.5 - 0.1 * position
    return position


def lanes(x: cl.f64[:]):
    out = np.zeros(len(x))
    for i in range(len(x)):
        y = x[i]
        for _ in range(7):
            y = y * 0.7 + x[i] * 0.3
        out[i] = y
    return out


def single(x: cl.f32[:]):
    return x * x + x * x[::-1]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (square_and, (0.1, 0.1)),
    (difference, (0.3, 0.7)),
    (elements, (X,)),
    (loop, (X,)),
    (recurrence, (X,)),
    (lanes, (X,)),
    (single, (X.astype(np.float32),)),
]
NAMES = [function.__name__ for function, _ in PROGRAMS]


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=NAMES)
@pytest.mark.parametrize("options", [{"contract": False}, {"strict": True}], ids=str)
def test_the_bits_are_those_of_plain_python(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, bool]
) -> None:
    np.testing.assert_array_equal(cl.jit(function, **options)(*args), function(*args))


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=NAMES)
def test_by_default_there_is_something_to_contract(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    assert " contract " in cl.jit(function).show("llvm", *args)


def test_infinities_cancel_as_in_plain_python() -> None:
    """A fused multiply-add would not see the infinite square."""
    for options in ({"contract": False}, {"strict": True}):
        found = cl.jit(of_product, **options)(1e200, -math.inf)
        assert math.isnan(found) and math.isnan(of_product(1e200, -math.inf))


def of_product(a: float, b: float) -> float:
    return a * a + b


def likelihood(x: cl.f64[:], w: cl.f64[:, :]) -> float:
    """Sums over lanes, a chain, and a function that is written out."""
    total, state = 0.0, 0.0
    for i in range(len(x)):
        inner = 0.0
        for k in range(w.shape[1]):
            inner += w[i, k] * x[i]
        total += np.tanh(inner) * x[i]
        state = state * 0.5 + x[i] * total
    return total + state + np.sum(w @ w.T)


W = np.random.default_rng(6).normal(size=(20, 5))


@pytest.mark.parametrize("made", [cl.jit, lambda f: cl.grad(f, argnums=(0, 1))])
def test_nothing_is_contracted_in_what_is_larger(made: Callable[..., Any]) -> None:
    apart, default = cl.jit(likelihood, contract=False), cl.jit(likelihood)
    assert " contract " in made(default).show("llvm", X[:20], W)
    assert " contract " not in made(apart).show("llvm", X[:20], W)
    for found, right in zip(
        leaves(made(apart)(X[:20], W)), leaves(made(default)(X[:20], W)), strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-12)


def test_options_are_part_of_what_is_compiled() -> None:
    """Neither finds the other's code again."""
    options = cl.CompileOptions(contract=False)
    assert cl.jit(square_and, contract=False).options == options
    assert options != cl.CompileOptions() != cl.CompileOptions(strict=True)
    for _ in range(2):
        assert cl.jit(square_and, options=options)(0.1, 0.1) == 0.1**2 + 0.1


def test_a_library_is_compiled_with_the_options(tmp_path: Path) -> None:
    path = tmp_path / "libapart"
    functions = {
        "apart": (cl.jit(recurrence, contract=False), (X,)),
        "strict": (cl.jit(recurrence, strict=True), (X,)),
    }
    cl.export(functions, path, cpu="native")
    library = cl.load(path)
    assert library.apart(X) == library.strict(X) == recurrence(X)
