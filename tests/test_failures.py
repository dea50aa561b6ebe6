"""Failing programs: the same exception at the same line, in every way to run them.

Each program fails where a comment says `# here`, with what plain Python raises there.
The ways are the value, the gradient and the tangents: with speculation (so that the
call is repeated without), in debug mode, in the permanent mode, and watched for NaNs;
and the interpreter.
"""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.values import type_of
from chadllvm.frontend import specialise
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.value import to_value

A = np.array([1.0, 2.0, 3.0])
NONE = np.zeros(0)
OPTIONS = {
    "default": cl.CompileOptions(),
    "debug": cl.CompileOptions(debug=True),
    "permanent": cl.CompileOptions(optimize=0),
}

# The programs, with their arguments and the exceptions for these.
FAILING: dict[Callable[..., Any], list[tuple[tuple[Any, ...], type[Exception]]]] = {}


def fails(kind: type[Exception], *args: Any) -> Callable[..., Any]:
    """Decorator: enter a program that raises this with these arguments."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        FAILING.setdefault(function, []).append((args, kind))
        return function

    return enter


@fails(IndexError, A, 3)
@fails(IndexError, A, -4)
@fails(IndexError, A, 2**62)
@fails(IndexError, NONE, 0)
def element(a: cl.f64[:], k: int) -> float:
    b = a * 2.0
    return b[k] * 3.0  # here


@fails(ValueError, A, NONE)
@fails(ValueError, NONE, NONE)
def between_no_points(x: cl.f64[:], points: cl.f64[:]) -> float:
    return np.sum(np.interp(x, points, points))  # here


@fails(IndexError, A, 2)
def element_in_a_loop(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i + k] * a[i]  # here
    return total


@fails(IndexError, A, -2)
def element_of_a_row(a: cl.f64[:], k: int) -> float:
    m = np.outer(a, a)
    return sum(m[0]) + m[k, 1] + m[1, k - 2]  # here


@fails(IndexError, A, np.array([0, 2, 3]))
def gathered(a: cl.f64[:], k: cl.i64[:]) -> float:
    return np.sum(a[k] * 2.0)  # here


@fails(IndexError, A, np.array([0, -1, -4]))
def in_a_comprehension(a: cl.f64[:], k: cl.i64[:]) -> float:
    squares = [
        a[i] ** 2  # here
        for i in k
    ]
    return sum(squares)


@fails(ValueError, A, 5)
@fails(ValueError, NONE, 0)
def least_of_nothing(a: cl.f64[:], k: int) -> float:
    return sum(a) * min(a[i] for i in range(len(a)) if a[i] > k)  # here


@fails(ValueError, A, 1)
@fails(ValueError, NONE, 1)
def largest_of_no_pairs(a: cl.f64[:], k: int) -> float:
    pairs = [a[i] * a[j] for i in range(len(a)) for j in range(i) if a[i] < a[j]]
    total = sum(pairs)
    total += max(a[i] * a[j] for i in range(len(a)) for j in range(-i * k))  # here
    return total


@fails(IndexError, A, 1)
def behind_a_test(a: cl.f64[:], k: int) -> float:
    return sum(
        a[i + k] * b  # here
        for i in range(len(a))
        if a[i] > 2.0
        for b in a
    )


@fails(IndexError, A, 3)
def in_a_test(a: cl.f64[:], k: int) -> float:
    found = [
        b * c
        for b in a
        if b > 1.5
        for c in a
        if c * a[k] > 1.0  # here
    ]
    return sum(found)


@fails(IndexError, A, 3)
def updated(a: cl.f64[:], k: int) -> float:
    b = a.copy()
    b[0] = 5.0
    b[k] = a[1]  # here
    return sum(b)


@fails(IndexError, A, 2)
def updated_in_a_loop(a: cl.f64[:], k: int) -> float:
    b = np.zeros(3)
    for i in range(3):
        b[i + k] += a[i]  # here
    return sum(b)


@fails(IndexError, A, 0)
def popped(a: cl.f64[:], k: int) -> float:
    kept = [a[0]]
    first = kept.pop()
    second = kept.pop()  # here
    return first * second


@fails(IndexError, A, 1)
def mask_of_another_size(a: cl.f64[:], k: int) -> float:
    mask = a[k:] > 0.0
    return np.sum(a[mask])  # here


@fails(ZeroDivisionError, A, 0)
def quotient(a: cl.f64[:], k: int) -> float:
    b = a[0]
    return b * (7 // k)  # here


@fails(ZeroDivisionError, A, 2)
def remainder_in_a_loop(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(3):
        total += a[i] * (5 % (k - i))  # here
    return total


@fails(ZeroDivisionError, A, 0)
def both_at_once(a: cl.f64[:], k: int) -> float:
    q, r = divmod(5, k)  # here
    return a[q] * r


@fails(ValueError, A, 0)
@fails(ValueError, A, -3)
def largest_of_nothing(a: cl.f64[:], k: int) -> float:
    head = [a[i] for i in range(k)]
    return max(head)  # here


@fails(ValueError, A, 0)
def least_of_a_generator(a: cl.f64[:], k: int) -> float:
    return a[0] + min(a[i] for i in range(k))  # here


@fails(ValueError, A, 3)
def numpy_largest(a: cl.f64[:], k: int) -> float:
    return np.max(a[k:]) + a[0]  # here


@fails(ValueError, A, 3)
def numpy_place(a: cl.f64[:], k: int) -> float:
    return a[np.argmin(a[k:])]  # here


@fails(ValueError, A, 1)
def sizes_that_differ(a: cl.f64[:], k: int) -> float:
    b = a[k:]
    return np.sum(a * b)  # here


@fails(ValueError, A, 1)
def inner_sizes_that_differ(a: cl.f64[:], k: int) -> float:
    return a @ a[k:]  # here


@fails(ValueError, A, 1)
def assigned_sizes_that_differ(a: cl.f64[:], k: int) -> float:
    b = a.copy()
    b[1:] = a[k + 1 :][:1].repeat(3)  # here
    return sum(b)


@fails(ValueError, A, 2)
def shapes_that_do_not_fit(a: cl.f64[:], k: int) -> float:
    return np.sum(np.reshape(a, (k, 2)))  # here


@fails(ValueError, A, -1)
def negative_size(a: cl.f64[:], k: int) -> float:
    b = np.ones(k)  # here
    return sum(b) * a[0]


@fails(ValueError, A, -2)
def negative_exponent(a: cl.f64[:], k: int) -> float:
    n = 3
    for _ in range(2):
        n += 1
    return a[0] * n**k  # here


@fails(ValueError, A, -1)
def negative_exponent_of_a_modulus(a: cl.f64[:], k: int) -> float:
    return a[0] * pow(2, k, 10)  # here


@fails(ValueError, A, 0)
def modulus_of_zero(a: cl.f64[:], k: int) -> float:
    return a[0] * pow(3, 2, k)  # here


@fails(ValueError, A, -1)
def negative_shift(a: cl.f64[:], k: int) -> float:
    return a[0] * (5 << k)  # here


@fails(ValueError, A, 0)
def no_step(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(0, 3, k):  # here
        total += a[i]
    return total


@fails(ValueError, np.array([1.0, math.nan]), 1)
@fails(OverflowError, np.array([1.0, math.inf]), 1)
def number_of_a_nan(a: cl.f64[:], k: int) -> float:
    n = int(a[k])  # here
    return a[0] * n


@fails(OverflowError, np.array([1e300]), 0)
def floor_of_a_large_one(a: cl.f64[:], k: int) -> float:
    return a[0] * math.floor(a[k])  # here


@fails(ValueError, A, -3)
def factorial_of_a_negative(a: cl.f64[:], k: int) -> float:
    return a[0] * math.factorial(k)  # here


@fails(np.linalg.LinAlgError, A, 0)
def singular(a: cl.f64[:], k: int) -> float:
    m = np.outer(a, a) * k
    return np.sum(np.linalg.solve(m, a))  # here


@fails(ValueError, A, 2)
def joined(a: cl.f64[:], k: int) -> float:
    both = np.stack([a, a[k:]])  # here
    return np.sum(both)


def helper(a, k):
    b = a[k]  # here
    return b * b


compiled_helper = cl.jit(helper)


@fails(IndexError, A, 3)
def in_a_callee(a: cl.f64[:], k: int) -> float:
    return sum(compiled_helper(a, i + k) for i in range(3)) + a[0]


in_a_callee.place = helper  # type: ignore[attr-defined]


# ---- two mistakes


@fails(IndexError, A, 3)
def index_then_division(a: cl.f64[:], k: int) -> float:
    first = a[k]  # here
    return first * (1 // (k - 3))


@fails(ZeroDivisionError, A, 3)
def division_then_index(a: cl.f64[:], k: int) -> float:
    n = 1 // (k - 3)  # here
    return a[k] * n


@fails(ZeroDivisionError, A, 1)
def division_in_the_loop_before_the_index(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(4):
        total += a[i]
        total *= 6 // (k - i)  # here
    return total


@fails(IndexError, A, 5)
def index_in_the_loop_before_the_division(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(4):
        total += a[i]  # here
        total *= 6 // (k - i)
    return total + max([a[i] for i in range(k - 5)])


@fails(ValueError, A, 1)
def shapes_before_an_index(a: cl.f64[:], k: int) -> float:
    total = np.sum(a[k:] * a)  # here
    return total + a[k + 5]


@fails(IndexError, A, 3)
def first_loop_before_the_second(a: cl.f64[:], k: int) -> float:
    total = 0.0
    for i in range(k + 1):
        total += a[i] * 2.0  # here
    for i in range(k + 2):
        total += a[i] * a[i + 1]
    return total


@fails(ValueError, A, 0)
def argument_before_the_call(a: cl.f64[:], k: int) -> float:
    return compiled_helper(a, 3 + int(max(a[i] for i in range(k))))  # here


# ---- the ways to run them


def ways(function: Any) -> Iterator[tuple[str, Any]]:
    for name, options in OPTIONS.items():
        f = cl.jit(function, options=options)
        yield name, f
        yield f"{name}, gradient", cl.grad(f)
        yield f"{name}, tangents", tangents_of(f)
    yield "both", cl.value_and_grad(f)
    yield "watched", watched(cl.jit(function))
    yield "watched gradient", watched(cl.grad(function))


def tangents_of(function: Any) -> Callable[..., Any]:
    def call(a: Any, k: Any) -> Any:
        return cl.jvp(function, (a, k), (np.ones_like(a), None))

    return call


def watched(run: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with cl.debug_nans():
            return run(*args)

    return call


def place_of(function: Any) -> str:
    """Where a program says that it fails."""
    at = getattr(function, "place", function)
    lines, start = inspect.getsourcelines(at)
    (line,) = (start + k for k, text in enumerate(lines) if "# here" in text)
    return f"{__file__}:{line}, in {at.__name__})"


def name_of(function: Any) -> str:
    return str(function.__name__)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("function", FAILING, ids=name_of)
def test_the_same_exception_everywhere(function: Any) -> None:
    runs = list(ways(function))
    for args, kind in FAILING[function]:
        place, messages = place_of(function), set()
        for name, run in runs:
            with pytest.raises(kind) as caught:
                run(*args)
            assert caught.type is kind, (name, caught.value)
            assert str(caught.value).endswith(place), (name, caught.value)
            messages.add(str(caught.value))
        assert len(messages) == 1
        error = interpreted(function, args)
        assert error.kind is kind
        assert f"{error} ({error.span.file}:{error.span.line}" in messages.pop()


def interpreted(function: Any, args: tuple[Any, ...]) -> ProgramError:
    types = [type_of(a, "f", "x") for a in args]
    program = specialise(function, types, {})
    values = [to_value(a, ty) for a, ty in zip(args, types, strict=True)]
    with pytest.raises(ProgramError) as caught:
        Interpreter(program).run(*values)
    return caught.value


@pytest.mark.parametrize("function", FAILING, ids=name_of)
def test_plain_python_fails_there(function: Any) -> None:
    if function.__name__ in NOT_IN_PYTHON:
        return
    for args, kind in FAILING[function]:
        with pytest.raises(kind) as caught:
            function(*args)
        at = [e for e in caught.traceback if str(e.path) == __file__][-1]
        if not hasattr(function, "place"):
            assert f":{at.lineno + 1}, in" in place_of(function)


# A power of integers is a float in plain Python, whose integers have no bound.
NOT_IN_PYTHON = ("negative_exponent", "floor_of_a_large_one")


def test_failures_in_many_threads() -> None:
    f = cl.jit(element_in_a_loop)
    gradient = cl.grad(f)
    found: list[str] = []

    def run(k: int) -> None:
        for turn in range(50):
            try:
                (f if turn % 2 else gradient)(A, k)
            except IndexError as error:
                found.append(str(error))

    threads = [threading.Thread(target=run, args=(k,)) for k in (1, 2, 3, -9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert len(set(found)) <= 3 + 1


def test_reductions_of_nothing() -> None:
    @cl.jit
    def means(a: cl.f64[:]):
        return np.mean(a), np.var(a), np.std(a), np.sum(a), np.prod(a)

    mean, variance, deviation, total, product = means(NONE)
    assert math.isnan(mean) and math.isnan(variance) and math.isnan(deviation)
    assert (total, product) == (0.0, 1.0)

    @cl.jit
    def mean_of(a: cl.f64[:]) -> float:
        return a.mean()

    assert cl.grad(mean_of)(NONE).shape == (0,)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, i: len(a[i]),
        lambda a, i: len(a.take(i)),
        lambda a, i: a[i].shape[0],
        lambda a, i: np.take(a, i).size,
        lambda a, i: np.zeros(a[i].shape),
        lambda a, i: np.full_like(a[i], 2.0),
        lambda a, i: (a[i].shape, 1)[1],
    ],
)
def test_what_fails_where_sizes_alone_are_asked_for(function: Any) -> None:
    compiled, places = cl.jit(function), np.array([0, 2])
    assert np.all(compiled(np.arange(3.0), places) == function(np.arange(3.0), places))
    with pytest.raises(IndexError):
        compiled(np.arange(2.0), places)


def test_a_matrix_of_nan_has_a_factor_of_nan() -> None:
    factor = cl.jit(lambda a: np.linalg.cholesky(a))
    assert np.isnan(factor(np.full((2, 2), np.nan))[1, 1])
    with pytest.raises(np.linalg.LinAlgError):
        factor(np.zeros((2, 2)))


def same(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")


def positive(a):
    for v in a:
        assert v > 0.0, "not positive"


def both(a, b):
    same(a, b)
    positive(a)


def test_functions_that_only_check() -> None:
    def product(a: cl.f64[:], b: cl.f64[:]) -> float:
        def small(x):
            if x > 10.0:
                raise OverflowError("large")

        both(a, b)
        small(a[0])
        return np.sum(a * b)

    ones = np.ones(3)
    assert cl.jit(product)(ones, ones) == 3.0
    assert cl.grad(product)(ones, 2.0 * ones).tolist() == [2.0, 2.0, 2.0]
    for args, error in (
        ((ones, ones[:2]), ValueError),
        ((-ones, ones), AssertionError),
        ((11.0 * ones, ones), OverflowError),
    ):
        for function in (cl.jit(product), cl.grad(product)):
            with pytest.raises(error):
                function(*args)
