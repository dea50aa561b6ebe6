"""Arrays are unpacked, and zipped strictly, only if their lengths fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chadllvm as cl


def swapped(x: cl.f64[:]) -> float:
    a, b = x
    return a - 2.0 * b


def paired(x: cl.f64[:], n: int) -> float:
    return sum(v * k for v, k in zip(x, range(n), strict=True))


@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize("derive", [cl.jit, cl.grad, lambda f: with_tangents(f)])
def test_lengths_have_to_fit(optimize: int, derive: Any) -> None:
    compiled = cl.jit(swapped, optimize=optimize)
    f = derive(compiled) if derive is not cl.jit else compiled
    f(np.ones(2))
    for size in (0, 1, 3):
        with pytest.raises(ValueError, match=rf"expected 2 .*unpack, got {size}.*:\d+"):
            f(np.ones(size))


def with_tangents(f: Any) -> Any:
    return lambda x: cl.jvp(f, (x,), (x,))


@pytest.mark.parametrize("optimize", [0, 2])
def test_strict_zip(optimize: int) -> None:
    f = cl.jit(paired, optimize=optimize)
    assert f(np.ones(3), 3) == 3.0
    assert f(np.ones(0), -1) == 0.0
    for n in (-1, 1, 3):
        with pytest.raises(ValueError, match=r"do not match.*:\d+"):
            f(np.ones(2), n)
        with pytest.raises(ValueError):
            cl.grad(f)(np.ones(2), n)
        with pytest.raises(ValueError):
            f.py_func(np.ones(2), n)
