"""An element that is cleared and added to is stored once, and has the same sum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from golden_cases import check_cases

import chadllvm as cl
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Program
from chadllvm.lower.lower import lower_function
from chadllvm.lower.settle import settle


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = settle(lower_function(program.entry))
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("settle.cases"), run, golden)


def mixed(x: cl.f64[:], p: cl.i64[:], q: cl.i64[:]) -> float:
    a = x.copy()
    for i in range(len(p)):
        a[p[i]] = 0.6 * a[p[i]] + a[q[i]] * 0.3
        a[q[i]] += max(a[p[i]], 0.5 * a[q[i]])
    return np.sum(a * a)


def test_places_that_coincide() -> None:
    rng = np.random.default_rng(3)
    x, p, q = rng.normal(size=4), rng.integers(0, 4, 12), rng.integers(0, 4, 12)
    q[:4] = p[:4]
    value, slopes = cl.value_and_grad(cl.jit(mixed))(x, p, q)
    plain = cl.jit(mixed, optimize=0)
    expected, wanted = cl.value_and_grad(plain)(x, p, q)
    np.testing.assert_allclose(value, expected, 1e-13)
    np.testing.assert_allclose(slopes, wanted, 1e-12)
    step = 1e-6
    for k in range(4):
        ends = [mixed(x + s * step * np.eye(4)[k], p, q) for s in (1, -1)]
        np.testing.assert_allclose(slopes[k], (ends[0] - ends[1]) / (2 * step), 1e-6)
