"""Partials, bound methods and callable objects as arguments of every transformation."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

X = np.array([1.0, 2.0])


def cubed(x: float, k: float) -> float:
    return k * x**3


jitted = cl.jit(cubed)
reference = cl.jit(cubed, optimize=0)


def powers(x: float, how, scale: float = 1.0) -> float:
    if how == "squared":
        return x * x * scale
    return x * scale


def applied(f, x: float) -> float:
    return f(x) * x


def by_name(x: float, *, weights: cl.f64[:], scale: float = 2.0) -> float:
    return x * x * np.sum(weights) * scale


@dataclass(frozen=True)
class Spring:
    k: float
    rest: np.ndarray

    def energy(self, x: cl.f64[:], scale: float = 1.0) -> float:
        return 0.5 * self.k * np.sum((x - self.rest) ** 2) * scale

    @cl.jit
    def jitted(self, x: cl.f64[:], scale: float = 1.0) -> float:
        return self.energy(x, scale)

    def __call__(self, x: float) -> float:
        return self.k * x * x

    @classmethod
    def of_class(cls, x: float) -> float:
        return x * x

    @staticmethod
    def static(x: float) -> float:
        return x * x


class Cubic(NamedTuple):
    k: float

    def __call__(self, x: float) -> float:
        return self.k * x**3


SPRING = Spring(3.0, np.ones(2))

# All of them are 2 x³ of one argument.
CUBIC: list[Callable[..., Any]] = [
    partial(cubed, k=2.0),
    partial(jitted, k=2.0),
    partial(reference, k=2),
    partial(partial(cubed, k=3.0), k=2.0),
    partial(cubed, k=np.float64(2)),
    Cubic(2.0),
    Cubic(2.0).__call__,
    partial(Cubic(2.0)),
    partial(Cubic.__call__, Cubic(2.0)),
    cl.jit(partial(jitted, k=2.0)),
    partial(cl.jit(partial(cubed, k=1.0)), k=2.0),
]


@pytest.mark.parametrize("f", CUBIC)
def test_every_transformation(f: Callable[..., Any]) -> None:
    assert cl.jit(f)(2.0) == 16.0
    assert cl.grad(f)(2.0) == 24.0
    assert cl.value_and_grad(f)(2.0) == (16.0, 24.0)
    assert cl.jacfwd(f)(2.0) == cl.jacrev(f)(2.0) == 24.0
    assert cl.hessian(f)(2.0) == cl.grad(cl.grad(f))(2.0) == 24.0
    assert cl.hvp(f)(2.0, 0.5) == 12.0
    assert cl.jvp(f, (2.0,), (0.5,)) == (16.0, 12.0)
    out, pullback = cl.vjp(f, 2.0)
    assert (out, pullback(0.5)) == (16.0, (12.0,))
    assert pickle.loads(pickle.dumps(pullback))(0.5) == (12.0,)
    out, along = cl.linearize(f, 2.0)
    assert (out, along(0.5)) == (16.0, 12.0)
    assert pickle.loads(pickle.dumps(along))(0.5) == 12.0
    cl.check_grads(f, (2.0,), order=2)
    for made in (cl.jit(f), cl.grad(f), cl.hvp(f)):
        copy = pickle.loads(pickle.dumps(made))
        args = (2.0, 1.0) if made.name.startswith("hvp") else (2.0,)
        assert copy(*args) == made(*args)
    assert "def " in cl.grad(f).show("core", 2.0)
    assert str(cl.jit(f).report(2.0)).startswith("report of")


@pytest.mark.parametrize("method", [SPRING.energy, SPRING.jitted])
def test_methods_of_records(method: Callable[..., Any]) -> None:
    assert cl.jit(method)(X, scale=2.0) == 3.0
    assert np.array_equal(cl.grad(method)(X), [0.0, 3.0])
    assert cl.grad(method, argnums="scale")(X) == cl.grad(method, 1)(X, 7.0) == 1.5
    assert np.array_equal(cl.hessian(method)(X), 3.0 * np.eye(2))
    assert np.array_equal(cl.hvp(method)(X, X), 3.0 * X)
    assert cl.jvp(method, (X,), (X,)) == (1.5, 6.0)
    (by_x,) = cl.vjp(method, X)[1](1.0)
    assert np.array_equal(by_x, [0.0, 3.0])
    assert cl.linearize(method, X)[1](X) == 6.0
    cl.check_grads(method, (X,), order=2)
    signature = inspect.signature(cl.grad(method))
    assert list(signature.parameters) == ["x", "scale"]


def test_other_kinds_of_methods() -> None:
    for f in (SPRING.of_class, Spring.of_class, SPRING.static, Spring.static):
        assert cl.grad(f)(3.0) == 6.0
        assert cl.jit(f)(3.0) == 9.0
    assert cl.grad(SPRING)(2.0) == 12.0

    class Holder:
        method = functools.partialmethod(lambda self, x, k: k * x * x, k=2.0)

    assert (
        cl.grad(partial(Holder().method.func.__func__, SPRING), 0)(3.0, k=2.0) == 12.0
    )


def test_parameters_are_counted_as_the_signature_says() -> None:
    by_keyword = partial(cubed, k=2.0)
    assert list(inspect.signature(cl.grad(by_keyword)).parameters) == ["x", "k"]
    assert cl.grad(by_keyword)(2.0, k=3.0) == 36.0
    assert cl.grad(by_keyword, argnums="k")(2.0) == cl.grad(by_keyword, 1)(2.0) == 8.0
    assert cl.grad(by_keyword, (0, 1))(2.0) == (24.0, 8.0)
    in_front = partial(cubed, 2.0)
    assert list(inspect.signature(cl.grad(in_front)).parameters) == ["k"]
    assert cl.grad(in_front)(5.0) == cl.grad(in_front, -1)(5.0) == 8.0
    for wrong in (1, -2, "x", "y"):
        with pytest.raises(ValueError, match="cubed"):
            cl.grad(in_front, wrong)
    first = partial(cubed, x=2.0)
    assert cl.grad(first, "k")(k=5.0) == 8.0
    with pytest.raises(TypeError, match="'x'"):
        cl.jit(first)(3.0)
    with pytest.raises(TypeError, match="'x'"):
        cl.vjp(first, 3.0)
    with pytest.raises(TypeError, match="misses argument 'k'"):
        cl.jit(in_front)()


def test_values_that_are_bound_are_no_constants() -> None:
    """Neither does another value compile again, nor is an array a copy."""

    def f(x: float, k: float, a: cl.f64[:]) -> float:
        return k * x * np.sum(a)

    a = np.ones(3)
    found = [cl.grad(partial(f, k=float(k), a=a))(2.0) for k in range(4)]
    assert found == [0.0, 3.0, 6.0, 9.0]
    gradient = cl.grad(partial(f, k=1.0, a=a))
    assert len(gradient.func._versions) == 1
    assert gradient.func is cl.grad(partial(f, k=5.0, a=a)).func
    a[0] = 5.0
    assert gradient(2.0) == 7.0
    assert cl.hessian(partial(f, k=1.0, a=a)).func is cl.hessian(f)


def test_what_is_no_data_is_static() -> None:
    for f in (powers, cl.jit(powers), cl.jit(powers, static_argnames="how")):
        for how, slope in (("squared", 12.0), ("linear", 2.0)):
            bound = partial(f, how=how, scale=2.0)
            assert cl.grad(bound)(3.0) == slope
            assert cl.jit(bound)(3.0) == powers(3.0, how, 2.0)
            assert cl.jvp(bound, (3.0,), (1.0,))[1] == slope
            assert cl.vjp(bound, 3.0)[1](1.0) == (slope,)
            assert cl.jacfwd(bound)(3.0) == slope
            assert cl.jit(partial(cl.grad(f), how=how))(3.0) * 2.0 == slope
    assert cl.grad(partial(applied, math.sin))(0.0) == 0.0
    assert cl.grad(partial(applied, lambda x: x * x))(2.0) == 12.0
    assert cl.grad(partial(applied, cl.jit(lambda x: x * x)))(2.0) == 12.0


def test_what_is_given_by_name_only() -> None:
    f = partial(by_name, weights=np.ones(3))
    assert cl.grad(f)(2.0) == 24.0
    assert cl.grad(f)(2.0, scale=1.0) == 12.0
    assert np.array_equal(cl.grad(f, "weights")(2.0), [8.0, 8.0, 8.0])
    assert cl.vjp(f, 2.0)[1](1.0) == (24.0,)
    assert cl.jvp(f, (2.0,), (1.0,)) == (24.0, 24.0)
    assert cl.linearize(f, 2.0)[1](1.0) == 24.0
    assert cl.hvp(f)(2.0, 1.0) == cl.hessian(f)(2.0) == 12.0
    cl.check_grads(f, (2.0,), order=2)
    plain = cl.jit(f, optimize=0)
    assert cl.vjp(plain, 2.0)[1](1.0) == (24.0,)


def test_what_was_pulled_back_is_of_the_values_then() -> None:
    a = np.ones(3)
    f = partial(by_name, weights=a)
    _, pullback = cl.vjp(f, 2.0)
    _, along = cl.linearize(f, 2.0)
    a[:] = 7.0
    assert pullback(1.0) == (24.0,)
    assert pickle.loads(pickle.dumps(pullback))(1.0) == (24.0,)
    assert along(1.0) == 24.0


def test_jit_takes_options() -> None:
    f = cl.jit(partial(cubed, k=2.0), optimize=0)
    assert f.options.optimize == 0
    assert cl.grad(f).options.optimize == 0
    assert f.py_func(2.0) == f(2.0) == 16.0
    with pytest.raises(TypeError, match="compiled already"):
        cl.jit(partial(jitted, k=2.0), optimize=0)


def test_inside_of_loops_they_are_arguments_of_scipy() -> None:
    from scipy.optimize import minimize

    found = minimize(cl.value_and_grad(SPRING.energy), X, jac=True)
    assert np.allclose(found.x, 1.0)


def test_in_a_library_they_are_constants(tmp_path: Path) -> None:
    path = tmp_path / "libbound"
    cl.export(
        {
            "energy": SPRING.energy,
            "gradient": cl.value_and_grad(SPRING.energy),
            "slope": cl.grad(partial(cubed, k=2)),
            "by_k": cl.grad(partial(cubed, k=2.0), "k"),
            "second": cl.hessian(partial(SPRING.energy, scale=2.0)),
            "squared": partial(powers, how="squared"),
        },
        path,
    )
    library = cl.load(path)
    assert library.energy(X, 2.0) == 3.0
    value, gradient = library.gradient(X, 1.0)
    assert value == 1.5 and np.array_equal(gradient, [0.0, 3.0])
    assert library.slope(2.0) == 24.0
    assert library.by_k(2.0, 3.0) == 8.0
    assert np.array_equal(library.second(X), 6.0 * np.eye(2))
    assert library.squared(3.0, 2.0) == 18.0


@pytest.mark.parametrize("value", [3, functools.lru_cache(cubed), np.sin, len])
def test_what_is_no_function(value: Any) -> None:
    with pytest.raises(cl.CompileError, match="CL0101"):
        cl.grad(value)
