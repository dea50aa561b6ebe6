"""The derivative of a number times its root, where the root has none as well."""

from __future__ import annotations

import math

import pytest

import chadllvm as cl
from chadllvm.driver.passes import OPTIONAL

MODES = {
    "default": cl.CompileOptions(),
    "plain": cl.CompileOptions(disabled=OPTIONAL),
    "permanent": cl.CompileOptions(optimize=0),
}


def cubed(x: float, y: float) -> float:
    """The root is used besides."""
    square = x * x + y
    root = math.sqrt(square)
    return square * root + 2.0 * root


def cubed_root(x: float) -> float:
    return x * math.sqrt(x)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_has_the_same_slope(mode: str) -> None:
    options = MODES[mode]
    gradient = cl.grad(cl.jit(cubed_root, options=options))
    assert gradient(4.0) == 3.0
    assert gradient(0.0) == 0.0
    assert gradient(math.inf) == math.inf
    value, slopes = cl.value_and_grad(cl.jit(cubed, options=options), (0, 1))(1.5, 4.0)
    assert value == 6.25 * 2.5 + 5.0
    assert slopes == pytest.approx(
        (3.0 * (1.5 * 2.5 + 0.4), 1.5 * 2.5 + 0.4), rel=1e-15
    )


def test_of_second_order() -> None:
    assert cl.grad(cl.grad(cl.jit(cubed_root)))(4.0) == 0.375
    assert cl.jvp(cl.jit(cubed_root), (4.0,), (2.0,)) == (8.0, 6.0)
