"""`vjp` from Python: the function is run once, and its pullback as often as wanted."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import erf

import chadllvm as cl
from chadllvm.driver.pipeline import compile_halves
from chadllvm.frontend import specialise
from chadllvm.ir.pretty import pretty
from chadllvm.ir.types import F64, I64, Array
from chadllvm.support.options import CompileOptions

X = np.array([0.3, -0.8, 1.2])


@cl.jit
def scalars(x: cl.f64[:], n: int):
    v = x[0]
    for k in range(n):
        v = math.sin(v) * x[k % 3] + 0.1
    return v * x


@cl.jit
def states(x: cl.f64[:], n: int):
    for _ in range(n):
        x = np.array([erf(v) for v in x]) * 1.3 + x[0]
    return x


@cl.jit
def of_different_sizes(x: cl.f64[:], n: int):
    total = np.zeros(2)
    for k in range(n):
        part = np.outer(np.sin(x[: k % 3 + 1]), np.cos(x * k))
        for _ in range(2):
            part = np.sin(part) * part
        total += np.array([np.sum(part), part[0, 1]])
    return total


@cl.jit
def until(x: cl.f64[:], n: int):
    y = x.copy()
    while np.sum(y * y) > 0.1 * n:
        y = np.sin(y) * np.sum(np.cos(y)) * 0.3
    return y[:2], y[0] * x[1], n


@pytest.mark.parametrize("f", [scalars, states, of_different_sizes, until], ids=str)
@pytest.mark.parametrize("optimize", [0, 2])
def test_the_pullback_is_the_transposed_jacobian(f: Any, optimize: int) -> None:
    function = cl.jit(f.py_func, optimize=optimize)
    out, back = cl.vjp(function, X, 3)
    v = np.array([0.5, 1.0, -0.7])
    value, moved = cl.jvp(f, (X, 3), (v, None))
    same = [part if isinstance(part, tuple) else (part,) for part in (out, value)]
    for ours, theirs in zip(*same, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    random = np.random.default_rng(3)
    for _ in range(2):
        ct = drawn(out, random)
        by_x, by_n = back(ct)
        assert by_n is None
        assert math.isclose(np.dot(by_x, v), dot(ct, moved), rel_tol=1e-12)
        assert np.array_equal(back(ct)[0], by_x)


def drawn(out: Any, random: np.random.Generator) -> Any:
    if isinstance(out, tuple):
        return tuple([drawn(part, random) for part in out])
    if isinstance(out, int):
        return None
    return random.normal(size=np.shape(out))[()]


def dot(ct: Any, tangent: Any) -> float:
    if isinstance(ct, tuple):
        return sum(map(dot, ct, tangent))
    return 0.0 if ct is None else float(np.sum(ct * tangent))


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_what_steps_update_is_kept_as_it_was_after_each(steps: int) -> None:
    def moved(x: cl.f64[:], step: float, n: int):
        position, force = x.copy(), np.zeros_like(x)
        for _ in range(n):
            position += force * step
            force[:] = 0.0
            for i in range(len(position)):
                force[i] += position[i] * position[0]
        return position

    out, back = cl.vjp(moved, X, 0.5, steps)
    np.testing.assert_allclose(out, moved(X, 0.5, steps), rtol=1e-14)
    v = np.array([0.5, 1.0, -0.7])
    _, along = cl.jvp(moved, (X, 0.5, steps), (v, 2.0, None))
    by_x, by_step, _ = back(v)
    assert math.isclose(np.dot(by_x, v) + 2.0 * by_step, v @ along, rel_tol=1e-12)


def test_the_second_half_does_not_run_the_function() -> None:
    source = specialise(states.py_func, (Array(F64, 1), I64))
    found = compile_halves(source, (0,), CompileOptions())
    assert found is not None
    early, late = (pretty(half.stages["simplified"]) for half in found)
    assert "erf" in early
    assert "erf" not in late


def test_from_many_threads() -> None:
    _, back = cl.vjp(of_different_sizes, X, 40)
    cts = np.random.default_rng(2).normal(size=(50, 2))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda ct: back(ct)[0], cts))
    for ct, by_x in zip(cts, found, strict=True):
        assert np.array_equal(by_x, back(ct)[0])


def test_nothing_that_python_changes_changes_it() -> None:
    x = X.copy()
    out, back = cl.vjp(states, x, 4)
    expected = back(X)[0]
    x[:], out[:] = 0.0, 0.0
    expected_again = back(X)[0]
    assert np.array_equal(expected_again, expected)
    expected_again[:] = 0.0
    assert np.array_equal(back(X)[0], expected)


def test_failures() -> None:
    def at(x: cl.f64[:], k: int):
        return np.exp(x) * x[k]

    with pytest.raises(IndexError):
        cl.vjp(at, X, 3)
    _, back = cl.vjp(at, X, 2)
    with pytest.raises(ValueError, match=r"out has shape \(3,\), its cotangent has"):
        back(np.ones(2))
    with pytest.raises(TypeError, match=r"out \(cotangent\) must be a NumPy array"):
        back("no cotangent")


def test_who_makes_a_nan_is_named() -> None:
    _, back = cl.vjp(lambda x: math.sqrt(x) - math.sqrt(2.0 * x), 0.0)
    assert math.isnan(back(1.0)[0])
    with cl.debug_nans(), pytest.raises(FloatingPointError):
        back(1.0)


def test_what_speculation_fails_on() -> None:
    """A negative index: the fast version supposes that there is none."""

    def shifted(x: cl.f64[:], k: int):
        y = x.copy()
        for i in range(len(x)):
            y[i] = x[i - k] * x[i]
        return y

    _, back = cl.vjp(shifted, X, 1)
    jacobian = cl.jacfwd(shifted)(X, 1)
    np.testing.assert_allclose(back(X)[0], X @ jacobian, rtol=1e-14)


def test_gradients_and_defaults() -> None:
    _, back = cl.vjp(cl.grad(lambda x, y=3.0: x**3 * y), 2.0)
    assert back(1.0) == (36.0,)
    _, back = cl.vjp(cl.grad(lambda x, y=3.0: x**3 * y), 2.0, 1.0)
    assert back(1.0) == (12.0, 12.0)


def test_integers_of_each_step_are_kept() -> None:
    """Pieces chosen by masks at each depth: their places are integers on the tape."""

    def weighted(x: cl.f64[:]) -> float:
        def ordered(v):
            if len(v) <= 1:
                return v
            above = v[1:] >= v[0]
            low, high = v[1:][~above], v[1:][above]
            return np.concatenate((ordered(low), v[:1], ordered(high)))

        y = ordered(x)
        return sum(y[k] ** 3 * k for k in range(len(y)))

    _, back = cl.vjp(cl.grad(weighted), X)
    np.testing.assert_allclose(back(np.ones(3))[0], [6.0 * 0.3, 0.0, 12.0 * 1.2])


def test_arrays_of_each_step_are_kept_whatever_their_sizes() -> None:
    def triangle(x: cl.f64[:]) -> float:
        total = 0.0
        for i in range(len(x)):
            y = [math.sin(x[j] * x[i]) for j in range(i)]
            z = np.sort(np.array(y))
            for j in range(i):
                total += z[j] * math.exp(y[i - 1 - j])
        return total

    x = np.linspace(0.1, 1.2, 6)
    value, back = cl.vjp(triangle, x)
    assert value == pytest.approx(triangle(x), rel=1e-14)
    expected = cl.grad(cl.jit(triangle, optimize=0))(x)
    np.testing.assert_allclose(back(1.0)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(back(-2.0)[0], -2.0 * expected, rtol=1e-12)


class Spring(NamedTuple):
    stiffness: float
    ends: int
    is_old: bool = False


class Loose(NamedTuple):
    pass


@cl.jit
def stretched(springs: list[Spring | Loose], x: float) -> float:
    parts = [s for s in springs if isinstance(s, Spring)]
    return sum(s.stiffness**3 * s.ends for s in parts) * x


def test_cotangents_without_numbers() -> None:
    """Annotations say what an empty list is; None stands where integers are."""
    springs = [Spring(2.0, 3), Loose()]
    gradient, back = cl.vjp(cl.grad(stretched), springs, 1.0)
    assert gradient == [Spring(36.0, None, None), Loose()]
    assert back([Spring(1.0, None, None), Loose()])[0] == gradient
    assert cl.hvp(stretched)(springs, 1.0, gradient)[0] == Spring(36.0**2, None, None)
    assert cl.vjp(stretched, [], 1.0)[1](1.0) == ([], 0.0)
    assert cl.vjp(stretched, [Loose()], 1.0)[1](1.0) == ([Loose()], 0.0)
    assert cl.hvp(stretched, 1)([], 1.0, 1.0) == 0.0


def test_directions_without_integers() -> None:
    """Also in structured arrays, whose gradient has no such field."""

    def f(rows, factor: float) -> float:
        return factor * np.sum(rows["a"] ** 3 * rows["n"])

    rows = np.array([(1.0, 2), (3.0, 4)], [("n", np.int64), ("a", float)][::-1])
    gradient = cl.grad(f)(rows, 1.0)
    product = cl.hvp(f)(rows, 1.0, gradient)
    np.testing.assert_allclose(
        product["a"], 6.0 * rows["a"] * rows["n"] * gradient["a"]
    )
    both = cl.hvp(f, (0, 1))(rows, 1.0, (gradient, 1.0))
    np.testing.assert_allclose(both[1], np.sum(gradient["a"] ** 2))


def test_defaults_that_are_taken_have_no_cotangent() -> None:
    """Inside of a program as from Python."""

    @cl.jit
    def swing(x: float, w: float, phase: float = 0.2) -> float:
        return math.sin(x * w + phase)

    def inside(x: float, w: float):
        _, back = cl.vjp(swing, x, w)
        _, along = cl.linearize(lambda t, u=w: t * u, x)
        return back(2.0), along(3.0)

    (by_x, by_w), moved = cl.jit(inside)(0.5, 0.7)
    assert math.isclose(by_x, 1.4 * math.cos(0.55))
    assert math.isclose(by_w, math.cos(0.55))
    assert math.isclose(moved, 2.1)
    assert inside(0.5, 0.7)[0] == (by_x, by_w)
