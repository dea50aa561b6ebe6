"""The order of numbers, of few and of many, is the stable one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted
from chadllvm.llvm.optimize import Effort

RNG = np.random.default_rng(11)
ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.0, -1.0, 2.0])
LONG = np.array([-(2**63), 2**63 - 1, -1, 0, 1, 255, 256, -256, 2**56, -(2**56)])

# Our own statements are counted, whatever LLVM makes of them.
LITTLE = Effort(0, 0, loops=False, tidy=True)


@cl.jit
def order(x: Any) -> Any:
    return np.argsort(x)


@cl.jit
def ordered(x: Any) -> Any:
    return np.sort(x)


# Insertion is for 64 at most.
@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize(
    "numbers",
    [
        lambda n: RNG.normal(size=n),
        lambda n: RNG.normal(size=n).astype(np.float32),
        lambda n: RNG.choice(ODD, n),
        lambda n: RNG.choice(LONG, n),
        lambda n: RNG.integers(-3, 3, n),
        lambda n: RNG.integers(-(2**62), 2**62, n),
        lambda n: RNG.integers(0, 2, n).astype(bool),
        lambda n: np.full(n, -2.5),
        lambda n: np.arange(n)[::-1] * 1.5,
        lambda n: np.arange(float(n)),
    ],
)
def test_order_is_numpys(numbers: Any, size: int) -> None:
    x = numbers(size)
    assert np.array_equal(order(x), np.argsort(x, kind="stable"))
    gathered = x[np.argsort(x, kind="stable")]
    assert ordered(x).tobytes() == gathered.tobytes()


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("shape", [(3, 70), (70, 3), (0, 5), (5, 0), (2, 66, 3)])
def test_axes(shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape)
    first = cl.jit(lambda x: (np.argsort(x, axis=0), np.sort(x, axis=0)))(x)
    last = cl.jit(lambda x: (np.argsort(x), np.sort(x)))(x)
    for found, axis in ((first, 0), (last, -1)):
        assert np.array_equal(found[0], np.argsort(x, axis=axis))
        assert np.array_equal(found[1], np.sort(x, axis=axis))


@pytest.mark.parametrize("size", [5, 100])
def test_slopes_go_with_their_elements(size: int) -> None:
    x, w = RNG.normal(size=size), RNG.normal(size=size)
    found = cl.grad(lambda x: np.sum(np.sort(x) * w))(x)
    right = np.empty(size)
    right[np.argsort(x)] = w
    assert np.array_equal(found, right)


def test_sorting_takes_time_in_proportion() -> None:
    counted = Counted(order.py_func, None, cl.CompileOptions(), LITTLE, [cl.i64[:]])
    few, many = (counted(RNG.integers(-(2**60), 2**60, n))[1] for n in (4000, 32000))
    assert many < 8.2 * few
