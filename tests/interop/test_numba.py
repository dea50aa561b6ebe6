"""Compiled functions that Numba's call, as C function pointers."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl

numba = pytest.importorskip("numba")


def energy(x: cl.f64[:], k: float) -> float:
    return k * np.sum(x * x)


def test_a_gradient_in_a_loop_of_numba() -> None:
    gradient = cl.value_and_grad(energy).ctypes

    @numba.njit
    def fall(x: np.ndarray, k: float, steps: int) -> float:
        slopes, value = np.empty_like(x), np.empty(1)
        status = 0
        for _ in range(steps):
            data, at, to = x.ctypes, value.ctypes, slopes.ctypes
            status += gradient(0, data, x.size, k, at, to, 0)
            x -= 0.25 * slopes
        return value[0] if status == 0 else np.nan

    x = np.array([1.0, -2.0])
    assert fall(x, 1.0, 4) == 5.0 / 64.0
    assert x.tolist() == [1.0 / 16.0, -2.0 / 16.0]
