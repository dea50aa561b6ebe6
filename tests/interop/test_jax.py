"""Compiled functions in JAX: within jit, grad, jvp and vmap."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

from chadllvm.interop.jax import jax_function  # noqa: E402


@cl.jit
def energy(x: cl.f64[:], k: float) -> float:
    return k * np.sum(np.sin(x) * x) + np.sum(x * x * x)


def plain(x, k):  # type: ignore[no-untyped-def]
    return k * jnp.sum(jnp.sin(x) * x) + jnp.sum(x * x * x)


ENERGY, FORWARD = jax_function(energy), jax_function(energy, forward=True)
X, K = jnp.array([0.3, -1.2, 2.0]), jnp.array(1.5)


def test_gradients_within_jit() -> None:
    assert jnp.allclose(jax.jit(ENERGY)(X, K), plain(X, K))
    for argnums in (0, 1, (0, 1)):
        found = jax.jit(jax.grad(ENERGY, argnums))(X, K)
        right = jax.grad(plain, argnums)(X, K)
        assert all(map(jnp.allclose, jax.tree.leaves(found), jax.tree.leaves(right)))


def test_gradients_of_gradients() -> None:
    def squared(f):  # type: ignore[no-untyped-def]
        return jax.grad(lambda x, k: jnp.sum(jax.grad(f)(x, k) ** 2), (0, 1))

    found, right = squared(ENERGY)(X, K), squared(plain)(X, K)
    assert all(map(jnp.allclose, found, right))


def test_tangents() -> None:
    tangents = jnp.ones(3), jnp.array(0.5)
    for found, right in zip(
        jax.jvp(FORWARD, (X, K), tangents),
        jax.jvp(plain, (X, K), tangents),
        strict=True,
    ):
        assert jnp.allclose(found, right)
    second = jax.jacfwd(jax.jacfwd(FORWARD))(X, K)
    assert jnp.allclose(second, jax.hessian(plain)(X, K))


def test_arrays_as_results_and_batches() -> None:
    scaled = jax_function(lambda x, k: k * x * x, lambda x, k: x)
    rows = jnp.arange(12.0).reshape(4, 3)
    found = jax.vmap(scaled, (0, None))(rows, K)
    assert jnp.allclose(found, K * rows * rows)
    slopes = jax.vmap(jax.grad(ENERGY), (0, None))(rows, K)
    assert jnp.allclose(slopes, jax.vmap(jax.grad(plain), (0, None))(rows, K))


def test_single_precision_is_told() -> None:
    with pytest.raises(TypeError, match="argument 0 is of float32"):
        ENERGY(X.astype(jnp.float32), K)
