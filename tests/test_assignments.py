"""Assignments and lists at run time: errors, results, second derivatives, cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import chadllvm as cl
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.value import to_value

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
    np.testing.assert_allclose(solution(REGULAR, X[:2]), [-2.0 / 3, 0.35])
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


# ---- cost ------------------------------------------------------------------------


@cl.jit
def growing(x: cl.f64[:]) -> float:
    a = [0.0]
    for v in x:
        a.append(0.5 * a[-1] + v)
        if v > 0.0:
            a.append(a[-1] * v)
    while_growing = a[len(a) // 2]
    return a[-1] + while_growing


@cl.jit
def in_slices(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(len(x)):
        if a[i] > 0.0:
            a[i : i + 2] *= 0.5
    return np.sum(a)


@pytest.mark.parametrize("function", [growing, in_slices])
def test_steps_take_as_long_in_a_longer_array(function: Any) -> None:
    """The work of value and gradient is proportional to the number of elements."""
    costs = []
    derivative = cl.value_and_grad(function)
    for size in (40, 400):
        x = np.sin(np.arange(size))
        derivative(x)
        (version,) = derivative._versions.values()
        interpreter = Interpreter(version.compilation.stages["simplified"])
        (param,) = interpreter.program.entry.params
        interpreter.run(to_value(x, param.type))
        costs.append(interpreter.cost / size)
    assert costs[1] < 1.1 * costs[0]
