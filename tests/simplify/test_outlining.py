"""Functions that call each other many times over are not inlined without end."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.check import check
from chadllvm.ir.interp import evaluate
from chadllvm.ir.parse import parse
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Call
from chadllvm.simplify.recursion import recursion

FIRST = """
import math

import numpy as np

import chadllvm as cl


@cl.jit
def f0(x: float, a: cl.f64[:]) -> tuple[float, float]:
    return math.sin(x) * a[0], a[1] * x
"""

NEXT = """

@cl.jit
def f{k}(x: float, a: cl.f64[:]) -> tuple[float, float]:
    u, v = f{before}(x, a)
    if u > 0.5:
        u = u - 0.1 * v
    p, q = f{before}(v, np.array([a[1], u]))
    return 0.5 * u + 0.3 * p, math.cos(v) + 0.2 * q
"""

# The short function stays by itself, though it is first needed behind the long ones.
ENTRY = """

@cl.jit
def short(u: float, v: float) -> float:
    return u + v * v


@cl.jit
def entry(x: float, a: cl.f64[:]) -> float:
    u, v = f{last}(x, a)
    return short(u, v)


@cl.jit
def slope(x: float, a: cl.f64[:]) -> float:
    return cl.grad(entry)(x, a)
"""


def doubling(depth: int, folder: Path) -> ModuleType:
    """A module in which each of so many functions calls the one before twice."""
    path = folder / f"doubling_{depth}.py"
    parts = [NEXT.format(k=k, before=k - 1) for k in range(1, depth + 1)]
    path.write_text("".join([FIRST, *parts, ENTRY.format(last=depth)]))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize(("depth", "stays"), [(3, False), (13, True)])
def test_the_program_stays_as_long_as_it_is(
    depth: int, stays: bool, tmp_path: Path
) -> None:
    module = doubling(depth, tmp_path)
    f, a = module.entry, np.array([0.9, 0.4])
    assert f(0.7, a) == pytest.approx(f.py_func(0.7, a), rel=1e-12)
    text = f.show("simplified")
    assert ("recurse" in text) == stays
    assert text.count("\n") < 1_000
    by_x, by_a = cl.grad(f, argnums=(0, 1))(0.7, a)
    step = 1e-6
    difference = (f(0.7 + step, a) - f(0.7 - step, a)) / (2 * step)
    assert by_x == pytest.approx(difference, rel=1e-6, abs=1e-9)
    moved = [step * np.eye(2)[k] for k in range(2)]
    differences = [(f(0.7, a + m) - f(0.7, a - m)) / (2 * step) for m in moved]
    np.testing.assert_allclose(by_a, differences, rtol=1e-6, atol=1e-9)
    _, tangent = cl.jvp(f, (0.7, a), (1.0, np.array([2.0, -1.0])))
    assert tangent == pytest.approx(by_x + by_a @ [2.0, -1.0], rel=1e-9)
    assert module.slope(0.7, a) == pytest.approx(by_x, rel=1e-12)


def chain(depth: int) -> str:
    """Each function calls another one, once, which calls the one before twice."""
    sines = "\n".join(f"  s{k + 1} = sin(s{k})" for k in range(60))
    parts = [f"def f0(s0: f64) {{\n{sines}\n  return s60\n}}"]
    for k in range(1, depth + 1):
        parts.append(
            f"def once{k}(x: f64) {{\n  y = @f{k - 1}(x)\n  z = @f{k - 1}(y)\n"
            f"  r = mul(y, z)\n  return r\n}}"
        )
        parts.append(
            f"def f{k}(s0: f64) {{\n{sines}\n  y = @once{k}(s60)\n"
            "  r = add(y, s0)\n  return r\n}"
        )
    entry = f"def main(x: f64) {{\n  y = @f{depth}(x)\n  z = @f{depth}(y)\n"
    return "\n\n".join([*parts, f"{entry}  r = add(y, z)\n  return r\n}}"])


def test_what_is_called_once_goes_with_what_it_calls() -> None:
    program = parse(chain(7))
    made = recursion(program)
    check(made)
    together = {f.name for f in made.functions} - {"main"}
    calls = {
        binding.expr.function
        for function in made.functions
        if function.name in together
        for binding in everywhere(function.body)
        if isinstance(binding.expr, Call)
    }
    assert not calls & {f"once{k}" for k in range(2, 8)}
    assert evaluate(made, 0.3) == evaluate(program, 0.3)
