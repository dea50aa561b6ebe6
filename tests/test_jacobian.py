"""Jacobians and Hessians against each other, differences and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import chadllvm as cl

X = np.array([0.5, -1.0, 2.0])
M = np.array([[1.0, 2.0, -0.5], [0.3, 0.0, 1.5]])


@cl.jit
def waves(x: cl.f64[:], t: float, n: int):
    return np.sin(x * t) * n + x[0]


@cl.jit
def outer(m: cl.f64[:, :], x: cl.f64[:]):
    return m * (m @ x)[:, None]


@cl.jit
def energy(x: cl.f64[:], t: float) -> float:
    return np.sum(np.exp(x * t)) + np.prod(x)


def test_jacobian_of_vectors() -> None:
    expected = np.diag(np.cos(X * 0.7) * 0.7 * 3)
    expected[:, 0] += 1.0
    for jacobian in (cl.jacfwd(waves), cl.jacrev(waves)):
        np.testing.assert_allclose(jacobian(X, 0.7, 3), expected, rtol=1e-13)


def test_jacobian_by_a_float_and_of_one() -> None:
    for make in (cl.jacfwd, cl.jacrev):
        by_t = make(waves, argnums="t")(X, 0.7, 3)
        np.testing.assert_allclose(by_t, 3 * X * np.cos(X * 0.7), rtol=1e-13)
        slope = make(energy)(X, 0.7)
        np.testing.assert_allclose(slope, cl.grad(energy)(X, 0.7), rtol=1e-13)
        assert math.isclose(make(lambda x: math.sin(x))(0.3), math.cos(0.3))


def test_jacobian_of_matrices_by_matrices() -> None:
    forward, reverse = cl.jacfwd(outer)(M, X), cl.jacrev(outer)(M, X)
    assert forward.shape == reverse.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(forward, reverse, rtol=1e-13, atol=1e-15)
    direction = np.random.default_rng(0).normal(size=M.shape)
    moved = (outer(M + 1e-6 * direction, X) - outer(M - 1e-6 * direction, X)) / 2e-6
    np.testing.assert_allclose(np.tensordot(forward, direction, 2), moved, rtol=1e-8)


@pytest.mark.parametrize(("n", "slope"), [(0, 128.0), (1, 2.0)])
def test_second_derivatives_of_an_element_read_at_two_places(
    n: int, slope: float
) -> None:
    """In the derivative's derivative, a branch in a loop binds nothing."""

    @cl.jit
    def doubled(x: cl.f64[:], steps: cl.f64[:], n: int) -> float:
        a = x * 1.0
        for _ in steps:
            a[0] += a[n]
        return a[n] * a[n]

    steps, v = np.ones(3), np.array([1.0, -2.0, 0.5])
    expected = np.zeros((3, 3))
    expected[n, n] = slope
    np.testing.assert_allclose(cl.hessian(doubled)(X, steps, n), expected)
    np.testing.assert_allclose(cl.hvp(doubled)(X, steps, n, v), expected @ v)


def test_hessian_and_its_products() -> None:
    full = cl.hessian(energy)(X, 0.7)
    others = np.array([[0.0, 2.0, -1.0], [2.0, 0.0, 0.5], [-1.0, 0.5, 0.0]])
    expected = np.diag(0.49 * np.exp(0.7 * X)) + others
    np.testing.assert_allclose(full, expected, rtol=1e-13)
    reverse = cl.jacrev(cl.grad(energy))(X, 0.7)
    np.testing.assert_allclose(reverse, expected, rtol=1e-13)
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(cl.hvp(energy)(X, 0.7, v), expected @ v, rtol=1e-13)
    by_t = np.sum(X**2 * np.exp(0.7 * X))
    assert math.isclose(cl.hvp(energy, "t")(X, 0.7, 2.0), 2.0 * by_t)
    assert math.isclose(cl.hessian(energy, 1)(X, 0.7), by_t)


def test_of_several_by_several() -> None:
    @cl.jit
    def pair(x: cl.f64[:], n: int, m: cl.f64[:, :] = M):
        return np.sum(x) * x[0], n, m @ x

    for make in (cl.jacfwd, cl.jacrev):
        first, nothing, last = make(pair, argnums=("x", 2))(X, 3)
        assert nothing is None
        by_x = np.sum(X) * np.eye(3)[0] + X[0]
        np.testing.assert_allclose(first[0], by_x, rtol=1e-14)
        np.testing.assert_allclose(last[0], M, rtol=1e-14)
        assert first[1].shape == (2, 3) and not first[1].any()
        np.testing.assert_allclose(last[1], np.eye(2)[:, :, None] * X[None, None, :])
        jacobian, aux = make(lambda x: (x * x, x[0]), has_aux=True)(X)
        np.testing.assert_allclose(jacobian, np.diag(2 * X))
        assert aux == X[0]


def test_of_what_has_no_elements() -> None:
    rows = cl.jit(lambda x, n: np.array([x * k for k in range(n)]).reshape(n, x.size))
    for make in (cl.jacfwd, cl.jacrev):
        empty = np.zeros(0)
        assert make(lambda x: np.sum(x))(empty).shape == (0,)
        assert make(lambda x: x * 2.0)(empty).shape == (0, 0)
        assert make(lambda x, y: y * np.sum(x))(empty, X).shape == (3, 0)
        assert make(rows)(X, 2).shape == (2, 3, 3)


def test_second_derivatives_by_several() -> None:
    blocks = cl.hessian(energy, argnums=(0, 1))(X, 0.7)
    full = cl.hessian(energy)(X, 0.7)
    np.testing.assert_allclose(blocks[0][0], full, rtol=1e-13)
    np.testing.assert_allclose(blocks[0][1], blocks[1][0], rtol=1e-13)
    assert math.isclose(blocks[1][1], cl.hessian(energy, 1)(X, 0.7))
    v = np.array([1.0, 2.0, 3.0])
    by_x, by_t = cl.hvp(energy, (0, 1))(X, 0.7, (v, 0.5))
    np.testing.assert_allclose(by_x, full @ v + 0.5 * blocks[0][1], rtol=1e-13)
    assert math.isclose(by_t, blocks[1][0] @ v + 0.5 * blocks[1][1])


def test_of_one_another() -> None:
    full = cl.hessian(energy)(X, 0.7)
    for outer in (cl.jacfwd, cl.jacrev):
        for inner in (cl.jacfwd, cl.jacrev, cl.grad):
            found = outer(inner(energy))(X, 0.7)
            np.testing.assert_allclose(found, full, rtol=1e-13)
    third = cl.jacfwd(cl.hessian(energy))(X, 0.7)
    trace = cl.grad(lambda x: np.trace(cl.hessian(energy)(x, 0.7)))(X)
    np.testing.assert_allclose(np.einsum("iik->k", third), trace, rtol=1e-13)


def test_the_linear_map() -> None:
    out, moved = cl.linearize(waves, X, 0.7, 3)
    np.testing.assert_allclose(out, waves(X, 0.7, 3), rtol=1e-15)
    jacobian = cl.jacrev(waves)(X, 0.7, 3)
    for v in np.eye(3):
        np.testing.assert_allclose(moved(v, None, None), jacobian @ v, rtol=1e-13)


def test_pullbacks_and_maps_are_of_the_primals_as_they_were() -> None:
    x, pair = X.copy(), (X.copy(), 2.0)
    _, back = cl.vjp(waves, x, 0.7, 3)
    _, moved = cl.linearize(waves, x, 0.7, 3)
    _, back_pair = cl.vjp(lambda p: p[0] * p[0] * p[1], pair)
    x[:], pair[0][:] = 0.0, 0.0
    jacobian = cl.jacrev(waves)(X, 0.7, 3)
    np.testing.assert_allclose(back(X)[0], X @ jacobian, rtol=1e-13)
    np.testing.assert_allclose(moved(X, None, None), jacobian @ X, rtol=1e-13)
    np.testing.assert_allclose(back_pair(X)[0][0], 4.0 * X * X, rtol=1e-13)


def test_the_same_one_each_time() -> None:
    assert cl.jacfwd(waves) is cl.jacfwd(waves, "x")
    assert cl.jacfwd(waves) is not cl.jacrev(waves)
    assert cl.jacfwd(waves, (0,)) is not cl.jacfwd(waves)


def test_mistakes_are_shown_at_the_definition() -> None:
    with pytest.raises(cl.CompileError) as caught:
        cl.hessian(waves)(X, 0.7, 3)
    (found,) = caught.value.diagnostics
    assert (found.span.file, found.span.function) == (__file__, "waves")
    assert found.notes == ()
    with pytest.raises(ValueError, match=r"^hvp of energy: x has shape \(3,\)"):
        cl.hvp(energy)(X, 0.7, X[:2])


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(cl.CompileError, match="holds no real numbers"):
        cl.jacfwd(waves, argnums="n")(X, 0.7, 3)
    with pytest.raises(cl.CompileError, match="floats and arrays of floats"):
        cl.jacfwd(lambda p: p[0] * p[1])((1.0, 2.0))
    with pytest.raises(cl.CompileError, match="floats and arrays of floats"):
        cl.jacrev(lambda x: 3)(1.0)
    with pytest.raises(TypeError, match=r"takes 3 .*arguments"):
        cl.jacrev(waves)(X, 0.7, 3, 4)
    with pytest.raises(ValueError, match="2 parameters"):
        cl.hessian(energy, 2)
    with pytest.raises(ValueError, match="distinct parameters"):
        cl.jacrev(energy, (0, "x"))


def powers(x: cl.f64[:], n: int = 2, *, scale: float = 3.0) -> float:
    return scale * np.sum(x**n)


def test_products_with_the_hessian_take_keywords_and_defaults() -> None:
    product, x, v = cl.hvp(powers), np.array([1.0, 2.0]), np.array([1.0, 0.5])
    assert product(x, v).tolist() == [6.0, 3.0]
    assert product(x, 3, v).tolist() == [18.0, 18.0]
    assert product(x, v, n=3, scale=1.0).tolist() == [6.0, 6.0]
    assert product(v, x=x).tolist() == [6.0, 3.0]
    assert cl.hvp(powers, ("x", "scale"))(x, (v, 1.0))[1] == 4.0
    with pytest.raises(TypeError, match="takes 3 arguments by position"):
        product(x, 2, v, v)
    with pytest.raises(TypeError, match="misses argument"):
        product(v)
