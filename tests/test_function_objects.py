"""Compiled functions as Python objects: from anywhere, pickled, in threads."""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

A = np.array([1.0, 2.0, 3.0])


@cl.jit
def picked(k: int, a: cl.f64[:], flag: bool = True) -> float:
    """One of several numbers."""
    return a[k] if flag else 0.0


@cl.jit
def ratio(x: float, y: float) -> float:
    return x / y


@cl.jit
def waves(x: float, a: cl.f64[:]) -> float:
    return sum(math.sin(x * v) for v in a)


def test_metadata_is_that_of_the_function() -> None:
    assert picked.__name__ == "picked"
    assert picked.__doc__ == "One of several numbers."
    assert picked.__module__ == __name__
    assert list(inspect.signature(picked).parameters) == ["k", "a", "flag"]
    assert inspect.signature(picked).parameters["flag"].default is True
    assert picked.py_func(2, A) == picked(2, A)
    assert "picked" in repr(picked) and "picked" in repr(cl.grad(picked))
    taken = inspect.signature(cl.grad(picked, "a"))
    assert list(taken.parameters) == ["k", "a", "flag"]
    assert taken.return_annotation == "cl.f64[:]"
    assert callable(picked) and isinstance(picked, cl.Function)
    assert isinstance(cl.grad(picked), cl.Derivative)


def test_a_wrapped_function_keeps_its_name() -> None:
    @functools.wraps(ratio)
    def wrapper(x: float, y: float) -> float:
        return ratio(x, y)

    assert wrapper.__name__ == "ratio"
    assert wrapper(3.0, 2.0) == 1.5


def test_a_function_made_by_exec() -> None:
    text = "def made(x: float) -> float:\n    return x * x + offset\n"
    name = "<made for a test>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"offset": 1.0}
    exec(compile(text, name, "exec"), scope)
    function = cl.jit(scope["made"])
    assert function(3.0) == 10.0
    assert cl.grad(function)(3.0) == 6.0
    scope = {}
    exec("def lost(x): return x", scope)
    with pytest.raises(cl.CompileError, match="source"):
        cl.jit(scope["lost"])


def test_a_nested_function_sees_its_closure() -> None:
    def outer(scale: float, shift: np.ndarray) -> Any:
        @cl.jit
        def helper(v: float) -> float:
            return v * scale

        @cl.jit
        def f(x: float) -> float:
            return helper(x) * x + sum(shift)

        return f

    first, second = outer(2.0, A), outer(3.0, 2.0 * A)
    assert (first(2.0), second(2.0)) == (14.0, 24.0)
    assert (cl.grad(first)(2.0), cl.grad(second)(2.0)) == (8.0, 12.0)


FACTOR = 2.0


@cl.jit
def scaled(a: cl.f64[:], k: int) -> float:
    return sum(FACTOR * a[i] for i in range(k))


def test_globals_are_read_at_the_first_compilation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert scaled(A, 3) == 12.0
    monkeypatch.setitem(globals(), "FACTOR", "no number any more")
    assert scaled(A, 3) == 12.0
    with pytest.raises(IndexError):
        scaled(A, 4)
    assert scaled(A, 2) == 6.0


def times_factor(x: float) -> float:
    return FACTOR * x * x


@pytest.mark.parametrize(
    "slope",
    [
        lambda: cl.grad(times_factor)(1.0),
        lambda: cl.jvp(times_factor, (1.0,), (1.0,))[1],
        lambda: cl.vjp(times_factor, 1.0)[1](1.0)[0],
        lambda: cl.linearize(times_factor, 1.0)[1](1.0),
        lambda: cl.hessian(times_factor)(1.0),
    ],
)
def test_derivatives_of_plain_functions_read_globals_again(
    slope: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for factor in (FACTOR, 5.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        assert slope() == 2.0 * factor


def test_a_captured_array_is_read_at_the_first_compilation() -> None:
    table = np.arange(3.0)

    @cl.jit
    def f(k: int) -> float:
        return table[k]

    assert f(2) == 2.0
    table[:] = 7.0
    assert f(2) == 2.0
    with pytest.raises(IndexError):
        f(3)


@pytest.mark.parametrize("called_before", [False, True])
def test_compiled_functions_are_pickled_by_name(called_before: bool) -> None:
    gradient = cl.value_and_grad(ratio, (-1, 0))
    if called_before:
        ratio(3.0, 2.0)
        gradient(3.0, 2.0)
    assert pickle.loads(pickle.dumps(ratio)) is ratio
    assert copy.deepcopy(ratio) is ratio
    again = pickle.loads(pickle.dumps(gradient))
    assert again(3.0, 2.0) == gradient(3.0, 2.0) == (1.5, (-0.75, 0.5))
    for made in (cl.jacfwd(ratio, "y"), cl.hessian(ratio, (0, 1)), cl.hvp(ratio)):
        assert pickle.loads(pickle.dumps(made)) is made


# ---- threads


def test_many_threads_compile_one_version() -> None:
    function = cl.jit(waves.py_func)
    gradient = cl.grad(waves)
    start = threading.Barrier(8)
    found: list[Any] = []
    expected = waves.py_func(0.5, A)

    def work() -> None:
        start.wait()
        for _ in range(50):
            value = function(0.5, A)
            found.append((value, gradient(0.5, A)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(function._versions) == len(gradient._versions) == 1
    assert len(found) == 400 and len(set(found)) == 1
    assert found[0][0] == pytest.approx(expected, rel=1e-14)


def test_many_threads_fail_and_succeed() -> None:
    function = cl.jit(scaled.py_func)
    start = threading.Barrier(8)
    wrong: list[Any] = []

    def work(k: int) -> None:
        start.wait()
        for _ in range(50):
            try:
                good = function(A, k) == 2.0 * sum(A[:k])
            except IndexError:
                good = k > 3
            if not good:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
