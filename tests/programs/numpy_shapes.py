"""Shapes and types of elements as users of NumPy write them."""

import numpy as np
from numpy import newaxis

import chadllvm as cl
from programs.case import case

NEW = None
RANDOM = np.random.default_rng(13)


def draw(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.3, 1.7, shape)


@case(draw(3), draw(3, 2))
@case(draw(0), draw(3, 2))
@cl.jit
def new_axes(x: cl.f64[:], m: cl.f64[:, :]) -> float:
    outer = x[:, np.newaxis] * x[newaxis, :] + x[..., NEW]
    rows = m[1, np.newaxis] * m[:, np.newaxis] + m[0][np.newaxis]
    return np.sum(outer**2) + np.sum(rows**3) + np.sum(x[np.newaxis][0] * x)


@case(draw(3))
@cl.jit
def new_axes_updated(x: cl.f64[:]) -> float:
    y = np.zeros([2, 3])
    y[np.newaxis, 0] = x[None] ** 2
    axis = None
    y[1] += x[axis, :][0]
    return np.sum(y[0] * y[1])


@case(3, 1.5)
@case(0, 1.5)
@cl.jit
def shapes_as_lists(n: int, x: float) -> float:
    a = np.empty([n, 2])
    a[:] = x
    b = np.zeros([n, 2]) + np.ones([2]) * x + np.full([n, 1], x * x)
    c = np.broadcast_to(np.full([2], x), [n, 2])
    d = np.broadcast_to(x, (2, n))
    return np.sum((a * b + c) ** 2) + np.sum(d)


@case(draw(2, 3))
@cl.jit
def reshaped_as_lists(x: cl.f64[:, :]) -> float:
    a = np.reshape(x, [3, 2]) * x.reshape([-1, 2]) + x.reshape([3, len(x)])
    b = np.transpose(x, [1, 0]) * x.transpose([1, 0]) + cl.build(
        [3, 2], lambda i, j: x[j, i]
    )
    return np.sum(a * b)


@case(3, 1.5)
@case(0, 1.5)
@cl.jit
def uninitialised(n: int, x: float) -> float:
    a, b = np.ndarray(n), np.ndarray(shape=(n, 2), dtype=np.float64)
    c = np.ndarray([n], np.int64)
    for i in range(n):
        a[i], b[i], c[i] = x * i, x, i
    return np.sum(a**2) + np.sum(b * b * c[:, None])
