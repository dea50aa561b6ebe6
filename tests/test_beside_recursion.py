"""Loops beside a recursion, and in it, are optimised as they are without one."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from bench.recursion import KERNELS, Kernel, alone, arguments, beside
from chadllvm.backend.aot.workspace import workspace_of
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.pipeline import Gradient, compile_program
from chadllvm.frontend import specialise
from chadllvm.ir.loops import For, LoopFunction, Spread
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.statements import everywhere
from chadllvm.ir.types import F64, I64, Array, Product
from chadllvm.lower.count import count_operations

pytestmark = pytest.mark.optimised  # It is what optimisation does that is looked at.

PACKAGE = Path(cl.__file__).parent
TYPES = [Array(F64, 1), Array(F64, 1), I64]
KINDS = {"value": None, "gradient": Gradient((0, 1))}


def lowered(function: Any, gradient: Gradient | None, **options: Any) -> LoopFunction:
    """The loops of a function of two arrays and an integer."""
    source = specialise(function.py_func, TYPES)
    made = cl.CompileOptions(**options)
    return compile_program(source, gradient, lambda f: f, made).lowered


def lines(function: LoopFunction) -> Counter[str]:
    """The lines of a function without subroutines and without the numbers of names."""
    text = pretty_loops(function).split("\n", 1)[1]
    text = re.sub(r"^  def .*?^    return[^\n]*\n", "", text, flags=re.M | re.S)
    return Counter(re.sub(r"\b([a-zA-Z_]+)\d+\b", r"\1", text).split("\n"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_loops_are_the_same(kernel: Kernel, kind: str) -> None:
    """Nothing differs but what is called, with threads or without."""
    for parallel in (True, False):
        with_call = lowered(beside(kernel), KINDS[kind], parallel=parallel)
        without = lowered(alone(kernel), KINDS[kind], parallel=parallel)
        assert with_call.subroutines and not without.subroutines
        both = lines(with_call), lines(without)
        assert both[0] - both[1] == Counter(["  t = depth(n)"])
        assert both[1] - both[0] == Counter(["  t = to_float(n)"])


@cl.jit(cache=False)
def power(x: float, n: int) -> float:
    """A recursion that is differentiated."""
    return 1.0 if n <= 0 else math.atan(x * power(x, n - 1))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_recursion_that_is_differentiated(kernel: Kernel) -> None:
    """All loops of the kernel are there in the same forms, and others need not be."""
    inner = cl.jit(kernel)

    @cl.jit
    def program(x: cl.f64[:], c: cl.f64[:], n: int) -> float:
        return inner(x, c) + power(c[0], n)

    found = forms(lowered(program, KINDS["gradient"]))
    expected = forms(lowered(alone(kernel), KINDS["gradient"]))
    assert not expected - found


def forms(function: LoopFunction) -> Counter[Any]:
    """How loops are run: in lanes, with ends that overlap, in chunks, as strands."""
    found: Counter[Any] = Counter()
    for stmt in everywhere(function.body):
        if isinstance(stmt, For):
            found["lanes", stmt.lanes, stmt.ends] += stmt.lanes > 1
        elif isinstance(stmt, Spread):
            found["spread", stmt.patience] += 1
    return +found


@cl.jit(cache=False)
def levels(x: cl.f64[:], c: cl.f64[:], n: int) -> float:
    """Each call goes over all elements."""
    total = 0.0
    for i in range(len(x)):
        s = 0.0
        for k in range(len(c)):
            s = s * x[i] + c[k] * n
        total += math.sin(s)
    return total if n <= 0 else total + 0.5 * levels(x, c, n - 1)


@pytest.mark.parametrize("kind", KINDS)
def test_loops_in_a_recursion(kind: str) -> None:
    """They are in lanes and in chunks."""
    function = lowered(levels, KINDS[kind])
    inside = [s for sub in function.subroutines for s in everywhere(sub.body)]
    assert any(isinstance(s, For) and s.lanes > 1 for s in inside)
    assert any(isinstance(s, Spread) for s in inside)


@cl.jit(cache=False)
def nearest(x: cl.f64[:, :], y: cl.f64[:, :], n: int) -> float:
    """Distances of points, whose rows are read again and again, at each level."""
    total = 0.0
    if n % 2 == 1:
        for i in range(len(x)):
            for j in range(len(y)):
                s = 0.0
                for k in range(x.shape[1]):
                    s += (x[i, k] - n * y[j, k]) ** 2
                total += math.exp(-s)
    return total if n <= 0 else total + 0.5 * nearest(x, y, n - 1)


def test_rows_of_lanes_in_a_recursion() -> None:
    """They are made where they are needed, and given back before the next call."""
    matrix = Array(F64, 2)
    function = lowered_of(nearest, [matrix, matrix, I64])
    (inside,) = function.subroutines
    text = pretty_loops(function)
    assert re.search(r"row\d* = buffer", text)
    assert text.index("reset region") < text.index("= nearest(")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 5)), rng.normal(size=(30, 5))
    plain = cl.jit(nearest.py_func, options=cl.CompileOptions(optimize=0, cache=False))
    assert nearest(x, y, 6) == pytest.approx(plain(x, y, 6), rel=1e-12)
    assert inside.regions


def test_operations_of_chunks_in_a_recursion_are_counted() -> None:
    """Each call does as much as any other, in however many chunks."""
    function = count_operations(lowered(levels, None))
    results = Product((F64, I64))
    native = NativeFunction(function, "levels", ["x", "c", "n"], TYPES, results)
    for size in (10, 60_000):
        x, c, _ = arguments(size)
        counts = []
        for n in range(4):
            value, count = native(x, c, n)
            assert value == levels(x, c, n)
            counts.append(count)
        steps = np.diff(counts)
        assert steps[0] > size and np.all(steps == steps[0])


def test_a_recursion_of_numbers_needs_no_memory() -> None:
    """What a library's function asks for is what it asks for without the call."""
    for kernel in KERNELS:
        with_call = lowered(beside(kernel), KINDS["gradient"], parallel=False)
        without = lowered(alone(kernel), KINDS["gradient"], parallel=False)
        found, expected = workspace_of(with_call), workspace_of(without)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert lines(found) == lines(expected)


def test_a_recursion_that_makes_arrays_has_no_workspace() -> None:
    assert workspace_of(lowered(handed_on, None, parallel=False)) is None


@cl.jit(cache=False)
def handed_on(x: cl.f64[:], c: cl.f64[:], n: int) -> float:
    """Each call makes an array for the next one."""
    if n <= 0:
        return np.sum(x)
    y = x * c[0]
    return y[0] + handed_on(y, c, n - 1)


def test_no_pass_gives_up() -> None:
    """Nothing asks whether a program has subroutines, to leave it as it is."""
    files = [*PACKAGE.glob("lower/**/*.py"), *PACKAGE.glob("backend/**/*.py")]
    assert len(files) > 50
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.If | ast.IfExp | ast.While):
                asked = {a.attr for a in ast.walk(node.test) if _is_attribute(a)}
                assert "subroutines" not in asked, f"{file.name}:{node.lineno}"


def _is_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute)


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_same_bits(kernel: Kernel) -> None:
    """The loops give the same bits beside a recursion, and on any number of threads."""
    args = arguments(70_000)
    for wrt in (lambda f: f, lambda f: cl.value_and_grad(f, argnums=(0, 1))):
        expected = None
        for program in (alone(kernel), beside(kernel)):
            for threads in (1, 2):
                cl.set_num_threads(threads)
                found = [np.asarray(a).tobytes() for a in _flat(wrt(program)(*args))]
                expected = expected or found
                assert found == expected
    cl.set_num_threads(None)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [part for each in value for part in _flat(each)]
    return [value]


def test_bits_of_a_recursion_with_loops() -> None:
    args = arguments(30_000)
    expected = None
    for options in (cl.CompileOptions(cache=False), cl.CompileOptions(parallel=False)):
        function = cl.jit(levels.py_func, options=options)
        for threads in (1, 2):
            cl.set_num_threads(threads)
            both = function(*args), cl.value_and_grad(function, argnums=(0, 1))(*args)
            found = [np.asarray(a).tobytes() for a in _flat(both)]
            expected = expected or found
            assert found == expected
    cl.set_num_threads(None)


def test_depth_is_not_bounded_by_strips() -> None:
    """Buffers of strips are no part of the frames of a recursion."""

    @cl.jit(cache=False)
    def deep(x: cl.f64[:], n: int) -> float:
        total = 0.0
        for i in range(len(x)):
            total = np.tanh(0.5 * total + np.exp(x[i] * n) * np.sin(x[i]))
        return total if n <= 0 else math.sin(0.5 * total + deep(x, n - 1))

    function = lowered_of(deep, [Array(F64, 1), I64])
    assert any(sub.regions for sub in function.subroutines)
    x = np.linspace(-1e-6, 1e-6, 40)
    plain = cl.jit(deep.py_func, options=cl.CompileOptions(optimize=0, cache=False))
    assert deep(x, 50_000) == pytest.approx(plain(x, 50_000), rel=1e-12)


def lowered_of(function: Any, types: list[Any]) -> LoopFunction:
    source = specialise(function.py_func, types)
    return compile_program(source, None, lambda f: f, cl.CompileOptions()).lowered
