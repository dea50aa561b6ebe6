"""Random higher-order programs: their derivatives agree, and cost a constant factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.pipeline import Gradient, compile_program
from chadllvm.frontend import specialise
from chadllvm.ir.types import F64, I64, Array, Product
from chadllvm.lower.count import count_operations
from tests.laws.closure_programs import compiled, program
from tests.laws.second_orders import check_program
from tests.native import CHEAP

# The largest ratio of a gradient, value included, to the value.
LARGEST_RATIO = 6.0


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("seed", range(8))
def test_second_derivatives_agree_by_every_way(seed: int) -> None:
    """With derivatives in the programs too: these are the third ones."""
    options = cl.CompileOptions(optimize=2 if seed % 4 else 0)
    text = program(seed, derived=bool(seed % 2), recursive=seed % 4 > 1)
    check_program(f"orders {seed}", text, options)


@pytest.mark.parametrize("seed", range(6))
def test_compiled_they_are_what_python_computes(seed: int) -> None:
    text = program(seed, derived=False, recursive=bool(seed % 2))
    function = compiled([text], f"plain {seed}")
    x = np.array([0.4, -0.7, 0.9])
    value, gradient = cl.value_and_grad(function)(x, 5)
    assert value == pytest.approx(function.py_func(x, 5), rel=1e-13, abs=1e-15)
    for k, slope in enumerate(gradient):
        step = 1e-6 * np.eye(3)[k]
        ends = [function.py_func(x + s * step, 5) for s in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


def operations(function: Any, gradient: bool) -> list[int]:
    """How many operations a program takes for loops of 64 and of 128 steps."""
    source = specialise(function.py_func, (Array(F64, 1), I64))
    options = cl.CompileOptions(speculate=False)
    wanted = Gradient((0,)) if gradient else None
    loops = compile_program(source, wanted, lambda f: f, options).loops
    assert loops is not None
    result = Product((F64, *([Array(F64, 1)] if gradient else []), I64))
    run = NativeFunction(
        count_operations(loops), "main", ["x", "n"], [Array(F64, 1), I64], result,
        effort=CHEAP,
    )  # fmt: skip
    x = np.array([0.4, -0.7, 0.9])
    return [int(run(x, n)[-1]) for n in (64, 128)]


@pytest.mark.parametrize("seed", range(6))
def test_the_gradient_costs_a_constant_factor(seed: int) -> None:
    function = compiled([program(seed, derived=bool(seed % 2))], f"cost {seed}")
    value, both = operations(function, False), operations(function, True)
    assert both[0] < LARGEST_RATIO * value[0] + 100
    # With loops of twice as many steps it is not more.
    assert both[1] / value[1] < 1.05 * both[0] / value[0] + 0.1
