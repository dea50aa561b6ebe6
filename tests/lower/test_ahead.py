"""What is computed a strip ahead is what it was, however long the loop is."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.ahead import ahead
from chadllvm.lower.lower import lower_function
from chadllvm.lower.striped import STRIP

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = ahead(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("ahead.cases"), run, golden)


def filled(x: cl.f64[:], scale: float) -> float:
    t = np.zeros(len(x) + 2)
    s = 1.0
    for i in range(len(x)):
        s = 0.5 * s * math.exp(-abs(x[i])) + 0.1
        t[i + 2] = math.log1p(math.exp(t[i + 1] - t[i])) * s + math.sin(scale * x[i])
    return t[len(x)] + t[len(x) + 1] * s


compiled = cl.value_and_grad(cl.jit(filled), argnums=(0, 1))
plain = cl.value_and_grad(cl.jit(filled, optimize=0), argnums=(0, 1))


@pytest.mark.parametrize("size", [1, STRIP - 1, STRIP, 2 * STRIP + 1])
def test_every_length(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size)
    value, slopes = compiled(x, 0.7)
    expected, wanted = plain(x, 0.7)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for slope, right in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-12)


def test_ahead_is_run() -> None:
    """The gradient's loops have buffers for what is computed ahead."""
    assert "strip" in str(compiled.show("loops"))
