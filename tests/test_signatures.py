"""What `inspect.signature` says of compiled functions and of their derivatives.

Annotations are values here, for this module has no `from __future__` import.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

TAKES = "x: f64[:], m: f32[:, :], n: int = 3, *, k: float = 2.0"


@cl.jit
def energy(x: cl.f64[:], m: cl.f32[:, :], n: int = 3, *, k: float = 2.0) -> float:
    return np.sum(x) * k * n


@cl.jit
def pair(x: float, start: cl.f64[:] | None = None) -> tuple[float, int]:
    return x * x, 3


def untyped(x, direction):
    return x * direction


def quoted(x: "cl.f64[:]", by: float) -> float:
    return np.sum(x) * by


CASES = [
    (energy, f"({TAKES}) -> float"),
    (cl.grad(energy), f"({TAKES}) -> f64[:]"),
    (cl.grad(energy, 1), f"({TAKES}) -> f32[:, :]"),
    (cl.grad(energy, ("k", "x")), f"({TAKES}) -> tuple[float, f64[:]]"),
    (cl.value_and_grad(energy), f"({TAKES}) -> tuple[float, f64[:]]"),
    (cl.jacfwd(energy), f"({TAKES})"),
    (cl.hessian(energy), f"({TAKES})"),
    (
        cl.hvp(energy),
        "(x: f64[:], m: f32[:, :], n: int, direction: f64[:], *, k: float = 2.0) "
        "-> f64[:]",
    ),
    (
        cl.grad(pair, has_aux=True),
        "(x: float, start: f64[:] | None = None) -> tuple[float, int]",
    ),
    (cl.grad(cl.grad(energy, "k"), "k"), f"({TAKES}) -> float"),
    (cl.value_and_grad(untyped), "(x, direction)"),
    (cl.hvp(untyped), "(x, direction, direction_)"),
    (cl.grad(quoted), "(x: 'cl.f64[:]', by: float) -> 'cl.f64[:]'"),
    (
        cl.value_and_grad(quoted),
        "(x: 'cl.f64[:]', by: float) -> 'tuple[float, cl.f64[:]]'",
    ),
]


@pytest.mark.parametrize(("function", "expected"), CASES, ids=[c[1] for c in CASES])
def test_signatures_read_as_annotations_do(
    function: Callable[..., Any], expected: str
) -> None:
    assert str(inspect.signature(function)) == expected


def test_types_read_as_they_are_written() -> None:
    assert repr(cl.f64[:, :]) == "f64[:, :]"
    assert repr(cl.f64[:] | None) == "f64[:] | None"
    assert repr(list[cl.f32[:]]) == "list[f32[:]]"


def test_a_direction_of_another_shape_is_said_of_the_call() -> None:
    def cubes(x: cl.f64[:], y: float) -> float:
        return np.sum(x**3) * y

    x = np.ones(3)
    for argnums, direction, message in (
        (0, np.ones(2), r"^hvp of cubes: x has shape \(3,\), its direction has \(2,\)"),
        (0, np.ones((3, 1)), r"^hvp of cubes: x has shape \(3,\), .* \(3, 1\)"),
        (1, np.ones(2), r"^hvp of cubes: y has shape \(\), .* \(2,\)"),
        ((0, 1), (np.ones(2), 1.0), r"^hvp of cubes: x has shape \(3,\)"),
        ((0, 1), (x,), "^hvp of cubes: the direction must be a tuple of 2"),
    ):
        with pytest.raises(ValueError, match=message):
            cl.hvp(cubes, argnums)(x, 2.0, direction)


def test_a_direction_of_a_list_has_its_shapes() -> None:
    def total(xs: list[cl.f64[:]]) -> float:
        return sum(np.sum(x**2) for x in xs)

    xs = [np.ones(3), np.ones(2)]
    with pytest.raises(ValueError, match=r"xs\[1\] has shape \(2,\)"):
        cl.hvp(total)(xs, [np.ones(3), np.ones(3)])
    with pytest.raises(ValueError, match="xs has 2 elements, its direction has 1"):
        cl.hvp(total)(xs, xs[:1])


def test_class_methods() -> None:
    """The class is a static argument; what is written otherwise is told so."""

    class Scale:
        factor = 3.0

        @classmethod
        @cl.jit(static_argnames="cls")
        def times(cls, x: float) -> float:
            return x * cls.factor

        @classmethod
        @cl.jit
        def double(cls, x: float) -> float:
            return x * 2.0

    assert Scale.times(2.0) == 6.0
    with pytest.raises(TypeError, match=r"cls is a class.*`static_argnames`"):
        Scale.double(2.0)
    with pytest.raises(cl.CompileError, match=r"`@classmethod` above `@cl\.jit"):
        cl.jit(classmethod(lambda cls, x: x))
