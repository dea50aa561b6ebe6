# pyright: strict, reportUnknownLambdaType=false
"""What derivatives take and give, as type checkers see it; and it can be run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, assert_type

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Floats = NDArray[np.float64]


class Spring(NamedTuple):
    stiffness: float
    length: float


@cl.jit
def energy(x: Floats, stiffness: float = 1.0, *, power: int = 2) -> float:
    return float(stiffness * np.sum(x**power))


@cl.jit(optimize=0)
def stretched(spring: Spring, by: float) -> tuple[float, int]:
    return spring.stiffness * (by - spring.length) ** 2, 3


@cl.jit
def scaled(x: Floats, by: float) -> Floats:
    return x * by


def square(x: float) -> float:
    return x * x


x = np.ones(3)
spring = Spring(2.0, 1.0)

# Compiled functions take and give what the functions do, by the same names.
assert_type(energy(x, 2.0, power=3), float)
assert_type(energy(stiffness=2.0, x=x), float)
assert_type(energy.py_func(x), float)

# So do gradients, which give the type of the argument.
assert_type(cl.grad(energy)(x, 2.0, power=3), Floats)
assert_type(cl.grad(energy)(stiffness=2.0, x=x), Floats)
assert_type(cl.grad(energy, 0)(x), Floats)
assert_type(cl.grad(energy, 1)(x, 2.0), float)
assert_type(cl.grad(energy, argnums=1)(x, stiffness=2.0), float)
assert_type(cl.grad(energy, (0, 1))(x, 2.0), tuple[Floats, float])
assert_type(cl.grad(energy, "stiffness")(x, 2.0), Any)
assert_type(cl.grad(energy, ["x", 1])(x, 2.0), Any)
assert_type(cl.grad(square)(x=2.0), float)
assert_type(cl.grad(stretched, has_aux=True)(spring, 2.0), tuple[Spring, int])
assert_type(cl.grad(stretched, 1, has_aux=True)(spring, 2.0), tuple[Any, int])
slope, slope_by_stiffness = cl.grad(square), cl.grad(energy, 1)
assert_type(cl.grad(slope)(2.0), float)
assert_type(cl.grad(slope_by_stiffness, 1)(x, stiffness=2.0), float)

assert_type(cl.value_and_grad(energy)(x, power=3), tuple[float, Floats])
assert_type(cl.value_and_grad(energy, 1)(x, 2.0), tuple[float, float])
assert_type(
    cl.value_and_grad(energy, (0, 1))(x, 2.0), tuple[float, tuple[Floats, float]]
)
assert_type(
    cl.value_and_grad(stretched, has_aux=True)(spring, 2.0),
    tuple[tuple[float, int], Spring],
)

# The value with its pullback or tangent, at some primals.
out, pullback = cl.vjp(energy, x, 2.0)
assert_type(out, float)
assert_type(pullback(1.0)[1], float)
assert_type(cl.vjp(scaled, x, 2.0)[0], Floats)
assert_type(cl.vjp(energy, x)[0], float)
assert_type(cl.jvp(energy, (x, 2.0), (x, None)), tuple[float, float])
assert_type(cl.jvp(scaled, (x, 2.0), (x, 1.0)), tuple[Floats, Floats])
assert_type(cl.jvp(scaled, [x, 2.0], [x, 1.0]), tuple[Floats, Floats])
assert_type(cl.jvp(cl.grad(energy), (x, 2.0), (x, 0.0)), tuple[Floats, Floats])
value, along = cl.linearize(scaled, x, 2.0)
assert_type(value, Floats)
assert_type(along(x, None), Floats)

# Jacobians, Hessians and products with them.
assert_type(cl.jacfwd(energy)(x, power=3), Floats)
assert_type(cl.jacrev(energy, 1)(x, 2.0), float)
assert_type(cl.jacfwd(square)(2.0), float)
assert_type(cl.jacrev(scaled)(x, by=2.0), Any)
assert_type(cl.hessian(energy)(x, power=3), Floats)
assert_type(cl.hessian(energy, 1)(x, 2.0), float)
assert_type(cl.hvp(energy)(x, 2.0, x), Floats)
assert_type(cl.hvp(energy, 1)(x, 2.0, 1.0), float)


class Model:
    """Methods that are compiled are methods."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    @cl.jit
    def loss(self, x: Floats, power: int = 2) -> float:
        return float(np.sum(x**power))


def newton(f: Callable[[float], float], start: float) -> float:
    slope, curvature = cl.grad(f), cl.grad(cl.grad(f))
    return start - slope(start) / curvature(start)


def typed_method(model: Model) -> None:
    assert_type(model.loss(x, power=3), float)


assert newton(square, 3.0) == 0.0


@cl.custom_vjp
def clipped(x: float, limit: float) -> float:
    return max(-limit, min(limit, x))


def forward(x: float, limit: float) -> tuple[float, None]:
    return clipped(x, limit), None


def backward(kept: None, ct: float) -> tuple[float, float]:
    return ct, 0.0


clipped.defvjp(forward, backward)
assert_type(clipped(3.0, limit=2.0), float)
assert_type(cl.grad(clipped)(3.0, 2.0), float)


def unannotated() -> Any:
    """Of what has no types, derivatives are not typed either."""
    return cl.grad(lambda v: v * v)(2.0)  # pyright: ignore
