"""Sizes that turn out to be 1: what they stretch is known in a version of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.specialising import Specialiser

RNG = np.random.default_rng(5)


def apart(x: cl.f64[:, :], mu: cl.f64[:, :], w: cl.f64[:]) -> float:
    d = (x - mu) * w
    return float(np.sum(np.tanh(d) * d) + d[-1, -1])


@dataclass(frozen=True)
class Layer:
    weights: cl.f64[:, :]
    bias: cl.f64[:, :]


def layers(x: cl.f64[:, :], ls: tuple[Layer, Layer]) -> float:
    first, second = ls
    h = np.tanh(x @ first.weights + first.bias)
    return float(np.sum(np.sin(h @ second.weights + second.bias)))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, bool]]]:
    """Which sizes each version supposes to be 1, and whether it supposes others."""
    found: list[tuple[Any, bool]] = []
    native = Specialiser._native

    def watched(self: Any, plan: Any, options: Any, *more: Any) -> Any:
        found.append((plan.ones, options.speculate))
        return native(self, plan, options, *more)

    monkeypatch.setattr(Specialiser, "_native", watched)
    yield found


def arguments(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.standard_normal(shape) for shape in shapes]


def check_derivatives(function: Any, plain: Any, args: list[Any]) -> None:
    """The value as NumPy's, and its gradient against differences and the jvp."""
    positions = (0, 1, 2)
    value, gradient = cl.value_and_grad(function, argnums=positions)(*args)
    np.testing.assert_allclose(value, plain(*args), rtol=1e-12)
    moves = [RNG.standard_normal(np.shape(arg)) for arg in args]
    ahead, behind = (
        plain(*[x + h * m for x, m in zip(args, moves, strict=True)])
        for h in (1e-6, -1e-6)
    )
    slope = sum(np.sum(g * m) for g, m in zip(gradient, moves, strict=True))
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-6)
    _, tangent = cl.jvp(function, tuple(args), tuple(moves))
    np.testing.assert_allclose(tangent, slope, rtol=1e-10)


@pytest.mark.parametrize(
    "shapes",
    [
        ((4, 3), (1, 3), (3,)),
        ((4, 3), (4, 1), (3,)),
        ((4, 3), (1, 1), (1,)),
        ((1, 3), (4, 1), (1,)),
        ((1, 1), (4, 3), (3,)),
        ((4, 3), (4, 3), (3,)),
    ],
)
def test_derivatives_are_right_at_any_sizes_of_1(shapes: Any) -> None:
    check_derivatives(cl.jit(cache=False)(apart), apart, arguments(*shapes))


def test_calls_of_all_sizes_take_turns(made: list[tuple[Any, bool]]) -> None:
    f = cl.jit(cache=False)(apart)
    for rows, columns, m, k in 2 * [
        (4, 1, 1, 3),
        (4, 3, 1, 3),
        (4, 3, 4, 3),
        (1, 3, 4, 1),
        (4, 3, 1, 1),
        (1, 3, 4, 3),
        (4, 1, 4, 3),
    ]:
        args = arguments((rows, columns), (m, k), (max(columns, k),))
        np.testing.assert_allclose(f(*args), apart(*args), rtol=1e-12)
    # What is neither supposed nor one of the first four is left to the last version.
    assert [supposes for _, supposes in made] == [True] * 5 + [False]


def test_a_row_that_is_stretched_has_a_version(made: list[tuple[Any, bool]]) -> None:
    f = cl.jit(cache=False)(apart)
    args = arguments((4, 3), (1, 3), (3,))
    np.testing.assert_allclose(f(*args), apart(*args), rtol=1e-12)
    assert made == [((), True), (((1, 0),), True)]


def test_sizes_in_records_and_tuples(made: list[tuple[Any, bool]]) -> None:
    f = cl.jit(cache=False)(layers)
    x, w, b, v, c = arguments((5, 4), (4, 3), (1, 3), (3, 2), (1, 2))
    both = (Layer(w, b), Layer(v, c))
    np.testing.assert_allclose(f(x, both), layers(x, both), rtol=1e-12)
    assert made == [((), True), (((2, 0), (4, 0)), True)]


def test_a_list_of_arrays_may_come_as_a_tuple() -> None:
    def added(xs: list[cl.f64[:]], m: cl.f64[:, :], w: cl.f64[:, :]) -> float:
        return float(np.sum(m * w) + sum(x[0] for x in xs))

    f = cl.jit(cache=False)(added)
    xs, (m, w) = (np.ones(1), np.ones(2), np.ones(1)), arguments((4, 3), (1, 3))
    np.testing.assert_allclose(f([*xs], m, w), added([*xs], m, w), rtol=1e-12)
    np.testing.assert_allclose(f(xs, m, w), added([*xs], m, w), rtol=1e-12)


def test_sizes_that_do_not_fit_are_an_error_at_the_line() -> None:
    f = cl.jit(cache=False)(apart)
    with pytest.raises(ValueError, match=r"3 and 2 .*apart"):
        f(*arguments((4, 3), (1, 2), (3,)))


def test_no_version_where_nothing_is_stretched(made: list[tuple[Any, bool]]) -> None:
    def element(x: cl.f64[:], k: int) -> float:
        return float(x[0] * x[k])

    f = cl.jit(cache=False)(element)
    with pytest.raises(IndexError):
        f(np.ones(1), 2)
    assert all(not ones for ones, _ in made)
