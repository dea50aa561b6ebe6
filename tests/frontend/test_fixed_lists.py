"""Lists that are written out and only read: each of their arrays has its own size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import chadllvm as cl

Matrix = cl.f64[:, :]
Vector = cl.f64[:]


class Layer(NamedTuple):
    weights: Matrix
    bias: Vector


@dataclass
class Dense:
    weights: Matrix
    bias: Vector

    def __call__(self, x: Vector) -> Vector:
        return np.tanh(x @ self.weights + self.bias)


def matrices(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    found = [a, b]
    total = 0.0
    for m in found:
        total += np.sum(m * m)
    for k in range(len(found)):
        total *= found[k][0, k]
    return total * found[-1][0, 0]


def pairs(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    layers = [(a, c), (b, d)]
    h = np.ones(len(a))
    for weights, bias in layers[:-1]:
        h = np.tanh(h @ weights + bias)
    weights, bias = layers[-1]
    return np.sum(h @ weights + bias)


def records(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    layers = [Layer(a, c), Layer(b, d)]
    h = np.ones(len(a))
    for k, layer in enumerate(layers):
        h = h @ layer.weights + layer.bias
        if k < len(layers) - 1:
            h = np.maximum(h, 0.01 * h)
    return np.mean(h * h)


def called(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    net = [Dense(a, c), Dense(b, d)]
    h = np.ones(len(a))
    for layer in net:
        h = layer(h)
    return np.mean(h * h) + sum(np.sum(part.weights**2) for part in net)


def side_by_side(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    sizes = [4, 3]
    weights, biases = [a, b], [c, d]
    h = np.ones(len(a))
    for w, bias, n in zip(weights, biases, sizes, strict=True):
        h = np.tanh(h @ w + bias) / n
    return np.sum(h) + sum(np.sum(w) for w in reversed(weights))


def in_a_function(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    weights = [a, b]
    norms = [np.sum(w * w) for w in weights]

    def at(k: int) -> float:
        return norms[k] + weights[k][0, 0]

    return sum(at(k) for k in range(2)) + max(norms)


def of_several_types(a: Matrix, b: Matrix, c: Vector, d: Vector) -> float:
    parts = [a, c, (2.0, d)]
    return np.sum(parts[0] @ parts[1]) * parts[2][0] + np.sum(parts[-1][1])


RNG = np.random.default_rng(0)
ARGS = (RNG.random((4, 4)), RNG.random((4, 3)), RNG.random(4), RNG.random(3))
PROGRAMS = [
    *(matrices, pairs, records, called, side_by_side, in_a_function),
    of_several_types,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_gradients(function: Callable[..., float]) -> None:
    assert np.isclose(cl.jit(function)(*ARGS), function(*ARGS), rtol=1e-13)
    cl.check_grads(cl.jit(function), ARGS)


@pytest.mark.parametrize("optimize", [0, 2])
def test_no_array_is_copied(optimize: int) -> None:
    def chosen(a: Matrix, b: Matrix, n: int) -> float:
        found = [a, b]
        return sum(found[i % 2][0, 0] for i in range(n))

    function = cl.jit(chosen, options=cl.CompileOptions(optimize=optimize))
    small, large = np.ones((2, 2)), np.ones((3, 500_000))
    assert function(small, large, 10) == 10.0
    by_large = cl.grad(function, argnums=1)(small, large, 10)
    assert by_large[0, 0] == 5.0 and np.sum(by_large) == 5.0
    assert function.report(small, large, 10).copies == ()


# ---- lists that are more than read remain lists -----------------------------------


def replaced(a: Vector) -> float:
    found = [a, a * 2.0]
    found[0] = a * 3.0
    return np.sum(found[0] * found[1])


def appended(a: Vector) -> float:
    found = [a, a * 2.0]
    found.append(a * 5.0)
    return sum(np.sum(v) * k for k, v in enumerate(found))


def assigned_twice(a: Vector) -> float:
    found = [a, a * 2.0]
    for _ in range(3):
        found = [found[1], found[0] * 0.5]
    return np.sum(found[0] * found[1])


def stacked(a: Vector) -> float:
    found = [a, a * 2.0]
    return np.sum(np.array(found) ** 2) + found[1][0]


def joined(a: Vector) -> float:
    found = [a, a * 2.0]
    return sum(np.sum(v) * k for k, v in enumerate(found + [a * 4.0]))  # noqa: RUF005


def changed_in_place(a: Vector) -> float:
    found = [a.copy(), a * 2.0]
    found[1][0] = 7.0
    return np.sum(found[0] * found[1])


def filled(v: Vector) -> None:
    v[0] = 9.0


def nothing_of_it(a: Vector) -> float:
    found, total = [(a, 2.0)], 0.0
    for v, factor in found[:-1]:
        total += factor * v[0]
    for v, factor in found:
        total += factor * v[1]
    return total


def changed_by_a_call(a: Vector) -> float:
    found = [a * 1.0, a * 2.0]
    filled(found[1])
    return np.sum(found[0] * found[1])


@pytest.mark.parametrize(
    "function",
    [
        nothing_of_it,
        changed_by_a_call,
        replaced,
        appended,
        assigned_twice,
        stacked,
        joined,
        changed_in_place,
    ],
)
def test_lists_that_change(function: Callable[..., float]) -> None:
    a = np.array([1.0, 2.0, 3.0])
    assert cl.jit(function)(a) == function(a)
    cl.check_grads(cl.jit(function), (a,))
