"""`check_grads`: right derivatives pass, wrong ones are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl


class Point(NamedTuple):
    a: float
    n: int
    b: cl.f64[:]


@dataclass(frozen=True)
class Box:
    low: float
    high: cl.f64[:, :]


@cl.jit
def many(x: cl.f64[:], p: Point, box: Box, k: int) -> tuple[float, cl.f64[:], Point]:
    """Numbers, arrays and records, in and out."""
    s = np.sum(np.sin(x)) * p.a * k * np.sum(box.high**2)
    return s, x * p.b * p.n, Point(s * box.low, p.n, p.b / p.a)


ARGS = (
    np.array([1.0, 2.0]),
    Point(2.0, 3, np.array([0.5, 1.0])),
    Box(0.3, np.array([[1.0, -0.5]])),
    2,
)


@pytest.mark.parametrize(("order", "count"), [(1, 21), (2, 99)])
def test_right_derivatives_pass(order: int, count: int, agreed: list[bool]) -> None:
    cl.check_grads(many, ARGS, order=order)
    assert agreed == [True] * count


def test_plain_functions_and_whole_numbers(agreed: list[bool]) -> None:
    def cube(x: float) -> float:
        return x**3

    cl.check_grads(cube, (2,), order=3)
    assert agreed == [True] * 44
    agreed.clear()
    cl.check_grads(lambda x, y: {"a": x * y, "b": y}, (1.5, np.ones(2)), order=2)
    assert agreed == [True] * 42


def test_single_precision(agreed: list[bool]) -> None:
    cl.check_grads(lambda x: np.sum(x * x), (np.float32([0.5, -1.0]),), order=2)
    assert agreed == [True] * 12


def product(slope: float) -> Any:
    """x y, whose derivative by y is off by this factor."""

    @cl.custom_vjp
    def product(x: float, y: float) -> float:
        return x * y

    def forward(x, y):
        return x * y, (x, y)

    def backward(kept, ct):
        x, y = kept
        return ct * y, ct * x * slope

    product.defvjp(forward, backward)
    return product


def test_a_wrong_derivative_is_named() -> None:
    cl.check_grads(product(1.0), (1.0, 2.0), order=2)
    with pytest.raises(AssertionError, match=r"of product by y is wrong: forward"):
        cl.check_grads(product(1.01), (1.0, 2.0))
    with pytest.raises(AssertionError, match=r"of product by y is wrong: reverse"):
        cl.check_grads(product(1.01), (1.0, 2.0), modes="rev")


def test_tolerances() -> None:
    cl.check_grads(product(1.01), (1.0, 2.0), rtol=0.05)
    with pytest.raises(AssertionError):
        cl.check_grads(product(1.0 + 1e-5), (1.0, 2.0), eps=1e-3)


def test_a_wrong_second_derivative() -> None:
    @cl.custom_jvp
    def sine(x: float) -> float:
        return np.sin(x)

    @sine.defjvp
    def rule(primals, tangents):
        (x,), (x_t,) = primals, tangents
        return np.sin(x), cl.stop_gradient(np.cos(x)) * x_t

    cl.check_grads(sine, (1.0,))
    with pytest.raises(AssertionError, match="in forward mode, by x is wrong"):
        cl.check_grads(sine, (1.0,), order=2)
    with pytest.raises(AssertionError, match="in reverse mode, by x is wrong"):
        cl.check_grads(sine, (1.0,), order=2, modes=("rev",))


def test_one_of_several_results_is_named() -> None:
    @cl.custom_jvp
    def both(x: cl.f64[:]) -> cl.f64[:]:
        return x * x

    @both.defjvp
    def rule(primals, tangents):
        (x,), (x_t,) = primals, tangents
        return x * x, np.array([2.0, 3.0]) * x * x_t

    with pytest.raises(AssertionError, match="by x, result 1 is wrong"):
        cl.check_grads(both, (np.ones(2),))


def test_not_a_number_is_wrong() -> None:
    with pytest.raises(AssertionError, match="nan"):
        cl.check_grads(lambda x: np.log(x), (-1.0,))


def test_what_cannot_be_checked() -> None:
    with pytest.raises(ValueError, match="modes are 'fwd' and 'rev'"):
        cl.check_grads(many, ARGS, modes=("backwards",))
    with pytest.raises(ValueError, match="an order is at least 1"):
        cl.check_grads(many, ARGS, order=0)
    with pytest.raises(ValueError, match="no reals"):
        cl.check_grads(lambda n: 2 * n, (3,))
    with pytest.raises(TypeError, match="args must be a tuple, not a float"):
        cl.check_grads(lambda x: 2 * x, 3.0)
