"""Loops that are run in strips do what they did, however far apart their places are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.striped import STRIP
from chadllvm.lower.strips import strips

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = strips(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("strips.cases"), run, golden)


def shifted(x: cl.f64[:], start: int, stop: int, shift: int) -> float:
    a = x.copy()
    for i in range(start, stop):
        a[i] = max(a[i], 0.9 * a[i + shift] + 0.1)
    for i in range(stop - 1, start - 1, -1):
        a[i] = 0.6 * a[i] + 0.3 * a[i + shift] * x[i]
    for i in range(start, stop):
        a[i + shift] += 0.1 * a[i]
    return np.sum(a * a)


compiled = cl.value_and_grad(cl.jit(shifted))
plain = cl.value_and_grad(cl.jit(shifted, optimize=0))
X = np.random.default_rng(5).normal(size=1400)


@pytest.mark.parametrize("size", [STRIP // 3, 2 * STRIP + 40])
def test_every_distance(size: int) -> None:
    for shift in (0, 1, 7, STRIP - 1, STRIP, STRIP + 1, 400):
        for sign in (1, -1):
            value, slopes = compiled(X, 400, 400 + size, sign * shift)
            expected, wanted = plain(X, 400, 400 + size, sign * shift)
            np.testing.assert_allclose(value, expected, rtol=1e-12)
            np.testing.assert_allclose(slopes, wanted, rtol=1e-9, atol=1e-12)
