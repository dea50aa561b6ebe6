# pyright: strict, reportUnknownLambdaType=false
"""Functions annotated with `cl.f64[:]` and its like."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl


class Points(NamedTuple):
    at: cl.f64[:, :]
    weights: cl.f32[:]
    size: cl.i64


@cl.jit
def energy(x: cl.f64[:], stiffness: float) -> float:
    stretch = 0.0
    for i in range(len(x) - 1):
        stretch += (x[i + 1] - x[i]) ** 2
    for value in x:
        stretch += math.cos(value)
    return 0.5 * stiffness * stretch


@cl.jit
def forms(x: cl.f64[:], m: cl.f64[:, :], n: cl.i64[:], on: cl.boolean[:]) -> float:
    y = m @ x + 2.0 * x - x / (1.0 + x**2)
    y[0] = -x[-1]
    y += np.where(x > 0.0, x, 0.0)
    y[1:] = np.exp(y[1:]) * abs(x[:-1])
    total = 0.0
    for i, row in enumerate(m):
        if on[i] and x[i] > 0.5:
            total += row @ y * n[i]
    rows, columns = m.shape
    total += rows * columns + m[0, 1]
    return float(np.sum(y) + total)


@cl.jit
def single(x: cl.f32[:], scale: cl.f32) -> cl.f32:
    return np.sum(x * scale)


@cl.jit
def filled(n: int, start: cl.f64 | None) -> cl.f64[:]:
    out = np.zeros(n, cl.f64)
    if start is not None:
        out[0] = start
    return out


@cl.jit
def ranked(x: Annotated[NDArray[np.float64], cl.f64[:, :]]) -> float:
    return float(np.sum(x))


def numpy_array(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x + 1.0


x, m = np.ones(3), np.ones((3, 3))
points = Points(m, np.ones(2, np.float32), 2)
one = np.float32(1.0)

energy(x, 2.0)
energy(x=x, stiffness=2.0)
forms(x, m, np.ones(3, np.int64), np.ones(3, np.bool_))
single(points.weights, one)
ranked(m)
first = filled(3, None)[0] + filled(3, 1.0)[0]
numpy_array(filled(3, None))
numpy_array(cl.grad(energy)(x, 2.0))
value, gradient = cl.value_and_grad(energy)(x, 2.0)
numpy_array(gradient)
value.is_integer()
gradient[0] += 1.0
slope: float = cl.grad(energy, 1)(x, 2.0)
both = cl.grad(energy, (0, 1))(x, 2.0)
numpy_array(both[0])
numpy_array(cl.hessian(energy)(x, 2.0))
numpy_array(cl.hvp(energy)(x, 2.0, x))
out, pullback = cl.vjp(energy, x, 2.0)
numpy_array(pullback(1.0)[0])
out, tangent = cl.jvp(energy, (x, 2.0), (x, 1.0))
tangent.is_integer()
