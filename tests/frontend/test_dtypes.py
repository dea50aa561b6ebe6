"""`x.dtype`, as the type of elements that is asked for, and in conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chadllvm as cl

SINGLE = np.array([0.5, 1.5, 2.0], dtype=np.float32)
DOUBLE = np.array([1.0, -0.5, 3.0])
KIND = np.dtype(np.float32)


def asked_for(x: cl.f32[:], y: cl.f64[:]):
    a = np.zeros(len(x), dtype=x.dtype) + y.astype(x.dtype) * x
    b = np.full(3, 2.0, x.dtype) + np.arange(3, dtype=x.dtype) * np.asarray(y, x.dtype)
    c = np.ones_like(y, dtype=x[0].dtype) + np.linspace(0.0, 1.0, 3, dtype=x.dtype)
    d = np.array([1.0, 2.0, 3.0], dtype=a.dtype) + np.zeros(x.shape, "float32")
    return a * b * c * d + np.empty_like(y, KIND) * 0 + np.eye(3, dtype=x.dtype)[0]


def of_integers(x: cl.f64[:]):
    n = np.arange(3)
    return x * np.ones([3], n.dtype) + x.astype(n.dtype)


def generic(x):
    out = np.ndarray(x.shape, x.dtype)
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


def in_conditions(x):
    step = x * 0 + 2 if x.dtype == np.float32 else x * 0 + 4
    if x.dtype.kind == "f" and x.dtype.itemsize == 4:
        return step * x
    return np.stack((step, x))


@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (asked_for, (SINGLE, DOUBLE)),
        (of_integers, (DOUBLE,)),
        (generic, (SINGLE,)),
        (generic, (DOUBLE,)),
        (generic, (SINGLE[:0],)),
        (in_conditions, (SINGLE,)),
        (in_conditions, (DOUBLE,)),
    ],
)
def test_types_of_arrays(function: Any, args: tuple[Any, ...], optimize: int) -> None:
    expected = function(*args)
    found = cl.jit(function, optimize=optimize)(*args)
    assert found.dtype == expected.dtype and np.allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("optimize", [0, 2])
def test_gradients_go_through(optimize: int) -> None:
    @cl.jit(optimize=optimize)
    def total(x: NDArray[np.float32], y: NDArray[np.float64]) -> float:
        return float(np.sum(np.full(3, 2.0, x.dtype) * x * y.astype(x.dtype)))

    by_x, by_y = cl.grad(total, (0, 1))(SINGLE, DOUBLE)
    assert by_x.dtype == np.float32 and np.allclose(by_x, 2.0 * DOUBLE)
    assert by_y.dtype == np.float64 and np.allclose(by_y, 2.0 * SINGLE)
