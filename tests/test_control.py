"""What loops that stop promise besides their results: errors, work, memory, Ctrl-C."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from backend.test_interrupt import interrupted_after
from frontend.generated import define
from test_assignments import operations
from test_memory import peak_of_call

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.ir.term import Block, nested
from chadllvm.ir.types import F64

OPTIONS = {
    "default": cl.CompileOptions(),
    "checked": cl.CompileOptions(speculate=False),
    "permanent": cl.CompileOptions(optimize=0),
}


# ---- errors ----------------------------------------------------------------------


def checked(x: float, n: int) -> float:
    if x < 0:
        raise ValueError(f"x = {x:.2f}, {n} times {{so far}}")
    if x > 10:
        raise OverflowError
    assert n != 3
    assert n < 5, "too often"
    total = 0.0
    k = 0
    while k < n:
        if k == 2 and x > 1:
            raise KeyError("k")
        total += math.sin(x * k)
        k += 1
    return total


FAILURES: list[tuple[float, int, Exception]] = [
    (-1.234, 2, ValueError("x = -1.23, 2 times {so far}")),
    (11.0, 9, OverflowError()),
    (1.0, 3, AssertionError()),
    (1.0, 7, AssertionError("too often")),
    (2.0, 4, KeyError("k")),
]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(("x", "n", "expected"), FAILURES, ids=str)
def test_exceptions_are_those_of_python(
    x: float, n: int, expected: Exception, options: cl.CompileOptions
) -> None:
    compiled = cl.jit(checked, options=options)
    for run in (compiled, cl.grad(compiled)):
        with pytest.raises(type(expected)) as found:
            run(x, n)
        assert type(found.value) is type(expected)
        assert found.value.args == expected.args
        assert any("in checked" in note for note in found.value.__notes__)
    assert compiled(0.5, 2) == checked(0.5, 2)


def first_of_two(x: cl.f64[:], limit: float) -> float:
    """Whichever comes first in program order is raised, in fast loops too."""
    total = 0.0
    for k in range(len(x)):
        if x[k] > limit:
            raise ValueError("limit")
        total += x[k + 3] * x[k]
    return total


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_first_failure_is_raised(options: cl.CompileOptions) -> None:
    x = np.arange(8.0)
    compiled = cl.jit(first_of_two, options=options)
    for run in (compiled, cl.grad(compiled)):
        with pytest.raises(ValueError, match="limit"):
            run(x, 2.5)
        with pytest.raises(IndexError):
            run(x, 6.5)


def always_raises(x: float) -> float:
    raise NotImplementedError("later")


def test_a_function_that_only_raises() -> None:
    for run in (cl.jit(always_raises), cl.jit(always_raises, optimize=0)):
        with pytest.raises(NotImplementedError, match="later"):
            run(1.0)


# ---- Ctrl-C and memory -----------------------------------------------------------


def spinning(n: int) -> int:
    while True:
        n = n + 0
    return n


def wandering(x: float) -> float:
    while x < 1e9:
        for _ in range(3):
            if x > 1e8:
                break
            x = 0.5 * x + 0.1
    return x


@pytest.mark.parametrize("level", [2, 0])
@pytest.mark.parametrize(("function", "arg"), [(spinning, 1), (wandering, 1.0)])
def test_an_endless_loop_is_interrupted(function: Any, arg: Any, level: int) -> None:
    run = cl.jit(function, optimize=level)
    run._version(run._types((arg,)))  # It is compiled by now.
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        run(arg)
    assert time.perf_counter() - start < 1.2


def unused(x: float, n: int) -> float:
    """What the loop computes is not used, but it may be endless."""
    k = n
    while k != 0:
        k -= 2
    return x


def test_a_loop_that_may_not_end_is_run() -> None:
    run = cl.value_and_grad(unused)
    assert run(2.0, 4) == (2.0, 1.0)
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        run(2.0, 3)


@cl.jit
def walk(x: float, steps: int) -> float:
    k = 0
    while k < steps:
        x = x + math.sin(x)
        k += 1
    return x


def test_a_gradient_keeps_what_grows_by_doubling() -> None:
    """One number a step; the buffer, and the halves that it grew out of."""
    gradient = cl.grad(walk)
    gradient(0.5, 10)
    peak_of_call()
    gradient(0.5, 10**6)
    assert 8 * 10**6 < peak_of_call() < 5 * 8 * 10**6
    walk(0.5, 10**6)
    assert peak_of_call() < 4096


# ---- work ------------------------------------------------------------------------


def updated_until(x: cl.f64[:]) -> float:
    a = x * 1.0
    k = 0
    while True:
        a[k] = a[k] * a[k - 1]
        k += 1
        if k == len(a):
            break
        if a[k] > 5.0:
            return a[k]
    return np.sum(a)


def searched(x: cl.f64[:]) -> float:
    a = x * 1.0
    for k in range(len(a)):
        if a[k] > 5.0:
            raise ValueError(f"a[{k}]")
        if a[k] < -5.0:
            return np.sum(a)
        if a[k] < 0.0:
            continue
        a[k] = a[k] * a[k - 1]
    return np.sum(a)


def appended(x: cl.f64[:]) -> float:
    kept = []
    k = 0
    while len(kept) < len(x):
        k += 1
        if k % 3 == 0:
            continue
        kept.append(x[k % len(x)] * x[0])
    return sum(v * v for v in kept)


def left_by_return(x: cl.f64[:]) -> float:
    """Several paths go on, and the array is updated on all of them."""
    a = x * 1.0
    for k in range(len(a)):
        if a[k] > 0.0:
            if a[k] > 5.0:
                return a[k]
            a[k] *= 0.5
        elif a[k] < -5.0:
            break
        a[k] += a[k - 1]
    return np.sum(a)


@pytest.mark.parametrize(
    "function", [updated_until, searched, appended, left_by_return]
)
def test_the_work_is_proportional_to_the_steps(function: Any) -> None:
    short, long = operations(function, 400), operations(function, 4000)
    assert long < 11 * short


def size(block: Block) -> int:
    inner = (size(b) for binding in block.bindings for _, b in nested(binding.expr))
    return len(block.bindings) + sum(inner)


def exits(count: int, in_loop: bool) -> str:
    """Branches that are left on some paths, while several go on."""
    lines = ["def f(x):", *["    for i in range(5):"] * in_loop]
    pad = "    " * (1 + in_loop)
    for k in range(count):
        lines += [f"{pad}if x > {k}:", f"{pad}    if x > {k}.5:"]
        lines += [f"{pad}        return x * {k}", f"{pad}    x = x * 0.5"]
        lines += [f"{pad}elif x > {k}.7:", f"{pad}    x = x + 1"]
    return "\n".join([*lines, "    return x", ""])


@pytest.mark.parametrize("in_loop", [False, True])
def test_programs_with_exits_grow_like_their_text(in_loop: bool) -> None:
    sizes = []
    for count in (10, 20, 30):
        function = define(exits(count, in_loop))
        sizes.append(size(specialise(function, [F64]).entry.body))
    assert sizes[2] - sizes[1] <= 1.1 * (sizes[1] - sizes[0])
    compiled = cl.jit(function)
    for x in (0.3, 5.3, 29.9, 80.0):
        assert compiled(x) == function(x)


@cl.jit
def root(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def test_second_derivative_of_an_iteration() -> None:
    first, second = cl.jvp(cl.grad(root), (2.0,), (1.0,))
    assert first == pytest.approx(0.5 / math.sqrt(2.0))
    assert second == pytest.approx(-0.25 * 2.0**-1.5)


# ---- tests that are not repeated -------------------------------------------------


@cl.jit
def long_norm(x: float, y: float) -> float:
    total = 0.0
    for k in range(3):
        total += math.sin(x * k) * math.cos(y * k) + math.exp(-x * x) / (1.0 + y * y)
    return total * (x + y)


def costly_test(x: float, y: float) -> float:
    """The test is so long that it stands at one place."""
    while (
        long_norm(x, y) + long_norm(y, x) * long_norm(x + y, x - y) > 0.1
        and long_norm(x * x, y) + long_norm(y * y, x) * long_norm(x, x - y) > -9.0
        and long_norm(x * x, y) + long_norm(y * y, x) * long_norm(x, x * y) > -9.0
    ):
        x *= 0.8
        if x < 0.05:
            break
    else:
        y = 2.0 * y
    return x * y


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("x", [1.1, 0.1, 6.0])
def test_a_costly_test(x: float, options: cl.CompileOptions) -> None:
    compiled = cl.jit(costly_test, options=options)
    assert compiled(x, 0.9) == pytest.approx(costly_test(x, 0.9), rel=1e-13)
    value, slopes = cl.value_and_grad(compiled, argnums=(0, 1))(x, 0.9)
    assert value == pytest.approx(costly_test(x, 0.9), rel=1e-13)
    for k, slope in enumerate(slopes):
        along = (1.0 - k, float(k))
        assert cl.jvp(compiled, (x, 0.9), along)[1] == pytest.approx(slope)


@pytest.mark.parametrize("stops", ["never", "always", "late"])
@pytest.mark.parametrize("n", [0, 3, 20])
def test_the_else_of_a_loop_whose_break_is_decided(stops: str, n: int) -> None:
    """A `break` that a static argument leaves out leads past no `else`."""

    def counted(n: int, x: float, stops: str) -> float:
        v = x
        for i in range(n):
            v = 1.5 * v
            if stops == "always" or (stops == "late" and i > 1):
                break
            if v > 100.0:
                return v + 1.0
        else:
            v = 2.0 * v
            if n == 3:
                return v
        return v + 0.25

    def tested(n: int, x: float, stops: str) -> float:
        v = x
        while n > 0:
            n -= 1
            v = 1.5 * v
            if stops == "always" or (stops == "late" and n < 2):
                break
        else:
            v = 2.0 * v
        return v + 0.25

    for function in (counted, tested):
        compiled = cl.jit(function, static_argnames="stops")
        assert compiled(n, 1.0, stops) == function(n, 1.0, stops)
        ahead = function(n, 1.0 + 1e-6, stops) - function(n, 1.0 - 1e-6, stops)
        slope = cl.grad(compiled, argnums="x")(n, 1.0, stops)
        assert slope == pytest.approx(ahead / 2e-6, rel=1e-6)
