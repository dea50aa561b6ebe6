"""`ravel`: records as vectors, and back, in Python and in programs."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

import chadllvm as cl


class Line(NamedTuple):
    slope: float
    offset: float = 0.0


@dataclasses.dataclass(frozen=True)
class Model:
    line: Line
    weights: Any
    scales: Any


MODEL = Model(Line(2.0, -1.0), np.arange(6.0).reshape(2, 3), np.array([0.5]))


def same(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and np.array_equal(x, y)
    if dataclasses.is_dataclass(x):
        return type(x) is type(y) and same(vars(x), vars(y))
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, tuple | list):
        pairs = zip(x, y, strict=True)
        return type(x) is type(y) and all(same(a, b) for a, b in pairs)
    return bool(type(x) is type(y) and x == y)


@pytest.mark.parametrize(
    "tree",
    [
        1.5,
        np.array([1.0, 2.0]),
        MODEL,
        (1.0, (2.0, np.zeros((2, 2))), Line(3.0)),
        {"a": 1.0, "b": np.ones(3)},
        [np.ones(2), np.zeros(3)],
        (np.zeros((0, 3)), 4.0),
    ],
)
def test_round_trip(tree: Any) -> None:
    vector, unravel = cl.ravel(tree)
    assert vector.dtype == np.float64 and vector.ndim == 1
    assert same(unravel(vector), tree)
    with pytest.raises(ValueError, match="numbers"):
        unravel(np.zeros(len(vector) + 1))


def test_order() -> None:
    vector, _ = cl.ravel(MODEL)
    assert vector.tolist() == [2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Line(1), "the record.slope is 1, which is no float"),
        ({"a": [True]}, r"the record\['a'\]\[0\] is True"),
        ((np.zeros(2, np.float32),), r"the record\[0\] is an array of float32"),
        (["x"], r"the record\[0\] is of str"),
        (np.array(1.0), "dimensions"),
    ],
)
def test_what_is_no_float_is_named(tree: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        cl.ravel(tree)


def test_programs_and_optimisers() -> None:
    start, unravel = cl.ravel(Line(0.0, 0.0))

    @cl.jit
    def loss(v: cl.f64[:], x: cl.f64[:], y: cl.f64[:]) -> float:
        line = unravel(v)
        return np.sum((line.slope * x + line.offset - y) ** 2)

    x = np.linspace(0.0, 1.0, 20)
    found = minimize(cl.value_and_grad(loss), start, (x, 3.0 * x + 1.0), jac=True)
    assert np.allclose(unravel(found.x), (3.0, 1.0), atol=1e-5)
    cl.check_grads(loss, (np.array([0.3, 0.7]), x, x))
