"""Debug mode raises what plain Python raises; `debug_nans` names who makes a NaN."""

from __future__ import annotations

import contextvars
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from containers import drawn, leaves
from programs.case import Case

import chadllvm as cl
from tests.program_cases import CASES
from tests.sweep import swept

LEAST, MOST = -(2**63), 2**63 - 1
RANDOM = np.random.default_rng(0)


def ways(function: Any) -> list[Callable[..., Any]]:
    """Value, gradient and tangents, in debug mode at both levels."""
    compiled = [cl.jit(function, debug=True, optimize=level) for level in (2, 0)]
    return [run for f in compiled for run in (f, cl.grad(f), tangents_of(f))]


def tangents_of(function: Any) -> Callable[..., Any]:
    return lambda *args: cl.jvp(function, args, tuple(map(one, args)))


def one(arg: Any) -> Any:
    """A tangent: ones for reals."""
    if isinstance(arg, np.ndarray):
        return np.ones_like(arg) if arg.dtype == float else None
    return 1.0 if isinstance(arg, float) else None


def added(x: float, n: int, m: int) -> float:
    return x * (n + m)


def subtracted(x: float, n: int, m: int) -> float:
    return x * (n - m)


def multiplied(x: float, n: int, m: int) -> float:
    return x * (n * m)


def negated(x: float, n: int, m: int) -> float:
    return x * (-n + m)


def absolute(x: float, n: int, m: int) -> float:
    return x * (abs(n) - m)


def quotient(x: float, n: int, m: int) -> float:
    return x * (n // m)


def power(x: float, n: int, m: int) -> float:
    return x * n**m


def shifted(x: float, n: int, m: int) -> float:
    return x * (n << m)


def counted(x: float, n: int, m: int) -> float:
    total = 0
    for k in range(3):
        total += n * k - m
    return x * total


def summed(x: float, n: int, m: int) -> float:
    return x * sum([n, m, n])


def summed_array(x: float, n: int, m: int) -> float:
    return x * np.sum(np.array([n, m]))


@pytest.mark.parametrize(
    ("function", "n", "m"),
    [
        (added, MOST, 1),
        (subtracted, LEAST, 1),
        (multiplied, 2**32, 2**31),
        (multiplied, LEAST, -1),
        (negated, LEAST, 0),
        (absolute, LEAST, 0),
        (quotient, LEAST, -1),
        (power, 3, 40),
        (power, -2, 64),
        (shifted, 1, 63),
        (shifted, 3, 200),
        (counted, MOST // 2, -2),
        (summed, 2**62, 0),
        (summed_array, MOST, 1),
    ],
)
def test_an_integer_that_does_not_fit(function: Any, n: int, m: int) -> None:
    for run in ways(function):
        with pytest.raises(OverflowError, match="too large for 64 bits") as caught:
            run(0.5, n, m)
        assert function.__name__ in str(caught.value)
        run(0.5, 1, 1)
    assert abs(cl.jit(function)(0.5, n, m)) <= 2.0**62


@pytest.mark.parametrize(
    "function", [added, subtracted, multiplied, negated, absolute, power, shifted]
)
def test_integers_are_those_of_plain_python(function: Any) -> None:
    run = cl.jit(function, debug=True)
    scale = 2.0**-62
    numbers = (0, 1, -1, 2, 7, -12, 2**31, MOST, LEAST, LEAST + 1)
    for n, m in itertools.product(numbers, (0, 1, 2, 5, 40, 63)):
        try:
            wanted = function(scale, n, m)
        except OverflowError:
            wanted = math.inf
        steps = INTEGERS[function](n, m)
        if all(LEAST <= step <= MOST for step in steps):
            assert run(scale, n, m) == wanted, (n, m)
        else:
            with pytest.raises(OverflowError):
                run(scale, n, m)


INTEGERS: dict[Any, Callable[[int, int], list[int]]] = {
    added: lambda n, m: [n + m],
    subtracted: lambda n, m: [n - m],
    multiplied: lambda n, m: [n * m],
    negated: lambda n, m: [-n, m - n],
    absolute: lambda n, m: [abs(n), abs(n) - m],
    power: lambda n, m: [n**m],
    shifted: lambda n, m: [n << m],
}


def divided(x: float, y: float) -> float:
    return x / y


def floor_divided(x: float, y: float) -> float:
    return x // y + x


def modulo(x: float, y: float) -> float:
    return x % y


def logarithm(x: float, y: float) -> float:
    return math.log(x) + y


def root(x: float, y: float) -> float:
    return math.sqrt(x) + y


def exponential(x: float, y: float) -> float:
    return math.exp(x) + y


def raised(x: float, y: float) -> float:
    return math.pow(x, y)


def rest(x: float, y: float) -> float:
    return math.fmod(x, y) + math.remainder(x, 7.0)


def squared(x: float, y: float) -> float:
    return x**2 + y


def in_a_loop(x: float, y: float) -> float:
    total = x
    for k in range(4):
        total += math.log(y - k) if k > 0 else 0.0
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (divided, (1.0, 0.0)),
        (divided, (0.0, -0.0)),
        (floor_divided, (1.0, 0.0)),
        (modulo, (1.0, 0.0)),
        (logarithm, (0.0, 1.0)),
        (logarithm, (-1.0, 1.0)),
        (root, (-1.0, 1.0)),
        (exponential, (1000.0, 1.0)),
        (raised, (0.0, -1.0)),
        (rest, (1.0, 0.0)),
        (rest, (math.inf, 3.0)),
        (squared, (1e200, 1.0)),
        (in_a_loop, (1.0, 2.0)),
    ],
)
def test_floats_raise_what_plain_python_raises(function: Any, args: Any) -> None:
    if function is not raised:  # `math.pow` has exceptions of its own.
        with pytest.raises((ArithmeticError, ValueError)) as wanted:
            function(*args)
        kind = wanted.type
    else:
        kind = ZeroDivisionError
    for run in ways(function):
        with pytest.raises(kind) as caught:
            run(*args)
        assert f"in {function.__name__})" in str(caught.value)
        run(2.5, 7.0)
    cl.jit(function)(*args)


def test_the_first_error_comes_first() -> None:
    def two(a: cl.f64[:], n: int, k: int) -> float:
        big = n * n
        return a[k] * big

    for run in ways(two):
        with pytest.raises(OverflowError, match=r"n \* n|\*"):
            run(np.ones(2), 2**40, 5)
        with pytest.raises(IndexError):
            run(np.ones(2), 2, 5)


def test_debug_is_an_option_like_others() -> None:
    options = cl.CompileOptions(debug=True)
    with pytest.raises(OverflowError):
        cl.jit(options=options)(added)(1.0, MOST, 1)
    with pytest.raises(OverflowError):
        cl.jit(debug=True)(added)(1.0, MOST, 1)


# ---- who makes a NaN


@cl.jit
def f(x: float, y: float) -> float:
    a = x * 2.0
    b = a / y
    return math.log(b) + math.sqrt(x)


@cl.jit
def rows(x: cl.f64[:]) -> float:
    total = 0.0
    for v in x:
        total += v * v * math.sqrt(v)
    return total


def nan_of(run: Callable[..., Any], *args: Any) -> str:
    with cl.debug_nans(), pytest.raises(FloatingPointError) as caught:
        run(*args)
    assert caught.value.__notes__
    return str(caught.value)


def test_a_nan_in_the_value() -> None:
    place = f"{__file__}:{f.py_func.__code__.co_firstlineno + 4}, in f)"
    for level in (0, 2):
        g = cl.jit(f.py_func, optimize=level)
        for run in (g, cl.value_and_grad(g), tangents_of(g)):
            found = nan_of(run, -1.0, 2.0)
            assert found == f"log(-1.0) is nan ({place}"
        assert "0.0 / 0.0 is nan" in nan_of(g, 0.0, 0.0)
        assert math.isnan(g(-1.0, 2.0))


def test_a_nan_in_the_reverse_and_in_the_tangents() -> None:
    x = np.array([4.0, 0.0])
    for level in (0, 2):
        g = cl.jit(rows.py_func, optimize=level)
        found = nan_of(cl.grad(g), x)
        assert "0.0 * inf is nan" in found
        assert f"{__file__}:{rows.py_func.__code__.co_firstlineno + 4}" in found
        assert found.endswith("in the reverse of rows)")
        assert nan_of(tangents_of(g), x).endswith("in the tangents of rows)")
        with cl.debug_nans():
            assert g(x) == 32.0
    second = tangents_of(cl.grad(rows))
    assert nan_of(second, x).endswith("in the reverse of rows)")


def test_sums_are_checked_step_by_step() -> None:
    @cl.jit
    def total(x: cl.f64[:]) -> float:
        return np.sum(x)

    found = nan_of(total, np.array([1.0, math.inf, -math.inf]))
    assert "inf + -inf is nan" in found


def test_sums_of_cotangents_are_checked() -> None:
    @cl.jit
    def cancelled(x: float) -> float:
        return math.sqrt(x) - math.sqrt(2.0 * x)

    @cl.jit
    def cancelled_rows(x: cl.f64[:], y: float) -> float:
        return sum(math.sqrt(v * y) - math.sqrt(v) for v in x) * y

    for level in (0, 2):
        g = cl.grad(cl.jit(cancelled.py_func, optimize=level))
        assert nan_of(g, 0.0).startswith("a sum of cotangents is nan")
        with cl.debug_nans():
            assert math.isnan(g(math.nan))
        h = cl.grad(cl.jit(cancelled_rows.py_func, optimize=level))
        found = nan_of(h, np.array([1.0, 0.0]), 2.0)
        assert found.startswith("a sum of cotangents is nan")
        assert "of cancelled_rows)" in found or "in cancelled_rows)" in found
        with cl.debug_nans():
            assert np.isnan(h(np.array([1.0, math.nan]), 1.0)).tolist() == [False, True]


def test_what_is_nan_already_is_not_made() -> None:
    with cl.debug_nans():
        assert math.isnan(f(math.nan, 1.0))
        assert f(math.inf, 1.0) == math.inf
        assert math.isnan(cl.grad(f)(math.nan, 1.0))
        assert rows(np.array([4.0])) == 32.0


def test_what_nobody_asks_for_is_no_matter() -> None:
    @cl.jit
    def kept(x: float) -> float:
        return x if x < 1.0 else math.log(x - 2.0)

    with cl.debug_nans():
        assert kept(0.5) == 0.5
        assert cl.grad(kept)(0.5) == 1.0
    assert "log(-0.5)" in nan_of(kept, 1.5)


def test_the_watch_ends_with_its_context() -> None:
    with cl.debug_nans(), cl.debug_nans(False):
        assert math.isnan(f(-1.0, 1.0))
    with pytest.raises(FloatingPointError), cl.debug_nans():
        f(-1.0, 1.0)
    assert math.isnan(f(-1.0, 1.0))


def test_other_threads_are_not_watched() -> None:
    seen: list[Any] = []

    def run() -> None:
        try:
            seen.append(f(-1.0, 1.0))
        except FloatingPointError as error:
            seen.append(error)

    with cl.debug_nans():
        copied = contextvars.copy_context()
        for target in (run, lambda: copied.run(run)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert math.isnan(seen[0])
    assert isinstance(seen[1], FloatingPointError)


def test_calls_of_any_form_are_watched() -> None:
    @cl.jit
    def anything(x, n=2):
        return x / (n - 2)

    @cl.jit(static_argnames="kind")
    def chosen(x: float, kind: str) -> float:
        return math.log(x) if kind == "log" else x

    with cl.debug_nans():
        for _ in range(2):
            with pytest.raises(FloatingPointError):
                anything(0.0)
            with pytest.raises(FloatingPointError):
                anything(0.0, n=2)
            with pytest.raises(FloatingPointError):
                chosen(-1.0, kind="log")
            assert chosen(-1.0, kind="none") == -1.0
    assert math.isnan(anything(0.0))


# ---- the corpus


# `far_ranges` is about numbers beyond 64 bits.
FITTING = [case for case in CASES if case.name != "far_ranges"]


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(FITTING, 30, "debug"))
@pytest.mark.parametrize("option", ["debug", "nans"])
def test_programs_without_mistakes_give_the_same(case: Case, option: str) -> None:
    options = cl.CompileOptions(**{option: True})
    checked = cl.jit(case.function.py_func, options=options)
    params = [k for k, arg in enumerate(case.args) if leaves(drawn(arg, RANDOM))]
    runs = [(checked, case.function)]
    if params:
        runs.append((cl.grad(checked, params), cl.grad(case.function, params)))
    for run, plain in runs:
        found, wanted = leaves(run(*case.args)), leaves(plain(*case.args))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-13)
