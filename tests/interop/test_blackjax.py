"""Log-densities over records, sampled by BlackJAX."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

blackjax = pytest.importorskip("blackjax")
jax = pytest.importorskip("jax")

from chadllvm.interop.blackjax import BlackjaxDensity  # noqa: E402


class Pair(NamedTuple):
    centre: float
    others: cl.f64[:]


@cl.jit
def log_density(pair: Pair, scale: float) -> float:
    d = pair.others - pair.centre
    return -0.5 * pair.centre**2 - 0.5 * scale * np.sum(d * d)


@pytest.fixture(autouse=True)
def double() -> Any:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def density() -> BlackjaxDensity:
    return BlackjaxDensity(log_density, Pair(0.0, np.zeros(2)), 4.0)


def test_values_and_gradients() -> None:
    made, point = density(), np.array([0.5, 1.0, -1.0])
    expected = log_density(made.unravel(point), 4.0)
    assert float(made(point)) == expected
    value, gradient = jax.jit(jax.value_and_grad(made))(point)
    right = cl.grad(log_density)(made.unravel(point), 4.0)
    assert float(value) == expected
    np.testing.assert_array_equal(gradient, [right.centre, *right.others])
    many = np.stack([point, 2.0 * point])
    values, gradients = jax.vmap(jax.value_and_grad(made))(many)
    assert float(values[0]) == expected
    np.testing.assert_array_equal(gradients[0], gradient)


def test_nuts_with_warmup_for_several_chains() -> None:
    made = density()
    keys = jax.random.split(jax.random.key(1), 3)
    warmup = blackjax.window_adaptation(blackjax.nuts, made)
    (state, parameters), _ = warmup.run(keys[0], made.x0, num_steps=300)
    sampler = blackjax.nuts(made, **parameters)

    def one(state: Any, key: Any) -> Any:
        state, _ = sampler.step(key, state)
        return state, state.position

    def chain(key: Any) -> Any:
        return jax.lax.scan(one, state, jax.random.split(key, 400))[1]

    draws = np.asarray(jax.jit(jax.vmap(chain))(keys[1:])).reshape(-1, 3)
    assert math.isclose(draws[:, 0].std(), 1.0, rel_tol=0.2)
    assert math.isclose((draws[:, 1] - draws[:, 0]).std(), 0.5, rel_tol=0.2)
    assert made.unravel(draws[-1]).others.shape == (2,)


def test_single_precision_is_refused() -> None:
    made = density()
    with pytest.raises(TypeError, match="jax_enable_x64"):
        made(np.zeros(3, np.float32))
