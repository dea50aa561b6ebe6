"""Updates in place: what they cost, counted in executed operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.ir.types import F64, I64, Array, Product
from chadllvm.lower.count import count_operations
from chadllvm.lower.lower import lower_function


def renewed_or_left(x: cl.f64[:]) -> float:
    a = x.copy()
    total = 0.0
    for i in range(len(x)):
        if i % 1000 == 0:
            a = a * 0.999
        total += a[i]
    return total


def renewed_or_updated(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(len(x)):
        if i % 1000 == 999:
            a = np.sqrt(a)
        else:
            a[i] = a[i - 1] * 0.9
    return np.sum(a)


def given_or_new(x: cl.f64[:]) -> float:
    total = 0.0
    fixed = np.ones(len(x))
    for i in range(len(x)):
        b = x
        if i % 1000 == 7:
            b = x * 2.0
        elif i % 2 == 0:
            b = fixed
        total += b[i] * b[0]
    return total


@pytest.mark.parametrize("optimize", [0, 2])
def test_a_step_of_zero(optimize: int) -> None:
    def every(x: cl.f64[:], k: int):
        return x[::k]

    function = cl.jit(every, optimize=optimize)
    np.testing.assert_array_equal(function(np.arange(5.0), -2), [4.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        function(np.arange(5.0), 0)


@cl.jit
def chosen(x: cl.f64[:], y: cl.f64[:], steps: int) -> float:
    total = 0.0
    for i in range(steps):
        b = x
        if i % 2 == 0:
            b = y * float(i)
        total += b[0] * y[1]
    return total


def test_the_old_array_need_not_be_differentiated() -> None:
    x, y = np.array([3.0, 4.0]), np.array([0.5, 2.0])
    by_x, by_y = cl.grad(chosen, argnums=(0, 1))(x, y, 4)
    np.testing.assert_allclose(by_x, [4.0, 0.0])
    np.testing.assert_allclose(by_y, [4.0, 7.0])
    np.testing.assert_array_equal(cl.grad(chosen, argnums=0)(x, y, 4), by_x)
    np.testing.assert_array_equal(cl.grad(chosen, argnums=1)(x, y, 4), by_y)


BOUNDS = (-9, -6, -5, -1, 0, 2, 5, 7, (1 << 63) - 1, -1 << 63)
STEPS = (-7, -2, -1, 1, 2, 6, (1 << 63) - 1, -1 << 63)


@cl.jit
def sliced(x: cl.f64[:], i: int, j: int, k: int):
    return np.concatenate([x[i:j:k], x[i::k], x[:j:k]])


@cl.jit
def assigned(x: cl.f64[:], i: int, j: int, k: int):
    a = x.copy()
    a[i:j:k] = -a[i:j:k]
    return a


@pytest.mark.parametrize("function", [sliced, assigned])
def test_slices_are_clipped_as_in_python(function: Any) -> None:
    for x in (np.arange(1.0, 6.0), np.zeros(0)):
        for bounds in itertools.product(BOUNDS, BOUNDS, STEPS):
            expected = function.py_func(x, *bounds)
            np.testing.assert_array_equal(function(x, *bounds), expected, str(bounds))


def operations(function: Any, size: int) -> tuple[int, int]:
    """Those of the value, and of the value and the gradient."""
    x = np.sin(np.arange(size) + 1.0) + 2.0
    counts = []
    for compiled, result in (
        (cl.jit(function), Product((F64, I64))),
        (cl.value_and_grad(function), Product((F64, Array(F64, 1), I64))),
    ):
        value = compiled(x)
        (version,) = compiled._versions.values()
        entry = version.compilation.stages["simplified"].entry
        loops = count_operations(lower_function(entry))
        *again, count = NativeFunction(loops, "main", ["x"], [Array(F64, 1)], result)(x)
        plain = value[0] if len(again) > 1 else value
        assert again[0] == pytest.approx(plain, rel=1e-12)
        counts.append(int(count))
    return counts[0], counts[1]


@pytest.mark.parametrize(
    "function", [renewed_or_left, renewed_or_updated, given_or_new]
)
def test_a_branch_that_makes_a_new_array_alone_pays_for_it(function: Any) -> None:
    """Of 1000 steps one makes the array anew; the others take a few operations."""
    for short, long in zip(*(operations(function, n) for n in (500, 900)), strict=True):
        assert long < 2.0 * short


def rows_moved(x: cl.f64[:]) -> float:
    """A row of the array is put in the place of another as it stands."""
    a = np.outer(x, x)
    for i in range(len(x) - 1):
        t = a[i].copy()
        a[i] = a[i + 1]
        a[i + 1] = t
    return np.sum(a * a)


def rows_chosen(x: cl.f64[:]) -> float:
    """Branches choose rows, of which one element is read."""
    a = np.outer(x, x)
    total, n = 0.0, len(x)
    for i in range(30 * n):
        row = a[i % n]
        if i % 3 == 0:
            row = a[0]
        elif row[0] < 2.0:
            row = a[-1]
        total += row[i % n]
    return total


@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("function", [rows_moved, rows_chosen])
def test_a_row_costs_a_row_in_the_gradient_too(function: Any, size: int) -> None:
    value, gradient = operations(function, size)
    assert gradient < 5 * value


@cl.jit
def shared(x: cl.f64[:]):
    y = x * 2.0
    z = y
    y[0] = 1.0
    return z * y


@cl.jit
def handed_back(x: cl.f64[:]):
    return x


def test_updates_beside_derivatives() -> None:
    """What is run is looked at as it is written, whatever derivatives are made of."""
    with pytest.raises(cl.CompileError, match="`y` is updated here") as caught:
        cl.jit(lambda x: cl.vjp(shared, x)[1](x)[0])(np.ones(3))
    assert len(caught.value.diagnostics) == 1

    def renamed(x: cl.f64[:]):
        y = x.copy()
        z = handed_back(y)
        slope = cl.jvp(handed_back, (y,), (y,))[1]
        y[0] = 2.0
        return z + slope

    with pytest.raises(cl.CompileError, match="`y` is updated here"):
        cl.jit(renamed)(np.ones(3))

    def solved(x: cl.f64[:]):
        def f(y):
            a = np.array([[y[0], 1.0], [2.0, y[1]]])
            return np.sum(np.linalg.solve(a, y))

        return cl.grad(f)(x)

    found = cl.jit(solved)(np.array([2.0, 3.0]))
    np.testing.assert_allclose(found, [0.0625, 0.125], rtol=1e-12)


def test_a_product_in_place_keeps_its_shape() -> None:
    @cl.jit
    def f(a: cl.f64[:, :], b: cl.f64[:, :]):
        c = a.copy()
        c @= b
        return c

    a, b = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(f(a, b), a @ b)
    with pytest.raises(ValueError, match="sizes 1 and 3 do not match"):
        f(a, b[:, :1])
