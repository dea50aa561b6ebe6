"""Assignments and lists at run time: errors, results, second derivatives, cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.ir.types import F64, I64, Array, Product
from chadllvm.lower.count import count_operations
from chadllvm.lower.lower import lower_function

MODES = [cl.CompileOptions(), cl.CompileOptions(optimize=0)]
X = np.array([0.7, -1.3, 0.4, 2.1])


@pytest.fixture(params=MODES, ids=["default", "permanent"])
def compiled(request: Any) -> Callable[[Any], Any]:
    return lambda function: cl.jit(function, options=request.param)


# ---- what fails ------------------------------------------------------------------


def assigned(x: cl.f64[:], v: cl.f64[:]):
    a = x.copy()
    a[1:] = v
    return a


def test_a_value_that_does_not_fit(compiled: Callable[[Any], Any]) -> None:
    function = compiled(assigned)
    np.testing.assert_array_equal(function(X, X[:3]), [0.7, 0.7, -1.3, 0.4])
    np.testing.assert_array_equal(function(X, X[:1]), [0.7, 0.7, 0.7, 0.7])
    with pytest.raises(ValueError, match=r"input array of size 2 into size 3.*:\d+"):
        function(X, X[:2])
    with pytest.raises(ValueError):
        assigned(X, X[:2])


def popped(x: cl.f64[:], count: int) -> float:
    a = [v for v in x]
    for _ in range(count):
        a.pop()
    last = a.pop()
    return last


def test_pop_of_an_empty_list(compiled: Callable[[Any], Any]) -> None:
    function = compiled(popped)
    assert function(X, 1) == 0.4
    with pytest.raises(IndexError):
        function(X, 4)
    with pytest.raises(IndexError, match="pop from empty list"):
        function(X, 5)


def rows_of(x: cl.f64[:], first: int, second: int):
    rows = []
    rows.append(x[:first])
    rows.append(x[:second])
    return np.array(rows)


def test_rows_of_different_lengths(compiled: Callable[[Any], Any]) -> None:
    function = compiled(rows_of)
    np.testing.assert_array_equal(function(X, 2, 2), [X[:2], X[:2]])
    with pytest.raises(ValueError):
        function(X, 2, 3)


def replaced(x: cl.f64[:], values: cl.f64[:]):
    a = [v for v in x]
    a[1:3] = [v for v in values]
    return a


def test_a_slice_of_a_list_keeps_its_length(compiled: Callable[[Any], Any]) -> None:
    function = compiled(replaced)
    np.testing.assert_array_equal(function(X, X[:2]), replaced(X, X[:2]))
    with pytest.raises(ValueError):
        function(X, X[:1])


def places(x: cl.f64[:], at: cl.i64[:]):
    a = x.copy()
    a[at] = 0.0
    return a


def test_a_place_out_of_range(compiled: Callable[[Any], Any]) -> None:
    function = compiled(places)
    np.testing.assert_array_equal(function(X, np.array([-1, 0])), [0, -1.3, 0.4, 0])
    with pytest.raises(IndexError):
        function(X, np.array([0, 4]))


# ---- linear algebra --------------------------------------------------------------

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REGULAR = np.array([[0.0, 2.0], [3.0, 1.0]])


@cl.jit
def solution(a: cl.f64[:, :], b: cl.f64[:]):
    return np.linalg.solve(a, b)


@cl.jit
def inverse(a: cl.f64[:, :]):
    return np.linalg.inv(a)


@cl.jit
def factor(a: cl.f64[:, :]):
    return np.linalg.cholesky(a)


@cl.jit
def logarithm(a: cl.f64[:, :]):
    return np.linalg.slogdet(a)


@cl.jit
def determinant(a: cl.f64[:, :]) -> float:
    return np.linalg.det(a)


@cl.jit
def triangular(a: cl.f64[:, :], b: cl.f64[:]):
    return scipy.linalg.solve_triangular(a, b)


FAILURES: list[tuple[Any, tuple[Any, ...], str]] = [
    (solution, (SINGULAR, X[:2]), "Singular matrix"),
    (inverse, (SINGULAR,), "Singular matrix"),
    (triangular, (np.triu(REGULAR), X[:2]), "Singular matrix"),
    (factor, (-SINGULAR,), "not positive definite"),
    (solution, (REGULAR[:1], X[:1]), "must be square"),
    (determinant, (REGULAR[:1],), "must be square"),
]


@pytest.mark.parametrize(("function", "args", "message"), FAILURES)
def test_linear_algebra_fails_at_the_line(
    function: Any, args: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(np.linalg.LinAlgError, match=message) as caught:
        function(*args)
    assert "test_assignments.py" in str(caught.value)
    with pytest.raises(np.linalg.LinAlgError):
        cl.jit(function.py_func, optimize=0)(*args)


def test_sizes_of_the_right_side() -> None:
    with pytest.raises(ValueError):
        solution(REGULAR, X)


def test_special_matrices() -> None:
    np.testing.assert_allclose(solution(REGULAR, X[:2]), [-0.55, 0.35])
    np.testing.assert_allclose(inverse(REGULAR) @ REGULAR, np.eye(2), atol=1e-15)
    assert logarithm(SINGULAR) == (0.0, -math.inf)
    assert determinant(SINGULAR) == 0.0
    assert determinant(np.zeros((0, 0))) == 1.0
    assert logarithm(np.zeros((0, 0))) == (1.0, 0.0)
    assert math.isnan(determinant(np.full((2, 2), math.nan)))
    assert inverse(np.zeros((0, 0))).shape == (0, 0)
    large = np.random.default_rng(4).normal(size=(60, 60))
    np.testing.assert_allclose(inverse(large), np.linalg.inv(large), rtol=1e-9)
    np.testing.assert_allclose(
        logarithm(large), tuple(np.linalg.slogdet(large)), rtol=1e-12
    )


def test_gradients_in_closed_form() -> None:
    a = np.random.default_rng(5).normal(size=(6, 6))
    cofactors = np.linalg.det(a) * np.linalg.inv(a).T
    np.testing.assert_allclose(cl.grad(determinant)(a), cofactors, rtol=1e-9)
    singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(
        cl.grad(determinant)(singular), [[4, 4, -4], [-2, -2, 2], [0, 0, 0]]
    )
    twice = np.array([[1.0, 1.0, 1.0]] * 3)
    assert not np.any(cl.grad(determinant)(twice))

    @cl.jit
    def log_size(m: cl.f64[:, :]) -> float:
        return np.linalg.slogdet(m)[1]

    np.testing.assert_allclose(cl.grad(log_size)(a), np.linalg.inv(a).T, rtol=1e-9)


# ---- second derivatives ----------------------------------------------------------


@cl.jit
def density(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    x = np.linalg.solve(a, b)
    return x @ x + np.linalg.slogdet(a)[1]


@cl.jit
def by_factor(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    c = np.linalg.cholesky(a @ a.T)
    return np.sum(scipy.linalg.solve_triangular(c, b, lower=True) ** 2)


@cl.jit
def polynomial(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    return np.linalg.det(a[:2, :2] * b[0]) * b[1]


@cl.jit
def grown(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    kept = [1.0]
    c = a.copy()
    for i in range(len(b)):
        if b[i] > 0.0:
            kept.append(b[i] * b[i] * kept[-1])
        c[i, 1:] *= c[i, :-1] * b[i]
    return sum(kept) * np.sum(c * c)


@pytest.mark.sweep
@pytest.mark.parametrize("function", [density, by_factor, polynomial, grown])
def test_tangents_of_gradients(function: Any) -> None:
    random = np.random.default_rng(7)
    args = random.normal(size=(4, 4)) + 3.0 * np.eye(4), np.array([1.0, -0.5, 0.7, 2.0])
    directions = random.normal(size=(4, 4)), random.normal(size=4)
    gradient = cl.grad(function, argnums=(0, 1))
    _, tangents = cl.jvp(gradient, args, directions)
    step = 1e-6
    ends = [
        gradient(*(x + s * d for x, d in zip(args, directions, strict=True)))
        for s in (step, -step)
    ]
    for up, down, tangent in zip(*ends, tangents, strict=True):
        np.testing.assert_allclose(tangent, (up - down) / (2 * step), rtol=1e-5)


# ---- at random -------------------------------------------------------------------


def run(steps: cl.i64[:], x: cl.f64[:]) -> float:
    """Grow, shrink and change two lists and an array, as the steps say."""
    a = [x[0]]
    b = []
    c = np.zeros(len(x))
    for k in range(len(steps)):
        step, v = steps[k], x[k % len(x)]
        if step < 3:
            a.append(v * a[-1])
        elif step == 3:
            b.append(v)
            b.append(a[0] + v)
        elif step == 4 and len(a) > 1:
            last = a.pop()
            c[k % len(c)] += last * v
        elif step == 5:
            for j in range(len(b)):
                a.append(b[j] * c[j % len(c)])
                b[j] += 0.5 * v
        elif step == 6:
            c[k % len(c) :] = v * a[len(a) // 2]
        elif step == 7 and len(b) > 2:
            b.pop()
            last = b.pop()
            a[0] = last * a[-1]
        else:
            c[c > 0.5] *= 0.25
    total = sum(v * v for v in b) + np.sum(c * x)
    for v in a:
        total = 0.7 * total + v
    return total


def test_random_steps() -> None:
    random = np.random.default_rng(11)
    fast, slow = cl.jit(run), cl.jit(run, optimize=0)
    for size in [0, 1, 2, 5, 10, 20, 40, 80, 160] * 3:
        steps, x = random.integers(0, 9, size), random.normal(size=5)
        assert fast(steps, x) == pytest.approx(run(steps, x), rel=1e-12)
        np.testing.assert_allclose(
            cl.grad(fast, argnums=1)(steps, x),
            cl.grad(slow, argnums=1)(steps, x),
            rtol=1e-9,
        )
        tangent = random.normal(size=5)
        _, slope = cl.jvp(fast, (steps, x), (None, tangent))
        assert slope == pytest.approx(cl.grad(fast, argnums=1)(steps, x) @ tangent)


# ---- cost ------------------------------------------------------------------------


@cl.jit
def growing(x: cl.f64[:]) -> float:
    a = [0.0]
    for v in x:
        a.append(0.5 * a[-1] + v)
        if v > 0.0:
            a.append(a[-1] * v)
    return a[-1] + a[len(a) // 2]


@cl.jit
def in_slices(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(len(x)):
        if a[i] > 0.0:
            a[i : i + 2] *= 0.5
    return np.sum(a)


@cl.jit
def read_in_branches(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(1, len(x)):
        if a[i] > 0.0:
            a[i] = a[i] * a[i - 1]
    return np.sum(a)


@cl.jit
def rows_growing(x: cl.f64[:]) -> float:
    rows = []
    for v in x:
        if v > 0.0:
            rows.append(np.array([v, v * v]))
    return sum(r[0] * r[1] for r in rows)


def operations(function: Any, size: int) -> int:
    """How many operations value and gradient take, as compiled."""
    derivative = cl.value_and_grad(function)
    x = np.sin(np.arange(size) + 1.0)
    value, gradient = derivative(x)
    (version,) = derivative._versions.values()
    entry = version.compilation.stages["simplified"].entry
    loops = count_operations(lower_function(entry))
    result = Product((F64, Array(F64, 1), I64))
    run = NativeFunction(loops, "main", ["x"], [Array(F64, 1)], result)
    again = run(x)
    assert again[0] == value
    np.testing.assert_array_equal(again[1], gradient)
    return int(again[2])


@pytest.mark.parametrize(
    "function", [growing, in_slices, read_in_branches, rows_growing]
)
def test_the_work_is_proportional_to_the_length(function: Any) -> None:
    """Nothing is copied in a step, neither of the array nor of its cotangent."""
    short, long = operations(function, 400), operations(function, 4000)
    assert long < 10.5 * short
