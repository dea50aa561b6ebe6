"""What is added up in registers is what was added to memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.registers import registers

pytestmark = pytest.mark.optimised


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = registers(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("registers.cases"), run, golden)


def apart(x: cl.f64[:], step: int) -> float:
    """Some elements beside all of them; nobody looks where there are none."""
    total = 0.0
    for i in range(0, len(x), step):
        for j in range(len(x)):
            total += (x[i] - x[j]) ** 2 * x[j]
        for j in range(i - 4):
            total += x[i + 100] * x[j]
    return total


def apart_single(x: cl.f32[:], step: int) -> cl.f32:
    total = np.float32(0.0)
    for i in range(0, len(x), step):
        for j in range(len(x)):
            total += (x[i] - x[j]) ** 2 * x[j]
    return total


@pytest.mark.parametrize("function", [apart, apart_single])
def test_exact(function: Callable[..., Any]) -> None:
    """Sums of small integers are exact in any order."""
    dtype = np.float32 if function is apart_single else np.float64
    gradient = cl.value_and_grad(cl.jit(function))
    plain = cl.value_and_grad(cl.jit(function, optimize=0))
    for count, step in ((0, 1), (1, 1), (4, 1), (37, 45), (100, 7)):
        if function is apart and count == 100:
            continue
        x = np.random.default_rng(3).integers(-3, 4, count).astype(dtype)
        found, wanted = gradient(x, step), plain(x, step)
        assert found[0] == wanted[0]
        np.testing.assert_array_equal(found[1], wanted[1])
    assert re.search(r"total\d* \+=", str(gradient.show("loops")))


def test_the_place_is_looked_at_if_there_are_steps() -> None:
    gradient, plain = cl.grad(cl.jit(apart)), cl.jit(apart)
    for function in (gradient, plain):
        with pytest.raises(IndexError, match="index 105 is out of range for size 50"):
            function(np.ones(50), 5)
