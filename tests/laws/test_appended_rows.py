"""Lists whose rows are made by some steps and copied by others: quadratic values, with
gradients that are no more than a constant times that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chadllvm as cl


def in_branches(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [a, b]
    s = 0.0
    for i in range(len(a)):
        if i == 3:
            xs.append(np.sin(a))
        else:
            xs.append(xs[-1])
        s += xs[-2][i]
    return s


def chosen(a: cl.f64[:], b: cl.f64[:]) -> float:
    xs = [np.cos(a)]
    s = 0.0
    for i in range(len(a)):
        xs.append(np.sin(b) if i == 3 else xs[-1])
        s += xs[-2][i]
    return s


@pytest.mark.parametrize("program", [in_branches, chosen], ids=lambda f: f.__name__)
def test_the_list_is_handed_on(program: Callable[..., float]) -> None:
    compiled = cl.jit(program)
    for n in (60, 240):
        x = np.linspace(0.1, 1.0, n)
        value, both = (s.work for s in compiled.report(x, x * x).scaling)
        assert both < 6 * value
    x = np.linspace(0.1, 1.0, 6)
    assert np.isclose(compiled(x, x * x), program(x, x * x))
    assert cl.check_grads(compiled, (x, x * x)) is None  # type: ignore[func-returns-value]
