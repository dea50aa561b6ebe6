"""Functions that fill their arguments: kernels, callers, aliases, derivatives."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from inplace_kernels import KERNELS

import chadllvm as cl
from chadllvm import CompileError, Function

kernels = pytest.mark.parametrize("name", KERNELS)


def arguments(name: str) -> tuple[Any, ...]:
    _, make = KERNELS[name]
    return make(np.random.default_rng(1))


def check_updates(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The arguments are updated as Python does it, and nothing is returned."""
    wanted = copy.deepcopy(args)
    plain: Callable[..., Any] = getattr(function, "py_func", function)
    assert plain(*wanted) is None
    assert function(*args) is None
    for found, expected in zip(args, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.sweep(share=3)
@kernels
def test_kernels_update_as_python_does(name: str) -> None:
    check_updates(KERNELS[name][0], arguments(name))


@pytest.mark.sweep(share=3)
@kernels
def test_kernels_have_derivatives_and_stay_pure_in_them(name: str) -> None:
    args = arguments(name)
    kernel, _ = KERNELS[name]
    out, _ = cl.vjp(kernel, *args)
    value = kernel.value(*args)
    for ours, theirs in zip(as_tuple(out), as_tuple(value), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
    if name != "nussinov":  # There are no real numbers in it.
        cl.check_grads(kernel, args)
    for given, before in zip(args, arguments(name), strict=True):
        np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("name", ["trmm", "gramschmidt", "quicksort", "mixed"])
def test_kernels_without_optimisation(name: str) -> None:
    plain = KERNELS[name][0].py_func
    check_updates(cl.jit(plain, optimize=0), arguments(name))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_small_and_empty_arrays(size: int) -> None:
    for name in ("jacobi_1d", "mvt", "gesummv", "quicksort"):
        kernel, _ = KERNELS[name]
        full = arguments(name)
        args = tuple(
            a[tuple([slice(size)] * a.ndim)].copy() if isinstance(a, np.ndarray) else a
            for a in full
        )
        if name == "quicksort":
            args = args[0], 0, size - 1
        check_updates(kernel, args)


def test_ends_in_loops() -> None:
    def rise(a: cl.f64[:], s: float) -> None:
        for i in range(len(a)):
            if a[i] > s:
                return
            a[i] = s
        while True:
            a[0] += 1.0
            if a[0] > 5.0:
                return None

    for last in (1.0, 9.0):
        check_updates(cl.jit(rise), (np.array([0.0, 1.0, last]), 2.0))


def test_recursion_of_several_functions() -> None:
    @cl.jit
    def even(a, n):
        if n == 0:
            return
        a[n % len(a)] += 1.0
        odd(a, n - 1)

    @cl.jit
    def odd(a, n):
        a[0] *= 1.5
        if n > 0:
            even(a, n - 1)

    a = np.ones(3)
    cl.check_grads(even, (a, 7))
    even(a, 7)
    assert a.tolist() == [7.3125, 3.0, 2.0]

    @cl.jit(updates="a")
    def fill(a, n):
        if n == 0:
            return 0
        a[n - 1] = 2.0 * n
        r = fill(a, n - 1)
        return r + n

    a = np.zeros(4)
    assert fill(a, 4) == 10 and a.tolist() == [2.0, 4.0, 6.0, 8.0]


# ---- calls from Python


@cl.jit
def add_left(a: cl.f64[:], b: cl.f64[:]) -> None:
    a[1:] += b[:-1]


@cl.jit(updates=("a", "n"))
def scale(a, n: cl.i64[:], by: float = 2.0):
    a *= by
    n[0] += 1
    return np.sum(a)


def test_parts_of_arrays_are_written_to() -> None:
    for part in (np.s_[::2], np.s_[::-1], np.s_[1:4]):
        whole, wanted = np.arange(8.0), np.arange(8.0)
        b = np.ones(len(whole[part]))
        add_left(whole[part], b)
        add_left.py_func(wanted[part], b)
        np.testing.assert_array_equal(whole, wanted)
    table = np.arange(12.0).reshape(3, 4)
    jitted = cl.jit(scale_row)
    wanted = table.copy()
    jitted(table.T)
    scale_row(wanted.T)
    np.testing.assert_array_equal(table, wanted)


def scale_row(a: cl.f64[:, :]):
    a[0] *= 2.0
    a[1:, 0] = 7.0


def test_a_result_besides() -> None:
    a, n = np.ones(3), np.zeros(1, dtype=int)
    assert scale(a, n) == 6.0 and scale(a, n, by=0.5) == 3.0
    assert n[0] == 2 and a.tolist() == [1.0, 1.0, 1.0]


def test_dtypes_are_kept() -> None:
    def change(a: cl.f32[:], n: cl.i64[:], m: cl.boolean[:]):
        a[:] = a * a
        n[m] = -1
        m[:] = ~m

    a, n, m = np.full(3, 2.0, np.float32), np.arange(3), np.arange(3) > 1
    cl.jit(change)(a, n, m)
    assert a.tolist() == [4.0] * 3 and n.tolist() == [0, 1, -1]
    assert m.tolist() == [True, True, False]


def read_only() -> np.ndarray:
    a = np.ones(3)
    a.flags.writeable = False
    return a


WINDOWS = np.lib.stride_tricks.as_strided(np.zeros(6), (4,), (4,))


@pytest.mark.parametrize(
    ("error", "a", "message"),
    [
        (TypeError, [1.0, 2.0, 3.0], "parameter a is updated, so that it must be"),
        (TypeError, np.ones(3, np.float32), "found ndarray of float32"),
        (TypeError, np.ones(3, int), "found ndarray of int64"),
        (TypeError, np.ones(3, ">f8"), "found ndarray of >f8"),
        (ValueError, np.ones((3, 3)), "must have 1 dimension"),
        (ValueError, read_only(), "parameter a is updated, and the array is read-only"),
        (ValueError, WINDOWS, "elements of the array share memory"),
    ],
)
def test_arguments_that_cannot_be_written_to(
    error: type[Exception], a: Any, message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        add_left(a, np.ones(3))


def test_arguments_that_share_memory() -> None:
    x = np.arange(6.0)
    for a, b in ((x, x), (x[:4], x[2:]), (x[::2], x), (x[::-1], x)):
        with pytest.raises(ValueError, match="shares memory with parameter b"):
            add_left(a, b)
    np.testing.assert_array_equal(x, np.arange(6.0))
    add_left(x[::2], x[1::2])
    assert x.tolist() == [0.0, 1.0, 3.0, 3.0, 7.0, 5.0]


def test_arrays_inside_of_arguments_share_memory() -> None:
    def put(a: cl.f64[:], pair: tuple[cl.f64[:], float], more: list[cl.f64[:]]):
        a[:] = pair[0] * pair[1] + more[0]

    x, jitted = np.ones(3), cl.jit(put)
    jitted(x, (np.ones(3), 2.0), [np.ones(3)])
    assert x.tolist() == [3.0] * 3
    with pytest.raises(ValueError, match="parameter pair"):
        jitted(x, (x, 2.0), [np.ones(3)])
    with pytest.raises(ValueError, match="parameter more"):
        jitted(x, (np.ones(3), 2.0), [np.ones(3), x])


def test_a_call_that_fails_leaves_arrays_as_they_were() -> None:
    def fill(a: cl.f64[:], n: int):
        for i in range(n):
            a[i] = 1.0

    a = np.zeros(3)
    with pytest.raises(IndexError):
        cl.jit(fill)(a, 4)
    assert a.tolist() == [0.0] * 3


def test_names_in_updates() -> None:
    with pytest.raises(ValueError, match="has no parameter 'c'"):
        cl.jit(updates="c")(lambda a: a)
    with pytest.raises(TypeError, match="compiled already"):
        cl.jit(add_left, updates="a")


def test_one_function_compiled_with_and_without_updates() -> None:
    def first(a: cl.f64[:]) -> float:
        a[0] = 5.0
        return a[0]

    a = np.zeros(2)
    assert cl.jit(first, updates="a")(a) == 5.0 and a[0] == 5.0
    with pytest.raises(CompileError, match="it is an argument"):
        cl.jit(first)(a)


def test_pickles_update() -> None:
    for function in (add_left, cl.jit(scale_row), scale):
        again: Function[..., Any] = pickle.loads(pickle.dumps(function))
        shape = (3, 3) if function.__name__ == "scale_row" else (3,)
        args = [np.ones(shape), np.ones(3, int if function is scale else float)]
        args = args[:1] if len(shape) > 1 else args
        wanted = copy.deepcopy(args)
        function(*wanted)
        again(*args)
        for one, other in zip(args, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


# ---- calls inside of functions


def test_callers_see_updates() -> None:
    @cl.jit
    def total(x: cl.f64[:, :], steps: int) -> float:
        y, ones = x.copy(), np.ones(x.shape[1])
        n = np.zeros(1, dtype=int)
        for t in range(steps):
            for i in range(1, len(y)):
                add_left(y[i], y[i - 1].copy())
                if t % 2 == 0:
                    add_left(y[i, 1:], ones[1:])
            s = scale(y, n, by=0.5)
            y[0] += s
        return np.sum(y) + n[0]

    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(total(x, 3), total.py_func(x, 3), rtol=1e-12)
    cl.check_grads(total, (x, 3))
    assert x[0, 0] == 0.0


def test_functions_as_arguments_update() -> None:
    @cl.jit(static_argnames="step")
    def often(step, a: cl.f64[:], n: int):
        for _ in range(n):
            step(a, np.ones(len(a)))

    a = np.zeros(3)
    often(add_left, a, 3)
    assert a.tolist() == [0.0, 3.0, 3.0]


class Base:
    def step(self, u: cl.f64[:], v: cl.f64[:]) -> None:
        for i in range(1, len(u)):
            v[i] += self.rate * u[i - 1]

    def relax(self, u):
        u *= self.rate


class Solver(Base):
    def __init__(self) -> None:
        self.rate, self.steps = 0.9, 3

    def step(self, u: cl.f64[:], v: cl.f64[:]) -> None:
        super().step(u, v)
        self.relax(u)
        self.bound(v[1:], 2.0)

    @staticmethod
    def bound(a: cl.f64[:], most: float) -> None:
        for i in range(len(a)):
            a[i] = min(a[i], most)

    @classmethod
    def rise(cls, a: cl.f64[:]) -> None:
        a += 1.0

    def __call__(self, u: cl.f64[:], v: cl.f64[:]) -> None:
        for _ in range(self.steps):
            self.step(u, v)
            self.rise(v)
            self.step(v, u)

    def thin(self, a: cl.f64[:], k: int) -> None:
        if k > 0:
            a[k % len(a)] *= self.rate
            self.thin(a, k - 1)

    @cl.jit(updates="a")
    def decay(self, a: cl.f64[:]) -> float:
        a *= self.rate
        return np.sum(a)

    def total(self, x: cl.f64[:]) -> float:
        y, z = x.copy(), x * 2.0
        self(y, z)
        s = self.decay(z)
        self.thin(y, 7)
        return np.sum(np.sin(y)) + s * np.sum(z * z)


def of_an_object(solver, x: cl.f64[:]) -> float:
    y, z = x.copy(), np.ones(len(x))
    solver.step(y, z)
    solver.thin(y[1:], 4)
    return np.sum(y * z)


class Factor(NamedTuple):
    k: float

    def scale(self, a: cl.f64[:]):
        a *= self.k

    def twice(self, a: cl.f64[:]):
        self.scale(a)
        self.scale(a[:2])


@pytest.mark.sweep
@pytest.mark.parametrize("optimize", [0, 2])
def test_methods_update(optimize: int) -> None:
    x, solver = np.array([0.5, 1.1, 1.7, -0.7]), Solver()
    total = cl.jit(solver.total, optimize=optimize)
    stepped = cl.jit(of_an_object, optimize=optimize)
    for solver.rate in (0.9, 0.5):
        check_updates(cl.jit(solver, optimize=optimize), (x.copy(), x[::-1].copy()))
        assert total(x) == pytest.approx(solver.total(x), rel=1e-13)
        assert stepped(solver, x) == pytest.approx(of_an_object(solver, x), rel=1e-13)
        cl.check_grads(total, (x,))
        cl.check_grads(stepped, (solver, x))
        cl.check_grads(cl.jit(solver, optimize=optimize), (x, 2.0 * x))
    check_updates(cl.jit(Factor(3.0).twice, optimize=optimize), (x.copy(),))


def test_lists_of_arrays_are_updated() -> None:
    @cl.jit
    def total(xs: list[cl.f64[:]]) -> float:
        ys = [x * 1.0 for x in xs]
        for i in range(len(ys)):
            add_left(ys[i], np.ones(len(ys[i])))
        return np.sum(ys[1])

    xs = [np.ones(2), np.ones(3)]
    assert total(xs) == total.py_func(xs) == 5.0


def test_derivatives_inside_of_functions() -> None:
    @cl.jit(updates="a")
    def last(a: cl.f64[:]) -> float:
        a[1:] += a[:-1] ** 2
        return a[-1]

    @cl.jit
    def f(x: cl.f64[:]) -> float:
        out, pullback = cl.vjp(add_left, x, x)
        (moved, end), _ = cl.jvp(last, (x,), (x,))
        return np.sum(pullback(out)[1]) + np.sum(cl.grad(last)(x)) + moved[1] * end

    x = np.array([0.5, 2.0, 3.0])
    cl.check_grads(f, (x,))
    assert cl.value_and_grad(last)(x)[0] == 7.0
    assert cl.hessian(last)(x)[1, 1] == 2.0
    np.testing.assert_array_equal(x, [0.5, 2.0, 3.0])
    out, pullback = cl.vjp(last, x)
    assert out[1] == 7.0
    np.testing.assert_array_equal(pullback((np.zeros(3), 1.0))[0], [0.0, 4.0, 1.0])


# ---- refusals


@cl.jit
def put_first(a: cl.f64[:, :]) -> None:
    a[0] = 1.0


def same_twice(x: cl.f64[:]) -> float:
    y = x.copy()
    add_left(y, y)
    return y[0]


def rows_of_one(x: cl.f64[:, :]) -> float:
    y = x.copy()
    add_left(y[1], y[0])
    return y[0, 0]


def hidden_alias(x: cl.f64[:]) -> float:
    y, z = x.copy(), x.copy()
    w = y if x[0] > 0.0 else z
    add_left(y[1:], w)
    return y[0]


def of_argument(x: cl.f64[:], y: cl.f64[:]) -> float:
    add_left(x, y)
    return x[0]


def in_expression(x: cl.f64[:], n: cl.i64[:]) -> float:
    y, m = x.copy(), n.copy()
    return y[0] * scale(y, m)


def other_view(x: cl.f64[:, :]) -> float:
    y = x.copy()
    put_first(y.T)
    return y[0, 0]


TABLE = np.ones((2, 2))


def of_a_global(x: float) -> float:
    put_first(TABLE)
    return x


def swapped(a: cl.f64[:], b: cl.f64[:]):
    a[0] = 1.0
    a, b = b, a
    b[1] = 2.0


def of_a_number(x: float):
    x += 1.0


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (same_twice, 2, "another name of this array is read afterwards"),
        (rows_of_one, 2, "another name of this array is read afterwards"),
        (hidden_alias, 3, "another name of this array is read afterwards"),
        (of_argument, 1, "`x` cannot be updated: it is an argument"),
        (in_expression, 2, "`scale` updates `a` and `n`"),
        (other_view, 2, "the function that is called cannot update this"),
        (of_a_global, 1, "`TABLE` cannot be updated: it is an array from outside"),
        (swapped, 0, "`a` cannot be updated for the caller"),
        (of_a_number, 0, "returns nothing"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_would_mean_something_else_is_refused(
    function: Callable[..., Any], line: int, message: str
) -> None:
    table = function.__name__ in ("rows_of_one", "other_view")
    args = [np.ones((2, 2)) if table else np.ones(2)]
    args += [np.ones(2)] * (function.__code__.co_argcount - 1)
    if function is in_expression:
        args[1] = np.zeros(1, int)
    if function in (of_a_number, of_a_global):
        args = [1.0]
    with pytest.raises(CompileError, match=re.escape(message)) as caught:
        cl.jit(function)(*args)
    (found, *_) = caught.value.diagnostics
    assert found.span.line == function.__code__.co_firstlineno + line


# ---- exports


PROGRAM = """
#include <stdio.h>
#include "kernels.h"

int main(void) {
  double c[] = {1.0, 1.0, 1.0, 1.0}, a[] = {1.0, 2.0, 3.0, 4.0}, value = 0.0;
  int64_t n[] = {3};
  kernels_error error;
  if (kernels_gemm(NULL, 2.0, c, 2, 2, a, 2, 2, a, 2, 2, &error) != KERNELS_OK) {
    return 1;
  }
  if (kernels_scale(NULL, a, 4, n, 1, 0.5, &value, &error) != KERNELS_OK) {
    return 2;
  }
  if (kernels_scale(NULL, a, 4, n, 0, 0.5, &value, &error) != KERNELS_PROGRAM) {
    return 3;
  }
  printf("%g %g %g %g %g %d %g", c[0], c[1], c[2], c[3], value, (int)n[0], a[3]);
  return 0;
}
"""


def gemm(alpha: float, c: cl.f64[:, :], a: cl.f64[:, :], b: cl.f64[:, :]) -> None:
    c[:] += alpha * a @ b


def test_exports_write_in_place(tmp_path: Path) -> None:
    typed = np.ones(1), np.ones(1, int), 2.0
    folder = tmp_path / "libkernels"
    cl.export({"gemm": gemm, "scale": (scale, typed)}, folder)
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(PROGRAM)
    flags = ["-std=c99", "-Wall", "-Werror", f"-I{folder}", f"-L{folder}"]
    link = ["-lkernels", "-lm", f"-Wl,-rpath,{folder}", "-o", str(program)]
    subprocess.run(["cc", *flags, str(source), *link], check=True)
    found = subprocess.run([program], check=True, capture_output=True, text=True)
    assert found.stdout == "15 21 31 45 5 4 2"
    header = (folder / "kernels.h").read_text()
    assert "double *c" in header and "const double *a" in header
    library = cl.load(folder)
    c, a, n = np.ones((2, 2)), np.arange(4.0), np.zeros(1, int)
    assert library.gemm(2.0, c, np.eye(2), np.eye(2)) is None
    assert library.scale(a, n, by=0.5) == 3.0
    assert c.tolist() == [[3.0, 1.0], [1.0, 3.0]] and n[0] == 1 and a[3] == 1.5
    with pytest.raises(ValueError, match="shares memory"):
        library.gemm(2.0, c, c, np.eye(2))
