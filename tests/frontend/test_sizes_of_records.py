"""Lists of records and tuples whose arrays have sizes of their own in each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

Vector = cl.f64[:]
Pair = tuple[cl.f64[:, :], cl.f64[:]]


class Layer(NamedTuple):
    weights: cl.f64[:, :]
    bias: Vector


RNG = np.random.default_rng(0)
PAIRS = [(RNG.random((4, 3)), RNG.random(3)), (RNG.random((3, 2)), RNG.random(2))]
LAYERS = [Layer(*pair) for pair in PAIRS]
X = RNG.random(4)


def network(layers: list[Layer], x: Vector) -> float:
    for layer in layers:
        x = np.tanh(x @ layer.weights + layer.bias)
    return np.sum(x)


def sliced(params: list[Pair], x: Vector) -> float:
    for weights, bias in params[:-1]:
        x = np.tanh(x @ weights + bias)
    weights, bias = params[-1]
    return np.sum(x @ weights + bias) + len(params)


def without_annotations(params, x):  # type: ignore[no-untyped-def]
    for k, (weights, bias) in enumerate(params):
        x = np.tanh(x @ weights + bias * k)
    return np.sum(x) + sum(np.sum(w * w) for w, _ in params) + params[0][0][0, 0]


def passed_on(params: list[Pair], x: Vector) -> float:
    first = sliced(params, x) + np.sum(x[:3] @ params[1][0])
    return first + len(params[1:]) + sum(np.sum(bias) for _, bias in params)


def indexed(params: list[Pair], x: Vector) -> float:
    total, i = 0.0, 0
    while i < len(params):
        weights, bias = params[i]
        total += weights[0, -1] * bias[0]
        i += 1
    for pair in reversed(params):
        total += np.sum(pair[1])
    return total + np.sum(params[-1][0]) + params[0][1][-1] * x[0]


def trained(params: list[Pair], x: Vector) -> float:
    for _ in range(2):
        slopes = cl.grad(sliced)(params, x)
        params = [
            (w - 0.1 * dw, b - 0.1 * db)
            for (w, b), (dw, db) in zip(params, slopes, strict=True)
        ]
    return sliced(params, x)


def changed(params: list[Pair], x: Vector) -> float:
    more = [(weights * x[0], bias) for weights, bias in params if bias[0] > -1.0]
    more.append((np.ones((2, 5)) * x[1], np.ones(7)))
    more[0] = (np.ones((1, 5)) * x[2], np.ones(2))
    return sum(np.sum(weights) * np.sum(bias) for weights, bias in more)


def chosen(params: list[Pair], x: Vector) -> float:
    found = params
    if x[0] > 0.0:
        found = [(weights * 2.0, bias) for weights, bias in params]
    more = params + [(np.ones((2, 3)), np.ones(3))]  # noqa: RUF005
    weights, _ = params[::-1][0]
    return sliced(found, x) + sum(b[0] for _, b in more) + np.sum(weights)


def largest(layers: list[Layer], x: Vector) -> float:
    best = max(layers, key=lambda layer: np.sum(layer.bias))
    return np.sum(best.weights) * x[0] + layers[1].bias[-1]


PROGRAMS: dict[Callable[..., Any], list[Any]] = {
    network: LAYERS,
    sliced: PAIRS,
    without_annotations: PAIRS,
    passed_on: PAIRS,
    indexed: PAIRS,
    trained: PAIRS,
    changed: PAIRS,
    chosen: PAIRS,
    largest: LAYERS,
}


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_derivatives(function: Callable[..., Any]) -> None:
    args = PROGRAMS[function], X
    compiled = cl.jit(function)
    assert np.isclose(compiled(*args), function(*args), rtol=1e-12)
    cl.check_grads(compiled, args)
    plain = cl.jit(function, options=cl.CompileOptions(optimize=0))
    pairs = zip(cl.grad(plain)(*args), cl.grad(compiled)(*args), strict=True)
    for found, right in ((a, b) for pair in pairs for a, b in zip(*pair, strict=True)):
        np.testing.assert_allclose(found, right, rtol=1e-10)


def test_second_derivatives() -> None:
    assert cl.check_grads(cl.jit(sliced), (PAIRS, X), order=2) is None  # type: ignore[func-returns-value]


def test_what_comes_back() -> None:
    def halved(params: list[Pair]) -> Any:
        return [(w * 0.5, b) for w, b in params], params[0]

    found, first = cl.jit(halved)(PAIRS)
    assert [type(pair) for pair in found] == [tuple, tuple]
    assert np.array_equal(found[1][0], PAIRS[1][0] * 0.5)
    assert np.array_equal(first[1], PAIRS[0][1])
    by_layers = cl.grad(cl.jit(network))(LAYERS, X)
    assert [type(part) for part in by_layers] == [Layer, Layer]
    assert by_layers[1].weights.shape == (3, 2)


def test_sizes_decide_the_version() -> None:
    """One function takes lists of one size and of several, in turns."""
    compiled = cl.jit(network)
    regular = [Layer(np.full((4, 4), 0.1 * k), np.ones(4)) for k in range(3)]
    for layers in (regular, LAYERS, regular, LAYERS[:1], LAYERS):
        assert np.isclose(compiled(layers, X), network(layers, X), rtol=1e-13)
        shapes = [part.weights.shape for part in cl.grad(compiled)(layers, X)]
        assert shapes == [layer.weights.shape for layer in layers]


# ---- lists that a program makes --------------------------------------------------


def appended(x: Vector, sizes: cl.i64[:]) -> float:
    params = []
    for k in range(len(sizes) - 1):
        shape = (sizes[k], sizes[k + 1])
        params.append((np.ones(shape) * x[0], np.zeros(sizes[k + 1])))
    h = np.ones(sizes[0])
    for weights, bias in params:
        h = np.tanh(h @ weights + bias)
    return np.sum(h)


def prefixes(x: Vector, sizes: cl.i64[:]) -> float:
    parts = [(x[:k], k * 0.5) for k in range(len(x))]
    parts = [(part * factor, factor) for part, factor in parts if factor != 1.0]
    return sum(factor * np.sum(part) for part, factor in parts) + len(sizes)


@pytest.mark.parametrize("function", [appended, prefixes])
def test_made_in_steps(function: Callable[..., float]) -> None:
    args = X, np.array([4, 3, 2, 5])
    assert np.isclose(cl.jit(function)(*args), function(*args), rtol=1e-13)
    cl.check_grads(cl.jit(function), args)


def together(x: Vector, y: Vector) -> float:
    pairs = [(x, 1.0)]
    pairs.append((y, 2.0))
    return sum(np.sum(part) * factor for part, factor in pairs)


def test_what_is_taken_for_one_size() -> None:
    assert cl.jit(together)(X, X) == together(X, X)
    with pytest.raises(ValueError, match=r"test_sizes_of_records\.py"):
        cl.jit(together)(X, X[1:])


class Other(NamedTuple):
    r: float


@pytest.mark.parametrize(
    ("layers", "error"),
    [
        ([LAYERS[0], Other(2.0)], TypeError),
        ([LAYERS[0], 3], TypeError),
        ([Layer(np.ones(3), np.ones(2)), LAYERS[0]], ValueError),
        ([Layer([[1.0, 2.0], [3.0]], np.ones(2)), LAYERS[0]], TypeError),  # type: ignore[arg-type]
        (tuple(LAYERS), TypeError),
    ],
)
def test_what_is_no_such_list(layers: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="parameter layers"):
        cl.jit(network)(layers, X)
    assert np.isclose(cl.jit(network)(LAYERS, X), network(LAYERS, X))
